"""What a question is after: its words by weight, its clauses, and whether it is about the document as a whole."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

from roamtui.words import Lexicon, lexicon_for

_SHORT = 3
"""A question with at most so many words of its own may lean on the one before it."""
_ANAPHORA = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|same|there|one|then|also|too|else|"
    r"er|sie|es|das|dies|dort|dabei|dann|noch|auch|davon|dazu)\b",
    re.IGNORECASE,
)
_AND_WHAT = re.compile(
    r"^\s*(?:and|but|so|what about|how about|why|und|aber|oder|was ist mit|でも|では|それ|それで|και)\b", re.I
)
_MEASURE = re.compile(
    r"\b(?:how (?:tall|often|long|old|big|large|small|high|low|deep|far|fast|quickly|soon|late|early|wide|heavy|hard)"
    r"|wie (?:lange?|oft|hoch|groß|alt|weit|schnell|bald|spät|früh|tief|breit|schwer)"
    r"|(?:what|which) (?:kind|kinds|sort|sorts|type|types) of|at what time)\b",
    re.IGNORECASE,
)
"""Words that ask for a measure or a kind: an answer rarely repeats them."""
_CLAUSE = re.compile(r"[,;:.?!、。？！()]+\s*|\s+(?:and|or|versus|vs|but|und|oder|aber|sowie|και|и|или)\s+", re.I)
_OVERVIEW = re.compile(
    r"\b(?:what (?:is|are) (?:this|it|the document|these)(?: (?:document|text|book|file|manual|page|guide)s?)?"
    r"(?: all)?(?: about)?\s*\??$|(?:summar(?:y|i[sz]e)|overview|table of contents|tl;?dr)\b"
    r"|what is (?:this|it) (?:all )?about"
    r"|what does (?:this|the) (?:document|text|book|file|manual|guide) (?:say|cover|contain|describe)\s*\??$"
    r"|worum geht|zusammenfass|überblick|inhaltsverzeichnis)",
    re.I,
)
_OVERVIEW_OTHER = re.compile(
    r"概要|要約|まとめ|何について|何の文書|关于什么|概述|总结|περίληψη|για τι|обзор|о чем|о чём|résumé|resumen|de quoi"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, ready to search by."""

    text: str
    """As asked."""
    terms: tuple[str, ...]
    """Tokens that carry its subject, in order, without duplicates."""
    borrowed: tuple[str, ...]
    """Tokens taken over from the question before it."""
    queries: tuple[str, ...]
    """Searches to start with: the whole question, then its clauses."""
    overview: bool
    """Whether it asks about the document as a whole."""
    lexicon: Lexicon
    """Knows the words of the document's language."""

    @property
    def has_words(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self.terms or self.borrowed)


def understand(text: str, earlier: list[str], sample: str) -> Question:
    """Work out what a question is after; `sample` is document text, to know the language by."""
    lexicon = lexicon_for(f"{sample} {text}" if len(sample) < 40_000 else sample)
    text = text[:4_000]
    terms = content(text, lexicon)
    borrowed: tuple[str, ...] = ()
    whole = text
    leans = not terms or (len(terms) <= _SHORT and (_ANAPHORA.search(text) or _AND_WHAT.search(text)))
    if earlier and leans:
        before = earlier[-1][:1_000]
        borrowed = tuple(token for token in content(before, lexicon) if token not in terms)
        whole = f"{text} {before}"
    queries = [whole, *_clauses(text, lexicon, len(terms))]
    return Question(
        text=text,
        terms=terms,
        borrowed=borrowed,
        queries=tuple(dict.fromkeys(" ".join(query.split()) for query in queries if query.strip())),
        overview=bool((_OVERVIEW.search(text) or _OVERVIEW_OTHER.search(text)) and len(terms) <= 3),
        lexicon=lexicon,
    )


def content(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the tokens of `text` that carry its subject, in order, without duplicates."""
    asked = dict.fromkeys(token for token in lexicon.tokens(_MEASURE.sub(" ", text)) if not lexicon.is_stop(token))
    return tuple(asked or (token for token in dict.fromkeys(lexicon.tokens(text)) if not lexicon.is_stop(token)))


def as_written(tokens: Container[str], question: Question) -> list[str]:
    """Return the question's own spelling of those of its words whose tokens are given, without duplicates."""
    spans: list[tuple[int, int]] = []
    for word in question.lexicon.words(question.text):
        if word.token not in tokens or word.token not in question.terms:
            continue
        if spans and word.start < spans[-1][1]:  # bigrams overlap
            spans[-1] = (spans[-1][0], word.end)
        else:
            spans.append((word.start, word.end))
    return list(dict.fromkeys(question.text[start:end] for start, end in spans))


def _clauses(text: str, lexicon: Lexicon, terms: int) -> list[str]:
    if terms < 5:
        return []
    pieces = [piece.strip() for piece in _CLAUSE.split(text)]
    useful = [piece for piece in pieces if len(content(piece, lexicon)) >= 2]
    return useful[:3] if len(useful) > 1 else []


class Rarity:
    """How much a token tells, by how few of the texts seen hold it."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._total = 0
        for tokens in texts:
            self._total += 1
            self._counts.update(set(tokens))

    def weight(self, token: str) -> float:
        """Return the inverse document frequency of a token; unseen tokens weigh most."""
        count = self._counts[token]
        return math.log(1 + (self._total - count + 0.5) / (count + 0.5))
