"""The reducer: `apply(state, event)` is pure, so a replayed trace drives exactly the code of a live run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from roamtui import events as ev
from roamtui.trace.state import (
    PendingInput,
    Question,
    SectionState,
    Step,
    ToolUse,
    TraceState,
)


def apply(state: TraceState, event: ev.Event) -> TraceState:
    """Return the state after `event`. Pure; unknown events change nothing but `seq`."""
    reducer = _REDUCERS.get(type(event))
    after = state if reducer is None else reducer(state, event)
    return replace(after, seq=event.seq)


def reduce(all_events: Iterable[ev.Event]) -> TraceState:
    """Return the state after all events of an iterable."""
    state = TraceState()
    for event in all_events:
        state = apply(state, event)
    return state


# -- building blocks ------------------------------------------------------------------------------


def _section(state: TraceState, ref: str, **changes: Any) -> TraceState:
    sections = dict(state.sections)
    sections[ref] = replace(state.section(ref), **changes)
    return replace(state, sections=sections)


def _question(state: TraceState, **changes: Any) -> TraceState:
    if not state.questions:
        return state
    return replace(state, questions=(*state.questions[:-1], replace(state.questions[-1], **changes)))


def _step(state: TraceState, **changes: Any) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    steps = state.questions[-1].steps
    return _question(state, steps=(*steps[:-1], replace(steps[-1], **changes)))


def _tool(state: TraceState, call: str, **changes: Any) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    tools = state.questions[-1].steps[-1].tools
    return _step(state, tools=tuple(replace(item, **changes) if item.call == call else item for item in tools))


def _current_tool(state: TraceState, call: str) -> ToolUse | None:
    if not state.questions or not state.questions[-1].steps:
        return None
    return next((item for item in state.questions[-1].steps[-1].tools if item.call == call), None)


_ID = re.compile(r"\b(?:[0-9a-f]{4,}(?:-\d+)?\.)?[0-9a-f]{8}\b")


def _wanted(arguments: str) -> tuple[list[str], str]:
    """Ids and reason of an expand_section call, as far as they can be read."""
    try:
        data = json.loads(arguments)
    except (ValueError, RecursionError):
        return [], ""
    if not isinstance(data, dict):
        return [], ""
    ids = data.get("section_ids") or data.get("ids") or []
    found = _ID.findall(json.dumps(ids)) if isinstance(ids, (list, str)) else []
    reason = data.get("reason")
    return found, reason if isinstance(reason, str) else ""


# -- one reducer per event ------------------------------------------------------------------------


def _run_started(state: TraceState, event: ev.RunStarted) -> TraceState:
    return replace(state, documents=event.documents, model=event.model, maker=event.maker)


def _question_asked(state: TraceState, event: ev.QuestionAsked) -> TraceState:
    question = Question(run=event.run, text=event.text, model=state.model, maker=state.maker)
    return replace(state, questions=(*state.questions, question))


def _context_built(state: TraceState, event: ev.ContextBuilt) -> TraceState:
    return replace(state, context=event)


def _budget_changed(state: TraceState, event: ev.BudgetChanged) -> TraceState:
    return replace(state, budget=event)


def _message_recorded(state: TraceState, event: ev.MessageRecorded) -> TraceState:
    return replace(state, messages={**state.messages, event.hash: event.message})


def _model_requested(state: TraceState, event: ev.ModelRequested) -> TraceState:
    if not state.questions:
        return state
    steps = (*state.questions[-1].steps, Step(number=event.step, request=event))
    return _question(state, steps=steps, answer="")


def _retry_scheduled(state: TraceState, event: ev.RetryScheduled) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    step = state.questions[-1].steps[-1]
    return _question(_step(state, retries=(*step.retries, event), text="", reasoning=""), answer="")


def _text_delta(state: TraceState, event: ev.TextDelta) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    text = state.questions[-1].steps[-1].text + event.text
    return _question(_step(state, text=text), answer=text)


def _reasoning_delta(state: TraceState, event: ev.ReasoningDelta) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    return _step(state, reasoning=state.questions[-1].steps[-1].reasoning + event.text)


def _model_answered(state: TraceState, event: ev.ModelAnswered) -> TraceState:
    usage = event.usage or ev.TokenUsage()
    live = not event.cached
    totals = replace(
        state.totals,
        calls=state.totals.calls + 1,
        cached_calls=state.totals.cached_calls + event.cached,
        input=state.totals.input + (usage.input if live else 0),
        output=state.totals.output + (usage.output if live else 0),
        cache_read=state.totals.cache_read + (usage.cache_read if live else 0),
        cost=state.totals.cost + ((event.cost or 0.0) if live else 0.0),
        unpriced=state.totals.unpriced + (live and event.cost is None),
    )
    return replace(_step(state, answered=event), totals=totals)


def _tool_called(state: TraceState, event: ev.ToolCalled) -> TraceState:
    if not state.questions or not state.questions[-1].steps:
        return state
    ids, reason = _wanted(event.arguments)
    use = ToolUse(call=event.call, name=event.name, arguments=event.arguments, reason=reason)
    state = _step(state, tools=(*state.questions[-1].steps[-1].tools, use))
    if event.name == "expand_section":
        for ref in ids:
            if ref in state.sections or len(ids) <= 8:
                state = _section(state, ref, opening=True)
    return state


def _tool_returned(state: TraceState, event: ev.ToolReturned) -> TraceState:
    state = _tool(state, event.call, message=event.message, tokens=event.tokens, error=event.error, ms=event.ms)
    if event.name != "expand_section":
        return state
    return _nothing_opening(state)


def _nothing_opening(state: TraceState) -> TraceState:
    if not any(item.opening for item in state.sections.values()):
        return state
    kept = {
        ref: replace(item, opening=False)
        for ref, item in state.sections.items()
        if not item.opening or item != SectionState(id=ref, opening=True)
    }
    return replace(state, sections=kept)


def _section_opened(state: TraceState, event: ev.SectionOpened) -> TraceState:
    before = state.section(event.id)
    by_user = event.by == "user"
    state = _section(
        state,
        event.id,
        path=event.path,
        opening=False,
        was_open=True,
        open_user=before.open_user or by_user,
        open_agent=before.open_agent or not by_user,
        complete=before.complete or (event.complete and not by_user),
        tokens=before.tokens + (0 if by_user else event.tokens),
        reason=event.reason or before.reason,
        by=event.by,
        step=event.step,
        first_line=event.first_line,
        last_line=event.last_line,
    )
    use = _current_tool(state, event.call) if event.call else None
    return state if use is None else _tool(state, event.call, opened=(*use.opened, event))


def _section_refused(state: TraceState, event: ev.SectionRefused) -> TraceState:
    use = _current_tool(state, event.call)
    return state if use is None else _tool(state, event.call, refused=(*use.refused, event))


def _section_judged(state: TraceState, event: ev.SectionJudged) -> TraceState:
    state = _section(state, event.id, helpful=event.helpful)
    steps = state.questions[-1].steps if state.questions else ()
    if not steps or not steps[-1].tools:
        return state
    last = steps[-1].tools[-1]
    return _tool(state, last.call, judged=(*last.judged, event))


def _section_closed(state: TraceState, event: ev.SectionClosed) -> TraceState:
    if event.by == "user":
        return _section(state, event.id, open_user=False)
    return _section(state, event.id, open_agent=False)


def _section_pinned(state: TraceState, event: ev.SectionPinned) -> TraceState:
    return _section(state, event.id, pinned=event.pinned)


def _searched(state: TraceState, event: ev.Searched) -> TraceState:
    for hit in event.hits:
        state = _section(state, hit.id, path=hit.path, found=state.section(hit.id).found + 1)
    return _tool(state, event.call, query=event.query, hits=event.hits) if event.call else state


def _children_listed(state: TraceState, event: ev.ChildrenListed) -> TraceState:
    return _tool(state, event.call, listed=event.count)


def _input_requested(state: TraceState, event: ev.InputRequested) -> TraceState:
    pending = PendingInput(request=event.request, question=event.question, options=event.options)
    return replace(_tool(state, event.call, question=event.question), pending=pending)


def _input_given(state: TraceState, event: ev.InputGiven) -> TraceState:
    steps = state.questions[-1].steps if state.questions else ()
    if steps and steps[-1].tools:
        asked = [item for item in steps[-1].tools if item.question and not item.reply]
        if asked:
            state = _tool(state, asked[-1].call, reply=event.answer or event.refused)
    return replace(state, pending=None)


def _citation_checked(state: TraceState, event: ev.CitationChecked) -> TraceState:
    if event.citation.holds:
        state = _section(state, event.citation.id, cited=True)
    if not state.questions:
        return state
    return _question(state, citations=(*state.questions[-1].citations, event.citation))


def _warned(state: TraceState, event: ev.Warned) -> TraceState:
    return replace(state, warnings=(*state.warnings, event))


def _ended(state: TraceState, **changes: Any) -> TraceState:
    return replace(_nothing_opening(_question(state, **changes)), pending=None)


def _answered(state: TraceState, event: ev.Answered) -> TraceState:
    return _ended(state, outcome="answered", answer=event.text, citations=event.citations, ms=event.ms)


def _not_found(state: TraceState, event: ev.NotFound) -> TraceState:
    return _ended(
        state,
        outcome="not_found",
        answer=event.text,
        tried=event.tried,
        missing=event.missing,
        suggestions=event.suggestions,
        ms=event.ms,
    )


def _limit_reached(state: TraceState, event: ev.LimitReached) -> TraceState:
    return _ended(
        state,
        outcome="limit",
        answer=event.text,
        citations=event.citations,
        limit=event.limit,
        missing=event.missing,
        ms=event.ms,
    )


def _failed(state: TraceState, event: ev.Failed) -> TraceState:
    return _ended(state, outcome="failed", answer=event.text, error=event.message, hint=event.hint, ms=event.ms)


def _cancelled(state: TraceState, event: ev.Cancelled) -> TraceState:
    return _ended(state, outcome="cancelled", answer=event.text, ms=event.ms)


_REDUCERS: dict[type[ev.Event], Any] = {
    ev.RunStarted: _run_started,
    ev.QuestionAsked: _question_asked,
    ev.ContextBuilt: _context_built,
    ev.BudgetChanged: _budget_changed,
    ev.MessageRecorded: _message_recorded,
    ev.ModelRequested: _model_requested,
    ev.RetryScheduled: _retry_scheduled,
    ev.TextDelta: _text_delta,
    ev.ReasoningDelta: _reasoning_delta,
    ev.ModelAnswered: _model_answered,
    ev.ToolCalled: _tool_called,
    ev.ToolReturned: _tool_returned,
    ev.SectionOpened: _section_opened,
    ev.SectionRefused: _section_refused,
    ev.SectionJudged: _section_judged,
    ev.SectionClosed: _section_closed,
    ev.SectionPinned: _section_pinned,
    ev.Searched: _searched,
    ev.ChildrenListed: _children_listed,
    ev.InputRequested: _input_requested,
    ev.InputGiven: _input_given,
    ev.CitationChecked: _citation_checked,
    ev.Warned: _warned,
    ev.Answered: _answered,
    ev.NotFound: _not_found,
    ev.LimitReached: _limit_reached,
    ev.Failed: _failed,
    ev.Cancelled: _cancelled,
}
