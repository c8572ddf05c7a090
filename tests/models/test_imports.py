"""What the room of models loads, and when."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.openai_server import OpenAIServer
from tests.support.wire import Reply

HEAVY = ("litellm", "httpx", "diskcache", "tiktoken", "openai", "pydantic", "aiohttp", "requests", "sqlite3")


def loaded(code: str, *arguments: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after running `code`."""
    probe = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", probe, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return set(done.stdout.split())


MODULES = sorted(
    f"roamtui.models.{path.stem}"
    for path in Path(__file__).parents[2].joinpath("roamtui", "models").glob("*.py")
    if path.stem not in ("__init__", "disk", "wire_guard")
)


def test_importing_the_room_loads_nothing_heavy() -> None:
    """All modules but the two that are imported on threads of their own."""
    assert loaded("\n".join(f"import {name}" for name in MODULES)) == set()


ASK = """
import asyncio
from pathlib import Path
from roamtui.models.base import Request
from roamtui.models.select import ModelChoice, open_model
from roamtui.models.pricing import cost, model_facts
from roamtui.models.tokens import TokenCounter
from roamtui.models.base import Usage
choice = ModelChoice("gpt-4o", base_url=sys.argv[1], cache="%s", cache_dir=Path(sys.argv[2]))
async def main():
    model = open_model(choice, environ={})
    async for delta in model.stream(Request(model="m", messages=[{"role": "user", "content": "Hello?"}])): pass
    assert type(delta).__name__ == "Finish", delta
asyncio.run(main())
%s
"""


def test_a_recorded_answer_loads_the_disk_and_nothing_else(tmp_path: Path) -> None:
    with OpenAIServer([Reply(text="hi")]) as server:
        arguments = (server.base_url, str(tmp_path))
        assert {"httpx", "diskcache"} <= loaded(ASK % ("on", ""), *arguments)
        assert loaded(ASK % ("only", ""), *arguments) == {"diskcache", "sqlite3"}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "code", ["assert TokenCounter('gpt-4o').count('x') == 1", "assert model_facts('gpt-4o').known"]
)
def test_tokens_and_prices_never_load_litellm(tmp_path: Path, code: str) -> None:
    head = "from roamtui.models.pricing import model_facts\nfrom roamtui.models.tokens import TokenCounter\n"
    assert loaded(head + code) <= {"tiktoken"}
