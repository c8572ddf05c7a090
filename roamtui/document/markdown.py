"""Markdown into sections: byte ranges of the source, never rebuilt text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from roamtui.document.judge import judge
from roamtui.document.model import Document, Origin, Section, SectionKind, plain_title, section_ids
from roamtui.document.plain import cut_plain
from roamtui.document.titles import heading_title

Progress = Callable[[int, int], None]
"""Called with bytes done and sections found so far."""

_FRONT_MATTER = re.compile(
    rb"\A---[ \t]*(?:\r\n|\r|\n)(?![ \t]*(?:\r|\n))(?:(?!(?:---|\.\.\.)[ \t]*(?:[\r\n]|\Z))[^\r\n]*(?:\r\n|\r|\n))*"
    rb"(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)"
)
_LINE_END = re.compile(rb"\r\n|\r|\n")


def parse_markdown(source: bytes, *, name: str, origin: Origin, progress: Progress | None = None) -> Document:
    """Return the document in `source`: UTF-8 (invalid bytes allowed), byte order mark already off."""
    metadata_end = front_matter_end(source)
    starts = [metadata_end]
    starts.extend(match.end() for match in _LINE_END.finditer(source, metadata_end))
    if starts[-1] != len(source):
        starts.append(len(source))
    last = len(starts) - 1
    marks = [
        (starts[item.line], starts[min(item.end, last)], item.level, heading_title(item.content))
        for item in judge(source[metadata_end:].decode("utf-8", "replace"))
    ]
    sections = build_sections(source, name, marks) if marks else part_sections(source, metadata_end)
    if progress is not None:
        progress(len(source), len(sections))
    return Document(name=name, source=source, sections=sections, origin=origin, metadata_end=metadata_end)


def front_matter_end(source: bytes) -> int:
    """Return the byte after the front matter: `---`, lines, `---` or `...`; 0 where there is none."""
    match = _FRONT_MATTER.match(source)
    return match.end() if match else 0


def build_sections(source: bytes, name: str, marks: Sequence[tuple[int, int, int, str]]) -> list[Section]:
    """Return the sections for headings given as (start, body, level, title), in order."""
    size = len(source)
    kinds: list[SectionKind] = ["heading"] * len(marks)
    marks = list(marks)
    if marks and marks[0][0] > 0:
        marks.insert(0, (0, 0, 0, plain_title(name)))
        kinds.insert(0, "preamble")
    count = len(marks)
    parents = [-1] * count
    depths = [0] * count
    lasts = list(range(count))
    paths: list[tuple[str, ...]] = []
    open_: list[int] = []
    for index, (_, _, level, title) in enumerate(marks):
        while open_ and marks[open_[-1]][2] >= level:
            lasts[open_.pop()] = index - 1
        if open_:
            parents[index] = open_[-1]
            depths[index] = len(open_)
            paths.append((*paths[open_[-1]], title))
        else:
            paths.append((title,))
        if kinds[index] == "heading":
            open_.append(index)
    for index in open_:
        lasts[index] = count - 1
    ids = section_ids(paths)
    sections: list[Section] = []
    for index, (start, body, level, title) in enumerate(marks):
        own_end = marks[index + 1][0] if index + 1 < count else size
        end = marks[lasts[index] + 1][0] if lasts[index] + 1 < count else size
        sections.append(
            Section(
                index=index,
                id=ids[index],
                level=level,
                title=title,
                start=start,
                body=body,
                own_end=own_end,
                end=end,
                parent=parents[index],
                depth=depths[index],
                last=lasts[index],
                kind=kinds[index],
            )
        )
    return sections


def part_sections(source: bytes, metadata_end: int) -> list[Section]:
    """Return numbered parts for a text without headings; front matter belongs to the first."""
    starts = list(cut_plain(source, metadata_end))
    if not starts:
        return []
    starts[0] = 0
    marks = [(start, start, 0, f"Part {number}") for number, start in enumerate(starts, 1)]
    ids = section_ids([(title,) for _, _, _, title in marks])
    ends = [*starts[1:], len(source)]
    return [
        Section(
            index=index,
            id=ids[index],
            level=0,
            title=title,
            start=start,
            body=start,
            own_end=ends[index],
            end=ends[index],
            parent=-1,
            depth=0,
            last=index,
            kind="part",
        )
        for index, (start, _, _, title) in enumerate(marks)
    ]
