"""Citations: read out of an answer, checked against the document.

An answer cites as `[[id|exact words]]` or `[[id]]`. A quote counts only when it stands in the section word
for word (white space folded) and the section was opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roamtui.agent.tools import ID, normal_id
from roamtui.document.model import Document, Library, Place
from roamtui.events import Citation, CitationStatus
from roamtui.text import for_model

CITATION = re.compile(r"\[\[\s*([^\[\]|\n]{1,120}?)\s*(?:\|(.{0,2000}?))?\]\](?!\])", re.DOTALL)
"""A citation as written: group 1 the id, group 2 the quote."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class CitedText:
    """One citation and where it stands in the answer."""

    start: int
    end: int
    id: str
    quote: str


def citations_in(answer: str) -> Iterator[CitedText]:
    """Yield the citations of an answer, in order."""
    for match in CITATION.finditer(answer):
        yield CitedText(match.start(), match.end(), normal_id(match[1]), (match[2] or "").strip())


def check(cited: CitedText, library: Library, opened: Callable[[str], bool]) -> Citation:
    """Check one citation. `opened` tells whether the model was given a section's text."""
    place = library.find(cited.id) if ID.fullmatch(cited.id) else None
    if place is None or place.section.index < 0:
        return Citation(id=cited.id, quote=cited.quote, status="unknown")
    quote = cited.quote.strip()
    if not quote:
        first, last = place.document.lines(place.section)
        status: CitationStatus = "section" if _anything_opened(library, place, opened) else "unopened"
        return Citation(id=cited.id, path=place.path, status=status, first_line=first, last_line=last)
    found = _find_quote(library, place, quote, opened)
    if found is None:
        status = "missing" if _anything_opened(library, place, opened) else "unopened"
        return Citation(id=cited.id, path=place.path, quote=quote, status=status)
    ref, where, first, last = found
    return Citation(
        id=ref,
        path=where.path,
        quote=quote,
        status="exact" if opened(ref) else "unopened",
        first_line=first,
        last_line=last,
    )


def _subtree_refs(library: Library, place: Place) -> Iterator[tuple[str, Place]]:
    for section in place.document.subtree(place.section):
        inner = Place(place.document, section)
        yield library.ref(place.document, section), inner


def _anything_opened(library: Library, place: Place, opened: Callable[[str], bool]) -> bool:
    return any(opened(ref) for ref, _ in _subtree_refs(library, place))


def _find_quote(
    library: Library, place: Place, quote: str, opened: Callable[[str], bool]
) -> tuple[str, Place, int, int] | None:
    """Look in the cited section's own text first, then in opened sections below it."""
    for ref, inner in _subtree_refs(library, place):
        if inner.section.index != place.section.index and not opened(ref):
            continue
        lines = quote_lines(inner.document, inner.section.start, inner.section.own_end, quote)
        if lines is not None:
            return ref, inner, *lines
    return None


def quote_lines(document: Document, start: int, end: int, quote: str) -> tuple[int, int] | None:
    """Return the 1-based first and last line of a quote within a byte range, or None when it is not there.

    White space is folded and hidden characters are left out, as in the text that models read.
    """
    words = [re.escape(word) for word in _SPACE.split(for_model(quote)[0].strip()) if word]
    if not words:
        return None
    text = document.slice(start, end)
    visible, hidden = for_model(text)
    pattern = re.compile(r"\s+".join(words))
    match = pattern.search(visible)
    if match is None:
        return None
    if hidden:  # offsets moved: say the lines of the whole range rather than wrong ones
        return document.line_of(start), document.line_of(max(start, end - 1))
    first = start + len(text[: match.start()].encode("utf-8", "replace"))
    last = start + len(text[: match.end()].encode("utf-8", "replace"))
    if "\ufffd" in text:  # a replaced byte is three bytes long when encoded again
        line = document.line_of(start)
        return line + _line_ends(text[: match.start()]), line + _line_ends(text[: match.end()])
    return document.line_of(first), document.line_of(max(first, last - 1))


def _line_ends(text: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", text))
