"""The three widths, zooming, and which pane the keyboard is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.widget import Widget

from roamtui.tui.commands import Where

if TYPE_CHECKING:
    from roamtui.tui.screens.main import MainScreen

Pane = Literal["outline", "sections", "chat"]
Band = Literal["-narrow", "-medium", "-wide"]

PANES: tuple[tuple[Pane, str], ...] = (("outline", "Outline"), ("sections", "Sections"), ("chat", "Chat"))
BREAKPOINTS: list[tuple[int, str]] = [(0, "-narrow"), (60, "-medium"), (110, "-wide")]
"""Columns from which on an arrangement holds: one pane; text over chat; three panes."""
_STOPS = ("outline", "sections", "log", "prompt")
"""Where tab goes, in order."""


def band_of(width: int) -> Band:
    """Return the arrangement for a width in cells."""
    return "-wide" if width >= BREAKPOINTS[2][0] else "-medium" if width >= BREAKPOINTS[1][0] else "-narrow"


class Arrangement:
    """Arranges the main screen's panes."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._band: Band | None = None
        self.single: Pane | None = None
        """The only pane shown: in narrow terminals, or while one is zoomed."""

    @property
    def pane(self) -> Pane:
        """The pane the keyboard is in; the outline, or the only one shown, when it is in none."""
        focused = self._screen.focused
        for node in focused.ancestors_with_self if focused is not None else ():
            for name, _ in PANES:
                if node.id == f"{name}-box":
                    return name
        return self.single or "outline"

    @property
    def place(self) -> Where:
        """Where the keyboard is, as the table of commands calls it."""
        focused = self._screen.focused
        if focused is not None and focused.check_consume_key("a", "a"):
            return "typing"
        if focused is self._screen.log_view:
            return "talk"
        return "sections" if self.pane == "sections" else "outline"

    def resized(self, width: int) -> None:
        """Take up the arrangement for a width; sizes dragged in another one are forgotten."""
        band = band_of(width)
        if band == self._band:
            return
        self._band = band
        for name in ("outline-box", "chat-box"):
            styles = self._screen.query_one(f"#{name}").styles
            styles.width = styles.height = None
        self._show_only(self.pane if band == "-narrow" else None)

    def focus(self, stop: str) -> None:
        """Put the keyboard somewhere: outline, sections, log or prompt."""
        pane: Pane = "outline" if stop == "outline" else "sections" if stop == "sections" else "chat"
        self.reveal(pane)
        screen = self._screen
        if stop == "sections":
            screen.sections.focus()
            return
        targets: dict[str, Widget] = {"outline": screen.outline, "log": screen.log_view}
        screen.set_focus(targets.get(stop, screen.prompt))  # at once: the next key may be there already

    def reveal(self, pane: Pane) -> None:
        """Let a pane be seen where only one is shown."""
        if self.single is not None and self.single != pane:
            self._show_only(pane)

    def next_stop(self, by: int) -> None:
        """Move the keyboard on or back."""
        focused = self._screen.focused
        if self._screen.find_bar.has_focus_within:
            self.focus("sections" if by > 0 else "outline")
            return
        now = "log" if focused is self._screen.log_view else "prompt" if self.pane == "chat" else self.pane
        self.focus(_STOPS[(_STOPS.index(now) + by) % len(_STOPS)])

    def zoom(self) -> bool:
        """Give the whole screen to the pane the keyboard is in, or show all again. False where only one fits."""
        if self._band == "-narrow":
            return False
        self._show_only(None if self.single is not None else self.pane)
        return True

    def _show_only(self, pane: Pane | None) -> None:
        self.single = pane
        self._screen.set_class(pane is not None, "-single")
        for name, _ in PANES:
            self._screen.set_class(name == pane, f"-only-{name}")
        if pane is not None:
            self._screen.pane_bar.activate(pane)
