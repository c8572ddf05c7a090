"""The document's outline: a tree drawn by lines, lit up by what the agent does.

Textual's `Tree` takes seconds to add or toggle 100,000 nodes; here a row costs something only while it
is on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from roamtui.document.model import Document, Library
from roamtui.text import clip
from roamtui.trace.state import MARKS, SectionState, TraceState
from roamtui.tui.styles import component_style, mark_css
from roamtui.tui.widgets.messages import SectionMessage
from roamtui.tui.widgets.outline_rows import OutlineMarks, draw_node, indent_of
from roamtui.tui.widgets.outline_tree import OutlineTree

_PULSE_SECONDS = 0.7


class OutlinePane(ScrollView, can_focus=True):
    """The outline of all documents of a library, with a mark per section."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "outline--row",
        "outline--document",
        "outline--arrow",
        "outline--size",
        "outline--hits",
        "outline--pin",
        "outline--pulse",
        "outline--cursor",
        "outline--cursor-blurred",
        *(f"outline--{mark}" for mark in MARKS),
    }

    DEFAULT_CSS = (
        """
    OutlinePane {
        overflow-x: hidden;
        overflow-y: auto; scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .outline--row { text-style: none; }
        & > .outline--none { text-style: none; }
        & > .outline--document { text-style: bold; }
        & > .outline--arrow { color: $text-muted; }
        & > .outline--size { color: $text-muted; }
        & > .outline--hits { color: $mark-found; text-style: bold; }
        & > .outline--pin { color: $mark-pin; text-style: bold; }
        & > .outline--pulse { text-style: bold reverse; }
        & > .outline--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .outline--cursor-blurred {
            background: $block-cursor-blurred-background;
            text-style: bold;
        }
    """
        + mark_css("outline")
        + "}"
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="outline.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="outline.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="outline.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="outline.page-down"),
        Binding("home", "edge(-1)", "First", show=False, id="outline.first"),
        Binding("end,G", "edge(1)", "Last", show=False, id="outline.last"),
        Binding("left,h", "fold", "Fold, or go to the branch", show=False, id="outline.fold"),
        Binding("right,l", "unfold", "Unfold, or go to the first child", show=False, id="outline.unfold"),
        Binding("enter", "choose", "Open or close", show=False, id="outline.choose"),
        Binding("space", "preview", "Preview", show=False, id="outline.preview"),
    ]

    cursor: var[int] = var(0, init=False)
    """The node the cursor stands on."""

    class Selected(SectionMessage):
        """A section is to be opened, or closed when it is open."""

    class Highlighted(SectionMessage):
        """The cursor moved to a section."""

    class Preview(SectionMessage):
        """A section is to be shown without counting as opened."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._tree = OutlineTree()
        self._marks = OutlineMarks()
        self._loading: tuple[int, int, int] | None = None
        self._sections: dict[str, SectionState] | None = None
        self._wanted: int | None = None
        """Node to scroll to as soon as the pane has a size."""
        self._pulse: int | None = None
        self._pulse_timer: Timer | None = None
        self._styles: dict[str, Style] = {}

    # -- what is shown ------------------------------------------------------------------------

    def loading_progress(self, sections: int, done: int, total: int) -> None:
        """Say how far the reading of a document is: sections found, bytes done, bytes in all."""
        self._loading = (sections, done, total)
        self._resize_rows()

    def load(self, library: Library) -> None:
        """Show a library; branches unfolded before stay so where the documents are the same."""
        before, ref = self._tree, self.cursor_ref
        self._loading = None
        self._sections = None
        self._tree = OutlineTree(library)
        self._tree.take_folding(before)
        self._marks = OutlineMarks()
        kept = self._tree.node(ref) if ref else None
        self.set_reactive(OutlinePane.cursor, 0 if kept is None else kept)
        self._resize_rows()

    def show_state(self, state: TraceState) -> None:
        """Show marks, pins and found sections of a session."""
        if state.sections is not self._sections:
            self._sections = state.sections
            self._marks.update(self._tree, state)
            self.refresh()

    def show_hits(self, document: Document, spans: Iterable[tuple[int, int]]) -> None:
        """Show how often the words looked for occur in each section of a document; no spans: none."""
        self._marks.count_hits(self._tree, document, spans)
        self.refresh()

    # -- places -------------------------------------------------------------------------------

    @property
    def cursor_ref(self) -> str | None:
        """Id of the section the cursor stands on; None while nothing is loaded."""
        return self._tree.ref(self.cursor)

    def reveal(self, ref: str, *, pulse: bool = True) -> None:
        """Unfold what hides a section, scroll to it and let it light up once; the cursor stays."""
        node = self._show_node(ref)
        if node is not None and pulse and self.app.animation_level != "none":
            self._start_pulse(node)

    def move_to(self, ref: str) -> None:
        """Put the cursor on a section, unfolding what hides it."""
        node = self._show_node(ref)
        if node is not None:
            self.cursor = node

    def _show_node(self, ref: str) -> int | None:
        node = self._tree.node(ref)
        if node is not None:
            self._tree.reveal(node)
            self._resize_rows()
            self._scroll_to_node(node)
        return node

    def toggle(self, ref: str) -> None:
        """Fold or unfold a branch."""
        node = self._tree.node(ref)
        if node is not None:
            self._toggle(node)

    def expand_all(self) -> None:
        """Unfold every branch."""
        self._tree.unfold_all()
        self._after_folding()

    def collapse_all(self) -> None:
        """Fold every branch; the cursor goes to the branch it was in."""
        self._tree.fold_all()
        self._after_folding()

    # -- keys ---------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        """Move the cursor by some rows."""
        if self._tree.rows:
            row = self._tree.visible_at_or_above(self.cursor) + rows
            self._stand_on(self._tree.rows[max(0, min(row, len(self._tree.rows) - 1))])

    def action_page(self, pages: int) -> None:
        """Move the cursor by some pages."""
        self.action_move(pages * max(1, self.scrollable_content_region.height - 1))

    def action_edge(self, edge: int) -> None:
        """Move the cursor to the first row (-1) or the last one (1)."""
        self.action_move(edge * len(self._tree))

    def action_fold(self) -> None:
        """Fold the branch under the cursor; on a leaf or a folded branch go to the branch above."""
        if not self._tree.rows:
            return
        if self._tree.is_unfolded(self.cursor):
            self._toggle(self.cursor)
            return
        parent = self._tree.parent(self.cursor)
        if parent is not None:
            self._stand_on(parent)

    def action_unfold(self) -> None:
        """Unfold the branch under the cursor; on an unfolded one go to its first child."""
        if not self._tree.rows or not self._tree.has_children(self.cursor):
            return
        if self._tree.is_unfolded(self.cursor):
            self.action_move(1)
        else:
            self._toggle(self.cursor)

    def action_choose(self) -> None:
        """Fold or unfold a branch; open or close a leaf."""
        if self._tree.rows and self._tree.has_children(self.cursor):
            self._toggle(self.cursor)
        elif (ref := self.cursor_ref) is not None:
            self.post_message(self.Selected(self, ref))

    def action_preview(self) -> None:
        """Ask for a preview of the section under the cursor."""
        ref = self.cursor_ref
        if ref is not None:
            self.post_message(self.Preview(self, ref))

    # -- mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Take the cursor to a row, fold by its arrow, open by a double click."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if offset is None or not 0 <= row < len(self._tree.rows):
            return
        node = self._tree.rows[row]
        arrow = indent_of(self._tree, node, self.scrollable_content_region.width)
        self.cursor = node
        if self._tree.has_children(node) and arrow <= offset.x < arrow + 2:
            self._toggle(node)
        elif event.chain == 2 and (ref := self.cursor_ref) is not None:
            self.post_message(self.Selected(self, ref))

    # -- changes ------------------------------------------------------------------------------

    def watch_cursor(self, before: int, now: int) -> None:
        """Redraw both rows and tell where the cursor is."""
        self.refresh()
        ref = self.cursor_ref
        if before != now and ref is not None:
            self.post_message(self.Highlighted(self, ref))

    def _stand_on(self, node: int) -> None:
        self.cursor = node
        self._scroll_to_node(node)

    def _toggle(self, node: int) -> None:
        if self._tree.is_unfolded(node):
            self._tree.fold(node)
        else:
            self._tree.unfold(node)
        self._after_folding()

    def _after_folding(self) -> None:
        if self._tree.rows:
            self.cursor = self._tree.rows[self._tree.visible_at_or_above(self.cursor)]
        self._resize_rows()

    def _resize_rows(self) -> None:
        rows = len(self._tree.rows) + (self._loading is not None)
        self.virtual_size = Size(self.scrollable_content_region.width, rows)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the rows to the new width, and scroll where one wanted to go while there was no room."""
        self._resize_rows()
        if self._wanted is not None:
            self._scroll_to_node(self._wanted)

    def _scroll_to_node(self, node: int) -> None:
        row = self._tree.row(node)
        height = self.scrollable_content_region.height
        self._wanted = node if height <= 0 else None
        if row is not None and height > 0 and not 0 <= row - self.scroll_offset.y < height:
            self.scroll_to(y=row - (0 if height < 4 else height // 3), animate=False, force=True)

    def _start_pulse(self, node: int) -> None:
        if self._pulse_timer is not None:
            self._pulse_timer.stop()
        self._set_pulse(node)
        self._pulse_timer = self.set_timer(_PULSE_SECONDS, lambda: self._set_pulse(None))

    def _set_pulse(self, node: int | None) -> None:
        self._pulse = node
        self.refresh()

    # -- drawing ------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        super().notify_style_update()
        self._styles.clear()

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = component_style(self, f"outline--{name}")
        return self._styles[name]

    def render_line(self, y: int) -> Strip:
        """Draw one row of the tree."""
        cells = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        rows = self._tree.rows
        segments: list[Segment] = []
        if row < len(rows):
            segments = self._row(rows[row], cells)
        elif self._loading is not None and row == len(rows):
            segments = [Segment(clip(_progress(*self._loading), cells), self._style("size"))]
        base = self._styles.get(" base")
        if base is None:  # working it out takes longer than drawing a row
            base = self._styles[" base"] = self.rich_style
        return Strip(segments).adjust_cell_length(cells, base).apply_style(base)

    def _row(self, node: int, cells: int) -> list[Segment]:
        segments = draw_node(self._tree, self._marks, node, cells, self._style)
        over: list[str] = ["pulse"] if node == self._pulse else []
        if node == self.cursor:
            over.append("cursor" if self.has_focus else "cursor-blurred")
        for name in over:
            style = self._style(name)
            segments = [Segment(item.text, (item.style or Style()) + style) for item in segments]
        return segments


def _progress(sections: int, done: int, total: int) -> str:
    share = f" · {done * 100 // total} %" if total else ""
    return f"… reading: {sections:,} sections{share}"
