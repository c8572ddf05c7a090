"""Text without headings: numbered parts, cut at paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator

PART_BYTES = 3_000
"""Aimed size of a part, about 3,000 characters of Latin script."""

_BLANK = re.compile(rb"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_LINE_END = re.compile(rb"\r\n|\r|\n")


def cut_plain(source: bytes, start: int = 0) -> Iterator[int]:
    """Yield the first byte of every part of `source[start:]`.

    A part ends at the last paragraph end within the aimed size, else at the next one; a paragraph of more
    than twice the size is cut at lines. A single line is never cut, so that parts start at line starts.
    """
    end = len(source)
    while start < end:
        yield start
        if end - start <= PART_BYTES * 3 // 2:
            return
        start = _next_cut(source, start, end)


def _next_cut(source: bytes, start: int, end: int) -> int:
    low, aim, high = start + PART_BYTES // 2, start + PART_BYTES, start + PART_BYTES * 2
    found = 0
    for pattern in (_BLANK, _LINE_END):
        for match in pattern.finditer(source, low, min(end, high)):
            if found and match.end() > aim:
                break
            found = match.end()
        if found:
            return found if found < end else end
    line_end = _LINE_END.search(source, min(end, high))
    return end if line_end is None else line_end.end()
