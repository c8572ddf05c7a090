"""Reading a trace file back. A broken last line, unknown event types and unknown fields are no errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from roamtui import events
from roamtui.errors import DocumentError
from roamtui.text import one_line
from roamtui.trace.record import TraceHeader

MAX_BYTES = 1 << 30
"""Traces larger than this are refused."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace file as read."""

    header: TraceHeader
    events: tuple[events.Event, ...]
    unknown: tuple[bytes, ...]
    """Lines of types that this version does not know, as they stand in the file."""
    cut: bool
    """Whether the last line is incomplete: the program was killed while writing."""


def read_trace(path: Path) -> Trace:
    """Read a trace. Raises `DocumentError` when it is none."""
    shown = one_line(str(path))
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"{shown} is too large for a trace.", "")
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{shown} cannot be read: {error.strerror or error}.", "Give the path of a trace."
        ) from error
    *lines, rest = data.split(b"\n")
    if not lines:
        raise DocumentError(f"{shown} is not a trace.", "Traces are JSON lines written by roamtui.")
    try:
        header = msgspec.json.decode(lines[0], type=TraceHeader)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DocumentError(f"{shown} is not a trace.", "Traces are JSON lines written by roamtui.") from error
    if header.v > events.FORMAT_VERSION:
        raise DocumentError(f"{shown} was written by a newer roamtui ({header.version}).", "Update roamtui.")
    decoder = msgspec.json.Decoder(events.AnyEvent)
    found: list[events.Event] = []
    unknown: list[bytes] = []
    for line in lines[1:]:
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, RecursionError):
            unknown.append(line)
    return Trace(header, tuple(found), tuple(unknown), cut=bool(rest))
