"""What to do next: search, open, read on, or answer. One decision per turn, from the notes alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from roamtui.models.guide.answer import answer, fresh, supported
from roamtui.models.guide.evidence import Evidence
from roamtui.models.guide.notes import Listed, Notes
from roamtui.models.guide.phrases import Phrases, phrases_for
from roamtui.models.guide.question import Question, understand

MOST_TURNS = 5
"""Turns with tool calls before the guide answers with what it has."""
FIRST_OPENINGS = 3
MOST_OPENINGS = 5
TOKENS = 6_000
"""Tokens the guide means to open for one question."""
GOOD_COVER = 0.85
"""Cover at which nothing more is opened."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the guide does in one turn: says something, or calls tools."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


@dataclass(slots=True)
class _Candidate:
    ref: str
    title: str
    tokens: int
    score: float = 0.0
    queries: list[str] = field(default_factory=list)


def decide(notes: Notes, tools: frozenset[str]) -> Step:
    """Return the next step."""
    question = understand(notes.question, notes.earlier, notes.language_sample)
    phrases = phrases_for(notes.question)
    can_open = "expand_section" in tools and notes.steps < MOST_TURNS
    if can_open and question.overview and not notes.asked:
        step = _open_top(notes, phrases)
        if step is not None:
            return step
    if can_open and "search_sections" in tools and not notes.searches and question.terms and notes.outline:
        return _search(question)
    evidence = Evidence(notes, question)
    if can_open and not question.overview:
        step = _open_more(notes, question, evidence, phrases)
        if step is not None:
            return step
    if not question.overview and not supported(evidence):
        return _give_up(notes, question, evidence, phrases, tools)
    return Step(text=answer(notes, evidence, phrases))


def _search(question: Question) -> Step:
    calls = [("search_sections", {"query": query[:900], "k": 10 if first else 5}) for first, query in _marked(question)]
    return Step(calls=tuple(calls))


def _marked(question: Question) -> list[tuple[bool, str]]:
    return [(number == 0, query) for number, query in enumerate(question.queries)]


def candidates(notes: Notes, question: Question) -> list[_Candidate]:
    """Return the sections found by the present question's searches, best first."""
    found: dict[str, _Candidate] = {}
    for number, search in enumerate(notes.searches):
        share = 1.0 if number == 0 else 0.6
        for rank, hit in enumerate(search.hits):
            item = found.setdefault(hit.ref, _Candidate(hit.ref, hit.title, hit.tokens))
            item.score += share / (rank + 2)
            item.queries.append(search.query)
    return sorted(found.values(), key=lambda item: -item.score)


def _open_more(notes: Notes, question: Question, evidence: Evidence, phrases: Phrases) -> Step | None:
    tried = {ref for ref, _ in notes.asked} | notes.refused
    opened = len(tried)
    if opened and evidence.best >= GOOD_COVER and len(question.terms) <= 4:
        return None
    room = (FIRST_OPENINGS if not opened else MOST_OPENINGS) - opened
    if room <= 0:
        return None
    ready = [item for item in candidates(notes, question) if item.ref not in tried and item.ref not in notes.open]
    chosen = ready[:room]
    if not chosen:
        return None
    chosen.sort(key=lambda item: item.tokens)
    return Step(calls=(_expand([item.ref for item in chosen], phrases.search_reason, notes, evidence),))


def _expand(refs: list[str], reason: str, notes: Notes, evidence: Evidence) -> tuple[str, dict[str, Any]]:
    arguments: dict[str, Any] = {"section_ids": refs, "reason": reason}
    judged = [_judgement(section.ref, evidence) for section in fresh(notes.open.values()) if section.fresh]
    if judged:
        arguments["judged"] = judged[:8]
    return "expand_section", arguments


def _judgement(ref: str, evidence: Evidence) -> dict[str, str]:
    cover = evidence.section_cover(ref)
    return {"id": ref, "helpful": "yes" if cover >= 0.6 else "partly" if cover >= 0.35 else "no"}


def _open_top(notes: Notes, phrases: Phrases) -> Step | None:
    lines = sorted(notes.outline.values(), key=lambda item: item.order)
    top = _first_sections(lines)
    if not top:
        return None
    return Step(calls=(("expand_section", {"section_ids": [item.ref for item in top], "reason": phrases.overview}),))


def _first_sections(lines: list[Listed]) -> list[Listed]:
    named = [item for item in lines if item.title.lower().startswith(("overview", "introduction", "about", "summary"))]
    return list({item.ref: item for item in [*lines[:3], *named[:2]]}.values())[:4]


def _give_up(notes: Notes, question: Question, evidence: Evidence, phrases: Phrases, tools: frozenset[str]) -> Step:
    queries = ", ".join(f"“{search.query[:80]}”" for search in notes.searches) or "–"
    titles = ", ".join(section.title for section in fresh(notes.open.values()) if section.fresh) or "–"
    words = (
        ", ".join(_as_written(token, question) for token in evidence.missing() or question.terms) or question.text[:80]
    )
    tried = phrases.tried.format(queries=queries, titles=titles)
    missing = phrases.missing.format(words=words)
    if "give_up" not in tools:
        return Step(text=f"{phrases.nothing} {tried} {missing}")
    near = [item.title for item in candidates(notes, question)][:3]
    suggestions = [phrases.suggestion.format(title=title.rpartition(" › ")[2]) for title in dict.fromkeys(near)]
    return Step(calls=(("give_up", {"tried": tried, "missing": missing, "suggestions": suggestions}),))


def _as_written(token: str, question: Question) -> str:
    for word in question.lexicon.words(question.text):
        if word.token == token:
            return question.text[word.start : word.end]
    return token
