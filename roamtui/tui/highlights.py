"""Byte spans of a source, found again in the rows its text was rendered to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from roamtui.tui.blocks import Item, Span, Stack, char_offset, overlapping
from roamtui.tui.wrapping import Row

HighlightKind = Literal["hit", "cited", "current"]
KINDS: tuple[HighlightKind, ...] = ("cited", "hit", "current")
"""Kinds of highlights; later ones are drawn over earlier ones."""

RowMarks = dict[int, list[tuple[int, int, HighlightKind]]]
"""By row of an item: first character, character after the last, kind."""


class Highlights:
    """What is to be marked in a stack."""

    def __init__(self) -> None:
        self._spans: dict[HighlightKind, dict[int, Sequence[Span]]] = {kind: {} for kind in KINDS}
        self._rows: dict[tuple[str, int], RowMarks] = {}

    def set(self, kind: HighlightKind, source: bytes, spans: Sequence[Span]) -> None:
        """Mark these spans of a source, sorted by start, in place of those of this kind before."""
        if spans:
            self._spans[kind][id(source)] = spans
        else:
            self._spans[kind].pop(id(source), None)
        self._rows.clear()

    def clear(self, kind: HighlightKind) -> None:
        """Mark nothing of a kind any more."""
        self._spans[kind].clear()
        self._rows.clear()

    def forget_rows(self) -> None:
        """Work out anew where spans are: rows have changed."""
        self._rows.clear()

    def on_row(self, stack: Stack, index: int, number: int) -> Sequence[tuple[int, int, HighlightKind]]:
        """Return the marks on one row of an item."""
        if not any(self._spans.values()):
            return ()
        item = stack.item(index)
        marks = self._rows.get(item.key)
        if marks is None:
            marks = self._rows[item.key] = self._marks(stack, index, item)
        return marks.get(number, ())

    def rows_at(self, stack: Stack, index: int, byte: int) -> tuple[int, int]:
        """Return the first and last row of an item that show byte `byte` of its source, or its line."""
        item = stack.item(index)
        if item.start < 0 or item.scan is not None or byte < 0:
            return 0, 0
        rows = stack.rows(index)
        char = char_offset(item.block.source, item.start, byte)
        for number, row in enumerate(rows):
            if any(0 <= piece.at <= char < piece.at + len(piece.text) for piece in row.pieces):
                return number, number
        line = item.block.source.count(b"\n", item.start, byte)
        number = max((place for place, row in enumerate(rows) if row.line <= line and row.pieces), default=0)
        first = number
        while first > 0 and rows[first - 1].line == rows[number].line and rows[first - 1].pieces:
            first -= 1
        return first, number

    def _marks(self, stack: Stack, index: int, item: Item) -> RowMarks:
        found: RowMarks = {}
        block = item.block
        start, end = (item.start, item.end) if item.start >= 0 else (block.heading_start, block.start)
        if item.scan is not None or start >= end:
            return found
        rows: list[Row] | None = None
        for kind in KINDS:
            for span in overlapping(self._spans[kind].get(id(block.source), ()), start, end):
                rows = stack.rows(index) if rows is None else rows
                if item.start < 0:
                    marks = _on_title(rows)
                else:
                    first = char_offset(block.source, start, max(start, span[0]))
                    last = char_offset(block.source, start, min(end, span[1]))
                    marks = list(_in_rows(rows, first, last)) or self._whole_line(stack, index, max(start, span[0]))
                for number, from_char, to_char in marks:
                    found.setdefault(number, []).append((from_char, to_char, kind))
        return found

    def _whole_line(self, stack: Stack, index: int, byte: int) -> list[tuple[int, int, int]]:
        """Return the rows of a line whose words are not shown as they are written."""
        first, last = self.rows_at(stack, index, byte)
        rows = stack.rows(index)
        return [(number, 0, len(rows[number].text)) for number in range(first, last + 1)]


def _in_rows(rows: Sequence[Row], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield row, first and last character for a range of characters of the rendered text."""
    for number, row in enumerate(rows):
        place = 0
        for piece in row.pieces:
            if piece.at >= 0 and piece.at < last and piece.at + len(piece.text) > first:
                start, end = max(first - piece.at, 0), min(last - piece.at, len(piece.text))
                yield number, place + start, place + end
            place += len(piece.text)


def _on_title(rows: Sequence[Row]) -> list[tuple[int, int, int]]:
    """Return where the path stands in a header: a span in a heading marks it."""
    for number, row in enumerate(rows):
        place = 0
        for piece in row.pieces:
            if piece.style == "path":
                return [(number, place, place + len(piece.text))]
            place += len(piece.text)
    return []
