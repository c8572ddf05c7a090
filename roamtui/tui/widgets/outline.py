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
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from roamtui.document.model import Document, Library
from roamtui.estimate import estimate_tokens
from roamtui.text import clip, one_line, width
from roamtui.trace.state import GLYPHS, MARKS, PIN, Mark, SectionState, TraceState
from roamtui.tui.counts import short_count
from roamtui.tui.styles import component_style
from roamtui.tui.widgets.outline_tree import NodeCounts, OutlineTree, hits_by_section

_PULSE_SECONDS = 0.7
_SAMPLE = 64_000
"""Bytes of a document from which its tokens per byte are estimated; the sizes shown are rounded anyway."""
_SIZE_CELLS = 5
_ROOM_FOR_SIZE = 26
"""Width under which titles need the cells that sizes would take."""


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

    DEFAULT_CSS = """
    OutlinePane {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        & > .outline--row { text-style: none; }
        & > .outline--none { text-style: none; }
        & > .outline--document { text-style: bold; }
        & > .outline--arrow { color: $text-muted; }
        & > .outline--size { color: $text-muted; }
        & > .outline--hits { color: $mark-found; text-style: bold; }
        & > .outline--pin { color: $mark-pin; text-style: bold; }
        & > .outline--closed { color: $mark-closed; }
        & > .outline--found { color: $mark-found; }
        & > .outline--open { color: $mark-open; text-style: bold; }
        & > .outline--yours { color: $mark-yours; text-style: bold; }
        & > .outline--unhelpful { color: $mark-unhelpful; text-style: italic; }
        & > .outline--helpful { color: $mark-helpful; text-style: bold; }
        & > .outline--opening { color: $mark-opening; text-style: bold underline; }
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
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Up", show=False, id="outline.up"),
        Binding("down,j", "cursor_down", "Down", show=False, id="outline.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="outline.page-up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="outline.page-down"),
        Binding("home", "first", "First", show=False, id="outline.first"),
        Binding("end,G", "last", "Last", show=False, id="outline.last"),
        Binding("left,h", "fold", "Fold, or go to the branch", show=False, id="outline.fold"),
        Binding("right,l", "unfold", "Unfold, or go to the first child", show=False, id="outline.unfold"),
        Binding("enter", "choose", "Open or close", show=False, id="outline.choose"),
        Binding("space", "preview", "Preview", show=False, id="outline.preview"),
    ]

    cursor: var[int] = var(0, init=False)
    """The node the cursor stands on."""

    class _About(Message):
        def __init__(self, pane: OutlinePane, ref: str) -> None:
            super().__init__()
            self.pane = pane
            self.ref = ref
            """Id of the section; a document's own row has the id of its root."""

        @property
        def control(self) -> OutlinePane:
            """The pane it comes from."""
            return self.pane

    class Selected(_About):
        """A section is to be opened, or closed when it is open."""

    class Highlighted(_About):
        """The cursor moved to a section."""

    class Preview(_About):
        """A section is to be shown without counting as opened."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._tree: OutlineTree | None = None
        self._loading: tuple[int, int, int] | None = None
        self._sections: dict[str, SectionState] | None = None
        self._marks: dict[int, int] = {}
        self._below: dict[int, int] = {}
        self._pins: set[int] = set()
        self._found = NodeCounts({})
        self._hits: NodeCounts | None = None
        self._rates: dict[int, float] = {}
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
        self._tree = OutlineTree(library)
        self._rates.clear()
        self._hits = None
        if before is not None:
            self._tree.take_folding(before)
        self._sections = None
        kept = self._tree.node(ref) if ref else None
        self.set_reactive(OutlinePane.cursor, 0 if kept is None else kept)
        self._resize_rows()

    def show_state(self, state: TraceState) -> None:
        """Show marks, pins and found sections of a session."""
        if self._tree is None or state.sections is self._sections:
            return
        self._sections = state.sections
        self._marks.clear()
        self._below.clear()
        self._pins.clear()
        found: dict[int, int] = {}
        for ref, section in state.sections.items():
            node = self._tree.node(ref)
            if node is None:
                continue
            rank = MARKS.index(section.mark)
            self._marks[node] = rank
            if section.pinned:
                self._pins.add(node)
            if section.found:
                found[node] = 1
            parent = self._tree.parent(node)
            while parent is not None and self._below.get(parent, 0) < rank:
                self._below[parent] = rank
                parent = self._tree.parent(parent)
        self._found = NodeCounts(found)
        self.refresh()

    def show_hits(self, document: Document, spans: Iterable[tuple[int, int]]) -> None:
        """Show how often the words looked for occur in each section of a document; no spans: none."""
        if self._tree is None:
            return
        counts: dict[int, int] = {}
        for index, count in hits_by_section(document, spans).items():
            node = self._tree.node_at(document, index)
            if node is not None:
                counts[node] = count
        self._hits = NodeCounts(counts) if counts else None
        self.refresh()

    # -- places -------------------------------------------------------------------------------

    @property
    def cursor_ref(self) -> str | None:
        """Id of the section the cursor stands on; None while nothing is loaded."""
        tree = self._tree
        return tree.ref(self.cursor) if tree is not None and self.cursor < len(tree) else None

    def reveal(self, ref: str, *, pulse: bool = True) -> None:
        """Unfold what hides a section, scroll to it and let it light up once; the cursor stays."""
        node = self._tree.node(ref) if self._tree is not None else None
        if self._tree is None or node is None:
            return
        self._tree.reveal(node)
        self._resize_rows()
        self._scroll_to_node(node)
        if pulse and self.app.animation_level != "none":
            self._start_pulse(node)

    def move_to(self, ref: str) -> None:
        """Put the cursor on a section, unfolding what hides it."""
        node = self._tree.node(ref) if self._tree is not None else None
        if self._tree is None or node is None:
            return
        self._tree.reveal(node)
        self._resize_rows()
        self.cursor = node
        self._scroll_to_node(node)

    def toggle(self, ref: str) -> None:
        """Fold or unfold a branch."""
        node = self._tree.node(ref) if self._tree is not None else None
        if node is not None:
            self._toggle(node)

    def expand_all(self) -> None:
        """Unfold every branch."""
        if self._tree is not None:
            self._tree.unfold_all()
            self._after_folding()

    def collapse_all(self) -> None:
        """Fold every branch; the cursor goes to the branch it was in."""
        if self._tree is not None:
            self._tree.fold_all()
            self._after_folding()

    # -- keys ---------------------------------------------------------------------------------

    def _move(self, rows: int) -> None:
        if self._tree is None or not self._tree.rows:
            return
        row = self._tree.visible_at_or_above(self.cursor) + rows
        self.cursor = self._tree.rows[max(0, min(row, len(self._tree.rows) - 1))]
        self._scroll_to_node(self.cursor)

    def action_cursor_up(self) -> None:
        """Move the cursor one row up."""
        self._move(-1)

    def action_cursor_down(self) -> None:
        """Move the cursor one row down."""
        self._move(1)

    def action_page_up(self) -> None:
        """Move the cursor a page up."""
        self._move(-max(1, self.scrollable_content_region.height - 1))

    def action_page_down(self) -> None:
        """Move the cursor a page down."""
        self._move(max(1, self.scrollable_content_region.height - 1))

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self._move(-len(self._tree or ()))

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self._move(len(self._tree or ()))

    def action_fold(self) -> None:
        """Fold the branch under the cursor; on a leaf or a folded branch go to the branch above."""
        tree = self._tree
        if tree is None:
            return
        if tree.is_unfolded(self.cursor) and tree.has_children(self.cursor):
            self._toggle(self.cursor)
            return
        parent = tree.parent(self.cursor)
        if parent is not None:
            self.cursor = parent
            self._scroll_to_node(parent)

    def action_unfold(self) -> None:
        """Unfold the branch under the cursor; on an unfolded one go to its first child."""
        tree = self._tree
        if tree is None or not tree.has_children(self.cursor):
            return
        if tree.is_unfolded(self.cursor):
            self._move(1)
        else:
            self._toggle(self.cursor)

    def action_choose(self) -> None:
        """Fold or unfold a branch; open or close a leaf."""
        tree = self._tree
        if tree is None or not tree.rows:
            return
        if tree.has_children(self.cursor):
            self._toggle(self.cursor)
        else:
            self.post_message(self.Selected(self, tree.ref(self.cursor)))

    def action_preview(self) -> None:
        """Ask for a preview of the section under the cursor."""
        if self._tree is not None and self._tree.rows:
            self.post_message(self.Preview(self, self._tree.ref(self.cursor)))

    # -- mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Take the cursor to a row, fold by its arrow, open by a double click."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if self._tree is None or offset is None or not 0 <= row < len(self._tree.rows):
            return
        node = self._tree.rows[row]
        arrow = self._indent(node)
        self.cursor = node
        if self._tree.has_children(node) and arrow <= offset.x < arrow + 2:
            self._toggle(node)
        elif event.chain == 2:
            self.post_message(self.Selected(self, self._tree.ref(node)))

    # -- changes ------------------------------------------------------------------------------

    def watch_cursor(self, before: int, now: int) -> None:
        """Redraw both rows and tell where the cursor is."""
        self.refresh()
        ref = self.cursor_ref
        if before != now and ref is not None:
            self.post_message(self.Highlighted(self, ref))

    def _toggle(self, node: int) -> None:
        tree = self._tree
        if tree is None:
            return
        if tree.is_unfolded(node):
            tree.fold(node)
        else:
            tree.unfold(node)
        self._after_folding()

    def _after_folding(self) -> None:
        if self._tree is not None and self._tree.rows:
            self.cursor = self._tree.rows[self._tree.visible_at_or_above(self.cursor)]
        self._resize_rows()

    def _resize_rows(self) -> None:
        rows = len(self._tree.rows) if self._tree is not None else 0
        self.virtual_size = Size(self.scrollable_content_region.width, rows + (self._loading is not None))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the rows to the new width."""
        self._resize_rows()

    def _scroll_to_node(self, node: int) -> None:
        row = self._tree.row(node) if self._tree is not None else None
        height = self.scrollable_content_region.height
        if row is None:
            return
        if height <= 0:
            self.call_after_refresh(self._scroll_to_node, node)
            return
        top = self.scroll_offset.y
        if not top <= row < top + height:
            self.scroll_to(y=row - (0 if height < 4 else height // 3), animate=False, force=True)

    def _start_pulse(self, node: int) -> None:
        if self._pulse_timer is not None:
            self._pulse_timer.stop()
        self._pulse = node
        self._pulse_timer = self.set_timer(_PULSE_SECONDS, self._end_pulse)
        self.refresh()

    def _end_pulse(self) -> None:
        self._pulse = None
        self.refresh()

    # -- drawing ------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        super().notify_style_update()
        self._styles.clear()

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = component_style(self, f"outline--{name}")
            self._styles[name] = style
        return style

    def render_line(self, y: int) -> Strip:
        """Draw one row of the tree."""
        cells = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        base = self.rich_style
        rows = self._tree.rows if self._tree is not None else ()
        if row < len(rows):
            return Strip(self._segments(rows[row], cells)).adjust_cell_length(cells, base).apply_style(base)
        if self._loading is not None and row == len(rows):
            return Strip([Segment(clip(_progress(*self._loading), cells), self._style("size"))]).apply_style(base)
        return Strip.blank(cells, base)

    def _indent(self, node: int) -> int:
        depth = self._tree.depth(node) if self._tree is not None else 0
        step = 2 if self.scrollable_content_region.width >= _ROOM_FOR_SIZE else 1
        return min(depth * step, max(0, self.scrollable_content_region.width // 3))

    def _segments(self, node: int, cells: int) -> list[Segment]:
        tree = self._tree
        if tree is None:
            return []
        document, section = tree.place(node)
        branch, unfolded = tree.has_children(node), tree.is_unfolded(node)
        own: Mark = MARKS[self._marks.get(node, 0)]
        below = 0 if unfolded or not branch else self._below.get(node, 0)
        shown: Mark = MARKS[max(self._marks.get(node, 0), below)]
        right = self._right_side(node, document, section.start, section.end, cells)
        taken = sum(width(segment.text) for segment in right)
        left = " " * self._indent(node) + (("▾ " if unfolded else "▸ ") if branch else "  ")
        room = max(1, cells - width(left) - 2 - taken)
        title = clip(one_line(section.title), room)
        title_style = self._style("document") if section.index < 0 else self._style(own)
        segments = [
            Segment(left, self._style("arrow")),
            Segment(f"{GLYPHS[shown]} ", self._style(shown)),
            Segment(title, title_style),
            Segment(" " * (room - width(title))),
            *right,
        ]
        if node == self._pulse:
            segments = [Segment(item.text, (item.style or Style()) + self._style("pulse")) for item in segments]
        if node == self.cursor:
            cursor = self._style("cursor" if self.has_focus else "cursor-blurred")
            segments = [Segment(item.text, (item.style or Style()) + cursor) for item in segments]
        return segments

    def _right_side(self, node: int, document: Document, start: int, end: int, cells: int) -> list[Segment]:
        segments: list[Segment] = []
        hits = self._hit_count(node)
        if node in self._pins:
            segments.append(Segment(f" {PIN}", self._style("pin")))
        if hits:
            segments.append(Segment(f" {short_count(hits)}×", self._style("hits")))
        if cells >= _ROOM_FOR_SIZE:
            tokens = short_count(round((end - start) * self._rate(document)))
            segments.append(Segment(f" {tokens:>{_SIZE_CELLS - 1}}", self._style("size")))
        return segments

    def _hit_count(self, node: int) -> int:
        tree = self._tree
        if tree is None:
            return 0
        folded = tree.has_children(node) and not tree.is_unfolded(node)
        last = tree.last(node) if folded else node
        if self._hits is not None:
            return self._hits.total(node, last)
        return self._found.total(node + 1, last) if folded else 0

    def _rate(self, document: Document) -> float:
        rate = self._rates.get(id(document))
        if rate is None:
            sample = document.source[:_SAMPLE]
            rate = estimate_tokens(sample.decode("utf-8", "replace")) / max(1, len(sample))
            self._rates[id(document)] = rate
        return rate


def _progress(sections: int, done: int, total: int) -> str:
    share = f" · {done * 100 // total} %" if total else ""
    return f"… reading: {sections:,} sections{share}"
