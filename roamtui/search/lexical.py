"""Search by words: SQLite FTS5 in memory over titles, paths and full section text."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from array import array
from collections.abc import Iterator

from roamtui.document.model import Document, Library
from roamtui.search.index import Found, Progress
from roamtui.search.passages import passages
from roamtui.search.query import Query, Vocabulary, plan
from roamtui.search.snippet import snippet
from roamtui.words import Lexicon, lexicon_for

TITLE_WEIGHT, PATH_WEIGHT, BODY_WEIGHT = 4.0, 2.0, 1.0
"""How much a word counts in each field; measured on the development questions, flat around these."""
PHRASE_SHARE = 0.3
"""How much two words side by side, as asked, and rarer function words add to the words alone."""
_BATCH_ROWS = 200
_LEAST_ROWS = 300
"""Passages looked at for one search."""

_CREATE = "CREATE VIRTUAL TABLE passage USING fts5(title, path, body, content='', tokenize='ascii')"
_RANK = f"INSERT INTO passage(passage, rank) VALUES('rank', 'bm25({TITLE_WEIGHT}, {PATH_WEIGHT}, {BODY_WEIGHT})')"
_INSERT = "INSERT INTO passage(rowid, title, path, body) VALUES(?, ?, ?, ?)"
_SEARCH = "SELECT rowid, rank FROM passage WHERE passage MATCH ? ORDER BY rank, rowid LIMIT ?"


class LexicalIndex:
    """The `Index` of words. Tokens come from `words.Lexicon`; SQLite only sees folded, stemmed words."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._building = threading.Lock()
        """Held by the thread that builds."""
        self._lock = threading.Lock()
        """Held while the connection or the row tables are used."""
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._connection.close)  # Python 3.13 complains of connections left open
        self._connection.execute(_CREATE)
        self._connection.execute(_RANK)
        self._connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(passage, 'row')")
        self._vocabulary = Vocabulary(self._connection)
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
        with self._building:
            documents = self._library.documents
            total = sum(len(item.source) for item in documents)
            before = sum(len(item.source) for item in documents[: self._complete])
            for document in documents[self._complete :]:
                for done in self._index(document):
                    if progress is not None:
                        progress(before + done, total)
                before += len(document.source)
                self._complete += 1
            if progress is not None:
                progress(total, total)

    def _index(self, document: Document) -> Iterator[int]:
        """Index one document; yield bytes done after every batch."""
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
                yield span[2]
        self._insert(spans, rows)

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
        """Return at most `k` sections for any text, best first, ties in document order."""
        with self._lock:
            if not self._documents or k < 1:
                return []
            planned = plan(query, self._lexicons, self._vocabulary, len(self._section))
            best = self._best_passages(planned, k)
        return [self._found(row, score, planned.weights) for row, score in best]

    def _best_passages(self, query: Query, k: int) -> list[tuple[int, float]]:
        """Return the best passage of each of the `k` best sections."""
        most = max(_LEAST_ROWS, 10 * k)
        scores = dict(self._matching(query.words, most))
        for row, score in self._matching(query.phrases, most):
            scores[row] = scores.get(row, 0.0) + PHRASE_SHARE * score
        best: dict[tuple[int, int], tuple[int, float]] = {}
        for row, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            best.setdefault((self._document[row], self._section[row]), (row, score))
            if len(best) == k:
                break
        return list(best.values())

    def _matching(self, match: str, most: int) -> Iterator[tuple[int, float]]:
        if match:
            for row, rank in self._connection.execute(_SEARCH, (match, most)):
                yield row, -rank

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
