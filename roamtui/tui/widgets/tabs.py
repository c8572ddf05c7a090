"""The row of tabs above the sections."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from roamtui.text import one_line, width
from roamtui.tui.styles import component_style


class PaneTabs(Widget):
    """Names of the tabs in one row; a click chooses one."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--tab", "tabs--chosen"}
    DEFAULT_CSS = """
    PaneTabs {
        height: 1;
        background: $panel;
        & > .tabs--tab { color: $text-muted; }
        & > .tabs--chosen { text-style: bold reverse; }
    }
    """

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab
            """Its key."""

    def __init__(self) -> None:
        super().__init__()
        self._labels = {"outline": "Outline for the model", "sections": "Sections"}
        self._chosen = "sections"

    def set_label(self, tab: str, label: str) -> None:
        """Name a tab; an empty label leaves the name it has."""
        if label and self._labels.get(tab) != label:
            self._labels[tab] = label
            self.refresh()

    def choose(self, tab: str) -> None:
        """Show which tab is open."""
        self._chosen = tab
        self.refresh()

    def _shown(self) -> list[tuple[str, str]]:
        return [(key, f" {one_line(label)} ") for key, label in self._labels.items()]

    def on_click(self, event: events.Click) -> None:
        """Choose the tab under the mouse."""
        cell = 0
        for key, label in self._shown():
            cell += width(label) + 1
            if event.x < cell:
                self.post_message(self.Chosen(key))
                return

    def render_line(self, y: int) -> Strip:
        """Draw the row."""
        segments: list[Segment] = []
        for key, label in self._shown():
            name = "tabs--chosen" if key == self._chosen else "tabs--tab"
            segments += [Segment(label, component_style(self, name)), Segment(" ")]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style).apply_style(self.rich_style)
