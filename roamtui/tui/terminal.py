"""What stands between the program and the terminal: the last filter on output, crashes, signals.

`HardenedApp` is the base of the application. It draws no byte a terminal could act on, leaves the
terminal as it found it however it ends, and never shows or writes the values of variables.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import os
import re
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, TextIO

from rich.console import RenderableType
from rich.segment import Segment
from rich.text import Text
from textual import on
from textual.app import App
from textual.color import Color
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Mount
from textual.filter import LineFilter

from roamtui import crash
from roamtui.errors import UsageError
from roamtui.text import display, one_line, redact
from roamtui.tui.driver import RobustDriver
from roamtui.tui.safe import web_address
from roamtui.tui.themes import default_variables

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""What may never reach the terminal inside a line. Textual gives all of it a width of 0, so taking it
out never moves anything."""
CLIPBOARD_LIMIT = 75_000
"""Bytes of a copy; terminals drop longer OSC 52 sequences without a word."""


class SafeOutput(LineFilter):
    """The backstop: drops unsafe code points and links that are not http(s) from every line drawn.

    It must never be needed; `hits` counts the segments in which it was, over the life of the process.
    """

    hits: ClassVar[int] = 0

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments of one line without anything a terminal may act on."""
        if all(_is_safe(segment) for segment in segments):
            return segments
        return [segment if _is_safe(segment) else self._clean(segment) for segment in segments]

    def _clean(self, segment: Segment) -> Segment:
        SafeOutput.hits += 1
        style = segment.style
        if style is not None and style.link and web_address(style.link) is None:
            style = style.update_link(None)
        return Segment(_UNSAFE.sub("", segment.text), style)


def _is_safe(segment: Segment) -> bool:
    text, style, _ = segment
    if _UNSAFE.search(text) is not None:
        return False
    return style is None or not style.link or web_address(style.link) is not None


def require_terminal(
    stdin: TextIO | None = sys.__stdin__, stdout: TextIO | None = sys.__stdout__, *, term: str | None = None
) -> None:
    """Raise `UsageError` unless there is a terminal to draw on and to read keys from."""
    term = os.environ.get("TERM", "") if term is None else term
    hint = 'Without one, `roamtui ask DOC "question"` answers in plain text.'
    if not _is_tty(stdin) or not _is_tty(stdout):
        which = "standard input" if not _is_tty(stdin) else "standard output"
        raise UsageError(f"The screen needs a terminal, and {which} is none.", hint)
    if term == "dumb":
        raise UsageError("The screen needs a terminal that can move its cursor, and TERM says dumb.", hint)


def _is_tty(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def clipboard_sequence(text: str, *, in_tmux: bool) -> str:
    """Return the OSC 52 sequence that asks the terminal to copy `text`; for tmux also in its own wrapping."""
    coded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{coded}\a"
    wrapped = f"\x1bPtmux;{sequence}\x1b\\".replace("\x1b]", "\x1b\x1b]")
    return sequence + wrapped if in_tmux else sequence


class HardenedApp(App[int]):
    """An application that cannot be turned against its terminal."""

    def __init__(self, driver_class: type[Driver] | None = None, *, ansi_color: bool | None = None) -> None:
        super().__init__(driver_class=driver_class, ansi_color=ansi_color)
        self._safe_output = SafeOutput()
        self.crash_file: Path | None = None
        """Where the report of the crash lies, after one."""

    # -- output -------------------------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters and, last, the one that keeps unsafe text from the terminal."""
        return [*super().get_line_filters(), self._safe_output]

    def copy_to_clipboard(self, text: str) -> None:
        """Copy `text` by way of the terminal; more than `CLIPBOARD_LIMIT` bytes are kept for pasting here only."""
        self._clipboard = text
        if self._driver is not None and len(text.encode("utf-8", "replace")) <= CLIPBOARD_LIMIT:
            self._driver.write(clipboard_sequence(text, in_tmux="TMUX" in os.environ))

    def get_driver_class(self) -> type[Driver]:
        """Return the robust driver wherever Textual would take its own one for terminals."""
        chosen = super().get_driver_class()
        return RobustDriver if chosen is LinuxDriver else chosen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours of marks and highlights for themes that do not set them."""
        return default_variables(self.current_theme)

    # -- the end ------------------------------------------------------------------------------

    @on(Mount)
    def _watch_threads(self) -> None:
        if not self.is_headless:
            threading.excepthook = partial(_report_to, self, asyncio.get_running_loop())
            gc.freeze()  # modules stay anyway; looking through them costs a frame or two each time

    def _fatal_error(self) -> None:
        error = sys.exc_info()[1] or self._exception
        if error is not None:
            self._end_by_crash(error)

    def panic(self, *renderables: RenderableType) -> None:
        """End the program with a report of the exception at hand; nothing is drawn from its variables."""
        error = sys.exc_info()[1] or self._exception
        if error is None:
            super().panic(*renderables)
            return
        self._end_by_crash(error)

    def _end_by_crash(self, error: BaseException) -> None:
        self._return_code = 1
        what = redact(one_line(f"{type(error).__name__}: {error}"))[:500]
        message = Text("roamtui stopped: an error in the program.\n", style="bold red")
        message.append(what + "\n", style="default not bold")
        self.crash_file = crash.write_note(error)
        if self.crash_file is not None:
            message.append(f"The place is noted in {display(str(self.crash_file))}\n", style="default not bold")
        if not self._exit_renderables:
            self._exit_renderables.append(message)
        self._close_messages_no_wait()


def _report_to(app: HardenedApp, loop: asyncio.AbstractEventLoop, args: threading.ExceptHookArgs) -> None:
    """End the program when one of its threads dies of an error."""
    if isinstance(args.exc_value, Exception):
        loop.call_soon_threadsafe(app._handle_exception, args.exc_value)
