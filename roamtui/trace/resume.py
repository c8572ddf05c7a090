"""From a trace back to where its session stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from roamtui import events as ev
from roamtui.trace.read import Trace
from roamtui.trace.reducer import reduce
from roamtui.trace.state import TraceState


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
    hashes: list[str] = []
    deliveries: list[ev.SectionOpened] = []
    for event in trace.events:
        match event:
            case ev.ModelRequested():
                hashes = list(event.messages)
            case ev.ModelAnswered() | ev.ToolReturned():
                hashes.append(event.message)
            case ev.SectionOpened() if event.by != "user":
                deliveries.append(event)
            case ev.SectionClosed() if event.by != "user":
                deliveries = [item for item in deliveries if item.id != event.id]
            case _:
                pass
    said = [state.messages[item] for item in hashes if item in state.messages]
    return Past(state, tuple(item for item in said if item["role"] != "system"), tuple(deliveries))
