"""The abridged document under a token budget, and what lies below one section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from roamtui.document.abridge import DOCUMENTS, Branch, abridge
from roamtui.document.lines import Marker
from roamtui.document.model import Document, Library
from roamtui.errors import UsageError
from roamtui.estimate import estimate_tokens

LEAST_TOKENS = 200
"""Smallest budget of an outline."""

_RANGE = re.compile(r"([^:]+)(?::(\d{1,9})-(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Outline:
    """The abridged library, as the model reads it."""

    text: str
    """Lines joined by line feeds."""
    tokens: int
    """Estimated tokens of `text`."""
    listed: int
    """Sections that have a line of their own."""
    folded: int
    """Sections that have none."""
    hidden: int
    """Hidden characters taken out of what is shown."""
    whole: bool = False
    """Whether every section has a line."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The outline below one section."""

    text: str
    """Lines joined by line feeds."""
    tokens: int
    """Estimated tokens of `text`."""
    count: int
    """Sections listed."""


def build_outline(library: Library, budget: int = 4000, *, marker: Marker = "short") -> Outline:
    """Return the outline of a library within `budget` tokens: the same bytes for the same library and budget.

    Raises `UsageError` for a budget under `LEAST_TOKENS`.
    """
    if budget < LEAST_TOKENS:
        raise UsageError(
            f"An outline of {budget} tokens holds nothing: the least is {LEAST_TOKENS}.",
            f"Ask for {LEAST_TOKENS} tokens or more.",
        )
    documents = library.documents
    if library.is_single:
        tops = [Branch(item, item.root, list(item.children(item.root))) for item in documents]
    else:
        tops = _roots(documents)
    found = abridge(library, tops, budget, marker, ranges=False)
    return Outline(
        found.text, estimate_tokens(found.text), found.listed, found.folded, found.hidden, whole=not found.folded
    )


def list_children(library: Library, ref: str, budget: int = 1500, *, marker: Marker = "short") -> Listing:
    """Return the outline below a section within `budget` tokens.

    `ref` is a section's id, the root's included, or `id:61-100`: the section's 61st to 100th child, as the fold
    lines of a long row of siblings write it, or `documents:3-9`. Raises `KeyError` for an id nothing has,
    `ValueError` for a range that holds no child.
    """
    match = _RANGE.fullmatch(ref)
    place = library.find(match[1]) if match else None
    if match is not None and match[1] == DOCUMENTS:
        first, last = _range(match, len(library.documents))
        tops = _roots(library.documents[first - 1 : last])
    elif match is not None and place is not None:
        children = list(place.document.children(place.section))
        first, last = _range(match, len(children))
        tops = [Branch(place.document, place.section, children[first - 1 : last], first)]
    else:
        raise KeyError(ref)
    found = abridge(library, tops, max(budget, LEAST_TOKENS), marker, ranges=True)
    text = found.text or f"Nothing lies below [{match[1]}]."
    return Listing(text, estimate_tokens(text), found.listed)


def _range(match: re.Match[str], count: int) -> tuple[int, int]:
    """Return the numbers of the first and the last child a reference names; all of them where it names none."""
    if not match[2]:
        return 1, count
    first, last = int(match[2]), min(int(match[3]), count)
    if not 1 <= first <= last:
        raise ValueError(f"[{match[1]}] has {count} directly below it; there are none at {match[2]}-{match[3]}.")
    return first, last


def _roots(documents: Sequence[Document]) -> list[Branch]:
    return [Branch(item, item.root, (item.root,)) for item in documents]
