"""Reading by hand: opening, closing, pinning, going to places and back, finding, copying. Needs no model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from roamtui.agent.user import Action, CloseSection, OpenSection, PinSection
from roamtui.document.model import Library, Place
from roamtui.text import one_line
from roamtui.trace.state import TraceState
from roamtui.tui import safe
from roamtui.tui.screened import Screened
from roamtui.tui.terminal import CLIPBOARD_LIMIT

if TYPE_CHECKING:
    from roamtui.tui.screens.main import MainScreen

_REMEMBERED = 200
"""Places that back and forward know."""


class Spot(NamedTuple):
    """A place one has been to."""

    ref: str
    line: int | None = None
    quote: str = ""


class Reading:
    """What the outline and the sections do by the user's hand."""

    def __init__(self, screen: MainScreen, tell: Callable[[Action], None]) -> None:
        self._screen = screen
        self._tell = tell
        self.library: Library | None = None
        self._state = TraceState()
        self._screened = Screened()
        self._preview = ""
        self._been: list[Spot] = []
        self._at = -1

    # -- what is shown ------------------------------------------------------------------------

    def load(self, library: Library) -> None:
        """Show a library; what was open in another one is forgotten."""
        if self.library is not library:
            self._preview, self._been, self._at = "", [], -1
            self._screened = Screened()
        self.library = library
        self._screen.outline.load(library)
        self._screen.sections.show_state(TraceState(), library)

    def show_state(self, state: TraceState) -> None:
        """Show marks, and what is open."""
        self._state = state
        if self.library is None:
            return
        self._screen.outline.show_state(state)
        self._screen.sections.show_state(self._screened(state), self.library)
        if self._preview and self._screened.is_shown(state, self._preview):
            self._screen.sections.close(self._preview)
            self._preview = ""

    def title(self, ref: str) -> str:
        """Return the title of a section; empty for ids that are not in the document."""
        place = self.library.find(ref) if self.library is not None else None
        if place is None:
            return ""
        return place.section.title if place.section.index >= 0 else place.document.name

    def _place(self, ref: str | None) -> Place | None:
        return self.library.find(ref) if self.library is not None and ref else None

    @property
    def current(self) -> str | None:
        """The section under the cursor: of the sections pane when that has the keyboard, else of the outline."""
        if self._screen.arrangement.pane == "sections":
            return self._screen.sections.current_ref or self._screen.outline.cursor_ref
        return self._screen.outline.cursor_ref

    # -- opening and closing ------------------------------------------------------------------

    def toggle(self, ref: str) -> None:
        """Open a section, or close it when it is open."""
        if self._screened.is_shown(self._state, ref):
            self.close(ref)
        else:
            self.open(ref)

    def open(self, ref: str) -> None:
        """Open a section by hand and bring it into view."""
        place = self._place(ref)
        if place is None or place.section.index < 0:
            return
        self._screened.show(ref)
        self.visit(Spot(ref))
        if not self._state.section(ref).open_user:
            self._tell(OpenSection(ref))

    def preview(self, ref: str) -> None:
        """Show a section without opening it; the keyboard stays where it is."""
        self.visit(Spot(ref))

    def close(self, ref: str) -> None:
        """Close a section. What the agent opened leaves the screen; the model has read it all the same."""
        state = self._state.section(ref)
        if ref == self._preview:
            self._screen.sections.close(ref)
            self._preview = ""
        if state.open_agent and ref not in self._screened.hidden:
            self._screened.hide(ref)
            self._screen.say("Closed on the screen. The model has read it and still knows it.")
            self.show_state(self._state)
        if state.pinned:
            self._tell(PinSection(ref, pinned=False))
        if state.open_user:
            self._tell(CloseSection(ref))

    def pin(self, ref: str) -> None:
        """Pin a section, or take the pin out."""
        place = self._place(ref)
        if place is not None and place.section.index >= 0:
            pinned = not self._state.section(ref).pinned
            if pinned and not self._screened.is_shown(self._state, ref):
                self.open(ref)
            self._tell(PinSection(ref, pinned))
            self._screen.say(f"{'Pinned' if pinned else 'No longer pinned'}: {place.section.title}")

    # -- going to places ----------------------------------------------------------------------

    def visit(self, spot: Spot, *, remember: bool = True) -> None:
        """Bring a section, its line or some quoted words into view; a closed section is shown as a preview."""
        if not self.bring(spot, remember=remember):
            return
        sections = self._screen.sections
        if spot.quote:
            sections.go_to_quote(spot.ref, spot.quote)
        else:
            sections.go_to(spot.ref, spot.line)

    def bring(self, spot: Spot, *, remember: bool = True) -> bool:
        """Have a section on the screen, if need be as a preview, without scrolling in it. False: there is none."""
        place = self._place(spot.ref)
        if place is None:
            return False
        self._screen.outline.move_to(spot.ref)
        if place.section.index < 0:
            return False
        sections = self._screen.sections
        if spot.ref not in sections.open_refs:
            if self._preview:
                sections.close(self._preview)
            self._preview = spot.ref
            sections.open(spot.ref)
        if spot.ref in self._screened.hidden:
            self._screened.show(spot.ref)
            self.show_state(self._state)
        self._screen.arrangement.reveal("sections")
        if remember and self._been[self._at : self._at + 1] != [spot]:
            self._been = [*self._been[: self._at + 1], spot][-_REMEMBERED:]
            self._at = len(self._been) - 1
        return True

    def step(self, by: int) -> None:
        """Go back (-1) or forward (1) in the places one has been to."""
        if 0 <= self._at + by < len(self._been):
            self._at += by
            self.visit(self._been[self._at], remember=False)
        else:
            self._screen.say("There is nothing further back." if by < 0 else "There is nothing further on.")

    # -- copying ------------------------------------------------------------------------------

    def copy(self, ref: str, *, whole: bool) -> None:
        """Copy a section's heading and text; with `whole`, everything below it too."""
        place = self._place(ref)
        if place is None:
            return
        document, section = place.document, place.section
        text = document.full_text(section) if whole else document.heading_text(section) + document.own_text(section)
        self.copy_text(text, one_line(section.title))

    def copy_text(self, text: str, what: str) -> None:
        """Copy text by way of the terminal and say what was done."""
        size = len(text.encode("utf-8", "replace"))
        app = self._screen.app
        app.copy_to_clipboard(text)
        if size > CLIPBOARD_LIMIT:
            message = (
                f"{what}: {size:,} bytes are more than terminals take ({CLIPBOARD_LIMIT:,}). Kept for pasting here."
            )
            safe.toast(self._screen.own_app, message, title="Not copied", severity="warning")
            return
        way = "through tmux" if "TMUX" in os.environ else "by way of the terminal (OSC 52)"
        safe.toast(self._screen.own_app, f"{what}: {len(text):,} characters, {way}.", title="Copied")
