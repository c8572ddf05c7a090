"""What the model has in view, and what it was ever shown: which sections, which parts, by which call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from roamtui import events as ev


@dataclass(slots=True)
class OpenSection:
    """A section of which the model has something in view."""

    ref: str
    parts: int
    """Parts its own text comes in."""
    calls: dict[int, str] = field(default_factory=dict)
    """Parts in view, each with the tool call that delivered it."""

    @property
    def delivered(self) -> frozenset[int]:
        """Parts that are in view."""
        return frozenset(self.calls)

    @property
    def complete(self) -> bool:
        """Whether all of its own text is in view."""
        return len(self.calls) >= self.parts


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a section that a tool call delivered."""

    call: str
    first_line: int
    last_line: int


@dataclass(slots=True)
class Memory:
    """The sections in the model's view, by id, in the order they were opened."""

    open: dict[str, OpenSection] = field(default_factory=dict)
    shown: dict[str, list[Shown]] = field(default_factory=dict)
    """Everything the model ever read, also what was closed since: quotes of it are still true."""

    def has(self, ref: str, part: int = 1) -> bool:
        """Tell whether this part of the section is in view."""
        section = self.open.get(ref)
        return section is not None and part in section.calls

    def complete(self) -> frozenset[str]:
        """Return the sections whose own text is in view in full."""
        return frozenset(ref for ref, section in self.open.items() if section.complete)

    def was_shown(self, ref: str, first_line: int = 0, last_line: int = 0) -> bool:
        """Tell whether the model ever read the section, or these lines of it."""
        found = self.shown.get(ref, ())
        if not first_line:
            return bool(found)
        return all(any(item.first_line <= line <= item.last_line for item in found) for line in (first_line, last_line))

    def take(self, event: ev.SectionOpened) -> None:
        """Note a delivery to the model."""
        if event.by == "user":
            return
        section = self.open.setdefault(event.id, OpenSection(event.id, event.parts))
        section.calls[event.part] = event.call
        self.shown.setdefault(event.id, []).append(Shown(event.call, event.first_line, event.last_line))

    def close_call(self, call: str) -> list[str]:
        """Take out of view what one tool call delivered; return the ids concerned."""
        touched: list[str] = []
        for ref, section in list(self.open.items()):
            parts = [part for part, known in section.calls.items() if known == call]
            for part in parts:
                del section.calls[part]
            if parts:
                touched.append(ref)
            if not section.calls:
                del self.open[ref]
        return touched

    def forget_call(self, call: str) -> list[str]:
        """Undo a delivery the model never got to read; return the ids concerned."""
        for ref in list(self.shown):
            self.shown[ref] = [item for item in self.shown[ref] if item.call != call]
            if not self.shown[ref]:
                del self.shown[ref]
        return self.close_call(call)

    def close(self, refs: Iterable[str]) -> None:
        """Take sections out of view."""
        for ref in refs:
            self.open.pop(ref, None)
