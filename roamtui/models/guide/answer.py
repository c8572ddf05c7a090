"""The guide's last word: a few quotes with their places."""

from __future__ import annotations

import re
from collections.abc import Iterable

from roamtui.models.guide.evidence import Evidence, Scored
from roamtui.models.guide.notes import Notes, OpenText
from roamtui.models.guide.phrases import Phrases
from roamtui.models.guide.sentences import Unit, joined

MOST_QUOTES = 5
"""Quotes in an answer."""
LEAST_GAIN = 0.4
"""A further quote must bring this share of what the first one brought."""
CLOSE_COVER = 0.5
"""Cover from which a sentence is said to match, not only to come near."""
LONGEST_QUOTE = 350
"""Characters up to which the sentence after a chosen one is quoted with it."""
MOST_PARTS = 12
"""Titles listed when the question is about the document as a whole."""
_POOL = 200
_LEFT = 0.4
"""What a word of the question is still worth once a quote holds it."""
_CITATION_MARKS = re.compile(r"\[\[|\]\]")


def choose(evidence: Evidence) -> list[Unit]:
    """Return the few sentences that carry the answer, without repeats, best first."""
    left = dict(evidence.weights)
    chosen: list[Scored] = []
    pool = sorted(evidence.scored, key=lambda item: (-item.rank, item.key))[:_POOL]
    least = 0.0
    while pool and len(chosen) < MOST_QUOTES:
        total = sum(left.values()) or 1.0
        gains = [
            item.rank * (0.5 + 0.5 * sum(left.get(token, 0.0) for token in item.unit.tokens) / total) for item in pool
        ]
        gain = max(gains)
        if gain <= least:
            break
        best = pool[gains.index(gain)]
        least = least or LEAST_GAIN * gain
        chosen.append(best)
        pool = [item for item in pool if not _alike(item.unit, best.unit)]
        for token in best.unit.tokens & left.keys():
            left[token] *= _LEFT
    return [item.unit for item in chosen]


def _alike(one: Unit, other: Unit) -> bool:
    if one.ref == other.ref and one.number == other.number:
        return True
    both = one.tokens | other.tokens
    return bool(both) and len(one.tokens & other.tokens) / len(both) > 0.7


def quotes(chosen: Iterable[Unit], evidence: Evidence) -> list[list[Unit]]:
    """Join each chosen sentence with the one after it where that keeps the quote short, and with chosen neighbours."""
    picked = sorted(chosen, key=lambda unit: (unit.place, unit.number))
    found: list[list[Unit]] = []
    for unit in picked:
        last = found[-1][-1] if found else None
        if last is not None and last.ref == unit.ref and last.number >= unit.number:
            quote = found[-1]  # it was taken as the one after
        elif last is not None and evidence.after(last) is unit:
            quote = found[-1]
            quote.append(unit)
        else:
            quote = [unit]
            found.append(quote)
        following = evidence.after(unit)
        if quote[-1] is unit and following and sum(len(item.text) for item in (*quote, following)) <= LONGEST_QUOTE:
            quote.append(following)
    return found


def answer(notes: Notes, evidence: Evidence, phrases: Phrases) -> str:
    """Return the answer: an introduction, then one quote per paragraph with its place, in document order."""
    if evidence.question.overview:
        return _overview(notes, evidence, phrases)
    found = quotes(choose(evidence), evidence)
    intro = phrases.best if evidence.best >= CLOSE_COVER else phrases.nearest
    if not found:
        return phrases.nothing
    found.sort(key=lambda quote: (*_place(notes.open[quote[0].ref]), quote[0].number))
    return "\n\n".join([intro, *filter(None, map(cite, found))])


def _place(section: OpenText) -> tuple[str, int]:
    return section.ref.rpartition(".")[0], section.first_line


def cite(quote: list[Unit]) -> str:
    """Return a quote as the answer shows it, and its citation. Cut where it would end the citation early."""
    pieces = _CITATION_MARKS.split(joined(quote))  # the document may hold what looks like a citation
    words = max(pieces, key=len).strip().rstrip("] ")
    return f"> {words} [[{quote[0].ref}|{words}]]" if words else ""


def _overview(notes: Notes, evidence: Evidence, phrases: Phrases) -> str:
    """Return how the opened sections begin, and the titles of the document's main parts."""
    meant = dict.fromkeys([ref for ref, _ in notes.asked] + [item.ref for item in fresh(notes.open.values())])
    found = [evidence.opening(notes.open[ref], 2) for ref in meant if ref in notes.open]
    lines = [cite([unit]) for units in list(filter(None, found))[:3] for unit in units][:MOST_QUOTES]
    shown = [phrases.overview, *filter(None, lines)] if any(lines) else []
    top = min((item.level for item in notes.outline.values() if item.level), default=0)
    deeper = [item.title for item in notes.outline.values() if item.level == top + 1]
    titles = [item.title for item in notes.outline.values() if item.level == top]
    parts = deeper if len(titles) == 1 else titles
    if parts:
        listed = "\n".join(f"- {title}" for title in parts[:MOST_PARTS])
        more = f"\n- … {len(parts) - MOST_PARTS}" if len(parts) > MOST_PARTS else ""
        shown.append(f"{phrases.parts}\n\n{listed}{more}")
    return "\n\n".join(shown) or phrases.nothing


def fresh(sections: Iterable[OpenText]) -> list[OpenText]:
    """Return the sections the present question opened; all when it opened none."""
    found = list(sections)
    return [item for item in found if item.fresh] or found
