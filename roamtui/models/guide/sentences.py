"""Texts cut into units that can be quoted word for word: sentences, list items, table rows, lines of code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from roamtui.models.guide.notes import OpenText
from roamtui.words import Lexicon

LONGEST = 600
"""Longest unit in characters; longer ones are cut at a clause."""
_STARTS_UNIT = re.compile(r"^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|\(\d{1,3}\)\s|\||>|#{1,6}\s|\[\^)")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NOISE = re.compile(r"^\s*(?:[|:\-\s=*_`~<>/]+|<!--.*-->|</?[A-Za-z][^>]*>|\{[{%].*[%}]\})\s*$")
_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"')\]*_”’]))\s+(?=[^\sa-zà-ÿ,;])|(?<=[。！？])(?=\S)|(?<=;)\s+(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|Ms|St|No|Nr|Art|Abs|Satz|bzw|z\. ?B|d\. ?h|u\. ?a"
    r"|ggf|vgl|ca|U\.S|p|pp|Fig|Sec|approx)"
    r"|\b[A-Z]|\b\d{1,3})\.$"
)


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
    joined: bool = False
    """Whether nothing but white space stands between it and the unit before."""


def units(section: OpenText, lexicon: Lexicon) -> list[Unit]:
    """Return the units of a section's text, in order."""
    found: list[Unit] = []
    for part in sorted(section.texts):
        for text, code, joined in _pieces(section.texts[part]):
            tokens = frozenset(lexicon.tokens(text))
            found.append(Unit(section.ref, section.order, len(found), text, tokens, code, joined))
    return found


def _pieces(text: str) -> list[tuple[str, bool, bool]]:
    """Return (text, is code, joined to the one before)."""
    found: list[tuple[str, bool, bool]] = []
    paragraph: list[str] = []
    code = joined = False

    def flush() -> None:
        nonlocal joined
        if paragraph:
            for piece, whole in _sentences(" ".join(paragraph)):
                found.append((piece, False, joined))
                joined = whole
            paragraph.clear()

    for line in text.split("\n"):
        if _FENCE.match(line):
            flush()
            code, joined = not code, False
        elif code:
            if line.strip():
                piece = _short(line)
                found.append((piece, True, joined))
                joined = len(piece) == len(" ".join(line.split()))
        elif not line.strip():
            flush()
        elif _NOISE.match(line):
            flush()
            joined = False
        else:
            if _STARTS_UNIT.match(line):
                flush()
            paragraph.append(" ".join(line.split()))
    flush()
    return found


def _sentences(paragraph: str) -> list[tuple[str, bool]]:
    """Return the sentences of a paragraph, and of each whether it is whole."""
    found: list[str] = []
    begin = 0
    for match in [] if paragraph.startswith("|") else _END.finditer(paragraph):
        before = paragraph[max(begin, match.start() - 12) : match.start()]
        if match.start() - begin >= 20 and not _ABBREVIATION.search(before):
            found.append(paragraph[begin : match.start()])
            begin = match.end()
    found.append(paragraph[begin:])
    folded = [" ".join(piece.split()) for piece in found]
    return [(_short(piece), len(piece) <= LONGEST) for piece in folded if piece]


def _short(text: str) -> str:
    folded = " ".join(text.split())
    if len(folded) <= LONGEST:
        return folded
    head = folded[:LONGEST]
    cut = max(head.rfind(mark) + len(mark.rstrip()) for mark in (". ", "; ", ", ", "、"))
    if cut < LONGEST // 3:
        cut = head.rfind(" ") if " " in head else LONGEST
    return head[:cut]
