"""From a trace back to where its session stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from roamtui import events as ev
from roamtui.trace.read import Trace
from roamtui.trace.reducer import reduce
from roamtui.trace.state import TraceState

NOT_FOUND = "(not found)"
"""What stands in the conversation for a give-up without words."""
BROKEN = "(No answer: the model call failed.)"
"""What stands there for a run that broke."""


@dataclass(frozen=True, slots=True)
class Past:
    """What a recorded session leaves to the one that goes on."""

    state: TraceState
    messages: tuple[dict[str, Any], ...]
    """The conversation at its end, without the system message."""
    deliveries: tuple[ev.SectionOpened, ...]
    """The openings that are still in the model's view, in order."""


def restore(trace: Trace) -> Past:
    """Return state, conversation and open sections at the end of a trace."""
    state = reduce(trace.events)
    asked: list[dict[str, Any]] = []
    said: list[dict[str, Any]] = []
    deliveries: list[ev.SectionOpened] = []

    def named(hashes: Iterable[str]) -> Iterator[dict[str, Any]]:
        return (state.messages[item] for item in hashes if "role" in state.messages.get(item, ()))

    for event in trace.events:
        match event:
            case ev.ModelRequested():
                asked = list(named(event.messages))
                said = list(asked)
            case ev.ModelAnswered() | ev.ToolReturned():
                said.extend(named([event.message]))
            case ev.NotFound():
                said.append({"role": "assistant", "content": event.text or event.missing or NOT_FOUND})
            case ev.LimitReached() if event.limit != "length" and asked:
                said = [*asked, {"role": "assistant", "content": event.text or BROKEN}]
            case ev.SectionOpened() if event.by != "user":
                deliveries.append(event)
            case ev.SectionClosed() if event.by != "user":
                deliveries = [item for item in deliveries if item.id != event.id]
            case _:
                pass
    kept = [item for item in said if item["role"] != "system" and (item.get("content") or item.get("tool_calls"))]
    return Past(state, tuple(kept), tuple(deliveries))
