"""A bar between two panes that is dragged with the mouse or moved with the arrow keys."""

from __future__ import annotations

from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

Direction = Literal["columns", "rows"]

_LEAST = 8
"""Cells a pane keeps at least along the direction it is resized in (half of it for rows)."""


class Splitter(Widget, can_focus=True):
    """Resizes the pane before it: `direction` says whether it stands between columns or between rows."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    Splitter {
        width: 1;
        height: 1fr;
        color: $border-blurred;
        background: $background;
        pointer: ew-resize;
        &.-rows { width: 1fr; height: 1; pointer: ns-resize; }
        &:hover { color: $border; }
        &:focus { color: $border; text-style: bold; }
        &.-dragging { color: $border; text-style: bold; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up,h,k", "move(-2)", "Smaller", show=False, id="splitter.smaller"),
        Binding("right,down,l,j", "move(2)", "Larger", show=False, id="splitter.larger"),
    ]

    class Moved(Message):
        """The pane before the splitter has a new size."""

        def __init__(self, splitter: Splitter, cells: int) -> None:
            super().__init__()
            self.splitter = splitter
            self.cells = cells
            """New width (height, between rows) of the pane, in cells."""

        @property
        def control(self) -> Splitter:
            """The splitter that moved."""
            return self.splitter

    def __init__(
        self,
        target: str,
        *,
        direction: Direction = "columns",
        after: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._target = target
        self._direction: Direction = direction
        self._sign = -1 if after else 1
        self._grabbed: tuple[int, int] | None = None
        self.set_class(direction == "rows", "-rows")

    # `target` is the DOM id of the pane that is resized; `after` says that it stands behind the splitter.

    def _pane(self) -> Widget:
        return self.screen.query_one(f"#{self._target}", Widget)

    def _cells(self) -> int:
        size = self._pane().outer_size
        return size.width if self._direction == "columns" else size.height

    def resize_to(self, cells: int) -> None:
        """Give the pane a width (height, between rows), within what the neighbours can spare."""
        pane = self._pane()
        parent = self.parent
        room = parent.size if isinstance(parent, Widget) else self.screen.size
        if self._direction == "columns":
            cells = max(min(_LEAST, room.width), min(cells, room.width - _LEAST - 1))
            pane.styles.width = cells
        else:
            cells = max(min(_LEAST // 2, room.height), min(cells, room.height - _LEAST // 2 - 1))
            pane.styles.height = cells
        self.post_message(self.Moved(self, cells))

    def action_move(self, cells: int) -> None:
        """Move the splitter by some cells to the right or down."""
        self.resize_to(self._cells() + self._sign * cells)

    def _position(self, event: events.MouseEvent) -> int:
        return int(event.screen_x if self._direction == "columns" else event.screen_y)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the bar."""
        self._grabbed = (self._position(event), self._cells())
        self.capture_mouse()
        self.add_class("-dragging")
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self._grabbed is not None:
            start, cells = self._grabbed
            self.resize_to(cells + self._sign * (self._position(event) - start))
            event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of the bar."""
        if self._grabbed is not None:
            self._grabbed = None
            self.release_mouse()
            self.remove_class("-dragging")
            event.stop()

    def render_line(self, y: int) -> Strip:
        """Draw the bar."""
        cells = self.size.width
        text = "│" if self._direction == "columns" else "─" * cells
        return Strip([Segment(text, self.rich_style)], cells)
