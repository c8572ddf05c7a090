"""Answers as people read them: citations as titles and lines, never ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roamtui.agent.evidence import CITATION
from roamtui.agent.tools import ID
from roamtui.events import Citation

STATUS_GLYPHS = {"exact": "✓", "section": "✓", "missing": "✗", "unopened": "✗", "unknown": "✗"}
"""Glyph of a checked citation."""
STATUS_WORDS = {
    "exact": "the words stand there",
    "section": "the section was read",
    "missing": "the words are not there",
    "unopened": "the section was never opened",
    "unknown": "no such section",
}
"""A checked citation in words."""

_OPEN_CITATION = re.compile(r"\[(?:\[(?:[^\]]|\](?!\]))*)?\Z")
_BARE_ID = re.compile(rf"\s?(?<![0-9a-z.])[\[(`]{{0,2}}({ID.pattern})(?::\d+)?[\])`]{{0,2}}(?![0-9a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prose:
    """Some of the answer's own words."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation between the words."""

    number: int
    """Place among the answer's citations, from 1."""
    citation: Citation | None
    """None while it has not been checked."""
    quote: str


def segments(
    text: str, citations: Sequence[Citation], is_known: Callable[[str], bool], *, complete: bool = True
) -> list[Prose | Cited]:
    """Cut an answer into words and citations.

    Bare ids of known sections are taken out of the words. With `complete=False` a citation that is
    still being written at the end is held back.
    """
    if not complete:
        text = _OPEN_CITATION.sub("", text)
    found: list[Prose | Cited] = []
    end = 0
    for number, match in enumerate(CITATION.finditer(text), start=1):
        _add_prose(found, text[end : match.start()], is_known)
        checked = citations[number - 1] if number <= len(citations) else None
        found.append(Cited(number, checked, (match[2] or "").strip()))
        end = match.end()
    _add_prose(found, text[end:], is_known)
    return found


def _add_prose(found: list[Prose | Cited], text: str, is_known: Callable[[str], bool]) -> None:
    clean = _BARE_ID.sub(lambda match: "" if is_known(match[1].lower()) else match.group(), text)
    if clean:
        found.append(Prose(clean))


def readable(text: str, title_of: Callable[[str], str | None]) -> str:
    """Return a model's words about the document with titles in place of citations and ids."""

    def titled(match: re.Match[str]) -> str:
        title = title_of(match[1].lower())
        return match.group() if title is None else f"{' ' if match.group()[0].isspace() else ''}“{title}”"

    quoted = CITATION.sub(lambda match: f"“{match[2].strip()}”" if match[2] else match[1], text)
    return _BARE_ID.sub(titled, quoted)


def label(citation: Citation) -> str:
    """Return what a citation's button says: glyph, title, lines."""
    glyph = STATUS_GLYPHS[citation.status]
    title = citation.path[-1] if citation.path else "unknown section"
    lines = ""
    if citation.first_line:
        last = f"–{citation.last_line}" if citation.last_line != citation.first_line else ""
        lines = f" L{citation.first_line}{last}"
    return f"{glyph} {title}{lines}"


def as_markdown(text: str, citations: Sequence[Citation], is_known: Callable[[str], bool]) -> str:
    """Return an answer for copying: quotes stay, each with its section and lines; problems are named."""
    parts: list[str] = []
    for item in segments(text, citations, is_known):
        if isinstance(item, Prose):
            parts.append(item.text)
            continue
        quote = f"“{item.quote}” " if item.quote and not _said_before(parts, item.quote) else ""
        if item.citation is None:
            parts.append(f"({quote.strip()})" if quote else "")
            continue
        path = " › ".join(item.citation.path) or "unknown section"
        lines = label(item.citation).rpartition(" L")[2] if item.citation.first_line else ""
        where = f"{path}, L{lines}" if lines else path
        problem = "" if item.citation.holds else f" — {STATUS_WORDS[item.citation.status]}"
        parts.append(f"({quote}{where}{problem})")
    return "".join(parts).strip()


def _said_before(parts: Sequence[str], quote: str) -> bool:
    """Whether the words right before a citation already say the quote."""
    return bool(parts) and quote in parts[-1]
