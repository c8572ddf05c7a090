"""Opening the documents a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.cli import console
from roamtui.config import Settings

if TYPE_CHECKING:
    from roamtui.document.model import Library


def open_documents(addresses: tuple[str, ...], settings: Settings) -> Library:
    """Read documents and say on standard error what is odd about them. Raises `DocumentError`."""
    from roamtui.sources.open import open_library

    library = open_library(addresses, max_bytes=settings.max_bytes)
    for document in library.documents:
        for notice in document.origin.notices:
            console.say(f"note: {document.name}: {notice}")
    return library
