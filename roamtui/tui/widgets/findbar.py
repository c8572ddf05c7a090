"""The bar in which one types what to find in the document."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from roamtui.tui import safe
from roamtui.tui.widgets.field import Field

FindMode = Literal["literal", "regex"]
PATTERN_LIMIT = 1_000
"""Characters of a pattern; no one types more, and longer ones only cost time."""


class FindToggle(Static, can_focus=True):
    """A small switch of the find bar; click, space or enter turns it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "turn", "Turn", show=False)]

    class Turned(Message):
        """The switch was turned."""

        def __init__(self, toggle: FindToggle) -> None:
            super().__init__()
            self.toggle = toggle

        @property
        def control(self) -> FindToggle:
            """The switch."""
            return self.toggle

    def __init__(self, label: str, tooltip: str, *, id: str) -> None:
        super().__init__(safe.line(label), id=id, markup=False)
        self.tooltip = safe.line(tooltip)
        self.is_on = False

    def action_turn(self) -> None:
        """Turn the switch and tell."""
        self.is_on = not self.is_on
        self.set_class(self.is_on, "-on")
        self.post_message(self.Turned(self))

    def on_click(self) -> None:
        """Turn the switch."""
        self.action_turn()


class FindBar(Horizontal):
    """Pattern, switches for regular expressions and case, the count of hits, and what is wrong with the pattern."""

    DEFAULT_CSS = """
    FindBar {
        height: 1;
        background: $panel;
        & > Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
        & > FindToggle { width: auto; padding: 0 1; color: $text-muted; }
        & > FindToggle.-on { color: $foreground; text-style: bold reverse; }
        & > FindToggle:focus { text-style: underline; }
        & > #find-label { width: auto; padding: 0 1; color: $text-muted; }
        & > #find-count { width: auto; min-width: 8; padding: 0 1; text-align: right; }
        &.-error > #find-count { color: $text-error; text-style: bold; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="find.close"),
        Binding("down,f3", "next", "Next hit", show=False, id="find.next"),
        Binding("up,shift+f3", "previous", "Previous hit", show=False, id="find.previous"),
        Binding("alt+r", "regex", "Regular expression", show=False, id="find.regex"),
        Binding("alt+c", "case", "Match case", show=False, id="find.case"),
    ]

    class _OfBar(Message):
        def __init__(self, bar: FindBar) -> None:
            super().__init__()
            self.bar = bar

        @property
        def control(self) -> FindBar:
            """The bar it comes from."""
            return self.bar

    class FindChanged(_OfBar):
        """Pattern, mode or case changed; read them from `bar`."""

    class FindNext(_OfBar):
        """Go to the next hit."""

    class FindPrevious(_OfBar):
        """Go to the hit before."""

    class Committed(_OfBar):
        """The pattern stands; the keyboard may go to the text, the bar stays."""

    class Closed(_OfBar):
        """The bar is to be closed and its highlights taken away."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._input = Field(placeholder="find in the document", id="find-input", max_length=PATTERN_LIMIT, compact=True)
        self._regex = FindToggle(".*", "Regular expression (alt+r)", id="find-regex")
        self._case = FindToggle("Aa", "Match case (alt+c)", id="find-case")
        self._count = Static("", id="find-count", markup=False)

    def compose(self) -> ComposeResult:
        """Lay out label, input, switches and count in one row."""
        yield Static("/", id="find-label", markup=False)
        yield self._input
        yield self._regex
        yield self._case
        yield self._count

    @property
    def pattern(self) -> str:
        """What was typed."""
        return self._input.value[:PATTERN_LIMIT]

    @property
    def mode(self) -> FindMode:
        """Whether the pattern is taken as it stands or as a regular expression."""
        return "regex" if self._regex.is_on else "literal"

    @property
    def case(self) -> bool:
        """Whether upper and lower case differ."""
        return self._case.is_on

    def start(self, pattern: str = "") -> None:
        """Take the keyboard; a given pattern replaces the one of last time."""
        if pattern:
            self._input.value = pattern[:PATTERN_LIMIT]
        self._input.focus()
        self._input.select_all()

    def show_count(self, current: int, total: int, *, complete: bool = True) -> None:
        """Show which hit one stands on, from 1 (0: none), of how many; incomplete counts get a plus."""
        self.remove_class("-error")
        if not self.pattern:
            self._count.update(safe.line(""))
        elif total == 0:
            self._count.update(safe.line("no hits"))
        else:
            self._count.update(safe.line(f"{current}/{total:,}{'' if complete else '+'}"))

    def show_error(self, message: str) -> None:
        """Show in place of the count why the pattern cannot be used."""
        self.add_class("-error")
        self._count.update(safe.line(message[:80]))

    @on(Input.Changed, "#find-input")
    @on(FindToggle.Turned)
    def _changed(self, event: Input.Changed | FindToggle.Turned) -> None:
        event.stop()
        self.post_message(self.FindChanged(self))

    @on(Input.Submitted, "#find-input")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Committed(self))

    def action_next(self) -> None:
        """Go to the next hit."""
        self.post_message(self.FindNext(self))

    def action_previous(self) -> None:
        """Go to the hit before."""
        self.post_message(self.FindPrevious(self))

    def action_close(self) -> None:
        """Close the bar."""
        self.post_message(self.Closed(self))

    def action_regex(self) -> None:
        """Switch between a plain text and a regular expression."""
        self._regex.action_turn()

    def action_case(self) -> None:
        """Switch between matching and ignoring case."""
        self._case.action_turn()
