"""Go to a section: by title, by id, by line."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Callable
from weakref import WeakKeyDictionary

from rapidfuzz import fuzz, process

from roamtui.document.model import Library
from roamtui.words import fold

_LINE = re.compile(r"(?:line\s+|l|:)?(\d{1,9})", re.IGNORECASE)
_ID = re.compile(r"(?:[0-9a-f]{4,64}(?:-\d+)?\.)?[0-9a-f]{4,8}")
_MOST_SIMILAR = 1_000
"""Titles that a similarity is worked out for, when none holds the words."""
_PIECES = 12
"""Groups of three letters of a query by which those titles are picked."""
_LEAST_SIMILAR = 60


class TitleIndex:
    """The titles of a library, folded once, so that every key costs a scan and no more."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._count = -1
        self._refs: list[str] = []
        self._titles: list[str] = []
        self._joined = ""
        self._starts: list[int] = []

    def match(self, query: str, limit: int = 50) -> list[str]:
        """Return ids of sections, best first: a line, an id, then titles that hold the words, then similar ones."""
        folded = " ".join(fold(query[:200]).split())
        if not folded or limit < 1:
            return []
        self._refresh()
        found: dict[str, None] = dict.fromkeys(self._by_line(folded))
        found.update(dict.fromkeys(self._by_id(folded, limit)))
        found.update(dict.fromkeys(self._by_words(folded, limit)))
        if not found:
            found.update(dict.fromkeys(self._similar(folded, limit)))
        return list(found)[:limit]

    def _refresh(self) -> None:
        count = sum(len(item.sections) for item in self._library.documents)
        if count == self._count:
            return
        self._refs, self._titles = [], []
        for document in self._library.documents:
            for section in document.sections:
                self._refs.append(self._library.ref(document, section))
                self._titles.append(fold(section.title).replace("\n", " "))
        self._starts = []
        at = 0
        for title in self._titles:
            self._starts.append(at)
            at += len(title) + 1
        self._joined = "\n".join(self._titles)
        self._count = count

    def _by_line(self, query: str) -> list[str]:
        match = _LINE.fullmatch(query)
        if match is None:
            return []
        document = self._library.documents[0]
        section = document.at_line(int(match[1]))
        return [] if section is None else [self._library.ref(document, section)]

    def _by_id(self, query: str, limit: int) -> list[str]:
        if not _ID.fullmatch(query):
            return []
        return [ref for ref in self._refs if ref.startswith(query) or ref.endswith(query)][:limit]

    def _by_words(self, query: str, limit: int) -> list[str]:
        titles = self._titles
        hits: list[int] | range = range(len(titles))
        for word in sorted(set(query.split()), key=len, reverse=True):
            hits = [number for number in hits if word in titles[number]]
        tiers: tuple[Callable[[str], bool], ...] = (
            lambda title: title == query,
            lambda title: title.startswith(query),
            lambda title: f" {query}" in title,
            lambda title: query in title,
            lambda title: True,
        )
        found: dict[int, None] = {}
        for belongs in tiers:
            if len(found) >= limit:
                break
            found.update(dict.fromkeys(number for number in hits if belongs(titles[number])))
        return [self._refs[number] for number in list(found)[:limit]]

    def _similar(self, query: str, limit: int) -> list[str]:
        """Titles that share groups of letters with the query, by similarity."""
        bare = query.replace(" ", "")
        pieces = list(dict.fromkeys(bare[at : at + 3] for at in range(len(bare) - 2)))[:_PIECES]
        shared: Counter[int] = Counter()
        for piece in pieces:
            at, seen = self._joined.find(piece), 0
            while at >= 0 and seen < _MOST_SIMILAR:
                shared[bisect.bisect_right(self._starts, at) - 1] += 1
                seen += 1
                at = self._joined.find(piece, at + 3)
        near = {number: self._titles[number] for number, _ in shared.most_common(_MOST_SIMILAR)}
        close = process.extract(query, near, scorer=fuzz.WRatio, limit=limit, score_cutoff=_LEAST_SIMILAR)
        ordered = sorted(close, key=lambda item: (-item[1], item[2]))
        return [self._refs[number] for _, _, number in ordered]


_INDEXES: WeakKeyDictionary[Library, TitleIndex] = WeakKeyDictionary()


def match_titles(library: Library, query: str, limit: int = 50) -> list[str]:
    """Return ids of at most `limit` sections for what was typed, best first; titles are folded once per library."""
    index = _INDEXES.get(library)
    if index is None:
        index = _INDEXES[library] = TitleIndex(library)
    return index.match(query, limit)
