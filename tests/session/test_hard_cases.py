"""Sessions that were hurt go on: oversize text, narrow windows, turns that were cut, quotes of what was not read."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from roamtui import events as ev
from roamtui.agent.evidence import citations_in
from roamtui.agent.settings import RunSettings
from roamtui.document.model import Library
from roamtui.models.base import Request
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.text import Redactor
from roamtui.trace.read import read_trace
from roamtui.trace.record import TraceWriter
from tests.support.documents import library, ref
from tests.support.puppet import Puppet, Say, opens

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
BEANS = ref(GARDEN, "Garden", "Plants", "Beans")
LONG = library(
    "# Long\n\n" + "".join(f"Paragraph number {n} says something about thing {n}.\n\n" for n in range(4000)) + "# End\n"
)
BIG = ref(LONG, "Long")


def session(model: Puppet, of: Library = GARDEN, **settings: Any) -> Session:
    options = {"interactive": settings.pop("interactive", False), "trace": settings.pop("trace", None)}
    return Session(
        of, model, index=LexicalIndex(of), settings=RunSettings(**{"always_roam": True, **settings}), **options
    )


async def ask(of: Session, question: str = "Why?") -> list[ev.Event]:
    return [event async for event in of.run(question)]


def forced(request: Request) -> bool:
    return request.params.get("tool_choice") == "none" or not request.tools


@pytest.mark.parametrize(
    "first",
    [
        Say(calls=(("search_sections", json.dumps({"query": "x" * 400_000})),)),
        Say(calls=(("x" * 300_000, "{}"),)),
        Say("word " * 30_000),
    ],
)
async def test_an_oversize_turn_does_not_kill_the_session(first: Say) -> None:
    asked = session(Puppet([first, Say("Fine."), Say("Fine.")]))
    await ask(asked)
    assert isinstance((await ask(asked))[-1], ev.Answered)


async def test_a_question_beyond_the_window_fails_alone() -> None:
    puppet = Puppet([Say("Fine.")])
    asked = session(puppet)
    failed = (await ask(asked, "why " * 60_000))[-1]
    assert isinstance(failed, ev.Failed)
    assert "window" in failed.message
    assert puppet.requests == []
    assert isinstance((await ask(asked))[-1], ev.Answered)


async def test_an_answer_without_end_is_stopped() -> None:
    ending = (await ask(session(Puppet([Say("word " * 60_000)]))))[-1]
    assert isinstance(ending, ev.Failed)
    assert ending.kind == "too_large"


async def test_lists_and_searches_never_overflow_the_window() -> None:
    chapters = library(
        "".join(f"# Chapter {n}\n\n" + "".join(f"## Part {m}\n\nWords.\n\n" for m in range(40)) for n in range(9))
    )
    refs = [ref(chapters, f"Chapter {n}") for n in range(9)]

    def lists(request: Request, number: int) -> Say:
        if forced(request):
            return Say("Enough.")
        return Say(calls=tuple(("list_children", {"id": item}) for item in refs))

    asked = session(Puppet(lists), chapters, window=8000)
    assert isinstance((await ask(asked))[-1], ev.LimitReached)
    assert isinstance((await ask(asked))[-1], ev.LimitReached)


@pytest.mark.parametrize("window", [6000, 8192, 16384])
async def test_a_large_section_is_read_part_by_part_in_a_narrow_window(window: int) -> None:
    def reads(request: Request, number: int) -> Say:
        return Say("Enough.") if forced(request) or number > 8 else opens(BIG, part=number + 1)

    asked = session(Puppet(reads), LONG, window=window)
    events = await ask(asked)
    opened = [event for event in events if isinstance(event, ev.SectionOpened)]
    assert [event.part for event in opened] == list(range(1, 10))
    budgets = [event for event in events if isinstance(event, ev.BudgetChanged)]
    assert all(event.used + event.reserve <= event.window for event in budgets)
    assert isinstance(events[-1], ev.Answered)


async def test_the_oldest_part_is_closed_first() -> None:
    def reads(request: Request, number: int) -> Say:
        return Say("Enough.") if forced(request) or number > 8 else opens(BIG, part=number + 1)

    puppet = Puppet(reads)
    await ask(session(puppet, LONG, window=16384))
    results = [item["content"] for item in puppet.requests[-1].messages if item["role"] == "tool"]
    kept = [" · part " in text for text in results]
    assert kept == sorted(kept)  # receipts first, then text
    assert kept[-1]
    assert not kept[0]


async def test_what_a_cut_turn_delivered_can_be_opened_again() -> None:
    both = Say(calls=(("expand_section", {"ids": [BEANS]}), ("ask_user", {"question": "Which?"})))
    asked = session(Puppet([both, opens(BEANS), Say(f"[[{BEANS}|Beans climb]]")]), interactive=True)
    async for event in asked.run("What?"):
        if isinstance(event, ev.InputRequested):
            asked.cancel()
    assert not asked.state.section(BEANS).open_agent
    events = await ask(asked)
    assert [event.id for event in events if isinstance(event, ev.SectionOpened)] == [BEANS]


async def test_a_quote_from_a_part_that_was_not_read_does_not_count() -> None:
    answer = f"[[{BIG}|says something about thing 3]] and [[{BIG}|says something about thing 3999]]"
    ending = (await ask(session(Puppet([opens(BIG), Say(answer)]), LONG)))[-1]
    assert isinstance(ending, ev.Answered)
    assert [item.status for item in ending.citations] == ["exact", "unopened"]


async def test_a_quote_of_what_was_closed_since_still_counts() -> None:
    def reads(request: Request, number: int) -> Say:
        quote = f"[[{BIG}|Paragraph number 3 says something]]"
        return Say(quote) if forced(request) or number > 8 else opens(BIG, part=number + 1)

    ending = (await ask(session(Puppet(reads), LONG, window=8192)))[-1]
    assert isinstance(ending, ev.Answered)
    assert ending.citations[0].status == "exact"


async def test_cancelling_before_anything_happened() -> None:
    asked = session(Puppet([Say("Fine.")]))
    collected = asyncio.create_task(ask(asked))
    await asyncio.sleep(0)  # the run is made, its work has not begun
    asked.cancel()
    events = await collected
    assert isinstance(events[-1], ev.Cancelled)
    assert isinstance((await ask(asked))[-1], ev.Answered)


async def test_half_characters_break_nothing(tmp_path: Path) -> None:
    script = [
        Say(calls=(("search_sections", '{"query": "\\ud83d soil"}'),)),
        Say(calls=(("give_up", '{"tried": "\\udfff", "missing": "x"}'),)),
    ]
    asked = session(Puppet(script), trace=TraceWriter(tmp_path / "t.jsonl"))
    assert isinstance((await ask(asked, "what \udcff is"))[-1], ev.NotFound)
    await asked.aclose()
    assert isinstance(read_trace(tmp_path / "t.jsonl").events[-1], ev.NotFound)


async def test_the_token_cap_holds_within_a_turn() -> None:
    def greedy(request: Request, number: int) -> Say:
        calls = tuple(("expand_section", {"ids": [BIG], "part": part}) for part in range(1, 9))
        return Say("Enough.") if forced(request) else Say(calls=calls)

    events = await ask(session(Puppet(greedy), LONG, window=100_000, max_tokens=3500))
    assert sum(event.tokens for event in events if isinstance(event, ev.SectionOpened)) <= 3500
    assert isinstance(events[-1], ev.LimitReached)


async def test_the_clock_keeps_what_was_said() -> None:
    def slow(request: Request, number: int) -> Say:
        return Say("The answer so far is forty-two.", hang=True)

    ending = (await ask(session(Puppet(slow), max_seconds=0.3)))[-1]
    assert isinstance(ending, ev.LimitReached)
    assert ending.text == "The answer so far is forty-two."


async def test_giving_up_names_titles_not_ids() -> None:
    gives_up = {
        "tried": f"opened {BEANS}",
        "missing": f"see [[{TOMATOES.upper()}|a stake]]",
        "suggestions": [f"[{BEANS}]?"],
    }
    ending = (await ask(session(Puppet([Say(calls=(("give_up", gives_up),))]))))[-1]
    assert isinstance(ending, ev.NotFound)
    assert (ending.tried, ending.missing, ending.suggestions) == ("opened “Beans”", "see “a stake”", ("“Beans”?",))


async def test_a_resumed_session_says_what_the_live_one_said(tmp_path: Path) -> None:
    gives_up = Say(calls=(("give_up", {"tried": "all", "missing": "nothing on cats"}),))
    first = session(Puppet([gives_up]), trace=TraceWriter(tmp_path / "t.jsonl"))
    await ask(first)
    live = Puppet([Say("Fine.")])
    first.use(live, window=None, price=lambda usage: None)
    await ask(first, "And?")
    await first.aclose()
    trace = read_trace(tmp_path / "t.jsonl")
    until = next(number for number, event in enumerate(trace.events) if isinstance(event, ev.NotFound))
    puppet = Puppet([Say("Fine.")])
    second = session(puppet)
    second.resume(type(trace)(trace.header, trace.events[: until + 1], (), cut=False))
    await ask(second, "And?")
    assert puppet.requests[0].messages == live.requests[0].messages


async def test_a_killed_run_is_ended_when_it_is_resumed(tmp_path: Path) -> None:
    first = session(Puppet([opens(BEANS), Say("x")]), trace=TraceWriter(tmp_path / "t.jsonl"))
    await ask(first)
    await first.aclose()
    trace = read_trace(tmp_path / "t.jsonl")
    second = session(Puppet([Say("Fine.")]))
    second.resume(type(trace)(trace.header, trace.events[:-6], (), cut=True))
    assert second.state.questions[0].outcome == "cancelled"
    assert isinstance((await ask(second))[-1], ev.Answered)


@pytest.mark.parametrize(
    "text", ["[[" + " " * 20_000 + ".", "[[a|" * 100_000, "[[07f3277d|" + "a " * 100_000, "[" * 200_000]
)
def test_no_answer_makes_reading_citations_slow(text: str) -> None:
    started = time.process_time()
    list(citations_in(text))
    assert time.process_time() - started < 2  # milliseconds when it is linear, minutes when it is not


def test_secrets_with_quotes_are_taken_out_of_json() -> None:
    redact = Redactor(['gehä"im\\wort'])
    for ascii_only in (True, False):
        assert "wort" not in redact(json.dumps({"key": 'gehä"im\\wort'}, ensure_ascii=ascii_only))
