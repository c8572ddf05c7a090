"""Cutting a large text into parts: at paragraphs, else at lines, else between characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from roamtui.estimate import token_units, tokens_of

_PARAGRAPH_END = re.compile(rb"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTES_PER_TOKEN = 1
"""Bytes of a piece of a line, for each token there is room for: even text of marks alone has fewer tokens."""


_LONGEST_CHARACTER = 4
"""Bytes of a character in UTF-8."""


def part_ends(source: bytes, begin: int, end: int, tokens: int) -> list[int]:
    """Return the byte after each part of `source[begin:end]`, in order; the last one is `end`.

    A part holds as many paragraphs as fit `tokens`; a paragraph that does not fit is cut at lines, and a line that
    does not at spaces, else between characters. Each part decodes to what it is in the whole.
    """
    if tokens_of(_units(source, begin, end)) <= tokens:
        return [end]
    ends: list[int] = []
    used, reached = 0, begin
    for piece_end in _pieces(source, begin, end, tokens):
        units = _units(source, reached, piece_end)
        if used and tokens_of(used + units) > tokens:
            ends.append(reached)
            used = 0
        used += units
        reached = piece_end
    return [*ends, end]


def _units(source: bytes, begin: int, end: int) -> int:
    return token_units(source[begin:end].decode("utf-8", "replace"))


def _pieces(source: bytes, begin: int, end: int, tokens: int) -> Iterator[int]:
    """Yield the ends of pieces that each fit `tokens`: paragraphs where possible."""
    for paragraph in _cuts(_PARAGRAPH_END, source, begin, end):
        if tokens_of(_units(source, begin, paragraph)) <= tokens:
            yield paragraph
        else:
            yield from _pieces_of_paragraph(source, begin, paragraph, tokens)
        begin = paragraph


def _pieces_of_paragraph(source: bytes, begin: int, end: int, tokens: int) -> Iterator[int]:
    for line in _cuts(_LINE_END, source, begin, end):
        if tokens_of(_units(source, begin, line)) <= tokens:
            yield line
        else:
            yield from _pieces_of_line(source, begin, line, tokens * _BYTES_PER_TOKEN)
        begin = line


def _pieces_of_line(source: bytes, begin: int, end: int, size: int) -> Iterator[int]:
    size = max(size, _LONGEST_CHARACTER * 2)
    while end - begin > size:
        low, high = begin + size // 2, begin + size
        space = source.rfind(b" ", low, high) + 1
        begin = space or _between_characters(source, high)
        yield begin
    yield end


def _between_characters(source: bytes, place: int) -> int:
    """Return the last place up to `place` that is not inside a UTF-8 character."""
    for back in range(_LONGEST_CHARACTER):
        if source[place - back] & 0xC0 != 0x80:
            return place - back
    return place  # four continuation bytes in a row: invalid, each decodes on its own


def _cuts(pattern: re.Pattern[bytes], source: bytes, begin: int, end: int) -> Iterator[int]:
    """Yield where matches end, and the end of the text."""
    reached = begin
    for match in pattern.finditer(source, begin, end):
        reached = match.end()
        yield reached
    if reached < end:
        yield end
