"""A program under a terminal of its own: what it writes, what one sees, what is left behind."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

import pyte

PATIENCE = 15.0
"""Seconds after which something expected counts as never happening."""
FIRST_MODES = ("\x1b[?1049h", "\x1b[?1003h", "\x1b[?25l", "\x1b[?2004h")
LAST_MODES = ("\x1b[?1049l", "\x1b[?1003l", "\x1b[?25h", "\x1b[?2004l")


class Terminal:
    """A pseudo terminal with a Python program in it."""

    def __init__(
        self, arguments: Sequence[str], *, size: tuple[int, int] = (100, 30), env: Mapping[str, str] | None = None
    ) -> None:
        self.master, self.slave = os.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.raw = b""
        """Every byte the program wrote."""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            start_new_session=True,
            preexec_fn=self._take_terminal,
        )

    def _take_terminal(self) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for descriptor in (self.master, self.slave):
            try:
                os.close(descriptor)
            except OSError:
                pass

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data: bytes) -> None:
        """Type bytes; what the program writes meanwhile is read, so that neither waits for the other."""
        while data:
            _, writable, _ = select.select([], [self.master], [], 0.02)
            if writable:
                data = data[os.write(self.master, data[:512]) :]
            self.read(0)

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds: float = 0.05) -> None:
        """Take what the program writes within some time."""
        while select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.raw += data
            self._stream.feed(data)
            seconds = 0

    @property
    def lines(self) -> list[str]:
        """What one sees, row by row."""
        return list(self._screen.display)

    @property
    def text(self) -> str:
        """What one sees."""
        return "\n".join(line.rstrip() for line in self.lines)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}:\n{self.text}\n{self.raw[-2000:]!r}")
            self.read(0.02)

    def shows(self, *words: str) -> None:
        """Wait until all words are on the screen."""
        self.until(lambda: all(word in self.text for word in words), repr(words))

    def exit_code(self) -> int:
        """Wait for the end; return the exit status (negative: killed by that signal)."""
        self.until(lambda: self.process.poll() is not None, "the end of the program")
        self.read(0.05)
        return int(self.process.returncode)

    @property
    def is_as_before(self) -> bool:
        """Whether the terminal is left as it was found: modes, cursor, screen, mouse."""
        text = self.raw.decode("utf-8", "replace")
        modes = all(text.rfind(last) > text.rfind(first) for first, last in zip(FIRST_MODES, LAST_MODES, strict=True))
        return modes and termios.tcgetattr(self.slave)[:4] == self.before[:4]
