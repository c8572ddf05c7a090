"""Under any sequence of replies, faults and cancels a run ends, once, within its caps, and replays to its state."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui import events as ev
from roamtui.agent.settings import RunSettings
from roamtui.errors import ModelError
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.trace.reducer import reduce
from tests.support.documents import library
from tests.support.puppet import Puppet, Say

GARDEN = library()
INDEX = LexicalIndex(GARDEN)
REFS = [ref for ref, _ in GARDEN.places()]

_ids = st.lists(st.sampled_from([*REFS, "deadbeef", "x", "240c57e1"]), max_size=10)
_arguments = st.one_of(
    st.fixed_dictionaries({"section_ids": _ids, "reason": st.just("why"), "part": st.integers(-1, 3)}),
    st.fixed_dictionaries({"query": st.text(max_size=20)}),
    st.fixed_dictionaries({"id": st.sampled_from([*REFS, "nonsense", "240c57e1", "240c57e1:2"])}),
    st.fixed_dictionaries({"tried": st.text(max_size=5), "missing": st.text(max_size=5)}),
    st.fixed_dictionaries({"question": st.text(max_size=9)}),
    st.text(max_size=20),
)
_names = st.sampled_from(["expand_section", "search_sections", "list_children", "give_up", "ask_user", "rm"])
_calls = st.lists(st.tuples(_names, _arguments), max_size=4)
_texts = st.one_of(st.text(max_size=30), st.sampled_from(REFS).map(lambda ref: f"So [[{ref}|water]] and [[{ref}]]."))
_errors = st.sampled_from([None] * 6 + ["connection", "context", "auth"])
_turns = st.builds(
    lambda text, calls, finish, error: Say(
        text=text,
        calls=tuple(calls),
        finish=finish,
        ids=("same",) * len(calls) if finish else (),
        error=ModelError(error, "It broke.") if error else None,
    ),
    _texts,
    _calls,
    st.sampled_from(["", "", "", "length", "stop", "content_filter"]),
    _errors,
)


def answered_once(messages: Any) -> bool:
    waiting: list[str] = []
    for message in messages:
        waiting += [call["id"] for call in message.get("tool_calls", ())]
        if message["role"] == "tool":
            if not waiting or message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif not message.get("tool_calls") and waiting:
            return False
    return not waiting


@settings(max_examples=60)
@given(st.lists(_turns, min_size=1, max_size=6), st.one_of(st.none(), st.integers(1, 40)))
def test_every_run_ends_once_and_replays_to_its_state(turns: list[Say], cancel_at: int | None) -> None:
    async def run() -> None:
        puppet = Puppet(turns)
        caps = RunSettings(always_roam=True, max_steps=5)
        session = Session(GARDEN, puppet, index=INDEX, settings=caps, clock=lambda: 0.0)
        events: list[ev.Event] = []
        for question in ("First?", "Second?"):
            async for event in session.run(question):
                events.append(event)
                if len(events) == cancel_at:
                    session.cancel()
        assert sum(isinstance(event, ev.ENDINGS) for event in events) == 2
        assert isinstance(events[-1], ev.ENDINGS)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert reduce(events) == session.state
        assert all(answered_once(request.messages) for request in puppet.requests)
        for request in puppet.requests:
            assert request.messages[0] == puppet.requests[0].messages[0]
            json.dumps(list(request.messages))
        steps = [question.steps for question in session.state.questions]
        assert all(len(taken) <= 5 + 4 for taken in steps)  # the cap, a forced answer, tries after a context error
        assert not any(section.opening for section in session.state.sections.values())

    asyncio.run(run())
