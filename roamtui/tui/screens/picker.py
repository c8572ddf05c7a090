"""A dialog in which one types to choose: sections, commands, questions, models."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from roamtui.text import clip, one_line, width
from roamtui.tui import safe
from roamtui.tui.widgets.field import Field

MOST_SHOWN = 50
"""Choices shown at once; more are found by typing."""
_SETTLE = 0.3
"""Seconds in which keys typed before the dialog came do not choose anything, where that matters."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list."""

    value: str
    """What choosing it gives."""
    title: str
    detail: str = ""
    """Shown dim behind the title."""
    right: str = ""
    """Shown at the end: a key, a size."""

    def content(self, cells: int) -> Content:
        """Return the line for a width; foreign text stays text."""
        right = f" {one_line(self.right)}" if self.right else ""
        room = max(4, cells - width(right))
        title = clip(one_line(self.title), room)
        detail = clip(f"  {one_line(self.detail)}", room - width(title)) if self.detail else ""
        gap = " " * (room - width(title) - width(detail))
        return safe.assemble((title, "bold"), (detail, "$foreground 60%"), gap, (right, "$accent"))


Search = Callable[[str], Sequence[Choice]]
"""Finds choices for what was typed; called on a thread."""


class Picker(ModalScreen[str]):
    """An input line with choices below it. Gives the chosen value; nothing (None) when it is left with esc."""

    DEFAULT_CSS = """
    Picker {
        align: center top;
        background: $background 40%;
        & > #picker {
            width: 80%;
            max-width: 110;
            min-width: 30;
            height: auto;
            max-height: 80%;
            margin-top: 2;
            padding: 0 1;
            background: $surface;
            border: round $primary;
            border-title-color: $primary;
            border-title-style: bold;
        }
        & #picker-note { width: 1fr; height: auto; color: $text-muted; }
        & #picker-note.-empty { display: none; }
        & #picker-input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; margin-bottom: 1; }
        & #picker-list {
            height: auto;
            max-height: 20;
            border: none;
            padding: 0;
            background: $surface;
            scrollbar-size-vertical: 1;
            & > .option-list--option { padding: 0; }
            & > .option-list--option-highlighted {
                background: $block-cursor-background;
                color: $block-cursor-foreground;
                text-style: none;
            }
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("down,ctrl+n", "move(1)", "Next", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Previous", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        search: Search,
        *,
        placeholder: str = "",
        note: str = "",
        free: str = "",
        careful: bool = False,
        typed: str = "",
    ) -> None:
        """`free`: words before what was typed, where that can be chosen too (empty: it cannot).

        `careful`: keys that were typed before the dialog came must not choose.
        """
        super().__init__()
        self._heading = title
        self._search = search
        self._placeholder = placeholder
        self._note = note
        self._free = free
        self._typed = typed
        self._choices: Sequence[Choice] = ()
        self._awake_at = time.monotonic() + _SETTLE if careful else 0.0

    @property
    def awake(self) -> bool:
        """Whether keys choose by now."""
        return time.monotonic() >= self._awake_at

    def compose(self) -> ComposeResult:
        """Lay out note, input and list."""
        with Vertical(id="picker") as box:
            box.border_title = safe.line(self._heading)
            yield Static(safe.plain(self._note), id="picker-note", markup=False, classes="" if self._note else "-empty")
            yield Field(value=self._typed, placeholder=self._placeholder, id="picker-input", max_length=2_000)
            yield OptionList(id="picker-list", markup=False)

    def on_mount(self) -> None:
        """Show everything before the first key."""
        self.query_one("#picker-input", Input).focus()
        self.query_one(OptionList).can_focus = False
        self._look_up(self._typed)

    @on(Input.Changed, "#picker-input")
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look_up(event.value)

    @work(thread=True, exclusive=True, group="picker", exit_on_error=False)
    def _look_up(self, typed: str) -> None:
        choices = list(self._search(typed))[:MOST_SHOWN]
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, typed, choices)

    def _show(self, typed: str, choices: list[Choice]) -> None:
        if not self.is_mounted:
            return
        if self._free and typed.strip():
            choices.append(Choice(typed.strip(), f"{self._free} “{typed.strip()}”"))
        self._choices = choices
        listed = self.query_one(OptionList)
        listed.clear_options()
        cells = self.query_one("#picker-input").content_size.width - 2  # the list has a scroll bar
        listed.add_options([Option(choice.content(cells)) for choice in choices])
        if choices:
            listed.highlighted = 0
        else:
            listed.add_option(Option(safe.line("nothing found", "$text-muted"), disabled=True))

    def action_move(self, by: int) -> None:
        """Move the highlight."""
        listed = self.query_one(OptionList)
        if self._choices:
            at = (listed.highlighted or 0) + by
            listed.highlighted = max(0, min(len(self._choices) - 1, at))

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    @on(Input.Submitted, "#picker-input")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        listed = self.query_one(OptionList)
        self._choose(listed.highlighted)

    @on(OptionList.OptionSelected, "#picker-list")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose(event.option_index)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog leaves it."""
        if event.widget is self:
            self.action_leave()

    def _choose(self, index: int | None) -> None:
        if index is not None and index < len(self._choices) and self.awake:
            self.dismiss(self._choices[index].value)


def among(choices: Sequence[Choice]) -> Search:
    """Return a search over fixed choices: those that hold every word typed, beginnings of titles first."""

    def search(typed: str) -> Sequence[Choice]:
        words = typed.lower().split()
        found = [item for item in choices if all(word in f"{item.title} {item.detail}".lower() for word in words)]
        return sorted(found, key=lambda item: not item.title.lower().startswith(typed.lower())) if words else found

    return search
