"""Search by words: SQLite FTS5 in memory over titles, paths and full section text."""

from __future__ import annotations

import math
import sqlite3
import threading
from array import array
from collections.abc import Iterator

from roamtui.document.model import Document, Library
from roamtui.search.index import Found, Progress
from roamtui.search.passages import passages
from roamtui.search.snippet import snippet
from roamtui.words import Lexicon, lexicon_for

TITLE_WEIGHT, PATH_WEIGHT, BODY_WEIGHT = 4.0, 2.0, 1.0
"""How much a word counts in each field; measured on the development questions, flat around these."""
_BATCH_ROWS = 200
_QUERY_CHARACTERS = 4_000
_QUERY_TOKENS = 40

_CREATE = "CREATE VIRTUAL TABLE passage USING fts5(title, path, body, content='', tokenize='ascii')"
_RANK = f"INSERT INTO passage(passage, rank) VALUES('rank', 'bm25({TITLE_WEIGHT}, {PATH_WEIGHT}, {BODY_WEIGHT})')"
_INSERT = "INSERT INTO passage(rowid, title, path, body) VALUES(?, ?, ?, ?)"
_SEARCH = "SELECT rowid, rank FROM passage WHERE passage MATCH ? ORDER BY rank, rowid"
_FREQUENCY = "SELECT doc FROM vocabulary WHERE term = ?"


class LexicalIndex:
    """The `Index` of words. Tokens come from `words.Lexicon`; SQLite only sees folded, stemmed words."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(_CREATE)
        self._connection.execute(_RANK)
        self._connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(passage, 'row')")
        self._documents: list[Document] = []
        self._lexicons: list[Lexicon] = []
        self._document = array("l")
        self._section = array("l")
        self._start = array("q")
        self._end = array("q")
        self._complete = 0

    @property
    def ready(self) -> bool:
        """Whether every document of the library is indexed."""
        return self._complete == len(self._library.documents)

    def close(self) -> None:
        """Give the memory back; searches find nothing afterwards."""
        with self._lock:
            self._connection.close()
            self._documents = []

    # -- building ---------------------------------------------------------------------------

    def build(self, progress: Progress | None = None) -> None:
        """Index the documents that are not indexed yet; `progress` hears bytes done and bytes in all."""
        documents = self._library.documents
        total = sum(len(item.source) for item in documents)
        before = sum(len(item.source) for item in documents[: self._complete])
        for document in documents[self._complete :]:
            lexicon = lexicon_for(_sample(document))
            with self._lock:
                self._documents.append(document)
                self._lexicons.append(lexicon)
            rows: list[tuple[str, str, str]] = []
            spans: list[tuple[int, int, int]] = []
            for span, row in _rows(document, lexicon):
                spans.append(span)
                rows.append(row)
                if len(rows) >= _BATCH_ROWS:
                    self._insert(spans, rows)
                    spans, rows = [], []
                    if progress is not None:
                        progress(before + span[2], total)
            self._insert(spans, rows)
            before += len(document.source)
            self._complete += 1
        if progress is not None:
            progress(total, total)

    def _insert(self, spans: list[tuple[int, int, int]], rows: list[tuple[str, str, str]]) -> None:
        with self._lock:
            first = len(self._section)
            numbered = [(first + offset, *row) for offset, row in enumerate(rows)]
            self._connection.executemany(_INSERT, numbered)
            number = len(self._documents) - 1
            for section, start, end in spans:
                self._document.append(number)
                self._section.append(section)
                self._start.append(start)
                self._end.append(end)

    # -- searching --------------------------------------------------------------------------

    def search(self, query: str, k: int = 5) -> list[Found]:
        """Return at most `k` sections for any text, best passage first, ties in document order."""
        with self._lock:
            if not self._documents or k < 1:
                return []
            weights = self._weights(query)
            if not weights:
                return []
            best = self._best_passages(weights, k)
        return [self._found(row, score, weights) for row, score in best]

    def _weights(self, query: str) -> dict[str, float]:
        """Return the query's tokens that the documents hold, by rarity; function words only without others."""
        tokens: dict[str, float] = {}
        stops: dict[str, float] = {}
        rows = len(self._section)
        for lexicon in dict.fromkeys(self._lexicons):
            for token in dict.fromkeys(lexicon.tokens(query[:_QUERY_CHARACTERS])):
                count = self._frequency(token)
                if count:
                    weight = math.log(1 + (rows - count + 0.5) / (count + 0.5))
                    (stops if lexicon.is_stop(token) else tokens)[token] = weight
        chosen = tokens or stops
        rarest = sorted(chosen, key=lambda token: -chosen[token])[:_QUERY_TOKENS]
        return {token: chosen[token] for token in chosen if token in set(rarest)}

    def _frequency(self, token: str) -> int:
        found = self._connection.execute(_FREQUENCY, (token,)).fetchone()
        return int(found[0]) if found else 0

    def _best_passages(self, weights: dict[str, float], k: int) -> list[tuple[int, float]]:
        match = " OR ".join(f'"{token}"' for token in weights)  # tokens hold letters, digits and marks only
        best: dict[tuple[int, int], tuple[int, float]] = {}
        for row, rank in self._connection.execute(_SEARCH, (match,)):
            key = (self._document[row], self._section[row])
            if key not in best:
                best[key] = (row, -rank)
                if len(best) == k:
                    break
        return list(best.values())

    def _found(self, row: int, score: float, weights: dict[str, float]) -> Found:
        number = self._document[row]
        document, lexicon = self._documents[number], self._lexicons[number]
        start, end = self._start[row], self._end[row]
        return Found(
            ref=self._library.ref(document, document.sections[self._section[row]]),
            score=round(score, 4),
            snippet=snippet(document.slice(start, end), weights, lexicon),
            first_line=document.line_of(start),
            last_line=document.line_of(max(start, end - 1)),
        )


def _rows(document: Document, lexicon: Lexicon) -> Iterator[tuple[tuple[int, int, int], tuple[str, str, str]]]:
    """Yield (section, start, end) and (title, path, body) of every passage."""
    paths: dict[int, str] = {-1: ""}
    for section in document.sections:
        title = " ".join(lexicon.tokens(section.title))
        above = paths[section.parent]
        if section.has_children:
            paths[section.index] = f"{above} {title}"
        for start, end in passages(document, section):
            body = " ".join(lexicon.tokens(document.slice(start, end)))
            yield (section.index, start, end), (title, above, body)


def _sample(document: Document) -> str:
    """Return text from five places of the document, to guess its language by."""
    step = max(1, len(document.source) // 5)
    return " ".join(document.slice(at, at + 6_000) for at in range(0, len(document.source), step))
