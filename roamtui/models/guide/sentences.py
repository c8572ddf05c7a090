"""Texts cut into units that can be quoted word for word: sentences, list items, table rows, lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from roamtui.models.guide.notes import OpenText
from roamtui.words import Lexicon

LONGEST = 600
"""Longest unit in characters; longer ones are cut at a clause."""
_STARTS_UNIT = re.compile(r"^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|\(\d{1,3}\)\s|\||>|#{1,6}\s|\[\^)")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_MARKUP = re.compile(r"<!--.*?(?:-->|$)|</?[A-Za-z][^<>]*>|\{\{.*?\}\}|\{%.*?%\}|!\[[^\]]*\]\([^)]*\)")
_WORDS = re.compile(r"\w")
_OPEN_TAG = re.compile(r"^\s*<(?:[A-Za-z][^<>]*|!--(?:(?!-->).)*)$")
_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"')\]*_”’]))\s+(?=[^\sa-zà-ÿ,;])|(?<=[。！？])(?=\S)|(?<=;)\s+(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|Ms|St|No|Nr|Art|Abs|Satz|bzw|z\. ?B|d\. ?h|u\. ?a"
    r"|ggf|vgl|ca|U\.S|p|pp|Fig|Sec|approx)"
    r"|\b[A-Z]|\b\d{1,3})\.$"
)
_LEAST = 20
"""Characters a sentence has at least, unless it ends its paragraph; CJK sentences count double."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of an open section that can be quoted."""

    ref: str
    place: int
    """Order of its section among the opened ones."""
    number: int
    """Place in its section, from 0."""
    text: str
    """White space folded; otherwise word for word."""
    tokens: frozenset[str]
    code: bool = False
    glue: str | None = None
    """What stands between it and the unit before: a space, nothing, or None for anything else."""


def joined(quote: list[Unit]) -> str:
    """Return the words of units that follow each other, as they stand in the document but for white space."""
    return "".join((unit.glue or "") * bool(number) + unit.text for number, unit in enumerate(quote))


def units(section: OpenText, lexicon: Lexicon) -> list[Unit]:
    """Return the units of a section's text, in order."""
    found: list[Unit] = []
    for part in sorted(section.texts):
        whole = False
        for text, code, glue in _pieces(section.texts[part]):
            piece = _short(text)
            tokens = frozenset(lexicon.tokens(piece))
            number = len(found)
            found.append(Unit(section.ref, section.order, number, piece, tokens, code, glue if whole else None))
            whole = piece == text
    return found


def _pieces(text: str) -> Iterator[tuple[str, bool, str | None]]:
    """Yield (text, is code, glue)."""
    glue: str | None = None
    for lines, code in _paragraphs(text):
        if not lines:
            glue = None
        elif code:
            yield " ".join(lines[0].split()), True, glue
            glue = " "
        else:
            for piece, before in _sentences(" ".join(" ".join(lines).split())):
                yield piece, False, glue if before is None else before
                glue = " "


def _paragraphs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield (lines, is code) of every paragraph, list item and line of code; no lines where markup was left out."""
    lines: list[str] = []
    code = in_tag = False
    for line in text.split("\n"):
        if in_tag:
            in_tag = ">" not in line and bool(line.strip())
        elif code and not _FENCE.match(line):
            if line.strip():
                yield [line], True
        elif _STARTS_UNIT.match(line) and _says_something(line):
            if lines:
                yield lines, False
            lines = [line]
        elif _says_something(line) and not _OPEN_TAG.match(line):
            lines.append(line)
        else:
            if lines:
                yield lines, False
            lines = []
            if line.strip():  # a fence, a rule or a tag: what comes after does not follow directly
                yield [], False
            code = code != bool(_FENCE.match(line))
            in_tag = not code and bool(_OPEN_TAG.match(line))
    if lines:
        yield lines, False


def _says_something(line: str) -> bool:
    return not _FENCE.match(line) and _WORDS.search(_MARKUP.sub("", line)) is not None


def _sentences(paragraph: str) -> Iterator[tuple[str, str | None]]:
    """Yield the sentences of a paragraph, each with what stands before it; None for the first."""
    begin, glue = 0, None
    for match in () if paragraph.startswith("|") else _END.finditer(paragraph):
        size = match.start() - begin
        before = paragraph[max(begin, match.start() - 12) : match.start()]
        enough = size >= _LEAST or (before[-1:] in "。！？" and 2 * size >= _LEAST)
        if enough and not _ABBREVIATION.search(before):
            yield paragraph[begin : match.start()], glue
            begin, glue = match.end(), match.group()
    if paragraph[begin:]:
        yield paragraph[begin:], glue


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    head = text[:LONGEST]
    cut = max(head.rfind(mark) + len(mark.rstrip()) for mark in (". ", "; ", ", ", "、", "。"))
    if cut < LONGEST // 3:
        cut = head.rfind(" ") if " " in head else LONGEST
    return head[:cut]
