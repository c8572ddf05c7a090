"""Opening documents: files, samples and standard input become one library."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Literal

from roamtui.document.markdown import Progress, parse_markdown
from roamtui.document.model import Document, FileStamp, Library, Origin
from roamtui.errors import DocumentError
from roamtui.sources.encodings import NotTextError, decode
from roamtui.sources.files import MAX_BYTES, read_file, read_standard_input, shown, stamp_of
from roamtui.sources.samples import PREFIX, sample_path

STANDARD_INPUT = "-"
"""Address of standard input."""


def open_library(
    addresses: Sequence[str],
    *,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> Library:
    """Return the documents at `addresses` as a library: a snapshot of what they hold now.

    `progress` is told bytes read and sections found over all documents. Raises `DocumentError`.
    """
    if not addresses:
        raise DocumentError("No document was named.", "Name a file, or sample:manual.")
    if addresses.count(STANDARD_INPUT) > 1:
        raise DocumentError("Standard input can be read only once.")
    documents: list[Document] = []
    for address in addresses:
        documents.append(open_document(address, max_bytes=max_bytes, progress=_after(documents, progress)))
    return Library(documents)


def open_document(address: str, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> Document:
    """Return the document at a path, at `sample:NAME` or, for `-`, on standard input. Raises `DocumentError`."""
    data, name, file = _read(address, max_bytes)
    try:
        text = decode(data)
    except NotTextError as error:
        raise DocumentError(
            f"{shown(address)} {error}: roamtui reads text and Markdown.", "Convert it to Markdown first."
        ) from error
    origin = Origin(
        address=_printable(address),
        sha256=hashlib.sha256(data).hexdigest(),
        encoding=text.encoding,
        notices=text.notices,
        file=file,
    )
    return parse_markdown(text.source, name=name, origin=origin, progress=progress)


def changed_on_disk(document: Document) -> Literal["", "changed", "gone"]:
    """Tell whether a document's file is no longer what was read. Costs a stat, and a read when that differs."""
    before = document.origin.file
    if before is None:
        return ""
    now = stamp_of(before.path)
    if now == before:
        return ""
    if now is None:
        return "gone"
    try:
        data, _ = read_file(before.path, max(MAX_BYTES, before.size))
    except DocumentError:
        return "changed"
    return "" if hashlib.sha256(data).hexdigest() == document.origin.sha256 else "changed"


def _read(address: str, max_bytes: int) -> tuple[bytes, str, FileStamp | None]:
    """Return bytes, the name people see, and the file's stamp."""
    if address == STANDARD_INPUT:
        return read_standard_input(max_bytes), "standard input", None
    if address.startswith(PREFIX):
        path = sample_path(address)
        data, stamp = read_file(str(path), max_bytes)
        return data, path.name, stamp
    data, stamp = read_file(address, max_bytes)
    return data, _printable(os.path.basename(stamp.path)), stamp


def _printable(name: str) -> str:
    """Return a file's name without the lone surrogates that stand for bytes that are no UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _after(documents: Sequence[Document], progress: Progress | None) -> Callable[[int, int], None] | None:
    if progress is None or not documents:
        return progress
    size = sum(len(item.source) for item in documents)
    sections = sum(len(item.sections) for item in documents)
    return lambda done, found: progress(size + done, sections + found)
