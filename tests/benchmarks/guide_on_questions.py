"""How the built-in guide does on questions with known gold sections, through a real session; and search alone.

Prints per bucket: share of questions with any gold section opened in full, and with one of every gold group; with one
cited word for word; sections opened and tokens delivered on average; outcomes; seconds per question. Aims, with at
most 5 openings and 6,000 tokens on average: localized any .80, transversal all .45. Search alone: R@k, the mean over
questions of the share of gold groups of which one section is among the first k.

Run: ROAMTUI_DEV_DATA=FOLDER python tests/benchmarks/guide_on_questions.py [QUESTIONS.jsonl …]
Without a file, those of the folder are taken. `document` in a file is relative to the file's folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from roamtui import events as ev
from roamtui.agent.settings import RunSettings
from roamtui.document.model import Document, Library
from roamtui.models.guide import GuideModel
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.sources.open import open_library

FILES = ("questions.jsonl", "extra-aws.jsonl", "extra-anthropic-100.jsonl", "extra-sotu-76.jsonl")
WINDOW = 131_072
RANKS = (1, 3, 5, 10)


@dataclass(frozen=True)
class Question:
    """One line of a questions file."""

    id: str
    bucket: str
    text: str
    document: Path
    gold: list[dict[str, object]] = field(default_factory=list)


@dataclass
class Row:
    """What one question came to."""

    question: Question
    opened: set[str] = field(default_factory=set)
    complete: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)
    bad_citations: int = 0
    tokens: int = 0
    outcome: str = ""
    seconds: float = 0.0
    groups: list[set[str]] = field(default_factory=list)
    """Ids of the gold sections, by group."""
    shares: dict[int, float] = field(default_factory=dict)
    """Share of the gold groups among the first k results of a search for the question."""


def read_questions(path: Path) -> list[Question]:
    """Read a questions file; lines that are no questions are left out."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        if "question" in data:
            found.append(
                Question(
                    id=data["id"],
                    bucket=data["bucket"],
                    text=data["question"],
                    document=path.parent / data["document"],
                    gold=data.get("gold_sections") or [],
                )
            )
    return found


@lru_cache(maxsize=2)
def opened(path: Path) -> tuple[Library, LexicalIndex]:
    """Open a document and index it."""
    library = open_library([str(path)])
    index = LexicalIndex(library)
    index.build()
    return library, index


def gold_groups(document: Document, gold: Iterable[Mapping[str, object]]) -> list[set[str]]:
    """Return the ids of the gold sections, by group; plain-text spans give every section they touch."""
    groups: dict[object, set[str]] = {}
    for item in gold:
        ids = groups.setdefault(item["group"], set())
        start, line = item.get("char_start"), item.get("line")
        if isinstance(start, int):
            text = document.source.decode("utf-8", "replace").replace("\r\n", "\n")
            first, last = (len(text[: int(str(item[key]))].encode()) for key in ("char_start", "char_end"))
            ids.update(part.id for part in document.sections if part.start < last and part.own_end > first)
        elif isinstance(line, int) and (section := document.at_line(line)) is not None:
            if item.get("scope") == "page":
                top = (document.ancestors(section) or [section])[0]
                ids.update(part.id for part in document.subtree(top))
            else:
                ids.add(section.id)
    return list(groups.values())


async def ask(question: Question) -> Row:
    """Put one question to the guide in a fresh session."""
    library, index = opened(question.document)
    row = Row(question, groups=gold_groups(library.documents[0], question.gold))
    session = Session(library, GuideModel(), index=index, settings=RunSettings(always_roam=True), window=WINDOW)
    _ = session.outline
    begun = time.perf_counter()
    async with aclosing(session.run(question.text)) as events:
        async for event in events:
            match event:
                case ev.SectionOpened():
                    row.opened.add(event.id)
                    row.tokens += event.tokens
                    if event.complete:
                        row.complete.add(event.id)
                case ev.CitationChecked(citation=citation):
                    if citation.status == "exact":
                        row.cited.add(citation.id)
                    else:
                        row.bad_citations += 1
            if isinstance(event, ev.ENDINGS):
                row.outcome = type(event).__name__
    row.seconds = time.perf_counter() - begun
    await session.aclose()
    ranked = [item.ref for item in index.search(question.text, max(RANKS))]
    for k in RANKS:
        row.shares[k] = _share(row.groups, set(ranked[:k]))
    return row


def _share(groups: Sequence[set[str]], found: set[str]) -> float:
    return sum(bool(group & found) for group in groups) / len(groups) if groups else 0.0


def show(label: str, rows: Sequence[Row]) -> None:
    """Print one line of the guide's table."""
    if not rows:
        return
    count = len(rows)
    times = sorted(row.seconds * 1000 for row in rows)

    def mean(values: Iterable[float]) -> float:
        return statistics.fmean(values)

    any_open = mean(any(group & row.complete for group in row.groups) for row in rows)
    all_open = mean(bool(row.groups) and _share(row.groups, row.complete) == 1 for row in rows)
    cited = mean(any(group & row.cited for group in row.groups) for row in rows)
    given_up = mean(row.outcome == "NotFound" for row in rows)
    other = sum(row.outcome not in ("Answered", "NotFound") for row in rows)
    cells = (
        f"{count:4}",
        f"{any_open:6.3f} {all_open:6.3f} {cited:6.3f}",
        f"{mean(len(row.opened) for row in rows):6.2f} {mean(row.tokens for row in rows):7,.0f}",
        f"{given_up:7.3f} {other:5} {sum(row.bad_citations for row in rows):5}",
        f"{times[count // 2]:6.0f} {times[int(count * 0.95)]:6.0f}",
    )
    print(f"{label:40}", *cells)


def show_search(label: str, rows: Sequence[Row]) -> None:
    """Print one line of the table of search alone."""
    if rows:
        shares = "  ".join(f"R@{k} {statistics.fmean(row.shares[k] for row in rows):.3f}" for k in RANKS)
        print(f"{label:40} {len(rows):4}  {shares}")


def main() -> None:
    """Print the tables."""
    folder = os.environ.get("ROAMTUI_DEV_DATA", "")
    paths = [Path(name) for name in sys.argv[1:]] or [Path(folder) / name for name in FILES if folder]
    if not paths:
        raise SystemExit("Name a questions file, or set ROAMTUI_DEV_DATA to the folder of the development data.")
    tables: dict[str, list[Row]] = {}
    for path in paths:
        questions = sorted(read_questions(path), key=lambda question: str(question.document))
        tables[path.stem] = [asyncio.run(ask(question)) for question in questions]
    print(
        f"{'the guide':40} {'n':>4} {'any':>6} {'all':>6} {'cited':>6} {'open':>6} {'tokens':>7} {'gave up':>7}"
        f" {'other':>5} {'bad':>5} {'p50 ms':>6} {'p95 ms':>6}"
    )
    buckets = ("localized", "transversal", "absent")
    for name, rows in tables.items():
        for bucket in buckets:
            show(f"{name} {bucket}", [row for row in rows if row.question.bucket == bucket])
    print("\nsearch alone")
    for name, rows in tables.items():
        for bucket in buckets[:2]:
            show_search(f"{name} {bucket}", [row for row in rows if row.question.bucket == bucket])
    print("\nby document")
    everything = [row for rows in tables.values() for row in rows]
    for document in sorted({row.question.document for row in everything}):
        for bucket in buckets:
            chosen = [row for row in everything if row.question.document == document and row.question.bucket == bucket]
            show(f"  {document.name[:26]} {bucket}", chosen)


if __name__ == "__main__":
    main()
