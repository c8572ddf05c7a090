"""A user's words as full-text queries. Only folded words of letters, digits and marks ever reach SQLite."""

from __future__ import annotations

import itertools
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from roamtui.words import Lexicon

LONGEST_QUERY = 4_000
"""Characters of a query that are looked at."""
MOST_WORDS = 40
"""Words of a query that are searched, the rarest."""
COMMON_SHARE = 0.2
"""A function word in more passages than this tells nothing and is left out."""
_MOST_VARIANTS = 12
"""A word that stands nowhere by itself is searched inside at most so many longer ones."""
_LEAST_INSIDE = 4
_COUNTS_KEPT = 10_000
_LEAST_MISSPELT = 6

_FREQUENCY = "SELECT doc FROM vocabulary WHERE term = ?"
_TERMS = "SELECT term FROM vocabulary"


@dataclass(frozen=True, slots=True)
class Query:
    """What to match. Empty strings match nothing."""

    weights: dict[str, float]
    """The words searched, each with its rarity."""
    words: str
    """Any of the words."""
    phrases: str
    """Any two neighbouring words as they were written, and the rarer function words."""


class Vocabulary:
    """The words an index holds. Not safe for threads: its owner locks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._terms: list[str] = []
        self._joined = ""
        self._rows = -1
        self._counts: dict[str, int] = {}
        self._counted = -1

    def frequency(self, token: str, rows: int) -> int:
        """Return how many of the `rows` passages indexed hold a token."""
        if rows != self._counted or len(self._counts) > _COUNTS_KEPT:
            self._counts.clear()
            self._counted = rows
        count = self._counts.get(token)
        if count is None:
            found = self._connection.execute(_FREQUENCY, (token,)).fetchone()
            count = self._counts[token] = int(found[0]) if found else 0
        return count

    def variants(self, token: str, rows: int) -> list[str]:
        """Return words to search in the place of one that stands nowhere: longer ones, else one letter away.

        `rows` is the number of passages indexed; the list of words is read again when it has grown.
        """
        if len(token) < 2:
            return []
        self._refresh(rows)
        longer = self._holding(f"\n{token}")
        if not longer and len(token) >= _LEAST_INSIDE:
            longer = self._holding(token)
        if longer or len(token) < _LEAST_MISSPELT:
            return longer
        near = process.extract(token, self._terms, scorer=OSA.distance, score_cutoff=1, limit=2)
        return [term for term, _, _ in near]

    def _refresh(self, rows: int) -> None:
        if rows != self._rows:
            self._terms = [str(row[0]) for row in self._connection.execute(_TERMS)]
            self._joined = "\n" + "\n".join(self._terms) + "\n"
            self._rows = rows

    def _holding(self, piece: str) -> list[str]:
        found: list[str] = []
        at = self._joined.find(piece)
        while at >= 0:
            start = at + 1 if piece[0] == "\n" else self._joined.rfind("\n", 0, at) + 1
            end = self._joined.find("\n", start)
            found.append(self._joined[start:end])
            if len(found) > _MOST_VARIANTS:
                return []
            at = self._joined.find(piece, end - 1)
        return found


def plan(text: str, lexicons: Iterable[Lexicon], vocabulary: Vocabulary, rows: int) -> Query:
    """Turn any text into a `Query` over `rows` passages."""
    weights: dict[str, float] = {}
    stops: dict[str, float] = {}
    phrases: dict[str, None] = {}
    for lexicon in dict.fromkeys(lexicons):
        tokens = lexicon.tokens(text[:LONGEST_QUERY])
        phrases.update(dict.fromkeys(_neighbours(tokens, lexicon)))
        for token in dict.fromkeys(tokens):
            is_stop = lexicon.is_stop(token)
            held = [token] if vocabulary.frequency(token, rows) else [] if is_stop else vocabulary.variants(token, rows)
            for term in held:
                (stops if is_stop else weights)[term] = _rarity(vocabulary.frequency(term, rows), rows)
    if not weights:
        weights, stops = stops, {}
    weights = dict(sorted(weights.items(), key=lambda item: -item[1])[:MOST_WORDS])
    limit = _rarity(int(COMMON_SHARE * rows), rows)
    rarer = [token for token, weight in stops.items() if weight > limit][:MOST_WORDS]
    return Query(weights, _any_of(weights), _any_of([*list(phrases)[:MOST_WORDS], *rarer]))


def _neighbours(tokens: Sequence[str], lexicon: Lexicon) -> Iterable[str]:
    for one, two in itertools.pairwise(tokens):
        if not (lexicon.is_stop(one) and lexicon.is_stop(two)):
            yield f"{one} {two}"


def _rarity(count: int, rows: int) -> float:
    return math.log(1 + (rows - count + 0.5) / (count + 0.5))


def _any_of(terms: Iterable[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
