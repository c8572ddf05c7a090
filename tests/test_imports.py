"""Nothing heavy is loaded before it is needed; each room stays in its place."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("textual", "rich", "litellm", "diskcache", "httpx", "tiktoken", "numpy", "hypothesis")


def loaded_by(code: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after running `code`."""
    probe = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "roamtui",
        "roamtui.events",
        "roamtui.document.markdown",
        "roamtui.document.outline",
        "roamtui.sources.open",
        "roamtui.search.lexical",
        "roamtui.models.base",
        "roamtui.models.guide",
        "roamtui.agent.strategies.roam",
        "roamtui.trace.reducer",
        "roamtui.session",
    ],
)
def test_the_engine_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(f"import {module}") == set()


def test_the_public_names_resolve() -> None:
    import roamtui

    for name in roamtui.__all__:
        assert getattr(roamtui, name) is not None
    with pytest.raises(AttributeError):
        getattr(roamtui, name + "s_and_more")
