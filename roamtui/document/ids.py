"""Ids of sections: short, stable, the same on every machine."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable

ROOT_ID = "240c57e1"
"""Id of every document's root: the empty path."""
PATH_SEPARATOR = "\x1f"
"""Stands between the titles of a path; no title holds it, since white space in titles is collapsed."""

_UNTITLED = "(untitled)"


def section_ids(paths: Iterable[tuple[str, ...]]) -> list[str]:
    """Return one id per heading path, in document order."""
    return path_ids(PATH_SEPARATOR.join(path) for path in paths)


def path_ids(paths: Iterable[str]) -> list[str]:
    """Return one id per heading path, given with its titles joined by `PATH_SEPARATOR`.

    The first 8 hexadecimal digits of SHA-256 over the path, U+001E and the ordinal among sections of equal
    path; when taken, U+001E and 1, 2, … are appended until free. The root's id is taken from the start.
    """
    taken = {ROOT_ID}
    ordinals: dict[str, int] = {}
    ids: list[str] = []
    for path in paths:
        ordinal = ordinals.get(path, 0)
        ordinals[path] = ordinal + 1
        salted = f"{path}\x1e{ordinal}"
        found = _short_hash(salted)
        bump = 0
        while found in taken:
            bump += 1
            found = _short_hash(f"{salted}\x1e{bump}")
        taken.add(found)
        ids.append(found)
    return ids


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def plain_title(text: str) -> str:
    """Return a heading's text as a title: NFC, white space collapsed, never empty."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.replace("\0", "\ufffd").split()) or _UNTITLED
