"""Writing a session's trace: one JSON line per event, flushed at once, readable by its owner only."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import msgspec

from roamtui import __version__, events
from roamtui.text import redact


class TraceHeader(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="Trace"):
    """First line of a trace file."""

    v: int
    """Version of the event vocabulary."""
    version: str
    """Version of roamtui that wrote it."""
    started: float
    """Seconds since the epoch."""


class TraceWriter:
    """Appends events to a file; a kill loses at most the line being written.

    A disk error stops the writing, never the session: `error` then says why.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        """Where the trace lies; a number is added at the first write if something else lies there."""
        self.error = ""
        """Why nothing is written any more; empty while all is well."""
        self._encoder = msgspec.json.Encoder()
        self._descriptor: int | None = None

    @classmethod
    def in_folder(cls, folder: Path, name: str) -> TraceWriter:
        """Return a writer for a new file in `folder`, named after the time and the document."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        safe = "".join(char if char.isalnum() and char.isascii() else "-" for char in name)[:40].strip("-")
        return cls(folder / f"{stamp}-{os.getpid()}-{safe or 'document'}.jsonl")

    def write(self, event: events.Event) -> None:
        """Append one event; the file is made at the first one."""
        if self.error:
            return
        try:
            if self._descriptor is None:
                self._open()
            self._line(self._encoder.encode(event))
        except OSError as error:
            self.error = f"The trace file cannot be written: {error.strerror or error}."
            self.close()
        except UnicodeError:
            self.error = "The trace file ends here: an event holds text that cannot be written."
            self.close()

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        wanted = self.path
        for number in itertools.count(2):
            try:
                self._descriptor = os.open(self.path, flags, 0o600)
                break
            except FileExistsError:  # two sessions began within a second
                self.path = wanted.with_stem(f"{wanted.stem}-{number}")
        header = TraceHeader(v=events.FORMAT_VERSION, version=__version__, started=time.time())
        self._line(self._encoder.encode(header))

    def _line(self, data: bytes) -> None:
        assert self._descriptor is not None
        line = redact(data.decode("utf-8")).encode("utf-8") + b"\n"
        while line:  # a signal may cut a write short
            line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """Close the file; writing again is not possible."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self.error = self.error or "The trace is closed."
