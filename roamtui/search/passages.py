"""Sections cut into passages: short enough for fair length normalisation, whole paragraphs where possible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from roamtui.document.model import Document, Section

PASSAGE_BYTES = 800
"""Aimed size of a passage. 600, 1000 and 1500 found fewer gold sections first on the development questions."""
_LONGEST = 2 * PASSAGE_BYTES
_BLANK_LINE = re.compile(rb"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")


def passages(document: Document, section: Section) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of a section's passages, in order; together they are its own text.

    A section without own text has one empty passage, so that its title can be found.
    """
    start, end = section.body, section.own_end
    if end - start <= PASSAGE_BYTES * 3 // 2:
        yield start, end
        return
    begin = last = start
    for match in _BLANK_LINE.finditer(document.source, start, end):
        stop = match.end()
        if stop - begin > PASSAGE_BYTES and last > begin:
            yield begin, last
            begin = last
        while stop - begin > _LONGEST:
            cut = _cut(document.source, begin)
            yield begin, cut
            begin = cut
        last = stop
    if end - begin > _LONGEST and last > begin:
        yield begin, last
        begin = last
    while end - begin > _LONGEST:
        cut = _cut(document.source, begin)
        yield begin, cut
        begin = cut
    yield begin, end


def _cut(source: bytes, begin: int) -> int:
    """Return where to cut an overlong paragraph: after a line end, a sentence, a space, else between characters."""
    low, high = begin + PASSAGE_BYTES // 2, begin + PASSAGE_BYTES
    for mark in (b"\n", b"\xe3\x80\x82", b". ", b" "):
        place = source.rfind(mark, low, high)
        if place >= 0:
            return place + len(mark)
    while high > low and source[high] & 0xC0 == 0x80:
        high -= 1
    return high
