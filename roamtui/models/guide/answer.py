"""The guide's last word: quotes with their places, or what was tried and is missing."""

from __future__ import annotations

from collections.abc import Iterable

from roamtui.models.guide.evidence import Evidence, Scored
from roamtui.models.guide.notes import Notes, OpenText
from roamtui.models.guide.phrases import Phrases
from roamtui.models.guide.sentences import Unit

MOST_QUOTES = 5
"""Quotes in an answer."""
LEAST_GAIN = 0.3
"""A further quote must bring this share of what the first one brought."""


def choose(evidence: Evidence) -> list[Unit]:
    """Return the few units that carry the answer, in document order, without repeats."""
    left = dict(evidence.weights)
    chosen: list[Scored] = []
    pool = sorted(evidence.scored, key=lambda item: (-item.rank, item.unit.place, item.unit.number))[:200]
    first_gain = 0.0
    while pool and len(chosen) < MOST_QUOTES:
        best, gain = None, 0.0
        for item in pool:
            new = sum(weight for token, weight in left.items() if token in item.unit.tokens)
            value = item.rank * (0.5 + 0.5 * new / (sum(left.values()) or 1.0))
            if value > gain:
                best, gain = item, value
        if best is None or (chosen and gain < LEAST_GAIN * first_gain):
            break
        first_gain = first_gain or gain
        pool = [item for item in pool if not _alike(item.unit, best.unit)]
        chosen.append(best)
        for token in best.unit.tokens & left.keys():
            left[token] *= 0.4
    return sorted((item.unit for item in chosen), key=lambda unit: (unit.place, unit.number))


def _alike(one: Unit, other: Unit) -> bool:
    if one.ref == other.ref and one.number == other.number:
        return True
    both = one.tokens | other.tokens
    return bool(both) and len(one.tokens & other.tokens) / len(both) > 0.7


def answer(notes: Notes, evidence: Evidence, phrases: Phrases) -> str:
    """Return the answer: an introduction, then one quote per paragraph with its place."""
    if evidence.question.overview:
        quotes = _overview(notes, evidence)
        intro = phrases.overview
    else:
        quotes = [_with_next(unit, evidence) for unit in choose(evidence)]
        intro = phrases.best if evidence.best >= 0.6 else phrases.nearest
    lines = [cite(quote, ref) for ref, quote in _ordered(quotes, notes)]
    if not lines:
        return phrases.nothing
    return "\n\n".join([intro, *lines])


def cite(quote: str, ref: str) -> str:
    """Return a quote as the answer shows it, with its citation."""
    safe = quote.partition("]]")[0].rstrip("] ")
    return f"> {safe} [[{ref}|{safe}]]"


def _with_next(unit: Unit, evidence: Evidence) -> tuple[str, str]:
    after = evidence.following(unit)
    if after is not None and unit.text.endswith((":", "?", "：", "？")):
        return unit.ref, f"{unit.text} {after.text}" if not after.code and not unit.code else unit.text
    return unit.ref, unit.text


def _overview(notes: Notes, evidence: Evidence) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for section in sorted(fresh(notes.open.values()), key=lambda item: item.first_line):
        found.extend((unit.ref, unit.text) for unit in evidence.opening_units(section, 2))
    return found[: MOST_QUOTES + 1]


def fresh(sections: Iterable[OpenText]) -> list[OpenText]:
    """Return the sections the present question opened; all when it opened none."""
    found = list(sections)
    return [item for item in found if item.fresh] or found


def _ordered(quotes: list[tuple[str, str]], notes: Notes) -> list[tuple[str, str]]:
    first: dict[str, tuple[str, int]] = {}
    for ref, _ in quotes:
        prefix = ref.rpartition(".")[0]
        first[ref] = (prefix, notes.open[ref].first_line)
    unique = dict.fromkeys(quotes)
    return sorted(unique, key=lambda item: first[item[0]])


def supported(evidence: Evidence) -> bool:
    """Tell whether the open text supports an answer: by how much of the question one spot covers."""
    return evidence.best >= LEAST_COVER


LEAST_COVER = 0.3
"""Cover below which the guide gives up; chosen so that about a tenth of answerable questions are refused."""
