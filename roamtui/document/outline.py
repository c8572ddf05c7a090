"""The abridged document under a token budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roamtui.document.model import Document, Library, Place, Section
from roamtui.errors import UsageError
from roamtui.estimate import estimate_tokens
from roamtui.text import for_model, preview

Marker = Literal["short", "full"]
LEAST_TOKENS = 200
"""Smallest budget of an outline."""
PREVIEW_CELLS = 100
"""Width of a preview (Roaming RAG article: about 100 characters)."""


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
    """Hidden characters taken out."""
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
    """Return the outline of a library within `budget` tokens. Raises `UsageError` under `LEAST_TOKENS`."""
    if budget < LEAST_TOKENS:
        raise UsageError(f"An outline needs at least {LEAST_TOKENS} tokens.", "Use --tokens 200 or more.")
    sections = [(document, section) for document in library.documents for section in document.sections]
    cells = PREVIEW_CELLS
    depth = 6
    while True:
        lines = [line(library, doc, item, cells) for doc, item in sections if item.depth <= depth]
        text = "\n".join(lines)
        tokens = estimate_tokens(text)
        if tokens <= budget:
            return Outline(text, tokens, len(lines), len(sections) - len(lines), 0, len(lines) == len(sections))
        if cells:
            cells = cells // 2 if cells > 30 else 0
        elif depth:
            depth -= 1
        else:
            sections = sections[: max(1, len(sections) * 3 // 4)]


def list_children(library: Library, ref: str, budget: int = 1500) -> Listing:
    """Return the outline lines of a section's children. Raises `KeyError` for an unknown id."""
    place = library.find(ref.partition(":")[0])
    if place is None:
        raise KeyError(ref)
    lines = [line(library, place.document, item, 60) for item in place.document.children(place.section)]
    text = "\n".join(lines)
    return Listing(text, estimate_tokens(text), len(lines))


def line(library: Library, document: Document, section: Section, cells: int) -> str:
    """Return a section's outline line, with its preview on the next one where there is room."""
    title = " ".join(for_model(section.title)[0].split())
    head = {"heading": f"{'#' * section.level} {title}", "preamble": f"(preamble) {title}"}.get(section.kind, title)
    below = section.last - section.index
    size = short_count(document.tokens(section))
    text = f"[{library.ref(document, section)}] {head}" + (f" · {below} sub" if below else "") + f" · {size} tok"
    opening = preview(for_model(document.own_text(section)[:600])[0], cells) if cells else ""
    return f"{text}\n    {opening}" if opening else text


def short_count(number: int) -> str:
    """Return a count as people write it: 310, 1.2k, 45k, 1.2M."""
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1000), ("M", 1_000_000)):
        if number < size * 10 - size // 20:
            return f"{number / size:.1f}{unit}"
        if number < size * 1000 or unit == "M":
            return f"{round(number / size)}{unit}"
    return str(number)


def path_of(place: Place) -> str:
    """Return a section's path for a header line."""
    return " › ".join(" ".join(for_model(title)[0].split()) for title in place.path)
