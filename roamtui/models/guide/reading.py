"""What to do next: search, open, read on, answer or give up. One decision per turn, from the notes alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from roamtui.estimate import estimate_tokens
from roamtui.models.guide.answer import answer
from roamtui.models.guide.evidence import Evidence
from roamtui.models.guide.notes import Listed, Notes
from roamtui.models.guide.phrases import Phrases, phrases_for
from roamtui.models.guide.question import Question, as_written, understand

MOST_TURNS = 6
"""Turns with tool calls before the guide answers with what it has."""
FIRST_OPENINGS = 3
"""Sections opened at once after the searches."""
MOST_OPENINGS = 4
"""Sections opened for a question of one clause."""
CLAUSE_OPENINGS = 1
"""Sections opened beyond that for a question of several clauses."""
MOST_TOKENS = 6_000
"""Tokens opened for one question before the guide stops reading on in a large section."""
FEW_PARTS = 3
"""Parts up to which one of the best sections is read to its end."""
ENOUGH_COVER = 0.5
"""Cover at which nothing more is opened for a question of one clause."""
SURE_COVER = 0.6
"""Cover at which the guide never gives up."""
CLAUSE_SHARE = 0.3
"""What a place in the search for one clause is worth against the same place in the search for the whole question."""
NEW_WORDS = 2.5
"""How much words that nothing chosen or open holds raise a section's worth."""
OUTLINE_COVER = 0.6
"""Cover by title and opening words from which a section is opened although no search found it."""
LEAST_SUPPORT = 0.58
"""Support below which the guide gives up. On the development questions that refuses about 8 of 100 answerable
questions and 44 of 100 without an answer in the document. Words alone do not separate them better, and part of
the difference is only that the latter are shorter."""
HELPFUL, PARTLY = 0.5, 0.25
"""Cover from which an opened section is judged helpful, or partly so."""


Call = tuple[str, dict[str, Any]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the guide does in one turn: says something, or calls tools."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def decide(notes: Notes, tools: frozenset[str]) -> Step:
    """Return the next step."""
    question = understand(notes.question, notes.earlier, notes.sample)
    phrases = phrases_for(notes.question)
    can_open = "expand_section" in tools and notes.steps < MOST_TURNS
    overview = question.overview and bool(notes.outline or notes.open)
    if can_open and overview and not notes.asked:
        top = _top_sections(notes)
        if top:
            return Step(calls=(("expand_section", {"section_ids": top, "reason": phrases.overview}),))
    unseen = bool(notes.outline) or not notes.open  # a small document is sent whole: nothing is left to search
    if can_open and "search_sections" in tools and unseen and not (overview or notes.searches) and question.has_words:
        return _search(question)
    found = candidates(notes)
    evidence = Evidence(notes, question, {item.ref: place for place, item in enumerate(found)})
    if can_open and not overview:
        step = _open_more(notes, evidence, found, phrases) or _read_on(notes, evidence, found, phrases)
        if step is not None:
            return step
    if overview or not question.terms or supported(evidence):
        return Step(text=answer(notes, evidence, phrases))
    return _give_up(notes, evidence, found, phrases, tools)


def supported(evidence: Evidence) -> bool:
    """Tell whether the open text may support an answer."""
    return evidence.best >= SURE_COVER or evidence.named or evidence.support >= LEAST_SUPPORT


def _search(question: Question) -> Step:
    calls = [
        ("search_sections", {"query": query[:900], "k": 5 if number else 10})
        for number, query in enumerate(question.queries)
    ]
    return Step(calls=tuple(calls))


def candidates(notes: Notes) -> list[Listed]:
    """Return the sections found by the present question's searches, best first."""
    found: dict[str, Listed] = {}
    scores: dict[str, float] = {}
    for number, search in enumerate(notes.searches):
        share = CLAUSE_SHARE if number else 1.0
        for place, hit in enumerate(search.hits):
            found.setdefault(hit.ref, hit)
            scores[hit.ref] = scores.get(hit.ref, 0.0) + share / (place + 2)
    return sorted(found.values(), key=lambda hit: -scores[hit.ref])


def _open_more(notes: Notes, evidence: Evidence, found: list[Listed], phrases: Phrases) -> Step | None:
    """Open the best sections not open yet, unless what is open is enough."""
    tried = {ref for ref, _ in notes.asked} | notes.refused
    clauses = len(evidence.question.queries) > 1
    if tried and evidence.best >= ENOUGH_COVER and not clauses:
        return None
    opened = max(len(tried), sum(section.fresh for section in notes.open.values()))
    room = FIRST_OPENINGS if not tried else MOST_OPENINGS + CLAUSE_OPENINGS * clauses - opened
    listed = {item.ref: item for item in [*found, *_promising(notes, evidence)]}
    ready = [item for ref, item in listed.items() if ref not in tried and ref not in notes.open]
    chosen = _varied(ready, evidence, max(0, room))
    if not chosen:
        return None
    chosen.sort(key=lambda item: item.tokens)  # what small sections leave over is shared by the large ones
    groups: dict[int, list[Listed]] = {}
    for item in chosen:
        groups.setdefault(item.part, []).append(item)
    calls = [
        _expand([item.ref for item in group], part, _reason(group, evidence, phrases)) for part, group in groups.items()
    ]
    return Step(calls=(_judging(calls[0], notes, evidence), *calls[1:]))


def _expand(refs: list[str], part: int, reason: str) -> Call:
    arguments: dict[str, Any] = {"section_ids": refs, "reason": reason}
    return "expand_section", {**arguments, "part": part} if part > 1 else arguments


def _varied(ready: list[Listed], evidence: Evidence, count: int) -> list[Listed]:
    """Choose sections by their place among the hits, those ahead that hold words no other chosen or open one holds."""
    left = evidence.unheld()
    total = evidence.total
    values = {item.ref: 1 / (place + 2) for place, item in enumerate(ready)}
    tokens = {item.ref: set(evidence.question.lexicon.tokens(f"{item.title} {item.words}")) for item in ready}
    chosen: list[Listed] = []
    while ready and len(chosen) < count:
        gains = [sum(left[token] for token in tokens[item.ref] & left.keys()) / total for item in ready]
        worth = [values[item.ref] * (1 + NEW_WORDS * gain) for item, gain in zip(ready, gains, strict=True)]
        best = ready[worth.index(max(worth))]
        chosen.append(best)
        ready = [item for item in ready if item is not best]
        for token in tokens[best.ref] & left.keys():
            left[token] *= 0.3
    return chosen


def _promising(notes: Notes, evidence: Evidence) -> list[Listed]:
    """Return listed sections whose title and opening words cover much of the question, best first."""
    covers = {item.ref: evidence.cover_of(f"{item.title} {item.words}") for item in notes.outline.values()}
    good = [item for item in notes.outline.values() if covers[item.ref] >= max(OUTLINE_COVER, evidence.best)]
    return sorted(good, key=lambda item: (-covers[item.ref], item.order))


def _read_on(notes: Notes, evidence: Evidence, found: list[Listed], phrases: Phrases) -> Step | None:
    """Read the next part of a large section: to the end where there are few, else up to the passage found."""
    spent = sum(estimate_tokens(text) for item in notes.open.values() if item.fresh for text in item.texts.values())
    if spent >= MOST_TOKENS:
        return None
    for place, hit in enumerate(found):
        section = notes.open.get(hit.ref)
        if section is None or (hit.part in section.texts and (place >= FIRST_OPENINGS or section.parts > FEW_PARTS)):
            continue
        part = hit.part if hit.part not in section.texts else section.next_part
        if part and (hit.ref, part) not in notes.asked:
            call = _expand([hit.ref], part, phrases.reads_on.format(title=section.title))
            return Step(calls=(_judging(call, notes, evidence),))
    return None


def _reason(chosen: Iterable[Listed], evidence: Evidence, phrases: Phrases) -> str:
    lexicon = evidence.question.lexicon
    held = {token for item in chosen for token in lexicon.tokens(f"{item.title} {item.words}")}
    words = [f"“{word}”" for word in as_written(held, evidence.question)]
    return phrases.mentions.format(words=", ".join(words[:6])) if words else phrases.found


def _judging(call: Call, notes: Notes, evidence: Evidence) -> Call:
    """Add to a call what is thought of the sections opened before."""
    name, arguments = call
    judged = []
    for section in notes.open.values():
        if section.fresh and section.ref not in notes.judged:
            cover = evidence.sentence_cover(section.ref)
            judged.append(
                {"id": section.ref, "helpful": "yes" if cover >= HELPFUL else "partly" if cover >= PARTLY else "no"}
            )
    return name, {**arguments, "judged": judged[:16]} if judged else arguments


_OPENERS = ("overview", "introduction", "about", "summary", "abstract", "überblick", "einleitung", "概要", "はじめに")


def _top_sections(notes: Notes) -> list[str]:
    """Return the sections that say what the documents are: the first of each, and those named so."""
    lines = sorted(notes.outline.values(), key=lambda item: item.order)
    documents: dict[str, list[Listed]] = {}
    for item in lines:
        documents.setdefault(item.ref.rpartition(".")[0], []).append(item)
    first = [item for found in documents.values() for item in found[: 2 if len(documents) == 1 else 1]]
    named = [item for item in lines if item.title.lower().startswith(_OPENERS)]
    chosen = dict.fromkeys(item.ref for item in [*first[:4], *named[:2]])
    return [ref for ref in chosen if ref not in notes.open][:4]


def _give_up(notes: Notes, evidence: Evidence, found: list[Listed], phrases: Phrases, tools: frozenset[str]) -> Step:
    question = evidence.question
    queries = ", ".join(f"“{search.query[:80]}”" for search in notes.searches) or "–"
    titles = ", ".join(section.title for section in notes.open.values() if section.fresh) or "–"
    words = ", ".join(as_written(set(evidence.missing() or question.terms), question))
    tried = phrases.tried.format(queries=queries, titles=titles)
    missing = phrases.missing.format(words=words)
    if "give_up" not in tools:
        return Step(text=f"{phrases.nothing} {tried} {missing}")
    near = dict.fromkeys(item.title.rpartition(" › ")[2] for item in found)
    suggestions = [phrases.suggestion.format(title=title) for title in near][:3]
    return Step(calls=(("give_up", {"tried": tried, "missing": missing, "suggestions": suggestions}),))
