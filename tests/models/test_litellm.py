"""litellm kept in its place: when it is loaded, what it may see, print and reach, and how its errors read."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from roamtui.errors import MODEL_ERROR_KINDS, ModelError
from roamtui.models.litellm_errors import error_from_exception
from tests.models.conftest import CANARY, LITELLM, ask, collect, fails
from tests.support.openai_server import OpenAIServer
from tests.support.wire import Reply

pytestmark = pytest.mark.faults

PROBE = '''
import asyncio, json, os, sys, time
reached = []
def watch(event, arguments):
    if event == "socket.connect": reached.append(str(arguments[1]))
    if event == "socket.getaddrinfo": reached.append(str(arguments[0]))
sys.addaudithook(watch)
from roamtui.errors import ModelError
from roamtui.models.base import Request
from roamtui.models.litellm_model import LiteLLM
from roamtui.models.secret import Secret
base_url, canary = sys.argv[1:]
key = Secret(canary, "SOME_API_KEY")
request = Request(model="m", messages=[{"role": "user", "content": "Hello?"}])
seen = {"before": "litellm" in sys.modules}

async def cancel_while_loading():
    """Ask, wait until the import has begun, go away."""
    async def read():
        async for _ in LiteLLM("openai/m", base_url=base_url, api_key=key).stream(request): pass
    task = asyncio.ensure_future(read())
    while "litellm" not in sys.modules:
        await asyncio.sleep(0.001)
    started = time.perf_counter()
    task.cancel()
    await asyncio.wait({task})
    seen["cancelled_after"] = time.perf_counter() - started

async def calls():
    kinds = []
    for name in ("openai/meta-llama-3-8b", "openai/m", "no_such_provider/m", "no-such-model", "openai/m"):
        started = time.perf_counter()
        try:
            async for _ in LiteLLM(name, base_url=base_url, api_key=key).stream(request): pass
            kinds.append("answered")
        except ModelError as error:
            kinds.append(error.kind)
    seen["kinds"] = kinds

async def main():
    await cancel_while_loading()
    await calls()
asyncio.run(main())
seen["reached"] = sorted(set(reached))
seen["planted"] = os.environ.get("PLANTED"), os.environ.get("OPENAI_API_BASE"), os.environ["LITELLM_MODE"]
sys.stdout.write(json.dumps(seen))
'''


@pytest.fixture
def probe(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Use litellm in a fresh interpreter, in a folder with a hostile .env; return what was seen."""
    (tmp_path / ".env").write_text("PLANTED=yes\nOPENAI_API_BASE=http://127.0.0.1:9/evil\nLITELLM_MODE=DEV\n")
    replies = [Reply(text="ok"), Reply(status=401, error=f"bad {CANARY}"), *[Reply(status=500)] * 9]
    environ = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_API_BASE"))}
    environ |= {"LITELLM_MODE": "DEV", "PYTHONPATH": os.pathsep.join(sys.path), "LITELLM_LOG": "DEBUG"}
    with OpenAIServer(replies) as server:
        command = [sys.executable, "-c", PROBE, server.base_url, CANARY]
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environ, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        seen: dict[str, Any] = json.loads(done.stdout)
        yield {**seen, "stderr": done.stderr, "server": server.base_url}


def test_litellm_is_kept_in_its_place(probe: dict[str, Any]) -> None:
    """One interpreter for all of it, because loading takes seconds."""
    assert probe["before"] is False, "it is loaded by the first call, not before"
    assert probe["cancelled_after"] < 0.3, "leaving while it loads does not wait for it (F-P28)"
    assert probe["planted"] == [None, None, "PRODUCTION"], "no .env file is read (F-S03, H9)"
    port = probe["server"].rpartition(":")[2].partition("/")[0]
    elsewhere = [place for place in probe["reached"] if port not in place and "127.0.0.1" not in place]
    assert elsewhere == [], "no price lists, tokenizers or telemetry are fetched (F-P25)"
    assert probe["stderr"] == b"", "nothing is printed, though calls fail and names are unknown (F-P27)"
    assert probe["kinds"] == ["answered", "auth", "bad_request", "bad_request", "overloaded"]


def exceptions() -> list[type[BaseException]]:
    """Return every exception class of litellm and of the client below it."""
    found = []
    for module in ("litellm.exceptions", "openai"):
        for value in vars(import_module(module)).values():
            if inspect.isclass(value) and issubclass(value, BaseException):
                found.append(value)
    return found


async def test_every_exception_class_becomes_an_error_of_ours() -> None:
    """F-P26."""
    async with OpenAIServer([Reply(text="ok")]) as server:
        await collect(LITELLM.model(server))  # loads it with its guards
    classes = exceptions()
    assert len(classes) > 30
    for cls in classes:
        error = cls.__new__(cls)
        words = f"litellm.{cls.__name__}: SomeException - it broke: {CANARY}\x1b[31m"
        for name, value in {"args": (words,), "message": words, "num_retries": None, "max_retries": None}.items():
            setattr(error, name, value)
        ours = error_from_exception(error, where="somewhere")
        assert ours.kind in MODEL_ERROR_KINDS, cls
        assert CANARY not in ours.message
        assert "\x1b" not in ours.message
        assert "litellm." not in ours.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError("disk"), "connection"),
        (IndexError("list index out of range"), "bad_reply"),
        (ModelError("too_large", "ours"), "too_large"),
        (RuntimeError("Connection error."), "connection"),
        (RuntimeError("peer closed connection"), "truncated"),
    ],
)
def test_errors_litellm_did_not_mean_to_raise(error: BaseException, kind: str) -> None:
    assert error_from_exception(error, where="somewhere").kind == kind


def test_our_own_error_is_found_below_theirs() -> None:
    """A guard on the wire raises inside litellm, which wraps what it does not know."""
    outer = RuntimeError("wrapped")
    outer.__cause__ = ValueError("again")
    outer.__cause__.__context__ = ModelError("too_large", "ours")
    assert error_from_exception(outer, where="x").message == "ours"


async def test_the_usual_parameters_reach_the_wire() -> None:
    async with OpenAIServer([Reply(text="ok")]) as server:
        await collect(LITELLM.model(server), ask(tools=True, temperature=0, seed=7, max_tokens=50))
        sent = server.requests[0].json
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0, 7, 50)
    assert sent["stream_options"] == {"include_usage": True}
    assert len(sent["tools"]) == 1
    assert not [name for name in sent if name.startswith("_")]


def test_a_missing_package_is_said(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio; sys.modules['litellm'] = None\n"
        "from roamtui.models.litellm_model import LiteLLM; from roamtui.models.base import Request\n"
        "async def main():\n"
        "    async for _ in LiteLLM('openai/m').stream(Request(model='m', messages=[])): pass\n"
        "try: asyncio.run(main())\n"
        "except Exception as error: print(type(error).__name__, error.kind)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    assert done.stdout.split() == ["ModelError", "unavailable"]


async def test_the_loop_of_the_screen_is_left_alone() -> None:
    """The call runs on another thread; errors come back as ours."""
    async with OpenAIServer([Reply(status=404, error="no such model")]) as server:
        error = await fails(LITELLM.model(server))
    assert type(error) is ModelError
    assert error.__cause__ is None
