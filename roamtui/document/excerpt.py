"""What opening a section shows: path, own text, what lies below, parts."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from roamtui.document.lines import path_line
from roamtui.document.model import Document, Library, Place, Section
from roamtui.document.outline import LEAST_TOKENS, list_children
from roamtui.document.parts import part_ends
from roamtui.estimate import estimate_tokens
from roamtui.text import for_model

NOT_OPENED = "Not opened, below this section:"
"""Line that stands before the outline of what was not delivered."""

_known_parts: WeakKeyDictionary[Document, dict[tuple[int, int], Sequence[int]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Delivered:
    """One section whose own text stands in an excerpt."""

    ref: str
    """Id of the section."""
    first_line: int
    """First line of the text delivered (of the heading, in the first part), from 1."""
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


@dataclass(frozen=True, slots=True)
class _Block:
    """One section's header line and fenced text."""

    text: str
    delivered: Delivered | None
    """None where the model has the text already."""
    hidden: int


def excerpt(
    library: Library,
    ref: str,
    *,
    budget: int,
    part: int = 1,
    part_tokens: int = 3000,
    already: Container[str] = (),
) -> Excerpt:
    """Return what opening `ref` shows: its whole subtree where that fits `budget` tokens, else its own text.

    Sections below whose id is in `already` get their header line only: the model has their text.

    Own text of more than `part_tokens` comes in parts, which depend on nothing but the text and `part_tokens`; a
    part may be larger than `budget`. Raises `KeyError` for an id nothing has, `ValueError` for a part there is not.
    """
    place = library.find(ref)
    if place is None:
        raise KeyError(ref)
    document, section = place.document, place.section
    ends = _part_ends(document, section, part_tokens)
    if not 1 <= part <= len(ends):
        count = "1 part" if len(ends) == 1 else f"{len(ends)} parts"
        raise ValueError(f"[{ref}] has {count}; there is no part {part}.")
    if len(ends) == 1 and document.tokens(section) <= budget:
        whole = _joined(_whole_block(library, document, item, already) for item in _with_below(document, section))
        if whole.tokens <= budget:
            return whole
    own = _block(library, document, section, ends, part)
    text = own.text
    if part == 1 and section.has_children:
        left = budget - estimate_tokens(f"{text}\n{NOT_OPENED}")
        text += f"\n{NOT_OPENED}\n{list_children(library, ref, max(LEAST_TOKENS, left)).text}"
    delivered = () if own.delivered is None else (own.delivered,)
    return Excerpt(text, estimate_tokens(text), delivered, own.hidden, part, len(ends))


def _part_ends(document: Document, section: Section, tokens: int) -> Sequence[int]:
    """Return where the parts of an own text end; those of large texts are remembered, as one part follows another."""
    known = _known_parts.setdefault(document, {})
    found = known.get((section.index, tokens))
    if found is None:
        found = part_ends(document.source, section.body, section.own_end, tokens)
        if len(found) > 1:
            known[section.index, tokens] = found
    return found


def whole_document(library: Library) -> Excerpt:
    """Return every section of the library, opened."""
    return _joined(
        _whole_block(library, document, section) for document in library.documents for section in document.sections
    )


def _with_below(document: Document, section: Section) -> Sequence[Section]:
    return document.subtree(section) if section.index >= 0 else (section, *document.sections)


def _joined(blocks: Iterable[_Block]) -> Excerpt:
    found = list(blocks)
    text = "\n".join(item.text for item in found)
    delivered = tuple(item.delivered for item in found if item.delivered is not None)
    return Excerpt(text, estimate_tokens(text), delivered, sum(item.hidden for item in found))


def _whole_block(library: Library, document: Document, section: Section, already: Container[str] = ()) -> _Block:
    ref = library.ref(document, section)
    if ref in already:
        return _Block(f"[{ref}] {path_line(Place(document, section))} · open above", None, 0)
    return _block(library, document, section, (section.own_end,), 1)


def _block(library: Library, document: Document, section: Section, ends: Sequence[int], part: int) -> _Block:
    ref = library.ref(document, section)
    begin, end = (section.body if part == 1 else ends[part - 2]), ends[part - 1]
    first = document.line_of(section.start if part == 1 else begin)
    last = document.line_of(max(section.start, end - 1))
    body, hidden = for_model(document.slice(begin, end))
    tokens = estimate_tokens(body)
    delivered = Delivered(ref, first, last, tokens, part, len(ends), complete=len(ends) == 1)
    head = f"[{ref}] {path_line(Place(document, section))} · lines {first}-{last} · {tokens} tok"
    if not body.strip():
        return _Block(f"{head} · no text of its own", delivered, hidden)
    if len(ends) > 1:
        head += f" · part {part} of {len(ends)}"
    # No text can hold its own fence: it would have to name its own hash.
    fence = f"--- {hashlib.sha256(body.encode('utf-8')).hexdigest()[:16]}"
    text = f"{head}\n{fence}\n{body}\n{fence}"
    if part < len(ends):
        text += f'\nNext: expand_section(section_ids=["{ref}"], part={part + 1})'
    return _Block(text, delivered, hidden)
