"""Keyboard and mouse bytes, read so that no byte string can end the program.

Textual's driver dies of a pasted byte that is not UTF-8 and of key codes beyond Unicode, and it reads
a paste character by character. This one decodes what it can, drops what means nothing, and takes a
paste as one piece.
"""

from __future__ import annotations

import codecs
import io
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import Keys
from textual.message import Message

_READ_SIZE = 64 * 1024
PASTE_LIMIT = 1_000_000
"""Characters kept of one paste; the rest of it is dropped."""
PASTE_PATIENCE = 3.0
"""Seconds without input after which a paste that was never closed counts as over."""
_LARGEST_SCREEN = 10_000
"""Columns or rows beyond which a size reported by the terminal is not believed."""
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)
"""Signals that end the program and must not leave the terminal raw."""
_MEANINGLESS = (ValueError, ArithmeticError, LookupError, TypeError)
"""What Textual's parser raises on codes that stand for nothing."""


class TolerantParser(XTermParser):
    """Textual's parser with the codes left out that stand for no key."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        ignored = events.Key(Keys.Ignore, sequence)
        try:
            found = list(super()._sequence_to_key_events(sequence, alt))
        except _MEANINGLESS:
            return [ignored]
        return [key if _is_text(key.key) and _is_text(key.character or "") else ignored for key in found]


def _is_text(text: str) -> bool:
    """Tell whether a string holds no half of a surrogate pair."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


class InputReader:
    """Turns bytes of the terminal into messages. Never raises, whatever the bytes are."""

    def __init__(self, *, debug: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._debug = debug
        self._clock = clock
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._parser = TolerantParser(debug)
        self._held = ""
        """The end of the last piece of input that may be the beginning of a paste mark."""
        self._paste: list[str] | None = None
        """The pieces of an open paste; None outside one."""
        self._pasted = 0
        self._last_input = clock()

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[Message]:
        """Yield the messages that `data` completes."""
        text = self._held + self._decode(data, final)
        self._held = ""
        if text:
            self._last_input = self._clock()
        while text:
            mark = BRACKETED_PASTE_START if self._paste is None else BRACKETED_PASTE_END
            before, found, text = text.partition(mark)
            if not found:
                kept = 0 if final else _overlap(before, mark, 2 if self._paste is None else 1)
                before, self._held = before[: len(before) - kept], before[len(before) - kept :]
            if self._paste is None:
                yield from self._parse(before)
                if found:
                    self._paste, self._pasted = [], 0
                continue
            self._keep(before)
            if found:
                yield self._close_paste()

    def tick(self) -> Iterator[Message]:
        """Yield what became due because no more input came; call it about ten times a second."""
        if self._paste is not None:
            if self._clock() - self._last_input > PASTE_PATIENCE:
                yield self._close_paste()
            return
        if self._held:
            held, self._held = self._held, ""
            yield from self._parse(held)
        try:
            yield from self._parser.tick()
        except _MEANINGLESS:
            self._parser = TolerantParser(self._debug)

    def _parse(self, text: str) -> Iterator[Message]:
        if not text:
            return
        try:
            for message in self._parser.feed(text):
                if not isinstance(message, events.Resize) or _is_believable(message):
                    yield message
        except _MEANINGLESS:
            self._parser = TolerantParser(self._debug)

    def _keep(self, text: str) -> None:
        if self._paste is not None and self._pasted < PASTE_LIMIT:
            self._paste.append(text[: PASTE_LIMIT - self._pasted])
            self._pasted += len(text)

    def _close_paste(self) -> Message:
        text = "".join(self._paste or ())
        self._paste = None
        return events.Paste(text.replace("\x00", ""))


def _overlap(text: str, mark: str, least: int) -> int:
    """Length of the longest end of `text` that begins `mark`, if it is `least` or more; outside a paste a lone
    ESC is a key and is not held back.
    """
    return next((size for size in range(len(mark) - 1, least - 1, -1) if text.endswith(mark[:size])), 0)


def _is_believable(event: events.Resize) -> bool:
    return 0 < event.size.width <= _LARGEST_SCREEN and 0 < event.size.height <= _LARGEST_SCREEN


class TerminalFile(io.TextIOWrapper):
    """The terminal as a file: writes UTF-8 whatever the locale says, and falls silent once it is gone.

    Textual's writer thread would die of the first failed write, and the program would wait for it for ever.
    """

    def __init__(self, descriptor: int) -> None:
        raw = io.BufferedWriter(io.FileIO(os.dup(descriptor), "w"))
        super().__init__(raw, encoding="utf-8", errors="replace", newline="")
        self._gone = False

    def write(self, text: str) -> int:
        """Write text; return its length."""
        try:
            return len(text) if self._gone else super().write(text)
        except OSError:
            self._gone = True
            return len(text)

    def flush(self) -> None:
        """Push out what was written."""
        try:
            if not self._gone:
                super().flush()
        except OSError:
            self._gone = True


class RobustDriver(LinuxDriver):
    """Textual's driver for terminals, reading through `InputReader`.

    It draws on standard output where standard error goes elsewhere, so that `2> log` keeps the screen, and
    it ends the program in order on the signals that end programs: exit code 128 + n, terminal restored.
    """

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        stderr, stdout = sys.__stderr__, sys.__stdout__
        stream = stderr if stderr is not None and stderr.isatty() else stdout
        if stream is not None:
            self._file = TerminalFile(stream.fileno())
        self._ended_by = 0

    def start_application_mode(self) -> None:
        """Take over the terminal, and the signals that would leave it in disorder."""
        start: Callable[[], None] = super().start_application_mode
        start()
        for number in ENDING_SIGNALS:
            signal.signal(number, self._end_by_signal)

    def _end_by_signal(self, number: int, frame: FrameType | None) -> None:
        """Ask the app to end; a second signal does not wait for it."""
        if self._ended_by:
            self.stop_application_mode()
            self.close()
            os._exit(128 + number)
        self._ended_by = number
        self._loop.call_soon_threadsafe(self._app.exit, None, 128 + number)

    def run_input_thread(self) -> None:
        """Read the terminal until the driver stops or the terminal goes away."""
        reader = InputReader(debug=self._debug)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = self._read()
                    if not data:
                        self._loop.call_soon_threadsafe(self._app.exit, None, 128 + signal.SIGHUP)
                        return
                    self._send(reader.feed(data))
                self._send(reader.tick())
            self._send(reader.feed(b"", final=True))

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, _READ_SIZE)
        except OSError:  # EIO: the terminal was closed
            return b""

    def _send(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
