"""Stacked texts laid out lazily: which rows there are, and where, without rendering what is not looked at.

A block is a header and a range of a source. It is cut into slices; a slice has an estimated height until
it is first needed, then it is rendered and measured. Rendered slices are kept in a bounded cache.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from roamtui.tui.rendering import References, render_markdown, render_verbatim
from roamtui.tui.slices import Slice, markdown_slices, verbatim_slices
from roamtui.tui.wrapping import Piece, Row

Header = Callable[[int], list[Row]]
"""Makes the rows above a block's text for a width."""

_CACHED_SLICES = 96
"""Rendered slices kept: about forty screens."""
_TAIL_STEP = 16_000
"""Bytes of a long text that are cut into slices at a time: well under a millisecond."""
_FAR = 400_000
"""Bytes that may be scanned to reach a place; beyond, the scan starts anew near the place."""


@dataclass(frozen=True, slots=True)
class Block:
    """One text of a stack."""

    key: str
    """Names it in the stack."""
    source: bytes
    """What it is a range of."""
    start: int
    """First byte."""
    end: int
    """Byte after the last."""
    line: int
    """1-based line of the source at `start`."""
    header: Header
    """Makes the rows above the text."""
    heading_start: int = 0
    """First byte of the heading the header stands for; `start` where there is none."""
    verbatim: bool = False
    """Whether the text is shown as written instead of as Markdown."""
    references: Callable[[], References] = field(default=dict)
    """Returns the link definitions that hold in the text."""


class Item:
    """A header, a slice, or a tail that is not yet cut into slices."""

    __slots__ = ("block", "end", "height", "measured", "scan", "slice", "start")

    def __init__(
        self, block: Block, start: int, end: int, *, piece: Slice | None, scan: Iterator[Slice] | None
    ) -> None:
        self.block = block
        self.start = start
        """First byte; -1 for a header."""
        self.end = end
        self.slice = piece
        self.scan = scan
        """What cuts a tail; None for headers and slices."""
        self.height = 1
        self.measured = False

    @property
    def key(self) -> tuple[str, int]:
        """Name of the item in its stack."""
        return self.block.key, self.start


class Stack:
    """Blocks under each other at a width."""

    def __init__(self) -> None:
        self.width = 80
        self.blocks: tuple[Block, ...] = ()
        self._items: list[Item] = []
        self._tops: list[int] = [0]
        self._rendered: OrderedDict[tuple[str, int], list[Row]] = OrderedDict()

    # -- content ------------------------------------------------------------------------------

    def show(self, blocks: Sequence[Block]) -> None:
        """Stack these blocks; what is known of a block that was there before is kept."""
        known: dict[str, list[Item]] = {}
        for item in self._items:
            known.setdefault(item.block.key, []).append(item)
        self._items = []
        for block in blocks:
            before = known.get(block.key)
            if before is not None and _same_text(before[0].block, block):
                self._rendered.pop((block.key, -1), None)
                for item in before:
                    item.block = block
                before[0].measured = False
                self._items += before
            else:
                self._items += self._new_items(block)
        self.blocks = tuple(blocks)
        kept = {block.key for block in blocks}
        for key in [key for key in self._rendered if key[0] not in kept]:
            del self._rendered[key]
        self._sum_up()

    def set_width(self, width: int) -> None:
        """Lay out for another width; nothing is measured then."""
        self.width = max(1, width)
        self._rendered.clear()
        for item in self._items:
            item.measured = False
            item.height = self._estimate(item)
        self._sum_up()

    def _new_items(self, block: Block) -> list[Item]:
        items = [Item(block, -1, -1, piece=None, scan=None)]
        if block.start < block.end:
            items.append(self._tail(block, block.start, block.end))
        return items

    def _tail(self, block: Block, start: int, end: int, scan: Iterator[Slice] | None = None) -> Item:
        cut = verbatim_slices if block.verbatim else markdown_slices
        item = Item(block, start, end, piece=None, scan=scan or cut(block.source, start, end))
        item.height = self._estimate(item)
        return item

    def _estimate(self, item: Item) -> int:
        if item.start < 0:
            return 3
        lines = item.block.source.count(b"\n", item.start, item.end)
        return max(1, round((item.end - item.start) / self.width + lines * 0.45))

    # -- places ---------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """Rows in all, as far as they are known."""
        return self._tops[-1]

    def __len__(self) -> int:
        return len(self._items)

    @property
    def measured(self) -> int:
        """How many items have a known height."""
        return sum(item.measured for item in self._items)

    def item(self, index: int) -> Item:
        """Return an item by its place."""
        return self._items[index]

    def top(self, index: int) -> int:
        """Return the row an item begins at."""
        return self._tops[index]

    def at_row(self, row: int) -> int:
        """Return the place of the item that covers a row; the last one beyond the end."""
        return max(0, min(bisect_right(self._tops, max(0, row)) - 1, len(self._items) - 1))

    def block_at(self, row: int) -> Block | None:
        """Return the block that covers a row."""
        return self._items[self.at_row(row)].block if self._items else None

    def find(self, key: str, byte: int = -1) -> int | None:
        """Return the place of the item of a block that holds a byte, its header for -1; cuts tails as needed."""
        index = next((place for place, item in enumerate(self._items) if item.block.key == key), None)
        if index is None or byte < 0:
            return index
        found = index
        while index < len(self._items) and self._items[index].block.key == key:
            item = self._items[index]
            if item.start > byte:
                break
            found = index
            if item.scan is not None and item.start <= byte < item.end:
                self._cut_tail(index, byte)
                continue
            index += 1
        return found

    # -- rendering --------------------------------------------------------------------------------

    def rows(self, index: int) -> list[Row]:
        """Return the rows of a header or slice, rendering them if need be."""
        item = self._items[index]
        rows = self._rendered.get(item.key)
        if rows is None:
            rows = self._render(item)
            self._rendered[item.key] = rows
            if len(self._rendered) > _CACHED_SLICES:
                self._rendered.popitem(last=False)
        else:
            self._rendered.move_to_end(item.key)
        return rows

    def _render(self, item: Item) -> list[Row]:
        block, piece = item.block, item.slice
        if piece is None:
            return block.header(self.width)
        text = slice_text(block.source, piece.start, piece.end)
        rows = [Row((), 0)] if piece.gap else []
        if piece.kind == "markdown":
            rows += render_markdown(text, self.width, block.references())
        else:
            if piece.kind == "plain" and not piece.continued:
                note = "(a long block, shown as it is written)"
                rows.append(Row((Piece(note[: self.width], "note"),), 0))
            rows += render_verbatim(text, self.width, piece.kind)
        return [*rows, Row((), text.count("\n"))] if piece.end == block.end else rows

    def measure(self, row: int, count: int) -> None:
        """Render and measure the items that cover `count` rows from `row` on; rows above keep their place."""
        index = self.at_row(row)
        while index < len(self._items) and self._tops[index] < row + count:
            index = self._measure_item(index, row)

    def measure_above(self, index: int, count: int) -> None:
        """Render and measure the items above an item until they cover `count` rows."""
        covered = 0
        while index > 0 and covered < count:
            item = self._items[index - 1]
            if item.scan is not None:
                before = len(self._items)
                self._cut_tail(index - 1, item.end - 1)
                index += len(self._items) - before
                continue
            self._measure_item(index - 1, 0)
            covered += item.height
            index -= 1

    def measure_item(self, index: int) -> None:
        """Render and measure one header or slice."""
        self._measure_item(index, 0)

    def _measure_item(self, index: int, row: int) -> int:
        item = self._items[index]
        if item.scan is not None:
            inside = max(0, row - self._tops[index]) / max(1, item.height)
            self._cut_tail(index, item.start + int(inside * (item.end - item.start)))
            return index if self._tops[index + 1] > row else self.at_row(row)
        if not item.measured:
            height = len(self.rows(index))
            item.measured = True
            if height != item.height:
                item.height = height
                self._sum_up()
        return index + 1

    def _cut_tail(self, index: int, byte: int) -> None:
        """Replace a tail by slices around `byte` and smaller tails."""
        tail = self._items[index]
        block, scan = tail.block, tail.scan
        if scan is None:
            return
        items: list[Item] = []
        start = tail.start
        if byte - start > _FAR:
            near = _good_start(block.source, start, byte - _TAIL_STEP)
            items.append(self._tail(block, start, near))
            start, scan = near, None
            scan = (verbatim_slices if block.verbatim else markdown_slices)(block.source, start, tail.end)
        until = max(byte, start + _TAIL_STEP)
        for piece in scan:
            item = Item(block, piece.start, piece.end, piece=piece, scan=None)
            item.height = self._estimate(item)
            items.append(item)
            start = piece.end
            if start > until:
                break
        if start < tail.end:
            items.append(self._tail(block, start, tail.end, scan))
        self._items[index : index + 1] = items
        self._sum_up()

    def _sum_up(self) -> None:
        self._tops = [0, *accumulate(item.height for item in self._items)]


def _same_text(one: Block, other: Block) -> bool:
    return (one.source is other.source) and (one.start, one.end, one.verbatim) == (
        other.start,
        other.end,
        other.verbatim,
    )


def _good_start(source: bytes, start: int, byte: int) -> int:
    """Return a place shortly before `byte` where a scan may begin: behind a blank line, or else at a line start."""
    blank = source.rfind(b"\n\n", start, byte)
    if blank >= 0 and byte - blank < _TAIL_STEP:
        return blank + 2
    line = source.rfind(b"\n", start, byte)
    return line + 1 if line >= start else start


def slice_text(source: bytes, start: int, end: int) -> str:
    """Decode a range of a source, every line end as LF."""
    text = source[start:end].decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def char_offset(source: bytes, start: int, byte: int) -> int:
    """Return how many characters `slice_text` has between two bytes of a source."""
    return len(slice_text(source, start, byte))


Span = tuple[int, int]
"""Half-open range of bytes."""


def overlapping(spans: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Return the spans, of a list sorted by start, that overlap a range; only a few may overlap each other."""
    first = bisect_left(spans, (start, start))
    while first > 0 and spans[first - 1][1] > start:
        first -= 1
    return spans[first : bisect_left(spans, (end, end))]
