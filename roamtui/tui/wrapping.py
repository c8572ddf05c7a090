"""Styled words, and how they are broken into rows of a width in cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


class Piece(NamedTuple):
    """Some text in one style."""

    text: str
    """Displayable text without line ends, except in input to `wrap`, where a line end breaks the row."""
    style: str = ""
    """Names of styles, separated by spaces; what they look like is the theme's business."""
    at: int = -1
    """Where it stands in the text it was rendered from, in characters; -1 for decoration."""
    link: str = ""
    """Address it leads to."""

    def part(self, start: int, end: int | None = None) -> Piece:
        """Return some of it, with its place."""
        return Piece(self.text[start:end], self.style, self.at + start if self.at >= 0 else -1, self.link)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen."""

    pieces: tuple[Piece, ...]
    """What stands in it, from left to right."""
    line: int
    """Line of the rendered text it begins with, from 0."""

    @property
    def text(self) -> str:
        """The row as plain text."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def at(self) -> int:
        """Place of its first words in the rendered text, in characters; -1 when it has none."""
        return next((piece.at for piece in self.pieces if piece.at >= 0), -1)


def cells_of(pieces: Iterable[Piece]) -> int:
    """Return how many cells pieces take side by side."""
    return sum(cell_len(piece.text) for piece in pieces)


def wrap(pieces: Iterable[Piece], width: int) -> list[tuple[Piece, ...]]:
    """Break pieces into rows of at most `width` cells: at spaces, inside words only where they are too long.

    A line end in a piece starts a new row. A character wider than `width` still gets a row.
    """
    width = max(1, width)
    rows: list[tuple[Piece, ...]] = []
    row: list[Piece] = []
    used = 0
    space: list[Piece] = []
    for word in _words(pieces):
        head = word[0].text
        if head == "\n":
            rows.append(tuple(row))
            row, used, space = [], 0, []
            continue
        if head.isspace():
            space = word if row else []
            continue
        cells = cells_of(word)
        gap = cells_of(space)
        if row and used + gap + cells <= width:
            row += space
            row += word
            used += gap + cells
        elif cells <= width and not (row and _breaks_anywhere(word)):
            if row:
                rows.append(tuple(row))
            row, used = list(word), cells
        else:
            if row and used + gap < width - 1:
                row += space
                used += gap
            elif row:
                rows.append(tuple(row))
                row, used = [], 0
            for chunk, more in _chunks(word, width - used, width):
                row += chunk
                used += cells_of(chunk)
                if more:
                    rows.append(tuple(row))
                    row, used = [], 0
        space = []
    rows.append(tuple(row))
    return rows


def wrap_exactly(pieces: Iterable[Piece], width: int) -> list[tuple[Piece, ...]]:
    """Break pieces into rows of `width` cells, every character kept: for text that is shown as written.

    A row ends behind a space where one stands in its second half.
    """
    width = max(1, width)
    rows: list[tuple[Piece, ...]] = []
    row: list[Piece] = []
    for chunk, more in _chunks(list(pieces), width, width, at_spaces=True):
        row += chunk
        if more:
            rows.append(tuple(row))
            row = []
    rows.append(tuple(row))
    return rows


def _breaks_anywhere(word: Sequence[Piece]) -> bool:
    """Tell whether a word is of a script written without spaces."""
    return any(not piece.text.isascii() and cell_len(piece.text) > len(piece.text) for piece in word)


def _words(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Yield runs of pieces that belong together: a word in several styles, a space, or a line end."""
    word: list[Piece] = []
    for piece in pieces:
        for match in _PARTS.finditer(piece.text):
            part = piece.part(match.start(), match.end())
            if part.text.isspace():
                if word:
                    yield word
                    word = []
                yield [part]
            else:
                word.append(part)
    if word:
        yield word


def _chunks(
    pieces: Sequence[Piece], first: int, width: int, *, at_spaces: bool = False
) -> Iterator[tuple[list[Piece], bool]]:
    """Cut pieces at cells: the first chunk fits `first`, all others `width`; with each, whether more follow."""
    room = first
    chunk: list[Piece] = []
    for piece in pieces:
        while piece.text:
            cut = _fitting(piece.text, room)
            if cut == 0 and (chunk or room < width):
                yield chunk, True
                chunk, room = [], width
                continue
            cut = max(1, cut)
            if at_spaces and cut < len(piece.text):
                space = piece.text.rfind(" ", cut // 2, cut)
                cut = space + 1 if space > 0 else cut
            chunk.append(piece.part(0, cut))
            room -= cell_len(piece.text[:cut])
            piece = piece.part(cut)
            if piece.text:
                yield chunk, True
                chunk, room = [], width
    yield chunk, False


def _fitting(text: str, cells: int) -> int:
    """Return how many characters of `text` fit into `cells`, joined emoji and accents kept whole."""
    if text.isascii():
        return min(len(text), max(0, cells))
    if cell_len(text) <= cells:
        return len(text)
    low, high = 0, len(text)
    while low < high:  # widths only grow with length
        middle = (low + high + 1) // 2
        if cell_len(text[:middle]) <= cells:
            low = middle
        else:
            high = middle - 1
    while 0 < low < len(text) and (text[low] in "\u200d\ufe0e\ufe0f" or text[low - 1] == "\u200d"):
        low -= 1
    return low
