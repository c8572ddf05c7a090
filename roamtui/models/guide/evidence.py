"""How well what is open supports an answer: sentences scored by the question's words in and around them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from roamtui.models.guide.notes import Notes, OpenText
from roamtui.models.guide.question import Question, Rarity
from roamtui.models.guide.sentences import Unit, units

TITLE_SHARE = 0.8
"""What a word is worth that stands in the section's path instead of the sentence; falls off down the section."""
NEIGHBOUR_SHARE = 0.35
"""What a word is worth that stands in the sentence before or after."""
NAMED_SHARE = 0.25
"""Share of the question that a section's title must make up to count as named by it."""
FOUND_SHARE = 0.5
"""How much the first place among the search hits raises a section's sentences; later places raise them less."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence and how much of the question it covers."""

    unit: Unit
    cover: float
    """Share of the question's weight in it and around it, 0 to 1."""
    rank: float
    """What sentences are chosen by: cover, form, and the place of the section among the hits."""

    @property
    def key(self) -> tuple[int, int]:
        """Where it stands among everything open."""
        return self.unit.place, self.unit.number


class Evidence:
    """The open sections seen through one question. `places` are places among the search hits, from 0."""

    def __init__(self, notes: Notes, question: Question, places: Mapping[str, int]) -> None:
        self.question = question
        lexicon = question.lexicon
        self._units = {ref: units(section, lexicon) for ref, section in notes.open.items()}
        self._paths = {ref: frozenset(lexicon.tokens(section.path)) for ref, section in notes.open.items()}
        self._titles = [section.title for section in notes.open.values()]
        listed = [*notes.outline.values(), *(hit for search in notes.searches for hit in search.hits)]
        seen = {(item.ref, item.words): lexicon.tokens(f"{item.title} {item.words}") for item in listed}
        rarity = Rarity([*seen.values(), *(unit.tokens for found in self._units.values() for unit in found)])
        self.weights = {token: rarity.weight(token) for token in question.terms}
        self.weights.update((token, 0.5 * rarity.weight(token)) for token in question.borrowed)
        self._flat = {token: math.sqrt(weight) for token, weight in self.weights.items()}
        self.total = sum(self.weights.values()) or 1.0
        """Weight of the whole question."""
        self._held = {
            ref: self._paths[ref].union(*(unit.tokens for unit in found)) for ref, found in self._units.items()
        }
        self.scored = [item for ref in notes.open for item in self._score(ref, places)]

    def _score(self, ref: str, places: Mapping[str, int]) -> list[Scored]:
        found = self._units[ref]
        raised = 1 + FOUND_SHARE / (1 + places[ref]) if ref in places else 1.0
        scored = []
        for number, unit in enumerate(found):
            around: set[str] = set()
            for near in found[max(0, number - 1) : number + 2]:
                around |= near.tokens
            cover = self._cover(unit.tokens, self._paths[ref], around, number)
            scored.append(Scored(unit, cover, cover * raised * _form(unit)))
        return scored

    def _cover(self, inside: frozenset[str], path: frozenset[str], around: set[str], number: int) -> float:
        title_share = TITLE_SHARE / (1 + 0.15 * number)
        cover = 0.0
        for token, weight in self.weights.items():
            if token in inside:
                cover += weight
            elif token in path:
                cover += title_share * weight
            elif token in around:
                cover += NEIGHBOUR_SHARE * weight
        return cover / self.total

    @property
    def best(self) -> float:
        """The best cover of any sentence."""
        return max((item.cover for item in self.scored), default=0.0)

    def sentence_cover(self, ref: str) -> float:
        """Return the best cover of a section's sentences."""
        return max((item.cover for item in self.scored if item.unit.ref == ref), default=0.0)

    def cover_of(self, text: str) -> float:
        """Return the share of the question's weight that a text holds."""
        tokens = set(self.question.lexicon.tokens(text))
        return sum(weight for token, weight in self.weights.items() if token in tokens) / self.total

    @property
    def support(self) -> float:
        """How much of the question one section holds: the share of its words, rarer ones counting a little more,
        times the square root of their number.

        A share alone would take one common word of a short question for strong evidence.
        """
        total = sum(self._flat.values()) or 1.0
        shares = (sum(weight for token, weight in self._flat.items() if token in held) for held in self._held.values())
        return max(shares, default=0.0) / total * math.sqrt(len(self._flat))

    @property
    def named(self) -> bool:
        """Whether the question names an open section: every word of its title, and these are much of the question."""
        lexicon = self.question.lexicon
        least = NAMED_SHARE * sum(self._flat.values())
        for title in self._titles:
            words = {token for token in lexicon.tokens(title) if not lexicon.is_stop(token)}
            if words and words <= self._flat.keys() and sum(self._flat[token] for token in words) >= least:
                return True
        return False

    def unheld(self) -> dict[str, float]:
        """Return what each word of the question still weighs: less when an open section holds it."""
        held: frozenset[str] = frozenset().union(*self._held.values())
        return {token: weight * (0.3 if token in held else 1.0) for token, weight in self.weights.items()}

    def missing(self) -> list[str]:
        """Return the question's tokens that no open section holds."""
        return [token for token in self.question.terms if not any(token in held for held in self._held.values())]

    def opening(self, section: OpenText, count: int) -> list[Unit]:
        """Return the first sentences of a section's prose."""
        return [unit for unit in self._units[section.ref] if not unit.code and len(unit.text) > 12][:count]

    def after(self, unit: Unit) -> Unit | None:
        """Return the unit that directly follows, or None."""
        found = self._units[unit.ref]
        following = found[unit.number + 1] if unit.number + 1 < len(found) else None
        return (
            following if following is not None and following.glue is not None and following.code == unit.code else None
        )


def _form(unit: Unit) -> float:
    """Return what the form of a unit is worth: whole sentences over fragments, prose over code."""
    length = len(unit.text)
    worth = 1.0
    if length < 40:
        worth *= 0.55 + length / 90
    if length > 250:
        worth *= 250 / (250 + 0.4 * (length - 250))
    if unit.code:
        worth *= 0.7
    return worth * 0.8 if unit.text.endswith(("?", "？")) else worth
