"""The panes on a small stage of their own; run as a program it shows a document in them.

`python -m tests.support.panes FILE` opens every section and ends on `q`. Words of the environment make it
misbehave on keys: `!` raises in a handler, `%` in a worker, `&` in a thread, `*` in a timer.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message

from roamtui.document.model import Library
from roamtui.trace.state import TraceState
from roamtui.tui import safe
from roamtui.tui.terminal import HardenedApp, SafeOutput
from roamtui.tui.themes import DARK_THEME, register_themes
from roamtui.tui.widgets.findbar import FindBar
from roamtui.tui.widgets.outline import OutlinePane
from roamtui.tui.widgets.sections import SectionsPane
from roamtui.tui.widgets.splitter import Splitter
from tests.support.documents import document

THEMES = Path(__file__).parents[2] / "themes"
SECRET = "sk-canary-0123456789abcdef"


class Panes(HardenedApp):
    """Outline, splitter, sections and find bar over a library."""

    CSS = """
    #row { height: 1fr; }
    #tree { width: 34; }
    #texts { width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("q", "quit", "")]

    def __init__(self, library: Library, *, theme: str = DARK_THEME) -> None:
        super().__init__()
        self.library = library
        self.state = TraceState()
        self.outline = OutlinePane(id="tree")
        self.splitter = Splitter("tree")
        self.sections = SectionsPane(id="texts")
        self.bar = FindBar(id="bar")
        self.heard: list[Message] = []
        self._wanted_theme = theme

    def compose(self) -> ComposeResult:
        with Horizontal(id="row"):
            yield self.outline
            yield self.splitter
            yield self.sections
        yield self.bar

    def on_mount(self) -> None:
        register_themes(self, [THEMES])
        self.theme = self._wanted_theme
        self.outline.load(self.library)
        self.sections.show_state(self.state, self.library)
        self.outline.focus()
        self.furnish()

    def furnish(self) -> None:
        """Show more than the library, in a subclass."""

    def mark(self, ref: str, **changes: object) -> None:
        """Change what is known of a section and show it."""
        sections = {**self.state.sections, ref: replace(self.state.section(ref), **changes)}
        self.show(replace(self.state, sections=sections))

    def show(self, state: TraceState) -> None:
        """Show a state."""
        self.state = state
        self.outline.show_state(state)
        self.sections.show_state(state, self.library)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, row by row."""
        return [strip.text for strip in self.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self.lines)

    @on(OutlinePane.Selected)
    @on(OutlinePane.Highlighted)
    @on(OutlinePane.Preview)
    @on(SectionsPane.CloseRequested)
    @on(SectionsPane.LinkActivated)
    @on(SectionsPane.SectionFocused)
    @on(FindBar.FindChanged)
    @on(FindBar.Committed)
    @on(FindBar.FindNext)
    @on(FindBar.FindPrevious)
    @on(FindBar.Closed)
    @on(Splitter.Moved)
    def hear(self, message: Message) -> None:
        """Remember a message."""
        self.heard.append(message)


class Program(Panes):
    """The panes with all sections open, as a program in a terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("exclamation_mark", "fail_in_handler", ""),
        ("percent_sign", "fail_in_worker", ""),
        ("ampersand", "fail_in_thread", ""),
        ("asterisk", "fail_in_timer", ""),
        ("c", "copy", ""),
        ("f", "freeze", ""),
    ]

    def furnish(self) -> None:
        self.sections.show_outline("\n".join(place.section.title for _, place in self.library.places()))
        for ref, place in self.library.places():
            self.mark(ref, open_agent=True, was_open=True, reason=place.section.title, pinned=True, step=1)
        safe.toast(self, self.library.documents[0].sections[0].title, title=self.library.documents[0].name)
        self.outline.expand_all()
        self.set_timer(0.05, lambda: safe.toast(self, "everything is drawn", timeout=60))

    def on_unmount(self) -> None:
        Path(os.environ.get("HITS_FILE", os.devnull)).write_text(str(SafeOutput.hits))

    def _fail(self) -> None:
        key = SECRET  # a value a careless report would print
        raise RuntimeError(f"went wrong \x1b]52;c;AAAA\x07 {len(key)}")

    def action_fail_in_handler(self) -> None:
        self._fail()

    @work
    async def action_fail_in_worker(self) -> None:
        self._fail()

    def action_fail_in_thread(self) -> None:
        threading.Thread(target=self._fail).start()

    def action_fail_in_timer(self) -> None:
        self.set_timer(0.01, self._fail)

    def action_copy(self) -> None:
        self.copy_to_clipboard(self.library.documents[0].sections[0].title + "\ud800")

    def action_freeze(self) -> None:
        threading.Event().wait(600)


def main() -> int:
    path = Path(sys.argv[1])
    app = Program(Library([document(path.read_bytes(), path.name)]))
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
