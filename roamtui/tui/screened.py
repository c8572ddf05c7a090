"""A session's state as the sections pane shows it: without what the user closed on the screen."""

from __future__ import annotations

from msgspec.structs import replace

from roamtui.trace.state import SectionState, TraceState


class Screened:
    """Sections the agent has open and the user does not want to see. They come back when they are opened again."""

    def __init__(self) -> None:
        self.hidden: dict[str, int] = {}
        """Step at which each was open when it was hidden."""
        self._last: tuple[dict[str, SectionState], dict[str, int], TraceState] | None = None

    def hide(self, ref: str) -> None:
        """Take a section off the screen."""
        self.hidden = {**self.hidden, ref: -1}

    def show(self, ref: str) -> None:
        """Let a section be seen again."""
        self.hidden = {key: value for key, value in self.hidden.items() if key != ref}

    def is_shown(self, state: TraceState, ref: str) -> bool:
        """Tell whether a section is open and not hidden."""
        return state.section(ref).is_open and ref not in self.hidden

    def __call__(self, state: TraceState) -> TraceState:
        """Return `state` without the hidden sections; the same object for the same sections."""
        for ref, step in list(self.hidden.items()):
            now = state.section(ref)
            if step == -1:
                self.hidden[ref] = now.step
            elif now.step != step or not now.is_open:
                self.show(ref)
        if not self.hidden:
            return state
        if self._last is None or self._last[0] is not state.sections or self._last[1] is not self.hidden:
            sections = dict(state.sections)
            for ref in self.hidden:
                sections[ref] = replace(state.section(ref), open_agent=False, open_user=False)
            self._last = (state.sections, self.hidden, replace(state, sections=sections))
        return self._last[2]
