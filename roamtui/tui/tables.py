"""Tables laid out in columns, or as records where the columns would be too narrow to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from roamtui.tui.wrapping import Piece, cells_of, wrap

_LEAST_COLUMN = 6
"""Cells under which a column breaks words; a table that needs narrower ones is shown as records."""
_BAR = Piece(" │ ", "rule")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    pieces: Sequence[Piece]
    """Its text."""
    align: str
    """left, right, center, or empty."""

    @property
    def cells(self) -> int:
        """Width of its text on one row."""
        return cells_of(self.pieces)


def lay_out(table: Sequence[Sequence[Cell]], width: int) -> Iterator[tuple[int, tuple[Piece, ...]]]:
    """Yield the rows of a table, each with the number of the table row it belongs to. The first is the head."""
    if not table or not table[0]:
        return
    columns = len(table[0])
    wanted = [max((row[column].cells for row in table if column < len(row)), default=1) for column in range(columns)]
    room = width - len(_BAR.text) * (columns - 1)
    widths = _shares([max(1, cells) for cells in wanted], room)
    if widths is None:
        yield from _records(table, width)
        return
    for number, row in enumerate(table):
        wrapped = [wrap(cell.pieces, widths[column]) for column, cell in enumerate(row[:columns])]
        for line in zip_longest(*wrapped, fillvalue=()):
            pieces: list[Piece] = []
            for column, part in enumerate(line):
                last = column == len(line) - 1
                pieces += _aligned(part, widths[column], row[column].align, last=last)
                if not last:
                    pieces.append(_BAR)
            yield number, tuple(pieces)
        if number == 0:
            yield number, (Piece("─┼─".join("─" * cells for cells in widths), "rule"),)


def _aligned(pieces: Sequence[Piece], cells: int, align: str, *, last: bool) -> list[Piece]:
    spare = max(0, cells - cells_of(pieces))
    before = {"right": spare, "center": spare // 2}.get(align, 0)
    after = 0 if last else spare - before
    padded = [Piece(" " * before), *pieces, Piece(" " * after)]
    return [piece for piece in padded if piece.text]


def _shares(wanted: Sequence[int], room: int) -> list[int] | None:
    """Divide `room` among columns: narrow ones get what they want, wide ones share the rest; None if too narrow."""
    if sum(wanted) <= room:
        return list(wanted)
    if room < sum(min(cells, _LEAST_COLUMN) for cells in wanted):
        return None
    shares = [0] * len(wanted)
    open_columns = sorted(range(len(wanted)), key=lambda column: wanted[column])
    left = room
    for position, column in enumerate(open_columns):
        fair = left // (len(open_columns) - position)
        shares[column] = min(wanted[column], fair)
        left -= shares[column]
    return shares


def _records(table: Sequence[Sequence[Cell]], width: int) -> Iterator[tuple[int, tuple[Piece, ...]]]:
    """Yield each row as a record: one line per column, its name before it."""
    head = table[0]
    if len(table) == 1:
        for cell in head:
            yield from ((0, pieces) for pieces in wrap(cell.pieces, width))
        return
    for number, row in enumerate(table[1:], 1):
        if number > 1:
            yield number, ()
        for name, cell in zip(head, row, strict=False):
            label = [Piece(piece.text, "strong", piece.at if number == 1 else -1) for piece in name.pieces]
            for pieces in wrap([*label, Piece(": "), *cell.pieces] if label else cell.pieces, width):
                yield number, pieces
