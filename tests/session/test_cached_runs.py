"""The same question in a fresh session costs no request and gives the same events, for every maker on a wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui import events as ev
from roamtui import paths
from roamtui.config import Settings
from roamtui.document.model import Library
from roamtui.engine import make_session
from tests.support.documents import GARDEN, document, ref
from tests.support.openai_server import OpenAIServer
from tests.support.wire import Received, Reply

LONG = Library([document(GARDEN * 8)])
TOMATOES = ref(LONG, "Garden", "Plants", "Tomatoes")
CANARY = "canary-key-0123456789"
REPLIES = [
    Reply(tool_calls=[("expand_section", {"section_ids": [TOMATOES], "reason": "stakes"})]),
    Reply(text=f"It takes [[{TOMATOES}|a stake of 150 cm]].", usage={"input": 1000, "output": 20}),
]


async def ask(settings: Settings, question: str = "How long?") -> list[ev.Event]:
    session = make_session(LONG, settings, interactive=False)
    events = [event async for event in session.run(question)]
    await session.aclose()
    return events


def cached(events: list[ev.Event]) -> list[bool]:
    return [event.cached for event in events if isinstance(event, ev.ModelAnswered)]


def assert_kept_privately(home: Path, *, traces: int) -> None:
    assert len(list(paths.traces_dir().glob("*.jsonl"))) == traces
    for path in home.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes()
        if paths.cache_dir() in path.parents or paths.state_dir() in path.parents:
            assert path.stat().st_mode & 0o077 == 0, path


async def test_the_second_run_asks_nobody(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROAMTUI_API_KEY", CANARY)
    async with OpenAIServer(REPLIES) as server:
        settings = Settings(model="any", base_url=server.base_url)
        first = await ask(settings)
        assert isinstance(first[-1], ev.Answered), first[-1]
        assert len(server.requests) == 2
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
        second = await ask(settings)
        assert len(server.requests) == 2
        assert (cached(first), cached(second)) == ([False, False], [True, True])
        assert [ev.comparable(event) for event in first] == [ev.comparable(event) for event in second]
    assert_kept_privately(own_folders, traces=2)


async def test_another_question_and_refresh_ask_again() -> None:
    def replies(received: Received, number: int) -> Reply:
        return REPLIES[1] if any(item["role"] == "tool" for item in received.json["messages"]) else REPLIES[0]

    async with OpenAIServer(replies) as server:
        settings = Settings(model="any", base_url=server.base_url)
        await ask(settings)
        await ask(settings, "Another?")
        assert len(server.requests) == 4
        await ask(Settings(model="any", base_url=server.base_url, cache="refresh"))
        assert len(server.requests) == 6
        only = Settings(model="any", base_url=server.base_url, cache="only")
        assert isinstance((await ask(only))[-1], ev.Answered)
        missed = (await ask(only, "Never asked?"))[-1]
        assert isinstance(missed, ev.Failed)
        assert missed.kind == "not_cached"
        assert len(server.requests) == 6


async def test_a_cut_answer_is_no_answer_and_is_not_kept() -> None:
    def replies(received: Received, number: int) -> Reply:
        return Reply(text="It takes a very long stake of", cut_after=3)

    async with OpenAIServer(replies) as server:
        settings = Settings(model="any", base_url=server.base_url)
        for _ in range(2):
            ending = (await ask(settings))[-1]
            assert isinstance(ending, ev.Failed)
            assert ending.kind in ("truncated", "connection")
            assert ending.text.startswith("It takes")
