"""The last line: the keys that act where the cursor is, and the tabs of narrow terminals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from roamtui.text import width
from roamtui.tui.styles import component_style


class KeyBar(Widget):
    """Keys and what they do; a click does it too. What does not fit is left out from the end."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keybar--key", "keybar--word"}
    DEFAULT_CSS = """
    KeyBar {
        height: 1;
        width: 1fr;
        background: $footer-background;
        & > .keybar--key { color: $footer-key-foreground; text-style: bold; }
        & > .keybar--word { color: $footer-description-foreground; }
    }
    """

    class Clicked(Message):
        """A command in the line was clicked."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[tuple[str, str, str], ...] = ()
        self._spans: list[tuple[range, str]] = []

    def show(self, hints: Sequence[tuple[str, str, str]]) -> None:
        """Show hints: command id, key, word."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Run the command under the mouse."""
        for cells, command in self._spans:
            if event.x in cells:
                self.post_message(self.Clicked(command))

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        cells = self.size.width
        key_style = component_style(self, "keybar--key")
        word_style = component_style(self, "keybar--word")
        segments, at = [Segment(" ")], 1
        self._spans = []
        for command, key, word in self._hints:
            taken = width(key) + 1 + width(word)
            if at + taken > cells:
                break
            segments += [Segment(key, key_style), Segment(f" {word}", word_style), Segment("   ")]
            self._spans.append((range(at, at + taken), command))
            at += taken + 3
        return Strip(segments).adjust_cell_length(cells, self.rich_style).apply_style(self.rich_style)


class PaneBar(Widget):
    """The panes by name, for terminals with room for one at a time."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"panes--tab", "panes--active"}
    DEFAULT_CSS = """
    PaneBar {
        height: 1;
        width: 1fr;
        background: $surface;
        & > .panes--tab { color: $text-muted; }
        & > .panes--active { color: $primary; text-style: bold reverse; }
    }
    """

    class Clicked(Message):
        """A pane was chosen."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, panes: Sequence[tuple[str, str]], *, id: str | None = None) -> None:
        """`panes`: id and name of each."""
        super().__init__(id=id)
        self._panes = tuple(panes)
        self._active = self._panes[0][0]
        self._spans: list[tuple[range, str]] = []

    def activate(self, pane: str) -> None:
        """Mark a pane as the one shown."""
        if pane != self._active:
            self._active = pane
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose the pane under the mouse."""
        for cells, pane in self._spans:
            if event.x in cells:
                self.post_message(self.Clicked(pane))

    def render_line(self, y: int) -> Strip:
        """Draw the tabs."""
        segments, at = [Segment(" ")], 1
        self._spans = []
        for pane, name in self._panes:
            text = f" {name} "
            style = "panes--active" if pane == self._active else "panes--tab"
            segments += [Segment(text, component_style(self, style)), Segment(" ")]
            self._spans.append((range(at, at + width(text)), pane))
            at += width(text) + 1
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style).apply_style(self.rich_style)


class PaneTitle(Widget):
    """The line above a pane: its name, marked when the keyboard is in it.

    A border and a class would do the same and style the whole pane anew at every change of focus.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"title--plain", "title--line", "title--focused"}
    DEFAULT_CSS = """
    PaneTitle {
        height: 1;
        width: 1fr;
        & > .title--plain { color: $text-muted; }
        & > .title--line { color: $foreground 25%; }
        & > .title--focused { color: $primary; text-style: bold; }
    }
    """

    def __init__(self, name: str, *, focused: bool = False) -> None:
        super().__init__()
        self._title = name
        self._focused = focused

    def mark(self, focused: bool) -> None:
        """Show whether the keyboard is in the pane."""
        if focused != self._focused:
            self._focused = focused
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        cells = self.size.width
        name = component_style(self, "title--focused" if self._focused else "title--plain")
        line = name if self._focused else component_style(self, "title--line")
        bar = "━" if self._focused else "─"
        rest = max(0, cells - width(self._title) - 3)
        segments = [Segment(bar, line), Segment(f" {self._title} ", name), Segment(bar * rest, line)]
        return Strip(segments).crop(0, cells).apply_style(self.rich_style)
