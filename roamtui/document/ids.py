"""Ids of sections: short, stable, the same on every machine."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash

ROOT_ID = "240c57e1"
"""Id of every document's root: the empty path."""
_UNTITLED = "(untitled)"


def section_ids(titles: Iterable[str], parents: Iterable[int]) -> Iterator[str]:
    """Yield one id per section, given its title and the index of the section above it (-1: the root), in order.

    The first 8 hexadecimal digits of SHA-256 over the path's titles joined by U+001F, then U+001E and the
    ordinal among sections of equal path; when taken, U+001E and 1, 2, … are appended until free. The
    root's id is taken from the start.
    """
    taken = {ROOT_ID}
    ordinals: dict[bytes, int] = {}
    above: dict[int, _Hash] = {}
    for index, (title, parent) in enumerate(zip(titles, parents, strict=True)):
        path = _path_hash(above, parent, title)
        while above and next(reversed(above)) != parent:
            above.popitem()
        above[index] = path
        key = path.digest()
        ordinal = ordinals.get(key, 0)
        ordinals[key] = ordinal + 1
        path = path.copy()
        path.update(f"\x1e{ordinal}".encode())
        found = _short(path)
        bump = 0
        while found in taken:
            bump += 1
            salted = path.copy()
            salted.update(f"\x1e{bump}".encode())
            found = _short(salted)
        taken.add(found)
        yield found


def _path_hash(above: dict[int, _Hash], parent: int, title: str) -> _Hash:
    """Return the hash over a path, from that of the path above: long titles are not read again for each child."""
    data = title.encode("utf-8", "replace")
    if parent < 0:
        return hashlib.sha256(data)
    path = above[parent].copy()
    path.update(b"\x1f" + data)
    return path


def _short(path: _Hash) -> str:
    return path.hexdigest()[:8]


def plain_title(text: str) -> str:
    """Return a heading's text as a title: NFC, white space collapsed, never empty."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.replace("\0", "\ufffd").split()) or _UNTITLED
