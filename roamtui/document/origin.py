"""Where documents come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class FileStamp(NamedTuple):
    """What tells a file from a later version of itself."""

    path: str
    """Absolute path."""
    device: int
    """Number of the device it lies on."""
    inode: int
    """Number of the file there."""
    size: int
    """Bytes."""
    modified: int
    """Time of the last change, in nanoseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document's bytes came from."""

    address: str
    """Path or URL as the user gave it; `sample:NAME` for samples; `-` for standard input."""
    sha256: str
    """Hash of the file's own bytes, before transcoding or conversion; hexadecimal."""
    encoding: str = "utf-8"
    """Encoding the file was read with."""
    conversion: str = ""
    """What turned it into Markdown, for converted formats; empty otherwise."""
    notices: tuple[str, ...] = ()
    """What the reader should know: transcoded, invalid bytes."""
    file: FileStamp | None = None
    """The file as it was when it was read; None for what came from elsewhere."""
