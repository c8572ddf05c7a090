"""Documents, sections, ids, and the library of one run.

A section is a set of byte offsets into `Document.source`; text is decoded when asked for. Joining the
heading and own text of every section, in order, gives the source byte for byte.
"""

from __future__ import annotations

import bisect
import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

import msgspec

from roamtui.document.ids import ROOT_ID as ROOT_ID
from roamtui.document.origin import FileStamp as FileStamp
from roamtui.document.origin import Origin as Origin
from roamtui.estimate import token_units, tokens_of

SectionKind = Literal["root", "preamble", "heading", "part"]

_BLOCK = 1 << 20
"""Bytes split into lines at a time."""
_STRIDE = 1 << 12
"""Bytes between two places at which token units are remembered: a million sections need no million numbers."""


class Section(msgspec.Struct, frozen=True, gc=False):
    """One section: where it lies in the source and where it hangs in the tree. Offsets are bytes."""

    index: int
    """Place in document order, from 0; -1 is the document's root."""
    id: str
    """8 hexadecimal characters by the recipe of `ids.section_ids`."""
    level: int
    """Heading level 1 to 6 as written; 0 for the root, the preamble and parts without heading."""
    title: str
    """The heading's plain text, NFC, white space collapsed; never empty."""
    start: int
    """First byte of the heading (of the text, where there is no heading)."""
    body: int
    """First byte of the own text, after the heading."""
    own_end: int
    """Byte after the own text: where the next section starts."""
    end: int
    """Byte after the whole subtree."""
    parent: int
    """Index of the section above; -1 is the root."""
    depth: int
    """Number of sections above it, the root not counted."""
    last: int
    """Index of the last section of the subtree; `index` itself for a leaf."""
    kind: SectionKind = "heading"
    """What made it a section."""

    @property
    def has_children(self) -> bool:
        """Whether there are sections below it."""
        return self.last > self.index


@dataclass(frozen=True, eq=False)
class Document:
    """One document: its source and its sections, in order. Equal only to itself."""

    name: str
    """What people call it: the file's name, or the page's title."""
    source: bytes
    """UTF-8; invalid bytes kept (they decode to U+FFFD); line ends kept."""
    sections: Sequence[Section]
    """All sections in document order, the preamble first when there is text before the first heading."""
    origin: Origin
    metadata_end: int = 0
    """Byte after the front matter; 0 when there is none. Front matter is part of the preamble."""

    @cached_property
    def root(self) -> Section:
        """The document as a section: empty path, everything below it."""
        size = len(self.source)
        return Section(
            index=-1,
            id=ROOT_ID,
            level=0,
            title=self.name,
            start=0,
            body=0,
            own_end=0,
            end=size,
            parent=-1,
            depth=-1,
            last=len(self.sections) - 1,
            kind="root",
        )

    @cached_property
    def sha256(self) -> str:
        """Hash of `source`, hexadecimal."""
        return hashlib.sha256(self.source).hexdigest()

    # -- finding ----------------------------------------------------------------------------

    def get(self, section_id: str) -> Section | None:
        """Return the section with this id, the root included, or None."""
        if section_id == ROOT_ID:
            return self.root
        index = self._indexes.get(section_id)
        return None if index is None else self.sections[index]

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {section.id: section.index for section in self.sections}

    def at(self, index: int) -> Section:
        """Return the section at an index; -1 is the root."""
        return self.root if index < 0 else self.sections[index]

    def at_offset(self, offset: int) -> Section | None:
        """Return the section whose heading or own text holds byte `offset`."""
        place = bisect.bisect_right(self._starts, offset) - 1
        return self.sections[place] if place >= 0 else None

    def at_line(self, line: int) -> Section | None:
        """Return the section that holds the 1-based `line`."""
        if not 1 <= line <= len(self.line_starts):
            return None
        return self.at_offset(self.line_starts[line - 1])

    # -- the tree ---------------------------------------------------------------------------

    def children(self, section: Section) -> Iterator[Section]:
        """Yield the sections directly below `section`, in order."""
        index = section.index + 1
        while index <= section.last:
            child = self.sections[index]
            yield child
            index = child.last + 1

    def subtree(self, section: Section) -> Sequence[Section]:
        """Return `section` and everything below it, in order; all sections for the root."""
        return self.sections[max(section.index, 0) : section.last + 1]

    def parent(self, section: Section) -> Section:
        """Return the section above; the root's parent is the root."""
        return self.at(section.parent)

    def ancestors(self, section: Section) -> list[Section]:
        """Return the sections above, outermost first, without the root."""
        above: list[Section] = []
        index = section.parent
        while index >= 0:
            above.append(self.sections[index])
            index = self.sections[index].parent
        return above[::-1]

    def path(self, section: Section) -> tuple[str, ...]:
        """Return the titles from the top down to `section`; empty for the root."""
        if section.index < 0:
            return ()
        return (*(item.title for item in self.ancestors(section)), section.title)

    # -- sizes ------------------------------------------------------------------------------

    def tokens(self, section: Section) -> int:
        """Return the estimated tokens of the whole subtree, headings included; equal to estimating `full_text`."""
        if section.start == section.end:
            return 0
        return tokens_of(self._units_before(section.last + 1) - self._units_before(max(section.index, 0)))

    def own_tokens(self, section: Section) -> int:
        """Return the estimated tokens of the own text."""
        text = self.own_text(section)
        return tokens_of(token_units(text)) if text else 0

    def _units_before(self, index: int) -> int:
        """Return the token units of everything before a section: they add up, since sections start at line starts."""
        indexes, units = self._units_at
        place = bisect.bisect_right(indexes, index) - 1
        begin = self.sections[indexes[place]].start
        end = self.sections[index].start if index < len(self.sections) else len(self.source)
        return units[place] + (token_units(self.slice(begin, end)) if end > begin else 0)

    @cached_property
    def _units_at(self) -> tuple[Sequence[int], Sequence[int]]:
        """Sections at least `_STRIDE` bytes apart, and the token units of everything before each of them."""
        indexes, units = array("q", [0]), array("q", [0])
        begin = self.sections[0].start
        for section in self.sections:
            if section.start - begin >= _STRIDE:
                indexes.append(section.index)
                units.append(units[-1] + token_units(self.slice(begin, section.start)))
                begin = section.start
        return indexes, units

    # -- the text ---------------------------------------------------------------------------

    def slice(self, start: int, end: int) -> str:
        """Decode a byte range of the source; invalid bytes become U+FFFD."""
        return self.source[start:end].decode("utf-8", "replace")

    def heading_text(self, section: Section) -> str:
        """Return the heading as written, with its line end; empty where there is none."""
        return self.slice(section.start, section.body)

    def own_text(self, section: Section) -> str:
        """Return the text below the heading, up to the next heading."""
        return self.slice(section.body, section.own_end)

    def full_text(self, section: Section) -> str:
        """Return the whole subtree as written, headings included."""
        return self.slice(section.start, section.end)

    def lines(self, section: Section) -> tuple[int, int]:
        """Return the 1-based first and last line of heading and own text."""
        return self.line_of(section.start), self.line_of(max(section.start, section.own_end - 1))

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that holds byte `offset`."""
        return max(1, bisect.bisect_right(self.line_starts, offset))

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Byte offset of every line's start; lines end at LF, CRLF and CR and nowhere else."""
        starts = array("q", [0])
        for block in self._blocks():
            starts.extend(accumulate(map(len, block.splitlines(keepends=True)), initial=starts.pop()))
        if len(starts) > 1 and starts[-1] == len(self.source):
            starts.pop()
        return starts

    def _blocks(self) -> Iterator[bytes]:
        """Yield the source in blocks of about a megabyte that end at line feeds: splitting copies what it splits."""
        begin = 0
        while begin < len(self.source):
            end = self.source.find(b"\n", begin + _BLOCK) + 1 or len(self.source)
            yield self.source[begin:end]
            begin = end

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [section.start for section in self.sections]


@dataclass(frozen=True, slots=True)
class Place:
    """A section and the document it belongs to."""

    document: Document
    section: Section

    @property
    def path(self) -> tuple[str, ...]:
        """Titles from the top of the document down to the section."""
        return self.document.path(self.section)


class Library:
    """The documents of one run, and the ids by which the model and the screen name their sections.

    With one document an id is the section's own; with several it is `xxxx.yyyyyyyy`, where xxxx comes
    from the document's address and is longer on a clash.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        if not documents:
            raise ValueError("a library holds at least one document")
        self._documents = list(documents)
        self._below: dict[str, str] = {}
        self._prefixes = _document_prefixes([item.origin.address for item in self._documents])

    @property
    def documents(self) -> Sequence[Document]:
        """The documents, in the order they were given or grafted."""
        return tuple(self._documents)

    @property
    def is_single(self) -> bool:
        """Whether ids are written without a document prefix."""
        return len(self._documents) == 1

    def graft(self, document: Document, below: str) -> None:
        """Add a fetched page as a document of its own, hanging below the section with id `below`.

        Ids already given out keep resolving: a bare id means the first document.
        """
        place = self.find(below)
        if place is None:
            raise KeyError(below)
        self._documents.append(document)
        self._prefixes = _document_prefixes([item.origin.address for item in self._documents])
        self._below[document.origin.address] = self.ref(place.document, place.section)

    def grafted_below(self, document: Document) -> str | None:
        """Return the id of the section a grafted document hangs below, or None."""
        return self._below.get(document.origin.address)

    def ref(self, document: Document, section: Section) -> str:
        """Return the id by which the model and the screen name `section`."""
        if self.is_single:
            return section.id
        position = next(i for i, item in enumerate(self._documents) if item is document)
        return f"{self._prefixes[position]}.{section.id}"

    def find(self, ref: str) -> Place | None:
        """Return the place an id names, or None. A bare id is looked up in the first document."""
        prefix, dot, bare = ref.rpartition(".")
        if not dot:
            section = self._documents[0].get(ref)
            return None if section is None else Place(self._documents[0], section)
        for known, document in zip(self._prefixes, self._documents, strict=True):
            if known == prefix:
                section = document.get(bare)
                return None if section is None else Place(document, section)
        return None

    def places(self) -> Iterator[tuple[str, Place]]:
        """Yield every section of every document with its id, in order."""
        for document in self._documents:
            for section in document.sections:
                yield self.ref(document, section), Place(document, section)

    @property
    def sha256(self) -> str:
        """Hash over the sources of all documents, in order; hexadecimal."""
        joined = "\n".join(item.sha256 for item in self._documents)
        return self._documents[0].sha256 if self.is_single else hashlib.sha256(joined.encode()).hexdigest()


def _document_prefixes(addresses: Sequence[str]) -> list[str]:
    digests = [hashlib.sha256(item.encode("utf-8", "surrogateescape")).hexdigest() for item in addresses]
    size = 4
    while len({digest[:size] for digest in digests}) < len(set(digests)) and size < 64:
        size += 1
    seen: dict[str, int] = {}
    prefixes = []
    for digest in digests:
        count = seen.get(digest, 0)
        seen[digest] = count + 1
        prefixes.append(digest[:size] + (f"-{count}" if count else ""))
    return prefixes
