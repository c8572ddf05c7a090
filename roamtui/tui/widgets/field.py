"""An input line that takes a paste as one line of visible characters."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from roamtui.text import one_line


class Field(Input):
    """Textual's input, but a paste keeps all its lines and none of its control characters."""

    def on_mount(self) -> None:
        """Keep the cursor still: a blinking one repaints for ever."""
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        if event.key.startswith("alt+"):  # some terminals send the letter with it: a command, not text
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        text = one_line(event.text)
        if not text:
            return
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)
