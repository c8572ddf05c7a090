"""Messages that panes share."""

from __future__ import annotations

from textual.message import Message
from textual.widget import Widget


class SectionMessage(Message):
    """Something about one section."""

    def __init__(self, pane: Widget, ref: str) -> None:
        super().__init__()
        self.pane = pane
        """The pane it comes from."""
        self.ref = ref
        """Id of the section; a document's own row has the id of its root."""

    @property
    def control(self) -> Widget:
        """The pane it comes from."""
        return self.pane
