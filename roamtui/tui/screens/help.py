"""All keys, from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from roamtui.text import width
from roamtui.trace.state import GLYPHS, PIN
from roamtui.tui import safe
from roamtui.tui.commands import COMMANDS, PLACES, key_name
from roamtui.tui.keymap import Keymap

_MARKS = (
    (GLYPHS["found"], "mark-found", "found by a search"),
    (GLYPHS["opening"], "mark-opening", "being opened now"),
    (GLYPHS["open"], "mark-open", "open"),
    (GLYPHS["helpful"], "mark-helpful", "helpful or cited"),
    (GLYPHS["unhelpful"], "mark-unhelpful", "opened, not helpful"),
    (GLYPHS["closed"], "mark-closed", "opened earlier, closed"),
    (GLYPHS["yours"], "mark-yours", "opened by you"),
    (PIN, "mark-pin", "pinned"),
)
_MOVING = (
    ("↑ ↓  k j", "move; in the text, scroll"),
    ("← →  h l", "fold and unfold a branch"),
    ("pgup pgdn home end", "move by pages, to the ends"),
    ("drag, or arrows on a bar", "resize panes"),
)


def help_text(keymap: Keymap) -> Content:
    """Return the whole help as text with styles of ours."""
    return safe.assemble(*_pieces(keymap))


def _pieces(keymap: Keymap) -> Iterator[str | tuple[str, str]]:
    for place, heading in PLACES.items():
        commands = [item for item in COMMANDS if item.where[0] == place]
        if not commands:
            continue
        yield (f"{heading}\n", "bold $primary")
        for command in commands:
            names = " ".join(key_name(key) for key in keymap.keys.get(command.id, ())) or "—"
            yield (f"  {names}{' ' * max(1, 12 - width(names))}", "bold $accent")
            yield f"{command.help}\n"
        yield "\n"
    yield ("Moving\n", "bold $primary")
    for keys, words in _MOVING:
        yield (f"  {keys}{' ' * max(1, 26 - width(keys))}", "bold $accent")
        yield f"{words}\n"
    yield ("\nMarks of sections\n", "bold $primary")
    for glyph, color, words in _MARKS:
        yield (f"  {glyph}  ", f"bold ${color}")
        yield f"{words}\n"
    yield ("\nCitations  ", "bold $primary")
    yield "✓ the words stand in the section, ✗ they do not, or it was never opened. Enter or a click leads there.\n"


class Help(ModalScreen[None]):
    """The cheat sheet."""

    DEFAULT_CSS = """
    Help {
        align: center middle;
        background: $background 40%;
        & > #help {
            width: 84;
            max-width: 96%;
            height: auto;
            max-height: 90%;
            padding: 0 1;
            background: $surface;
            border: round $primary;
            border-title-color: $primary;
            border-title-style: bold;
            border-subtitle-color: $text-muted;
            scrollbar-size-vertical: 1;
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,f1,enter", "leave", "Leave", show=False)]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """Lay out the text in a box that scrolls."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc"
            yield Static(help_text(self._keymap), id="help-text", markup=False)

    def on_mount(self) -> None:
        """Let the arrow keys scroll."""
        self.query_one("#help").focus()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
