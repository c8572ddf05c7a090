"""Given a document, a question and what a model says: the events, the ending, the requests."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from roamtui import events as ev
from roamtui.agent.settings import RunSettings
from roamtui.document.model import Library
from roamtui.errors import ModelError
from roamtui.models.base import Usage
from roamtui.search.lexical import LexicalIndex
from roamtui.session import CloseSection, OpenSection, PinSection, Session
from roamtui.trace.read import read_trace
from roamtui.trace.record import TraceWriter
from roamtui.trace.reducer import reduce
from roamtui.trace.state import comparable_state
from tests.support.documents import library, ref
from tests.support.puppet import Puppet, Say, opens

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
BEANS = ref(GARDEN, "Garden", "Plants", "Beans")
SOIL = ref(GARDEN, "Garden", "Soil")
ACIDITY = ref(GARDEN, "Garden", "Soil", "Acidity")
ROAMING = RunSettings(always_roam=True)
ANSWER = f"They need a stake [[{TOMATOES}|a stake of 150 cm]]."


def session(model: Puppet, of: Library = GARDEN, **options: Any) -> Session:
    settings = options.pop("settings", ROAMING)
    return Session(of, model, index=LexicalIndex(of), settings=settings, clock=lambda: 0.0, **options)


async def ask(of: Session, question: str = "How tall is the stake?") -> list[ev.Event]:
    return [event async for event in of.run(question)]


def kinds(events: list[ev.Event]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, ev.TextDelta | ev.MessageRecorded)]


async def test_open_then_answer() -> None:
    puppet = Puppet([opens(TOMATOES, reason="mentions stakes"), Say(ANSWER, usage=Usage(input=100, output=9))])
    events = await ask(session(puppet))
    assert kinds(events) == [
        "RunStarted",
        "QuestionAsked",
        "ContextBuilt",
        "BudgetChanged",
        "ModelRequested",
        "ModelAnswered",
        "ToolCalled",
        "SectionOpened",
        "ToolReturned",
        "BudgetChanged",
        "ModelRequested",
        "ModelAnswered",
        "CitationChecked",
        "Answered",
    ]
    opened = next(event for event in events if isinstance(event, ev.SectionOpened))
    assert opened.path == ("Garden", "Plants", "Tomatoes")
    assert opened.reason == "mentions stakes"
    assert opened.complete
    ending = events[-1]
    assert isinstance(ending, ev.Answered)
    assert [(item.status, item.first_line, item.last_line) for item in ending.citations] == [("exact", 19, 19)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_the_prompt_keeps_its_beginning_and_every_call_is_answered() -> None:
    puppet = Puppet([opens(TOMATOES), Say(calls=(("search_sections", {"query": "frost"}), ("x", "{"))), Say(ANSWER)])
    asked = session(puppet)
    await ask(asked)
    await ask(asked, "And beans?")
    first = puppet.requests[0].messages
    for request in puppet.requests:
        assert request.messages[0] == first[0]
        assert request.tools == puppet.requests[0].tools
        calls = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
        answers = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
        assert calls == answers
    assert asked.outline.text in first[0]["content"]
    follow_up = puppet.requests[-1].messages
    assert [message["content"] for message in follow_up if message["role"] == "user"] == [
        "How tall is the stake?",
        "And beans?",
    ]


async def test_sections_stay_open_between_questions_and_are_not_sent_twice() -> None:
    puppet = Puppet([opens(TOMATOES), Say(ANSWER), opens(TOMATOES), Say(ANSWER)])
    asked = session(puppet)
    await ask(asked)
    events = await ask(asked, "Again?")
    refused = next(event for event in events if isinstance(event, ev.SectionRefused))
    assert refused.kind == "already_open"
    assert "150 cm" not in puppet.requests[-1].messages[-1]["content"]
    assert isinstance(events[-1], ev.Answered)
    assert events[-1].citations[0].status == "exact"


async def test_a_branch_opened_later_repeats_nothing() -> None:
    plants = ref(GARDEN, "Garden", "Plants")
    puppet = Puppet([opens(TOMATOES), opens(plants), opens(plants), Say(ANSWER)])
    events = await ask(session(puppet))
    opened = [event.path[-1] for event in events if isinstance(event, ev.SectionOpened)]
    assert opened == ["Tomatoes", "Plants", "Beans"]
    results = [message["content"] for message in puppet.requests[-1].messages if message["role"] == "tool"]
    assert sum(text.count("150 cm") for text in results) == 1
    assert f"[{TOMATOES}] Garden › Plants › Tomatoes · open above" in results[1]
    assert "is already open" in results[2]


async def test_errors_instruct() -> None:
    wrong = TOMATOES[:-1] + ("0" if TOMATOES[-1] != "0" else "1")
    puppet = Puppet([opens(wrong, "tomatoes", ACIDITY), Say(ANSWER)])
    await ask(session(puppet))
    result = puppet.requests[1].messages[-1]["content"]
    assert f'no section with the id "{wrong}"' in result
    assert f"[{TOMATOES}] Tomatoes" in result
    assert "is not a section id" in result
    assert "Blueberries" in result


async def test_a_repeated_search_and_the_same_ids_end_in_a_forced_answer() -> None:
    def again(request: Any, number: int) -> Say:
        if request.params.get("tool_choice") == "none":
            return Say(f"I only know this [[{TOMATOES}]].")
        return opens(TOMATOES if number % 2 else BEANS)

    puppet = Puppet(again)
    events = await ask(session(puppet))
    ending = events[-1]
    assert isinstance(ending, ev.LimitReached)
    assert ending.limit == "repeats"
    assert ending.text.startswith("I only know this")
    assert ending.citations[0].status == "section"
    assert len(puppet.requests) == 6  # two that open, three that bring nothing, the forced one


async def test_the_step_cap_forces_an_answer() -> None:
    def roams(request: Any, number: int) -> Say:
        forced = request.params.get("tool_choice") == "none"
        return Say("Done.") if forced else Say(calls=(("search_sections", {"query": f"word{number}"}),))

    puppet = Puppet(roams)
    events = await ask(session(puppet, settings=RunSettings(always_roam=True, max_steps=3)))
    assert isinstance(events[-1], ev.LimitReached)
    assert events[-1].limit == "steps"
    assert len(puppet.requests) == 4
    assert puppet.requests[-1].messages[-1]["content"].startswith("[roamtui] ")


async def test_the_token_cap() -> None:
    def roams(request: Any, number: int) -> Say:
        forced = request.params.get("tool_choice") == "none"
        return Say("Done.") if forced else opens((TOMATOES, BEANS, SOIL)[number % 3])

    events = await ask(session(Puppet(roams), settings=RunSettings(always_roam=True, max_tokens=210)))
    assert isinstance(events[-1], ev.LimitReached)
    assert events[-1].limit == "tokens"


async def test_the_clock_forces_an_answer() -> None:
    def slow(request: Any, number: int) -> Say:
        return Say("In time.") if request.params.get("tool_choice") == "none" else Say("Hm", hang=True)

    events = await ask(session(Puppet(slow), settings=RunSettings(always_roam=True, max_seconds=0.3)))
    assert isinstance(events[-1], ev.LimitReached)
    assert (events[-1].limit, events[-1].text) == ("seconds", "In time.")


async def test_give_up_is_its_own_ending() -> None:
    puppet = Puppet(
        [Say(calls=(("give_up", {"tried": "soil", "missing": "prices", "suggestions": ["When to sow?"]}),))]
    )
    asked = session(puppet)
    events = await ask(asked, "What does a spade cost?")
    ending = events[-1]
    assert isinstance(ending, ev.NotFound)
    assert (ending.tried, ending.missing, ending.suggestions) == ("soil", "prices", ("When to sow?",))
    assert asked.state.questions[-1].outcome == "not_found"


async def test_give_up_beside_an_opening_waits_for_what_is_opened() -> None:
    both = Say(calls=(("expand_section", {"ids": [TOMATOES]}), ("give_up", {"tried": "a", "missing": "b"})))
    events = await ask(session(Puppet([both, Say(ANSWER)])))
    assert isinstance(events[-1], ev.Answered)


@pytest.mark.parametrize(
    ("citation", "status"),
    [
        ("[[{t}|a stake of 150 cm]]", "exact"),
        ("[[{t}|need a  stake\nof 150 cm. Water them every second day]]", "exact"),
        ("[[{t}]]", "section"),
        ("[[{t}|a stake of 160 cm]]", "missing"),
        ("[[{b}|Sow them after the last frost]]", "unopened"),
        ("[[{b}]]", "unopened"),
        ("[[deadbeef|anything]]", "unknown"),
        ("[[Tomatoes|a stake]]", "unknown"),
    ],
)
async def test_citations_are_checked(citation: str, status: str) -> None:
    text = "So: " + citation.format(t=TOMATOES, b=BEANS)
    events = await ask(session(Puppet([opens(TOMATOES), Say(text)])))
    ending = events[-1]
    assert isinstance(ending, ev.Answered)
    assert [item.status for item in ending.citations] == [status]


async def test_an_empty_answer_gets_one_more_try_and_a_call_as_text_is_not_run() -> None:
    written = f'{{"name": "expand_section", "arguments": {{"section_ids": ["{TOMATOES}"]}}}}'
    puppet = Puppet([Say(""), Say(written), Say("Nothing.")])
    events = await ask(session(puppet))
    assert isinstance(events[-1], ev.Answered)
    assert not any(isinstance(event, ev.SectionOpened) for event in events)
    with_nothing = await ask(session(Puppet([Say(" ")])))
    assert isinstance(with_nothing[-1], ev.Failed)
    assert with_nothing[-1].kind == "bad_reply"


async def test_an_answer_cut_by_the_provider_is_no_answer() -> None:
    events = await ask(session(Puppet([Say("Half of", finish="length")])))
    assert isinstance(events[-1], ev.LimitReached)
    assert events[-1].limit == "length"
    filtered = await ask(session(Puppet([Say("x", finish="content_filter")])))
    assert isinstance(filtered[-1], ev.Failed)
    assert filtered[-1].kind == "refused"


async def test_sixty_four_calls_and_doubled_ids_are_each_answered_once() -> None:
    many = Say(calls=(("list_children", {"id": SOIL}),) * 64, ids=("same",) * 64)
    puppet = Puppet([many, Say(ANSWER)])
    await ask(session(puppet))
    messages = puppet.requests[1].messages
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    answers = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert calls == answers
    assert len(set(calls)) == 64


async def test_a_failure_keeps_the_text_and_the_session() -> None:
    broken = Say("Tomatoes nee", error=ModelError("connection", "The line broke.", "Try again."))
    puppet = Puppet([opens(TOMATOES), broken, Say(ANSWER)])
    asked = session(puppet)
    events = await ask(asked)
    ending = events[-1]
    assert isinstance(ending, ev.Failed)
    assert (ending.kind, ending.text, ending.hint) == ("connection", "Tomatoes nee", "Try again.")
    assert isinstance((await ask(asked))[-1], ev.Answered)


@pytest.mark.parametrize("stop", ["RunStarted", "ModelRequested", "ToolCalled", "SectionOpened", "TextDelta"])
async def test_cancel_at_any_point_leaves_a_usable_session(stop: str) -> None:
    puppet = Puppet([opens(TOMATOES), Say(ANSWER)])
    asked = session(puppet)
    events = []
    async for event in asked.run("How tall?"):
        events.append(event)
        if type(event).__name__ == stop:
            asked.cancel()
    assert isinstance(events[-1], ev.Cancelled)
    assert sum(isinstance(event, ev.ENDINGS) for event in events) == 1
    assert isinstance((await ask(asked))[-1], ev.Answered | ev.LimitReached)
    calls = [call["id"] for message in puppet.requests[-1].messages for call in message.get("tool_calls", ())]
    assert calls == [message["tool_call_id"] for message in puppet.requests[-1].messages if message["role"] == "tool"]


async def test_cancel_while_the_model_hangs_closes_the_stream() -> None:
    puppet = Puppet([Say("Let me", hang=True), Say(ANSWER)])
    asked = session(puppet)

    async def stop() -> None:
        await puppet.hanging.wait()
        asked.cancel()

    stopper = asyncio.create_task(stop())
    events = await ask(asked)
    await stopper
    assert isinstance(events[-1], ev.Cancelled)
    assert (events[-1].during, events[-1].text) == ("answer", "Let me")
    assert puppet.closed == 1


async def test_closing_the_iterator_cancels() -> None:
    puppet = Puppet([Say("x", hang=True)])
    asked = session(puppet)
    async with aclosing(asked.run("How?")) as events:
        async for event in events:
            if isinstance(event, ev.TextDelta):
                break
    assert not asked.running
    assert asked.state.questions[-1].outcome == "cancelled"
    assert puppet.closed == 1


async def test_ask_user_is_answered_or_refused() -> None:
    asks = Say(calls=(("ask_user", {"question": "Which plant?", "options": ["tomato", "bean"]}),))
    alone = Puppet([asks, Say(ANSWER)])
    events = await ask(session(alone))
    assert [event.refused != "" for event in events if isinstance(event, ev.InputGiven)] == [True]
    assert alone.requests[1].messages[-1]["content"].startswith("! There is nobody")

    puppet = Puppet([asks, Say(ANSWER)])
    asked = session(puppet, interactive=True)
    async for event in asked.run("How tall?"):
        if isinstance(event, ev.InputRequested):
            assert asked.state.pending is not None
            asked.reply(event.request, "tomato")
    assert asked.state.pending is None
    assert puppet.requests[1].messages[-1]["content"] == "The user says: tomato"


async def test_a_small_document_is_sent_whole_and_said_so() -> None:
    puppet = Puppet([Say(ANSWER)])
    events = await ask(session(puppet, settings=RunSettings()))
    context = next(event for event in events if isinstance(event, ev.ContextBuilt))
    assert context.whole
    assert "a stake of 150 cm" in puppet.requests[0].messages[0]["content"]
    assert isinstance(events[-1], ev.Answered)
    assert events[-1].citations[0].status == "exact"


async def test_a_narrow_window_closes_the_oldest_sections_and_says_so() -> None:
    chapters = "".join(f"# Chapter {n}\n\n" + f"Sentence {n} about things. " * 120 + "\n\n" for n in range(8))
    book = library(chapters)
    refs = [ref(book, f"Chapter {n}") for n in range(8)]
    puppet = Puppet([*(opens(item) for item in refs), Say("Enough.")])
    events = await ask(session(puppet, book, settings=RunSettings(always_roam=True, window=6000, outline_tokens=400)))
    closed = [event for event in events if isinstance(event, ev.SectionClosed)]
    assert closed
    assert all(event.by == "budget" for event in closed)
    budgets = [event for event in events if isinstance(event, ev.BudgetChanged)]
    assert all(event.used + event.reserve <= event.window for event in budgets)
    assert isinstance(events[-1], ev.Answered)


async def test_a_context_error_closes_sections_and_tries_once_more() -> None:
    too_long = ModelError("context", "The prompt is too long.")
    puppet = Puppet([opens(TOMATOES, BEANS), Say(error=too_long), Say("Fine.")])
    events = await ask(session(puppet))
    assert any(isinstance(event, ev.Warned) and event.kind == "context" for event in events)
    assert isinstance(events[-1], ev.Answered)


async def test_trace_file_and_live_state_are_one(tmp_path: Path) -> None:
    puppet = Puppet([opens(TOMATOES), Say(ANSWER)])
    writer = TraceWriter(tmp_path / "trace.jsonl")
    asked = session(puppet, trace=writer)
    asked.tell(OpenSection(BEANS))
    asked.tell(PinSection(BEANS, True))
    asked.tell(CloseSection(BEANS))
    await ask(asked)
    await asked.aclose()
    trace = read_trace(writer.path)
    assert not trace.cut
    assert not trace.unknown
    assert comparable_state(reduce(trace.events)) == comparable_state(asked.state)
    assert reduce(trace.events) == asked.state
    assert writer.path.stat().st_mode & 0o777 == 0o600


async def test_two_fresh_sessions_give_equal_events() -> None:
    runs = []
    for _ in range(2):
        puppet = Puppet([opens(TOMATOES), Say(ANSWER)])
        runs.append([ev.comparable(event) for event in await ask(session(puppet))])
    assert runs[0] == runs[1]


async def test_resume_goes_on_where_the_trace_ends(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "first.jsonl")
    first = session(Puppet([opens(TOMATOES), Say(ANSWER)]), trace=writer)
    await ask(first)
    await first.aclose()
    puppet = Puppet([opens(TOMATOES), Say(ANSWER)])
    second = session(puppet)
    second.resume(read_trace(writer.path))
    events = await ask(second, "And now?")
    assert [question.text for question in second.state.questions] == ["How tall is the stake?", "And now?"]
    assert [message["content"] for message in puppet.requests[0].messages if message["role"] == "user"] == [
        "How tall is the stake?",
        "And now?",
    ]
    assert any(isinstance(event, ev.SectionRefused) for event in events)  # still open from before
