"""Find in the document: on a thread, all documents of the library, with the matches marked everywhere."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from textual.timer import Timer

from roamtui.document.model import Document, Library
from roamtui.tui.reading import Reading, Spot

if TYPE_CHECKING:
    from roamtui.search.find import Mode
    from roamtui.tui.screens.main import MainScreen

_PAUSE = 0.06
"""Seconds after a key before a search starts; typing on replaces it."""
_LIMIT = 10_000
"""Matches per document."""
_TIMEOUT = 1.0
"""Seconds per document; it runs on a thread of its own."""


class Wanted(NamedTuple):
    """What is looked for."""

    pattern: str
    mode: Mode
    case: bool


class Found(NamedTuple):
    """What a search found, over all documents."""

    wanted: Wanted
    spans: list[tuple[Document, list[tuple[int, int]]]]
    complete: bool
    error: str

    @property
    def total(self) -> int:
        """Number of matches."""
        return sum(len(spans) for _, spans in self.spans)


def find_everywhere(library: Library, wanted: Wanted) -> Found:
    """Find in every document. Blocks; meant for a thread."""
    from roamtui.search.find import find_all, has_upper

    spans: list[tuple[Document, list[tuple[int, int]]]] = []
    complete, error = True, ""
    case = wanted.case or (wanted.mode == "literal" and has_upper(wanted.pattern))
    for document in library.documents:
        matches = find_all(document, wanted.pattern, mode=wanted.mode, case=case, limit=_LIMIT, timeout=_TIMEOUT)
        spans.append((document, matches.spans))
        complete = complete and matches.complete
        error = error or matches.error
    return Found(wanted, spans, complete, error)


class Finding:
    """Matches of what was typed, and the one stood on."""

    def __init__(self, screen: MainScreen, reading: Reading) -> None:
        self._screen = screen
        self._reading = reading
        self._found: Found | None = None
        self._current = -1
        self._timer: Timer | None = None
        self.searches = 0
        """How many searches ended; a counter for tests."""

    def changed(self, wanted: Wanted, run: Callable[[Callable[[], Found]], None]) -> None:
        """Look for something soon; `run` runs a search on a thread and brings what it found to `show`."""
        if self._timer is not None:
            self._timer.stop()
        library = self._reading.library
        if library is None:
            return
        if not wanted.pattern:
            self.show(Found(wanted, [], complete=True, error=""))
            return
        self._timer = self._screen.set_timer(_PAUSE, lambda: run(lambda: find_everywhere(library, wanted)))

    def show(self, found: Found) -> None:
        """Mark what was found and go to the first match from here on."""
        self.searches += 1
        self._found, self._current = found, -1
        for document, spans in self._all_documents(found):
            self._screen.sections.set_find(document, spans)
            self._screen.outline.show_hits(document, spans)
        if found.error:
            self._screen.find_bar.show_error(found.error)
            return
        self._screen.find_bar.show_count(0, found.total, complete=found.complete)
        if found.total:
            self._go(self._from_here(found), remember=False)

    def _all_documents(self, found: Found) -> list[tuple[Document, list[tuple[int, int]]]]:
        if found.spans:
            return found.spans
        return [(document, []) for document in (self._reading.library.documents if self._reading.library else ())]

    def _from_here(self, found: Found) -> int:
        """Return the number of the first match at or behind the section one is in."""
        library, ref = self._reading.library, self._reading.current
        place = library.find(ref) if library is not None and ref else None
        before = 0
        for document, spans in found.spans:
            if place is not None and document is place.document:
                at = before + bisect_left(spans, (place.section.start, 0))
                return at if at < found.total else 0
            before += len(spans)
        return 0

    def move(self, by: int) -> None:
        """Go to the next or previous match, around the ends."""
        if self._found is None or not self._found.total:
            self._screen.say("Nothing to go to: / finds words in the document.")
            return
        if self._current < 0:
            for document, spans in self._found.spans:
                self._screen.sections.set_find(document, spans)
                self._screen.outline.show_hits(document, spans)
        self._go((self._current + by) % self._found.total)

    def _go(self, number: int, *, remember: bool = True) -> None:
        found = self._found
        if found is None or self._reading.library is None:
            return
        left = number
        for document, spans in found.spans:
            if left >= len(spans):
                left -= len(spans)
                self._screen.sections.set_find(document, spans)
                continue
            section = document.at_offset(spans[left][0])
            if section is None:
                return
            ref = self._reading.library.ref(document, section)
            self._current = number
            self._reading.bring(Spot(ref, document.line_of(spans[left][0])), remember=remember)
            self._screen.sections.set_find(document, spans, left)
            self._screen.sections.go_to_span(document, spans[left][0])
            self._screen.find_bar.show_count(number + 1, found.total, complete=found.complete)
            return

    def close(self) -> None:
        """Take the marks away; n and N bring them back."""
        self._current = -1
        for document in self._reading.library.documents if self._reading.library is not None else ():
            self._screen.sections.set_find(document, [])
            self._screen.outline.show_hits(document, [])
