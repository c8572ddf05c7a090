"""Citations: read out of an answer, checked against the document.

An answer cites as `[[id|exact words]]` or `[[id]]`. A quote counts only when it stands in the section word
for word (white space folded) and the section was opened.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from roamtui.agent.memory import Memory
from roamtui.agent.tools import ID, normal_id
from roamtui.document.model import Document, Library, Place
from roamtui.events import Citation, CitationStatus
from roamtui.text import for_model

CITATION = re.compile(r"\[\[\s*+([^\[\]|\n]{1,120}+)(?:\|((?:(?!\[\[).)*?))?\]\](?!\])", re.DOTALL)
"""A citation as written: group 1 the id, group 2 the quote. Linear in the answer, whatever it holds."""
MOST_CITATIONS = 200
"""Citations of an answer that are checked; the rest stay unchecked."""

_WORD = re.compile(r"\S+")
_LINE_END = re.compile(r"\r\n|\r|\n")


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
        ref = normal_id(match[1]).partition(":")[0]
        yield CitedText(match.start(), match.end(), ref, (match[2] or "").strip())


def check(cited: CitedText, library: Library, memory: Memory) -> Citation:
    """Check one citation against the text and against what the model was shown of it."""
    place = library.find(cited.id) if ID.fullmatch(cited.id) else None
    if place is None or place.section.index < 0:
        return Citation(id=cited.id, quote=cited.quote, status="unknown")
    read = _read_within(library, place, memory)
    status: CitationStatus
    if not cited.quote:
        first, last = place.document.lines(place.section)
        status = "section" if read else "unopened"
        return Citation(id=cited.id, path=place.path, status=status, first_line=first, last_line=last)
    found = _find_quote(library, place, cited.quote, read, memory)
    if found is None:
        status = "missing" if read else "unopened"
        return Citation(id=cited.id, path=place.path, quote=cited.quote, status=status)
    return found


def _read_within(library: Library, place: Place, memory: Memory) -> list[Place]:
    """Return the sections of a branch that the model was shown, in document order."""
    found = [inner for ref in memory.shown if (inner := library.find(ref)) and inner.document is place.document]
    branch = range(place.section.index, place.section.last + 1)
    return sorted((item for item in found if item.section.index in branch), key=lambda item: item.section.index)


def _find_quote(library: Library, place: Place, quote: str, read: list[Place], memory: Memory) -> Citation | None:
    """Look in the cited section's own text first, then in what was shown below it."""
    unread: Citation | None = None
    for inner in (place, *(item for item in read if item.section.index != place.section.index)):
        ref = library.ref(inner.document, inner.section)
        for first, last in quote_lines(inner.document, inner.section.start, inner.section.own_end, quote):
            status: CitationStatus = "exact" if memory.was_shown(ref, first, last) else "unopened"
            citation = Citation(id=ref, path=inner.path, quote=quote, status=status, first_line=first, last_line=last)
            if citation.holds:
                return citation
            unread = unread or citation
    return unread


def quote_lines(document: Document, start: int, end: int, quote: str) -> Iterator[tuple[int, int]]:
    """Yield the 1-based first and last line of every place of a quote within a byte range.

    White space is folded and hidden characters are left out, as in the text that models read.
    """
    wanted = " ".join(for_model(quote)[0].split())
    visible, _ = for_model(document.slice(start, end))  # line ends are never hidden
    folded = " ".join(visible.split())
    at = folded.find(wanted) if wanted else -1
    if at < 0:
        return
    line = document.line_of(start)
    words = list(_WORD.finditer(visible))
    starts = list(accumulate((len(word.group()) + 1 for word in words), initial=0))
    while at >= 0:
        first = bisect.bisect_right(starts, at) - 1
        last = bisect.bisect_right(starts, at + len(wanted) - 1) - 1
        yield _line_at(line, visible, words[first].start()), _line_at(line, visible, words[last].start())
        at = folded.find(wanted, at + 1)


def _line_at(first_line: int, text: str, offset: int) -> int:
    return first_line + len(_LINE_END.findall(text, 0, offset))
