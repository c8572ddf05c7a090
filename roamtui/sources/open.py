"""Opening documents: files, samples and standard input become one library."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from roamtui import paths
from roamtui.document.markdown import parse_markdown
from roamtui.document.model import Document, Library, Origin
from roamtui.errors import DocumentError
from roamtui.text import one_line

MAX_BYTES = 64_000_000
"""Largest document that is read, bytes."""


def open_library(
    addresses: Sequence[str],
    *,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> Library:
    """Return the documents at `addresses` as a library. Raises `DocumentError`."""
    return Library([_open(address, progress) for address in addresses])


def _open(address: str, progress: Callable[[int, int], None] | None) -> Document:
    path = Path(address)
    if address.startswith("sample:"):
        matches = sorted(paths.sample_docs_dir().glob(address.removeprefix("sample:") + ".*"))
        path = matches[0] if matches else path
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{one_line(address)} cannot be read: {error.strerror}.") from error
    source = raw.removeprefix(b"\xef\xbb\xbf")
    origin = Origin(address=address, sha256=hashlib.sha256(raw).hexdigest())
    return parse_markdown(source, name=path.name, origin=origin, progress=progress)
