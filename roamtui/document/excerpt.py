"""What opening a section shows: path, own text, what lies below, parts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from roamtui.document.model import Document, Library, Place, Section
from roamtui.document.outline import line, list_children, path_of
from roamtui.estimate import estimate_tokens
from roamtui.text import for_model


@dataclass(frozen=True, slots=True)
class Delivered:
    """One section whose own text stands in an excerpt."""

    ref: str
    """Id of the section."""
    first_line: int
    """First line of the text delivered, from 1."""
    last_line: int
    """Last line of the text delivered."""
    tokens: int
    """Estimated tokens of the text delivered."""
    part: int
    """Number of the part, from 1."""
    parts: int
    """How many parts the own text has."""
    complete: bool
    """Whether this is all of the own text."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A block of sections as the model reads it."""

    text: str
    """Header lines, fenced texts and, where not delivered, the outline of what lies below."""
    tokens: int
    """Estimated tokens of `text`."""
    delivered: tuple[Delivered, ...]
    """The sections whose own text stands in it, in order."""
    hidden: int
    """Hidden characters taken out."""
    part: int = 1
    """Part of the first section's own text."""
    parts: int = 1
    """How many parts that text has."""


def excerpt(library: Library, ref: str, *, budget: int, part: int = 1, part_tokens: int = 3000) -> Excerpt:
    """Return what opening `ref` shows within `budget` tokens. Raises `KeyError`, `ValueError` for a bad part."""
    place = library.find(ref)
    if place is None:
        raise KeyError(ref)
    document, section = place.document, place.section
    if part == 1:
        found = _blocks(library, document, list(document.subtree(section)))
        if found.tokens <= budget:
            return found
    pieces = split_text(document.own_text(section), min(part_tokens, max(200, budget - 100)))
    if not 1 <= part <= len(pieces):
        raise ValueError(f"[{ref}] has {len(pieces)} parts; there is no part {part}.")
    text, delivered, hidden = _block(library, document, section, pieces, part)
    if part == 1 and section.has_children:
        listing = list_children(library, ref, max(200, budget - estimate_tokens(text)))
        text += "\nNot opened, below this section:\n" + listing.text
    return Excerpt(text, estimate_tokens(text), (delivered,), hidden, part, len(pieces))


def whole_document(library: Library) -> Excerpt:
    """Return every section of the library, opened."""
    texts = [_blocks(library, document, list(document.sections)) for document in library.documents]
    text = "\n".join(item.text for item in texts)
    delivered = tuple(item for found in texts for item in found.delivered)
    return Excerpt(text, estimate_tokens(text), delivered, sum(item.hidden for item in texts))


def _blocks(library: Library, document: Document, sections: list[Section]) -> Excerpt:
    found = [_block(library, document, item, [document.own_text(item)], 1) for item in sections]
    text = "\n".join(item[0] for item in found)
    return Excerpt(text, estimate_tokens(text), tuple(item[1] for item in found), sum(item[2] for item in found))


def _block(
    library: Library, document: Document, section: Section, pieces: list[str], part: int
) -> tuple[str, Delivered, int]:
    ref = library.ref(document, section)
    body, hidden = for_model(pieces[part - 1])
    tokens = estimate_tokens(body)
    before = sum(len(piece.encode()) for piece in pieces[: part - 1])
    first, last = document.lines(section)
    head = f"[{ref}] {path_of(Place(document, section))} · lines {first}-{last}"
    if body.strip():
        head += f" · {tokens} tok" + (f" · part {part} of {len(pieces)}" if len(pieces) > 1 else "")
        fence = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:16]
        text = f"{head}\n--- {fence}\n{body}\n--- {fence}"
        if part < len(pieces):
            text += f'\nNext: expand_section(section_ids=["{ref}"], part={part + 1})'
    else:
        text = f"{head} · no text of its own"
    del before
    return text, Delivered(ref, first, last, tokens, part, len(pieces), len(pieces) == 1), hidden


def split_text(text: str, tokens: int) -> list[str]:
    """Cut a text into pieces of about `tokens` tokens at lines; joined they give the text."""
    if estimate_tokens(text) <= tokens:
        return [text]
    pieces: list[str] = []
    current: list[str] = []
    used = 0
    for item in text.splitlines(keepends=True):
        cost = estimate_tokens(item)
        if current and used + cost > tokens:
            pieces.append("".join(current))
            current, used = [], 0
        current.append(item)
        used += cost
    return [*pieces, "".join(current)]


__all__ = ["Delivered", "Excerpt", "excerpt", "line", "whole_document"]
