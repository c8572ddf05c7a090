"""Choosing what of a tree gets a line within a budget, and how long its previews are.

Sections are listed in a fixed order that does not depend on the budget: what lies directly below the top, then the
children of the largest section listed so far, and so on. A budget takes the first n of that order, so that a larger
one never lists less. The rest goes to previews, all of one width, and to words of what was left out.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from roamtui.document.lines import (
    PREVIEW_CELLS,
    Marker,
    fold_line,
    label,
    opening,
    plain,
    says_little,
    section_line,
    unmarked,
)
from roamtui.document.model import Document, Library, Section
from roamtui.estimate import UNITS_PER_TOKEN, token_units
from roamtui.text import clip, for_model, hidden_count, preview, width

DOCUMENTS = "documents"
"""What fold lines for documents name in place of a section's id."""

_SOME_LINES, _ALL_LINES, _FULL_LINES, _FOLDS = 55, 75, 80, 20
"""Percent of the budget: for lines when some sections stay unlisted; for lines when none does; for lines with full
previews when some stay unlisted; for the words of folded runs."""
_WIDTHS = (PREVIEW_CELLS, 90, 80, 70, 60, 50, 40, 32, 24)
"""Widths of previews that are tried, in cells."""
_FOLD_WIDTHS = (600, 400, 280, 200, 140, 100, 60, 30, 0)
"""Widths of the words of a folded run that are tried, in cells."""
_RUN = 40
"""Siblings that one fold line stands for, as long as `_MAX_RUNS` lines are enough."""
_MAX_RUNS = 6
"""Fold lines for one row of siblings."""
_LOOKED_AT = 600
"""Characters of opening words of which a preview is made: more than any width holds, hidden ones apart."""
_NAMES = 8
"""Children that the preview of a section whose children are not listed may name."""


_ROOM_FOR_NAMES = 20
"""Least width for the names of children beside opening words, in cells."""


class Branch(NamedTuple):
    """Siblings to be listed in order: all children of a section, or a run of them."""

    document: Document
    """The document they stand in."""
    parent: Section
    """The section above them."""
    children: Sequence[Section]
    """The siblings; a document's root alone, where several documents stand at the top."""
    first: int = 1
    """Number of the first one among all children of `parent`, from 1."""


@dataclass(frozen=True, slots=True)
class Abridged:
    """Lines within a budget, and what they leave out."""

    text: str
    """Lines joined by line feeds."""
    listed: int
    """Sections with a line of their own; lines of whole documents are not counted."""
    folded: int
    """Sections without."""
    hidden: int
    """Hidden characters taken out of what is shown."""


class _Entry(NamedTuple):
    """A section in the order of listing."""

    branch: Branch
    place: int
    """Its place in the branch, from 0."""
    document: Document
    section: Section
    line: str


def abridge(library: Library, tops: Sequence[Branch], budget: int, marker: Marker, *, ranges: bool) -> Abridged:
    """Return lines for what lies below `tops`, within `budget` tokens.

    `ranges` makes every fold line name the run it stands for, for listings that would otherwise point at themselves.
    """
    return _Abridging(library, tops, budget * UNITS_PER_TOKEN * 5 // 6, marker, ranges).run()


@dataclass
class _Abridging:
    library: Library
    tops: Sequence[Branch]
    room: int
    """Token units."""
    marker: Marker
    ranges: bool
    _openings: dict[tuple[int, int], str] = field(default_factory=dict)

    def run(self) -> Abridged:
        order = self._order_that_fits()
        count = self._count(order)
        chosen = order[:count]
        left = self.room - sum(token_units(item.line) for item in chosen)
        folds = self._folds(order[count], min(self.room * _FOLDS // 100, left)) if count < len(order) else []
        left -= sum(map(token_units, folds))
        last = chosen[-1] if chosen else None
        previews, hidden = self._previews(chosen, left)
        lines: list[str] = []
        for item, words in sorted(zip(chosen, previews, strict=True), key=lambda pair: self._rank(pair[0])):
            lines.append(item.line)
            if words:
                lines.append("    " + words)
            if item is last:
                lines.extend(folds)
        hidden += sum(hidden_count(item.section.title) for item in chosen)
        listed = sum(item.section.kind != "root" for item in chosen)
        return Abridged("\n".join(lines), listed, self._total - listed, hidden)

    @cached_property
    def _total(self) -> int:
        """Sections below the tops, at any depth."""
        return sum(
            child.last - child.index + (child.kind != "root") for branch in self.tops for child in branch.children
        )

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(document): position for position, document in enumerate(self.library.documents)}

    def _rank(self, item: _Entry) -> tuple[int, int]:
        return self._positions[id(item.document)], item.section.index

    # -- how many -----------------------------------------------------------------------------

    def _order(self) -> Iterator[tuple[Branch, int, Document, Section]]:
        """Yield every section in the order of listing: the tops, then the children of the largest one so far."""
        waiting: list[tuple[int, int, int, Document, Section]] = []
        branches = list(self.tops)
        while branches or waiting:
            if not branches:
                *_, document, section = heapq.heappop(waiting)
                branches.append(Branch(document, section, list(document.children(section))))
            for branch in branches:
                for place, section in enumerate(branch.children):
                    yield branch, place, branch.document, section
                for section in branch.children:
                    if section.has_children:
                        size = branch.document.tokens(section)
                        position = self._positions[id(branch.document)]
                        heapq.heappush(waiting, (-size, position, section.index, branch.document, section))
            branches = []

    def _order_that_fits(self) -> list[_Entry]:
        """Return the order up to the first line that is beyond the budget, that one included."""
        entries: list[_Entry] = []
        used = 0
        for branch, place, document, section in self._order():
            line = section_line(self.library, document, section, self.marker)
            entries.append(_Entry(branch, place, document, section, line))
            used += token_units(line)
            if used > self.room:
                break
        return entries

    def _count(self, order: Sequence[_Entry]) -> int:
        """Return how many sections get a line. More room never gives fewer."""
        lines = list(accumulate(token_units(item.line) for item in order))
        if not lines:
            return 0
        if lines[-1] <= self.room * _ALL_LINES // 100:
            return len(order)
        words = (token_units(preview(plain(self._opening(item)[:_LOOKED_AT]), PREVIEW_CELLS)) for item in order)
        full = [line + more for line, more in zip(lines, accumulate(words), strict=True)]
        some = bisect_right(lines, self.room * _SOME_LINES // 100)
        return max(1, some, bisect_right(full, self.room * _FULL_LINES // 100))

    # -- what stands for the rest -----------------------------------------------------------------

    def _folds(self, following: _Entry, room: int) -> list[str]:
        """Return the lines that stand for the rest of a row of siblings, of which `following` is the first."""
        branch, place = following.branch, following.place
        if following.section.kind == "root":
            return list(self._documents_fold(following.document, room))
        if place == 0:
            return []  # no sibling is listed: the line of the section above says how many there are
        rest = len(branch.children) - place
        for runs in range(min(_MAX_RUNS, -(-rest // _RUN)), 0, -1):
            cuts = [place + rest * number // runs for number in range(runs + 1)]
            for cells in _FOLD_WIDTHS:
                lines = [line for begin, end in pairwise(cuts) for line in self._fold(branch, begin, end, cells)]
                if sum(map(token_units, lines)) <= room and (cells >= 60 or runs == 1):
                    return lines
        return list(self._fold(branch, place, len(branch.children), 0))

    def _fold(self, branch: Branch, begin: int, end: int, cells: int) -> Iterator[str]:
        ref = self.library.ref(branch.document, branch.parent)
        if self.ranges or branch.first > 1 or len(branch.children) > _RUN:
            ref = f"{ref}:{branch.first + begin}-{branch.first + end - 1}"
        yield fold_line(end - begin, ref, self.marker)
        words = self._names_of_run(branch, begin, end, cells) if cells else ""
        if words:
            yield "    " + words

    def _documents_fold(self, following: Document, room: int) -> Iterator[str]:
        documents = [branch.document for branch in self.tops]
        rest = documents[next(place for place, item in enumerate(documents) if item is following) :]
        first, last = self._positions[id(rest[0])] + 1, self._positions[id(rest[-1])] + 1
        line = fold_line(len(rest), f"{DOCUMENTS}:{first}-{last}", self.marker)
        yield line
        names = "; ".join(plain(item.name) for item in rest[:_RUN])
        for cells in _FOLD_WIDTHS:
            words = self._marked(clip(names, cells))
            if words and token_units(line) + token_units(words) <= room:
                yield "    " + words
                return

    def _names_of_run(self, branch: Branch, begin: int, end: int, cells: int) -> str:
        """Name as many sections of a run as there is room for, evenly spread over it."""
        count = min(end - begin, max(1, cells // 8))
        while True:
            picked = [begin + (end - begin) * number // count for number in range(count)]
            words = "; ".join(label(branch.document, branch.children[place]) for place in picked)
            if width(words) <= cells or count == 1:
                return self._marked(clip(words, cells))
            count = min(count - 1, max(1, count * cells // width(words)))

    # -- previews -----------------------------------------------------------------------------------

    def _opening(self, item: _Entry) -> str:
        key = (id(item.document), item.section.index)
        if key not in self._openings:
            self._openings[key] = opening(item.document, item.section)
        return self._openings[key]

    def _previews(self, chosen: Sequence[_Entry], room: int) -> tuple[list[str], int]:
        """Return a preview for every entry and the hidden characters taken out: all of the greatest width that fits."""
        raw = [self._opening(item) for item in chosen]
        words = [plain(text[:_LOOKED_AT]) for text in raw]
        above = {(id(item.document), item.section.parent) for item in chosen}
        names = [
            self._names_below(item)
            if item.section.has_children and (id(item.document), item.section.index) not in above
            else ""
            for item in chosen
        ]
        previews: list[str] = []
        for cells in _WIDTHS:
            previews = [
                self._preview(item, text, below, cells) for item, text, below in zip(chosen, words, names, strict=True)
            ]
            if sum(map(token_units, previews)) <= room:
                break
        else:
            previews = _as_many_as_fit(previews, room)
        hidden = sum(_hidden_before(text, len(shown)) for text, shown in zip(raw, previews, strict=True) if shown)
        return previews, hidden

    def _preview(self, item: _Entry, words: str, names: str, cells: int) -> str:
        if names:
            cells = min(PREVIEW_CELLS, cells * 2)  # it stands for what is below it too
        elif says_little(item.section.title):
            cells = min(PREVIEW_CELLS, cells * 3 // 2)
        if not names:
            return self._marked(preview(words, cells))
        head = preview(words, cells // 2 if cells // 2 >= _ROOM_FOR_NAMES else cells)
        room = cells - width(head) - 3
        return self._marked(
            f"{head} ▸ {clip(names, room)}" if head and room >= _ROOM_FOR_NAMES else head or clip(names, cells)
        )

    def _names_below(self, item: _Entry) -> str:
        names: list[str] = []
        for child in item.document.children(item.section):
            if not says_little(child.title):
                names.append(clip(plain(child.title).replace(";", ","), 40))
            if len(names) == _NAMES:
                break
        return "; ".join(names)

    def _marked(self, text: str) -> str:
        return unmarked(text) if self.marker == "full" else text


def _as_many_as_fit(previews: Sequence[str], room: int) -> list[str]:
    """Keep previews in order for as long as there is room; the first that does not fit ends it."""
    kept: list[str] = []
    for words in previews:
        room -= token_units(words)
        if room < 0:
            break
        kept.append(words)
    return kept + [""] * (len(previews) - len(kept))


def _hidden_before(text: str, shown: int) -> int:
    """Count the hidden characters within the first `shown` visible ones (all after the last one of a short text)."""
    if not hidden_count(text):
        return 0
    count = 0
    for char in text:
        cleaned, hidden = for_model(char)
        count += hidden
        shown -= len(cleaned)
        if shown < 0:
            break
    return count
