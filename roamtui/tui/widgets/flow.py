"""A pane of stacked texts drawn by lines: any size, one widget.

Scrolling keeps what one reads in its place while the heights of texts above become known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from roamtui.tui.blocks import Block, Span, Stack
from roamtui.tui.highlights import HighlightKind, Highlights
from roamtui.tui.widgets.textview import TextView, piece_at
from roamtui.tui.wrapping import Piece, Row, wrap

_FLASH_SECONDS = 0.8
_COPIED_ROWS = 20_000
"""Rows a selection may copy; a selection of more is cut there."""


class FlowView(TextView, can_focus=True):
    """Shows a stack of blocks; scrolls by rows, finds places by bytes of the sources."""

    DEFAULT_CSS = """
    FlowView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, id="text.up"),
        Binding("down,j", "scroll_down", "Down", show=False, id="text.down"),
        Binding("pageup,b", "page_up", "Page up", show=False, id="text.page-up"),
        Binding("pagedown,space", "page_down", "Page down", show=False, id="text.page-down"),
        Binding("home", "scroll_home", "Start", show=False, id="text.start"),
        Binding("end,G", "scroll_end", "End", show=False, id="text.end"),
    ]

    class BlockFocused(Message):
        """Another block came to the top of the pane."""

        def __init__(self, view: FlowView, key: str) -> None:
            super().__init__()
            self.view = view
            self.key = key

        @property
        def control(self) -> FlowView:
            """The view."""
            return self.view

    class PieceClicked(Message):
        """A piece of text was clicked."""

        def __init__(self, view: FlowView, key: str, piece: Piece) -> None:
            super().__init__()
            self.view = view
            self.key = key
            """The block it stands in."""
            self.piece = piece

        @property
        def control(self) -> FlowView:
            """The view."""
            return self.view

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._stack = Stack()
        self._highlights = Highlights()
        self._empty = empty
        self._wanted: tuple[str, int] | None = None
        """Place to go to as soon as the pane has a size."""
        self._placing = False
        self._focused_key = ""
        self._flash: tuple[tuple[str, int], int, int] | None = None
        self._flash_timer: Timer | None = None

    # -- what is shown ------------------------------------------------------------------------

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Stack these blocks; what one reads stays where it is as long as its block is there."""
        anchor = self._anchor()
        self._stack.show(blocks)
        self._highlights.forget_rows()
        self._restore(anchor)

    def highlight(self, kind: HighlightKind, source: bytes, spans: Sequence[Span]) -> None:
        """Mark byte spans of a source, sorted by start; an empty list takes the marks of this kind away."""
        self._highlights.set(kind, source, spans)
        self.refresh()

    def clear_highlights(self, kind: HighlightKind) -> None:
        """Take all marks of a kind away."""
        self._highlights.clear(kind)
        self.refresh()

    @property
    def top_key(self) -> str:
        """Key of the block at the top of the pane; empty when there is none."""
        block = self._stack.block_at(self.scroll_offset.y)
        return "" if block is None else block.key

    @property
    def measured_slices(self) -> int:
        """How many headers and slices were rendered so far at the present width."""
        return self._stack.measured

    # -- places -------------------------------------------------------------------------------

    @property
    def _page(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def go_to(self, key: str, byte: int = -1, *, flash: bool = True) -> bool:
        """Bring a place into view: byte `byte` of a block, its header for -1. Returns whether the block is there."""
        if self.scrollable_content_region.height <= 0:
            self._wanted = (key, byte)
            return any(block.key == key for block in self._stack.blocks)
        self._wanted = None
        index = self._stack.find(key, byte)
        if index is None:
            return False
        self._stack.measure_item(index)
        first, last = self._highlights.rows_at(self._stack, index, byte)
        in_view = self._stack.top(index) + first - self.scroll_offset.y
        if byte < 0:
            self._place(index, 0, 0)
        elif not 1 <= in_view < self._page - 1 or not self._stack.item(index).measured:
            self._place(index, first, min(self._page // 3, 6))
        if flash and byte >= 0 and self.app.animation_level != "none":
            self._start_flash(self._stack.item(index).key, first, last)
        return True

    def _place(self, index: int, row: int, offset: int) -> None:
        """Scroll so that a row of an item stands `offset` rows below the top."""
        item = self._stack.item(index)
        self._stack.measure_item(index)
        self._stack.measure_above(index, max(0, offset - row))
        index = self._stack.find(item.block.key, item.start) or 0
        self._set_scroll(self._stack.top(index) + row - offset)

    def _set_scroll(self, row: int) -> None:
        row = max(0, row)
        self._stack.measure(row, self._page)
        self._sync_height()
        self._placing = True
        try:
            self.scroll_to(y=row, animate=False, force=True)
        finally:
            self._placing = False
        self.refresh()
        self._tell_focus()

    def _sync_height(self) -> None:
        size = Size(self.scrollable_content_region.width, max(1, self._stack.height))
        if size != self.virtual_size:
            self.virtual_size = size

    def _anchor(self) -> tuple[str, int, int, int] | None:
        """Return what stands at the top: block, first byte of the item, row in it, place of its first words."""
        if not len(self._stack):
            return None
        top = self.scroll_offset.y
        index = self._stack.at_row(top)
        item, number = self._stack.item(index), top - self._stack.top(index)
        found = self._row(top) if item.measured else None
        return item.block.key, item.start, number, -1 if found is None else found[0].at

    def _restore(self, anchor: tuple[str, int, int, int] | None, *, same_width: bool = True) -> None:
        index = None if anchor is None else self._stack.find(anchor[0], anchor[1])
        if anchor is None or index is None:
            self._set_scroll(min(self.scroll_offset.y, max(0, self._stack.height - self._page)))
            return
        self._stack.measure_item(index)
        number = anchor[2]
        if not same_width and anchor[3] >= 0:
            rows = self._stack.rows(index)
            number = max((place for place, row in enumerate(rows) if 0 <= row.at <= anchor[3]), default=0)
        self._set_scroll(self._stack.top(index) + min(number, max(0, self._stack.item(index).height - 1)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Measure what comes into view, and keep the text steady when heights above turn out different."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing or not len(self._stack):
            return
        old, new = round(old_value), round(new_value)
        wanted = new
        if new < old and old - new <= 3 * self._page:
            index = self._stack.at_row(old)
            row, item = old - self._stack.top(index), self._stack.item(index)
            self._stack.measure_above(index, old - new - row)
            index = self._stack.find(item.block.key, item.start) or 0
            wanted = self._stack.top(index) + row - (old - new)
        if wanted != new:
            self._set_scroll(wanted)
        else:
            self._stack.measure(new, self._page)
            self._sync_height()
            self._tell_focus()

    def _tell_focus(self) -> None:
        key = self.top_key
        if key and key != self._focused_key:
            self._focused_key = key
            self.post_message(self.BlockFocused(self, key))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new width, the same text on top."""
        width = self.scrollable_content_region.width
        if width != self._stack.width:
            anchor = self._anchor()
            self._stack.set_width(width)
            self._highlights.forget_rows()
            self._restore(anchor, same_width=False)
        else:
            self._set_scroll(self.scroll_offset.y)
        if self._wanted is not None:
            self.go_to(*self._wanted, flash=False)

    def _scroll_rows(self, rows: int) -> None:
        self._stack.measure(self.scroll_offset.y, abs(rows) + self._page)
        self._sync_height()
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)

    def action_scroll_up(self) -> None:
        """Scroll one row up."""
        self._scroll_rows(-1)

    def action_scroll_down(self) -> None:
        """Scroll one row down."""
        self._scroll_rows(1)

    def action_page_up(self) -> None:
        """Scroll a page up, two rows kept."""
        self._scroll_rows(-max(1, self._page - 2))

    def action_page_down(self) -> None:
        """Scroll a page down, two rows kept."""
        self._scroll_rows(max(1, self._page - 2))

    def action_scroll_home(self) -> None:
        """Scroll to the start."""
        self._set_scroll(0)

    def action_scroll_end(self) -> None:
        """Scroll to the end."""
        if len(self._stack):
            self._stack.measure_above(len(self._stack), self._page)
            self._set_scroll(self._stack.height - self._page)

    def _start_flash(self, key: tuple[str, int], first: int, last: int) -> None:
        if self._flash_timer is not None:
            self._flash_timer.stop()
        self._flash = (key, first, last)
        self._flash_timer = self.set_timer(_FLASH_SECONDS, self._end_flash)
        self.refresh()

    def _end_flash(self) -> None:
        self._flash = None
        self.refresh()

    # -- mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Tell which piece was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or not len(self._stack):
            return
        row = offset.y + self.scroll_offset.y
        found = self._row(row)
        block = self._stack.block_at(row)
        if found is None or block is None:
            return
        piece = piece_at(found[0], offset.x)
        if piece is not None:
            self.post_message(self.PieceClicked(self, block.key, piece))

    # -- selection ----------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text of the selected rows."""
        first = 0 if selection.start is None else selection.start.y
        last = self._stack.height - 1 if selection.end is None else selection.end.y
        last = min(last, first + _COPIED_ROWS)
        self._stack.measure(first, last - first + 1)
        lines: list[str] = []
        for row in range(first, last + 1):
            found, span = self._row(row), selection.get_span(row)
            text = "" if found is None else found[0].text
            start, end = (0, -1) if span is None else span
            lines.append(text[start : None if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"

    # -- drawing ------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows; those that were never measured are measured first."""
        self._stack.measure(self.scroll_offset.y + crop.y, crop.height)
        if self._stack.height != self.virtual_size.height and len(self._stack):
            self.call_later(self._sync_height)
        return super().render_lines(crop)

    def _row(self, row: int) -> tuple[Row, int, int] | None:
        """Return a row with the place of its item and its number in it."""
        if not len(self._stack) or not 0 <= row < self._stack.height:
            return None
        index = self._stack.at_row(row)
        if self._stack.item(index).scan is not None:
            return None
        rows, number = self._stack.rows(index), row - self._stack.top(index)
        return (rows[number], index, number) if number < len(rows) else None

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        cells = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if not len(self._stack):
            told = [(), *wrap([Piece(self._empty, "meta")], cells)]
            return self.paint(Row(told[row] if row < len(told) else (), 0), cells)
        found = self._row(row)
        if found is None:
            return Strip.blank(cells, self.rich_style)
        return self.paint(found[0], cells, self._marked(*found), row)

    def _marked(self, row: Row, index: int, number: int) -> list[tuple[int, int, str]]:
        item = self._stack.item(index)
        marks: list[tuple[int, int, str]] = list(self._highlights.on_row(self._stack, index, number))
        if self._flash is not None and self._flash[0] == item.key and self._flash[1] <= number <= self._flash[2]:
            marks.append((0, len(row.text), "flash"))
        return marks
