"""The line that shows why a passage was found."""

from __future__ import annotations

import re
from collections.abc import Mapping

from roamtui.text import clip, one_line, width
from roamtui.words import Lexicon, Word

_MARKUP = re.compile(r"\s*(?:<[!/A-Za-z]|```|~~~|\{[{%]|!\[|[-=*_|: ]+$|$)", re.MULTILINE)
SNIPPET_CELLS = 160
"""Widest snippet, in terminal cells."""
_BREAK = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])|\s*[\r\n]+\s*")


def snippet(text: str, weights: Mapping[str, float], lexicon: Lexicon) -> str:
    """Return the sentence of `text` that covers the weighted tokens best, cut to `SNIPPET_CELLS`.

    What fits beside it of the text after it follows. Without any of the tokens it is the first words that are not
    markup.
    """
    starts = [0, *(match.end() for match in _BREAK.finditer(text) if match.end() < len(text))]
    hits = [word for word in lexicon.words(text) if word.token in weights]
    best = next((start for start in starts if not _MARKUP.match(text, start)), 0)
    best_gain = 0.0
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        covered = {word.token for word in hits if start <= word.start < end}
        gain = sum(weights[token] for token in covered)
        if gain > best_gain:
            best, best_gain = start, gain
    return _window(text, best, hits, weights)


def _window(text: str, start: int, hits: list[Word], weights: Mapping[str, float]) -> str:
    opening = text[start : start + 4 * SNIPPET_CELLS].lstrip()
    inside = [word for word in hits if start <= word.start < start + 4 * SNIPPET_CELLS]
    far = max(inside, key=lambda word: (weights[word.token], -word.start), default=None)
    if far is not None and width(text[start : far.end]) > SNIPPET_CELLS - 2:
        begin = max(start, far.start - SNIPPET_CELLS // 2)
        space = text.find(" ", begin, far.start)
        begin = space + 1 if 0 <= space < begin + 20 else begin
        opening = "… " + text[begin : begin + 4 * SNIPPET_CELLS]
    return clip(one_line(opening), SNIPPET_CELLS)
