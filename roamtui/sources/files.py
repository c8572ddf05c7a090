"""Reading files that anybody may have made: regular ones only, bounded, whole, never mapped into memory."""

from __future__ import annotations

import errno
import os
import stat
import sys

from roamtui.document.model import FileStamp
from roamtui.errors import DocumentError
from roamtui.text import clip, one_line

MAX_BYTES = 64_000_000
"""Largest document that is read, bytes."""

_CHUNK = 1 << 20
_TRIES = 3
"""Reads of a file that keeps changing while it is read."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_REASONS = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "cannot be read: permission denied",
    errno.EPERM: "cannot be read: permission denied",
    errno.ENOTDIR: "does not exist: a part of its path is no folder",
    errno.ELOOP: "cannot be read: its symbolic links go round in circles",
    errno.ENAMETOOLONG: "cannot be read: its name is too long",
    errno.EISDIR: "is a folder",
    errno.ENXIO: "is a socket or a device, not a file",
}
_HINTS = {
    errno.ENOENT: "Check the name; sample:manual opens a document that ships with roamtui.",
    errno.EISDIR: "Name one or more files in it.",
}
_KINDS = (
    (stat.S_ISDIR, "is a folder", _HINTS[errno.EISDIR]),
    (stat.S_ISFIFO, "is a pipe, not a file", "Pipe it into roamtui and name the document -"),
    (stat.S_ISSOCK, "is a socket, not a file", ""),
    (stat.S_ISCHR, "is a device, not a file", "Name the document - to read standard input."),
    (stat.S_ISBLK, "is a device, not a file", ""),
)


def shown(address: str) -> str:
    """Return a file's name for a message: one line, nothing in it that acts on a terminal."""
    return clip(one_line(address), 120) or '""'


def read_file(path: str, max_bytes: int = MAX_BYTES) -> tuple[bytes, FileStamp]:
    """Return the bytes of a regular file and what tells it from a later version of itself.

    Raises `DocumentError` with one sentence. Never waits for a pipe, never reads more than `max_bytes` + 1.
    """
    place = os.path.expanduser(path)
    if not place:
        raise DocumentError("No document was named.", "Name a file, or sample:manual.")
    try:
        _refuse_odd_kinds(path, os.stat(place).st_mode)  # before opening: to open a device may be to use it
        return _read(path, place, max_bytes)
    except OSError as error:
        code = error.errno or 0
        reason = _REASONS.get(code) or f"cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise DocumentError(f"{shown(path)} {reason}.", _hint(path, code)) from error
    except ValueError as error:  # a NUL in the name, or a character the system cannot write
        raise DocumentError(f"{shown(path)} is no file name.") from error


def _hint(path: str, code: int) -> str:
    if "://" in path:
        return "It looks like an address of the web; only files, samples and standard input are read."
    return _HINTS.get(code, "")


def _read(path: str, place: str, max_bytes: int) -> tuple[bytes, FileStamp]:
    for left in reversed(range(_TRIES)):
        handle = os.open(place, _FLAGS)
        try:
            before = os.fstat(handle)
            _refuse_odd_kinds(path, before.st_mode)
            if before.st_size > max_bytes:
                raise too_large(path, max_bytes)
            data = _read_up_to(handle, max_bytes + 1)
            after = os.fstat(handle)
        finally:
            os.close(handle)
        if len(data) > max_bytes:  # the size a file claims is not always its size
            raise too_large(path, max_bytes)
        if _stamp(place, before) == _stamp(place, after) or not left:
            return data, _stamp(place, after)
    raise AssertionError("the last try returns")


def _refuse_odd_kinds(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    for is_kind, reason, hint in _KINDS:
        if is_kind(mode):
            raise DocumentError(f"{shown(path)} {reason}.", hint)
    raise DocumentError(f"{shown(path)} is not a file.")


def _read_up_to(handle: int, size: int) -> bytes:
    chunks: list[bytes] = []
    while size > 0 and (chunk := os.read(handle, min(size, _CHUNK))):
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def too_large(path: str, max_bytes: int) -> DocumentError:
    """Return the error for a document over the cap."""
    return DocumentError(
        f"{shown(path)} is larger than {max_bytes / 1e6:,.4g} MB.", "Raise the limit with --max-bytes N."
    )


def _stamp(place: str, found: os.stat_result) -> FileStamp:
    try:
        place = os.path.abspath(place)
    except FileNotFoundError:  # the folder we are in was deleted; the file may still be reached by its whole path
        pass
    return FileStamp(place, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def stamp_of(path: str) -> FileStamp | None:
    """Return what tells a file from other versions of itself; None when it is gone."""
    try:
        return _stamp(path, os.stat(path))
    except (OSError, ValueError):
        return None


def read_standard_input(max_bytes: int = MAX_BYTES) -> bytes:
    """Return what is piped into the program. Raises `DocumentError` for a terminal and beyond `max_bytes`."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise DocumentError(
            "Standard input is a terminal: there is no document in it.", "Pipe one in: command | roamtui -"
        )
    try:
        data = sys.stdin.buffer.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError(f"Standard input cannot be read: {(error.strerror or '').lower()}.") from error
    if len(data) > max_bytes:
        raise too_large("Standard input", max_bytes)
    return data
