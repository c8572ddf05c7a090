"""Markdown into sections: byte ranges of the source, never rebuilt text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

from roamtui.document.ids import plain_title, section_ids
from roamtui.document.model import Document, Origin, Section, SectionKind
from roamtui.document.plain import cut_plain
from roamtui.document.scan import Marks, scan
from roamtui.document.titles import atx_title, heading_title

Progress = Callable[[int, int], None]
"""Called with bytes done and sections found so far."""

_TITLE_LENGTH = 1_000
"""Characters kept of a title; ids are made of all of it."""
_OFTEN = 512
"""Sections made between two reports of progress."""
_SOME_PARTS = 64
"""Parts of a plain text cut between two reports of progress."""
Item = TypeVar("Item")

_FRONT_MATTER = re.compile(rb"\A---[ \t]*(?:\r\n|\r|\n)(?![ \t]*[\r\n])")
_FRONT_MATTER_END = re.compile(rb"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")


def parse_markdown(source: bytes, *, name: str, origin: Origin, progress: Progress | None = None) -> Document:
    """Return the document in `source`: UTF-8 (invalid bytes allowed), byte order mark already off.

    Headings are those of markdown-it-py (CommonMark with tables) at the top level, after front matter. Text
    without headings is cut into numbered parts.
    """
    metadata_end = front_matter_end(source)
    marks = scan(source, metadata_end, progress)
    sections = (
        _heading_sections(source, name, marks, progress) if marks else part_sections(source, metadata_end, progress)
    )
    if progress is not None:
        progress(len(source), len(sections))
    return Document(name=name, source=source, sections=sections, origin=origin, metadata_end=metadata_end)


def front_matter_end(source: bytes) -> int:
    """Return the byte after the front matter; 0 where there is none.

    Front matter is `---` in the first line, lines of which the first is not blank, and `---` or `...`. (A blank
    one makes the first line a rule of Markdown, as in Pandoc: nothing of such a document may be lost.)
    """
    opening = _FRONT_MATTER.match(source)
    closing = _FRONT_MATTER_END.search(source, opening.end()) if opening else None
    return closing.end() if closing else 0


def _heading_sections(source: bytes, name: str, marks: Marks, progress: Progress | None) -> list[Section]:
    kind: SectionKind = "heading"
    if marks.starts[0] > 0:
        kind = "preamble"
        marks.add_preamble()
    alive = _alive(progress, len(source), len(marks))
    parents, lasts = _tree(_reported(marks.levels, alive))
    titles = list(_titles(source, name, marks, alive))
    starts = list(marks.starts)
    starts.append(len(source))
    depths: list[int] = []
    sections: list[Section] = []
    for index, section_id in enumerate(section_ids(titles, parents)):
        if not index % _OFTEN:
            alive()
        parent, last = parents[index], lasts[index]
        depths.append(0 if parent < 0 else depths[parent] + 1)
        title = titles[index] if len(titles[index]) <= _TITLE_LENGTH else titles[index][:_TITLE_LENGTH] + "…"
        start, own_end, end = starts[index], starts[index + 1], starts[last + 1]
        sections.append(
            Section(
                index,
                section_id,
                marks.levels[index],
                title,
                start,
                marks.bodies[index],
                own_end,
                end,
                parent,
                depths[index],
                last,
                kind,
            )
        )
        kind = "heading"
    return sections


def _alive(progress: Progress | None, size: int, found: int) -> Callable[[], None]:
    """Return a function that tells that the work goes on, after all bytes were looked at."""
    return _nothing if progress is None else partial(progress, size, found)


def _nothing() -> None:
    """Tell nobody."""


def _reported(items: Iterable[Item], alive: Callable[[], None]) -> Iterator[Item]:
    """Yield the items, and tell now and then that the work goes on."""
    for number, item in enumerate(items):
        if not number % _OFTEN:
            alive()
        yield item


def _titles(source: bytes, name: str, marks: Marks, alive: Callable[[], None]) -> Iterator[str]:
    rows = zip(marks.starts, marks.bodies, marks.levels, marks.underlines, strict=True)
    for start, body, level, underline in _reported(rows, alive):
        if level == 0:
            yield plain_title(name)
        elif not underline:
            yield atx_title(source[start:body].decode("utf-8", "replace"), level)
        else:
            lines = source[start:underline].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
            yield heading_title(lines.strip(" \t\n"))


def _tree(levels: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return every section's parent (-1: the root) and the last section below it, by heading levels.

    The parent is the nearest section before it with a smaller level; levels may jump. Level 0, the preamble,
    is nobody's parent.
    """
    parents: list[int] = []
    lasts: list[int] = []
    above: list[tuple[int, int]] = []
    for index, level in enumerate(levels):
        while above and above[-1][0] >= level:
            lasts[above.pop()[1]] = index - 1
        parents.append(above[-1][1] if above else -1)
        lasts.append(index)
        if level:
            above.append((level, index))
    for _, index in above:
        lasts[index] = len(lasts) - 1
    return parents, lasts


def part_sections(source: bytes, metadata_end: int, progress: Progress | None = None) -> list[Section]:
    """Return numbered parts for a text without headings; front matter belongs to the first."""
    if not source:
        return []
    starts = [0]
    for start in islice(cut_plain(source, metadata_end), 1, None):
        starts.append(start)
        if progress is not None and not len(starts) % _SOME_PARTS:
            progress(start, len(starts))
    titles = [f"Part {number}" for number in range(1, len(starts) + 1)]
    ids = list(section_ids(titles, [-1] * len(titles)))
    starts.append(len(source))
    return [
        Section(
            index,
            ids[index],
            0,
            title,
            starts[index],
            starts[index],
            starts[index + 1],
            starts[index + 1],
            -1,
            0,
            index,
            "part",
        )
        for index, title in enumerate(titles)
    ]
