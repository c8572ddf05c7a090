"""Events as lines: the steps for standard error, the ending for standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from roamtui import events as ev
from roamtui.agent.answer import as_markdown
from roamtui.errors import ExitCode
from roamtui.trace.state import TraceState

LIMITS = {
    "steps": "the number of steps",
    "seconds": "the time",
    "tokens": "the tokens it may read",
    "repeats": "repeating itself",
    "window": "the model's context window",
    "length": "the length of an answer",
}
"""What ran out, by `LimitReached.limit`."""

EXIT_CODES: dict[type[ev.Event], ExitCode] = {
    ev.Answered: ExitCode.DONE,
    ev.NotFound: ExitCode.NOT_FOUND,
    ev.LimitReached: ExitCode.LIMIT,
    ev.Failed: ExitCode.FAILED,
    ev.Cancelled: ExitCode.CANCELLED,
}
"""Exit code of `ask` by ending."""


def step_lines(event: ev.Event) -> Iterator[str]:
    """Yield the lines that tell of one event as it happens; none for most."""
    yield from _about_step(event)
    match event:
        case ev.RunStarted():
            names = ", ".join(item.name for item in event.documents)
            sections = sum(item.sections for item in event.documents)
            model = "guide (no model)" if event.maker == "guide" else event.model
            yield f"{names} · {_count(sections, 'section')} · {model}"
        case ev.ContextBuilt(whole=True):
            yield f"the document is small and is sent whole: {event.outline_tokens:,} tokens"
        case ev.ContextBuilt():
            folded = f", {event.folded:,} folded" if event.folded else ""
            yield f"outline: {event.outline_tokens:,} tokens, {_count(event.listed, 'section')} listed{folded}"
        case ev.Warned():
            yield f"note: {event.message}"
        case ev.Failed():
            yield f"roamtui: {event.message}" + (f" {event.hint}" if event.hint else "")
        case _:
            pass


def _about_step(event: ev.Event) -> Iterator[str]:
    match event:
        case ev.Searched():
            yield f"{event.step or ' '}  searches “{event.query}”: {_count(len(event.hits), 'hit')}"
        case ev.SectionOpened():
            yield f"{event.step or ' '}  opens {_place(event)}" + (f" — {event.reason}" if event.reason else "")
        case ev.SectionRefused():
            yield f"{event.step or ' '}  is refused {event.id}: {event.message}"
        case ev.ChildrenListed():
            where = " › ".join(event.path) or "the whole document"
            yield f"{event.step or ' '}  lists {_count(event.count, 'section')} below {where}"
        case ev.InputRequested():
            yield f"{event.step or ' '}  asks you: {event.question}"
        case ev.InputGiven(refused=str(reason)) if reason:
            yield f"   gets no reply: {reason}"
        case ev.RetryScheduled():
            yield f"{event.step or ' '}  tries again in {event.wait:.1f} s: {event.message}"
        case _:
            pass


def summary(state: TraceState) -> str:
    """Return one line about the last question: how it ended and what it took."""
    question = state.questions[-1]
    totals = state.totals
    parts = [question.outcome.replace("_", " "), _count(len(question.steps), "step"), f"{question.ms / 1000:.1f} s"]
    if totals.input or totals.output:
        parts.append(f"{totals.input:,} tokens in, {totals.output:,} out")
    if totals.cached_calls:
        parts.append(f"{totals.cached_calls} of {totals.calls} calls from the cache")
    if totals.cost:
        parts.append(f"${totals.cost:.4f}" + (" at least" if totals.unpriced else ""))
    return " · ".join(parts)


def ending_text(event: ev.Event, is_known: Callable[[str], bool]) -> str:
    """Return what standard output gets at the end of a run: the answer, or what stands in its place."""
    match event:
        case ev.Answered():
            return as_markdown(event.text, event.citations, is_known)
        case ev.LimitReached():
            text = as_markdown(event.text, event.citations, is_known)
            cut = (
                f"Not finished: {LIMITS[event.limit]} ran out." if event.limit != "repeats" else "Not finished: stuck."
            )
            return "\n\n".join(part for part in (text, cut, _missing(event.missing)) if part)
        case ev.NotFound():
            return "\n\n".join(part for part in _not_found(event, is_known) if part)
        case ev.Failed() | ev.Cancelled():
            return as_markdown(event.text, (), is_known)
        case _:
            raise TypeError(f"{type(event).__name__} is no ending")


def _not_found(event: ev.NotFound, is_known: Callable[[str], bool]) -> Iterator[str]:
    yield "Not in this document."
    yield as_markdown(event.text, (), is_known)
    yield f"Tried: {event.tried}" if event.tried else ""
    yield _missing(event.missing)
    if event.suggestions:
        yield "It can answer:\n" + "\n".join(f"- {item}" for item in event.suggestions)


def _missing(text: str) -> str:
    return f"Missing: {text}" if text else ""


def _place(event: ev.SectionOpened) -> str:
    lines = f"L{event.first_line}–{event.last_line}"
    part = f", part {event.part} of {event.parts}" if event.parts > 1 else ""
    return f"{' › '.join(event.path)} · {lines}{part}, {event.tokens:,} tokens"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
