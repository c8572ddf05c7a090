"""How well what is open supports an answer: units scored by the question's words they and their surroundings hold."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.models.guide.notes import Notes, OpenText
from roamtui.models.guide.question import Question, Rarity
from roamtui.models.guide.sentences import Unit, units

TITLE_SHARE = 0.6
"""What a word is worth that stands in the section's path instead of the sentence; falls off down the section."""
NEIGHBOUR_SHARE = 0.35
"""What a word is worth that stands in the sentence before or after."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit and how much of the question it covers, surroundings included."""

    unit: Unit
    cover: float
    """Share of the question's weight, 0 to 1."""
    own: float
    """The same for the unit's own words alone."""
    rank: float
    """What units are chosen by."""


class Evidence:
    """The open sections seen through one question."""

    def __init__(self, notes: Notes, question: Question) -> None:
        self.question = question
        lexicon = question.lexicon
        self.sections = dict(notes.open)
        self._units = {ref: units(section, lexicon) for ref, section in self.sections.items()}
        listed = [*notes.outline.values(), *(hit for search in notes.searches for hit in search.hits)]
        seen = {(item.ref, item.words): lexicon.tokens(f"{item.title} {item.words}") for item in listed}
        self.rarity = Rarity([*seen.values(), *(unit.tokens for found in self._units.values() for unit in found)])
        self.weights = {token: self.rarity.weight(token) for token in question.terms}
        for token in question.borrowed:
            self.weights[token] = 0.5 * self.rarity.weight(token)
        self.total = sum(self.weights.values()) or 1.0
        self._paths = {ref: frozenset(lexicon.tokens(section.path)) for ref, section in self.sections.items()}
        self.scored = [item for ref in self.sections for item in self._score(ref)]

    def _score(self, ref: str) -> list[Scored]:
        found = self._units[ref]
        path = self._paths[ref]
        scored: list[Scored] = []
        for number, unit in enumerate(found):
            around: set[str] = set()
            for near in (number - 1, number + 1):
                if 0 <= near < len(found):
                    around |= found[near].tokens
            fall = 1 / (1 + 0.15 * number)
            own = cover = 0.0
            for token, weight in self.weights.items():
                if token in unit.tokens:
                    own += weight
                    cover += weight
                elif token in path:
                    cover += TITLE_SHARE * fall * weight
                elif token in around:
                    cover += NEIGHBOUR_SHARE * weight
            rank = cover / self.total * _form(unit)
            scored.append(Scored(unit, cover / self.total, own / self.total, rank))
        return scored

    def section_cover(self, ref: str) -> float:
        """Return the share of the question that the best spot of a section covers."""
        return max((item.cover for item in self.scored if item.unit.ref == ref), default=0.0)

    @property
    def best(self) -> float:
        """The best cover anywhere."""
        return max((item.cover for item in self.scored), default=0.0)

    def missing(self) -> list[str]:
        """Return the question's tokens that no open section holds."""
        held: set[str] = set()
        for found in self._units.values():
            for unit in found:
                held |= unit.tokens
        for path in self._paths.values():
            held |= path
        return [token for token in self.question.terms if token not in held]

    def opening_units(self, section: OpenText, count: int) -> list[Unit]:
        """Return the first prose units of a section."""
        prose = [unit for unit in self._units[section.ref] if not unit.code and len(unit.text) > 30]
        return prose[:count]

    def following(self, unit: Unit) -> Unit | None:
        """Return the unit after this one in its section."""
        found = self._units[unit.ref]
        return found[unit.number + 1] if unit.number + 1 < len(found) else None


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
    if unit.text.endswith("?"):
        worth *= 0.8
    return worth
