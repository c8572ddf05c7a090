"""What the model has in view: which sections were delivered, in which turn, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from roamtui import events as ev


@dataclass(frozen=True, slots=True)
class OpenSection:
    """A section of which the model has read something in this conversation."""

    ref: str
    parts: int
    """Parts its own text comes in."""
    delivered: frozenset[int]
    """Parts that are in view."""
    tokens: int
    """Tokens of what is in view."""
    call: str
    """Id of the tool call that delivered it last."""

    @property
    def complete(self) -> bool:
        """Whether all of its own text is in view."""
        return len(self.delivered) >= self.parts


@dataclass(slots=True)
class Memory:
    """The sections in the model's view, by id, in the order they were opened."""

    open: dict[str, OpenSection] = field(default_factory=dict)

    def has(self, ref: str, part: int = 1) -> bool:
        """Tell whether this part of the section is in view."""
        section = self.open.get(ref)
        return section is not None and part in section.delivered

    def complete(self) -> frozenset[str]:
        """Return the sections whose own text is in view in full."""
        return frozenset(ref for ref, section in self.open.items() if section.complete)

    def take(self, event: ev.SectionOpened) -> None:
        """Note a delivery to the model."""
        if event.by == "user":
            return
        before = self.open.get(event.id)
        if before is None:
            self.open[event.id] = OpenSection(event.id, event.parts, frozenset({event.part}), event.tokens, event.call)
            return
        self.open[event.id] = replace(
            before, delivered=before.delivered | {event.part}, tokens=before.tokens + event.tokens, call=event.call
        )

    def close_call(self, call: str) -> list[str]:
        """Forget what one tool call delivered; return the ids that are no longer in view."""
        gone = [ref for ref, section in self.open.items() if section.call == call]
        for ref in gone:
            del self.open[ref]
        return gone

    def close(self, refs: Iterable[str]) -> None:
        """Forget sections."""
        for ref in refs:
            self.open.pop(ref, None)
