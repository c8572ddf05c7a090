"""Markdown into sections: byte ranges of the source, never rebuilt text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from roamtui.document.ids import plain_title, section_ids
from roamtui.document.model import Document, Origin, Section, SectionKind
from roamtui.document.plain import cut_plain
from roamtui.document.scan import Mark, scan
from roamtui.document.titles import atx_title, heading_title

Progress = Callable[[int, int], None]
"""Called with bytes done and sections found so far."""

_TITLE_LENGTH = 1_000
"""Characters kept of a title; ids are made of all of it."""
Item = TypeVar("Item")

_PREAMBLE = Mark(0, 0, 0, 0)
_FRONT_MATTER = re.compile(rb"\A---[ \t]*(?:\r\n|\r|\n)(?![ \t]*[\r\n])")
_FRONT_MATTER_END = re.compile(rb"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")


def parse_markdown(source: bytes, *, name: str, origin: Origin, progress: Progress | None = None) -> Document:
    """Return the document in `source`: UTF-8 (invalid bytes allowed), byte order mark already off.

    Headings are those of markdown-it-py (CommonMark with tables) at the top level, after front matter. Text
    without headings is cut into numbered parts.
    """
    metadata_end = front_matter_end(source)
    marks = scan(source, metadata_end, progress)
    sections = _heading_sections(source, name, marks, progress) if marks else part_sections(source, metadata_end)
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


def _heading_sections(source: bytes, name: str, marks: list[Mark], progress: Progress | None) -> list[Section]:
    if marks[0].start > 0:
        marks = [_PREAMBLE, *marks]
    if progress is None:
        alive: Callable[[], None] = _nothing
    else:
        alive = partial(progress, len(source), len(marks))
    parents, lasts = _tree([mark.level for mark in marks])
    titles = [_title(source, name, mark) for mark in _reported(marks, alive)]
    ids = list(_reported(section_ids(titles, parents), alive))
    starts = [mark.start for mark in marks]
    starts.append(len(source))
    depths: list[int] = []
    sections: list[Section] = []
    kind: SectionKind = "preamble" if marks[0] is _PREAMBLE else "heading"
    for index, (start, body, level, _) in enumerate(_reported(marks, alive)):
        parent, last = parents[index], lasts[index]
        depths.append(0 if parent < 0 else depths[parent] + 1)
        title = titles[index] if len(titles[index]) <= _TITLE_LENGTH else titles[index][:_TITLE_LENGTH] + "…"
        own_end, end = starts[index + 1], starts[last + 1]
        sections.append(
            Section(index, ids[index], level, title, start, body, own_end, end, parent, depths[index], last, kind)
        )
        kind = "heading"
    return sections


def _reported(items: Iterable[Item], alive: Callable[[], None]) -> Iterator[Item]:
    """Yield the items, and tell now and then that the work goes on."""
    for number, item in enumerate(items):
        if not number % 512:
            alive()
        yield item


def _nothing() -> None:
    """Tell nobody."""


def _title(source: bytes, name: str, mark: Mark) -> str:
    if mark.level == 0:
        return plain_title(name)
    if not mark.underline:
        return atx_title(source[mark.start : mark.body].decode("utf-8", "replace"), mark.level)
    lines = source[mark.start : mark.underline].decode("utf-8", "replace")
    return heading_title(lines.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n"))


def _tree(levels: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return every section's parent (-1: the root) and the last section below it, by heading levels.

    The parent is the nearest section before it with a smaller level; levels may jump. Level 0, the preamble,
    is nobody's parent.
    """
    parents: list[int] = []
    lasts = list(range(len(levels)))
    above: list[int] = []
    for index, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            lasts[above.pop()] = index - 1
        parents.append(above[-1] if above else -1)
        if level:
            above.append(index)
    for index in above:
        lasts[index] = len(levels) - 1
    return parents, lasts


def part_sections(source: bytes, metadata_end: int) -> list[Section]:
    """Return numbered parts for a text without headings; front matter belongs to the first."""
    if not source:
        return []
    starts = [0, *list(cut_plain(source, metadata_end))[1:]]
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
