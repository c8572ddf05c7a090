"""Which lines of an outline are visible: a flat list kept up to date as branches fold and unfold.

Nodes are numbers in document order, so that a subtree is a range and a row is found by bisection. With
several documents each has a row of its own above its sections.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate

from roamtui.document.model import Document, Library, Section

UNFOLDED_AT_FIRST = 60
"""Rows up to which whole levels are unfolded when a library is loaded: about a screen."""


class OutlineTree:
    """The sections of a library as nodes, and the rows now visible. Without a library it has neither."""

    def __init__(self, library: Library | None = None) -> None:
        self._library = library
        self.documents = () if library is None else library.documents
        self._titled = len(self.documents) > 1
        self._bases: list[int] = []
        self._last: array[int] = array("i")
        for document in self.documents:
            base = len(self._last)
            self._bases.append(base)
            shift = base + self._titled
            if self._titled:
                self._last.append(base + len(document.sections))
            self._last.extend(section.last + shift for section in document.sections)
        self._unfolded = bytearray(len(self._last))
        self.rows: array[int] = array("i")
        """Visible nodes, in order."""
        self._unfold_first_levels()

    def __len__(self) -> int:
        return len(self._last)

    # -- nodes and sections -----------------------------------------------------------------

    def place(self, node: int) -> tuple[Document, Section]:
        """Return the document and the section of a node; a document's own row is its root."""
        position = bisect_right(self._bases, node) - 1
        document = self.documents[position]
        return document, document.at(node - self._bases[position] - self._titled)

    def ref(self, node: int) -> str | None:
        """Return the id the model and the screen use for a node; None where there is no such node."""
        if self._library is None or not 0 <= node < len(self):
            return None
        return self._library.ref(*self.place(node))

    def node(self, ref: str) -> int | None:
        """Return the node of an id; None for an unknown one and for the root of a single document."""
        place = None if self._library is None else self._library.find(ref)
        if place is None:
            return None
        return self.node_at(place.document, place.section.index)

    def node_at(self, document: Document, index: int) -> int | None:
        """Return the node of a document's section by its index; -1 is the document's own row."""
        if index < 0 and not self._titled:
            return None
        position = next((i for i, item in enumerate(self.documents) if item is document), None)
        return None if position is None else self._bases[position] + index + self._titled

    def depth(self, node: int) -> int:
        """Return how many nodes stand above."""
        return self.place(node)[1].depth + self._titled

    def parent(self, node: int) -> int | None:
        """Return the node above, or None at the top."""
        document, section = self.place(node)
        return None if section.index < 0 else self.node_at(document, section.parent)

    def last(self, node: int) -> int:
        """Return the last node of the subtree; `node` itself for a leaf."""
        return self._last[node]

    def has_children(self, node: int) -> bool:
        """Tell whether there are nodes below."""
        return self._last[node] > node

    # -- folding ----------------------------------------------------------------------------

    def is_unfolded(self, node: int) -> bool:
        """Tell whether the children of a node are visible when the node is."""
        return bool(self._unfolded[node]) and self.has_children(node)

    def row(self, node: int) -> int | None:
        """Return the row a node is drawn at, or None while an ancestor is folded."""
        place = bisect_left(self.rows, node)
        return place if place < len(self.rows) and self.rows[place] == node else None

    def visible_at_or_above(self, node: int) -> int:
        """Return the row of a node or, when it is hidden, of its nearest visible ancestor."""
        return max(0, bisect_right(self.rows, node) - 1)

    def unfold(self, node: int) -> None:
        """Show the children of a node."""
        if self._unfolded[node] or not self.has_children(node):
            return
        self._unfolded[node] = 1
        row = self.row(node)
        if row is not None:
            self.rows[row + 1 : row + 1] = self._visible_below(node)

    def fold(self, node: int) -> None:
        """Hide everything below a node; what is unfolded inside stays so for the next time."""
        if not self._unfolded[node]:
            return
        self._unfolded[node] = 0
        row = self.row(node)
        if row is not None:
            del self.rows[row + 1 : bisect_right(self.rows, self._last[node])]

    def unfold_all(self) -> None:
        """Show every node."""
        self._unfolded = bytearray(b"\x01") * len(self._last)
        self.rows = array("i", range(len(self._last)))

    def fold_all(self) -> None:
        """Show the top level only."""
        self._unfolded = bytearray(len(self._last))
        self.rows = self._walk(0, len(self._last) - 1)

    def reveal(self, node: int) -> int:
        """Unfold everything above a node; return its row."""
        above: list[int] = []
        parent = self.parent(node)
        while parent is not None:
            above.append(parent)
            parent = self.parent(parent)
        for item in reversed(above):
            self.unfold(item)
        return bisect_left(self.rows, node)

    def take_folding(self, other: OutlineTree) -> None:
        """Unfold what was unfolded in another tree over documents that are in both."""
        for document in self.documents:
            first, theirs = self.node_at(document, 0), other.node_at(document, 0)
            if first is not None and theirs is not None:
                count = len(document.sections)
                self._unfolded[first : first + count] = other._unfolded[theirs : theirs + count]
        self.rows = self._walk(0, len(self._last) - 1)

    def _visible_below(self, node: int) -> array[int]:
        return self._walk(node + 1, self._last[node])

    def _walk(self, node: int, end: int) -> array[int]:
        found: array[int] = array("i")
        append, last, unfolded = found.append, self._last, self._unfolded
        while node <= end:
            append(node)
            node = node + 1 if unfolded[node] else last[node] + 1
        return found

    def _unfold_first_levels(self) -> None:
        self.rows = self._walk(0, len(self._last) - 1)
        while len(self.rows) <= UNFOLDED_AT_FIRST:
            folded = [node for node in self.rows if self.has_children(node) and not self._unfolded[node]]
            for node in folded:
                self._unfolded[node] = 1
            rows = self._walk(0, len(self._last) - 1)
            if not folded or (len(rows) > UNFOLDED_AT_FIRST and len(self.rows) > 1):
                for node in folded:
                    self._unfolded[node] = 0
                return
            self.rows = rows


class NodeCounts:
    """Counts per node that can be summed over a subtree in logarithmic time."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._nodes = sorted(counts)
        self._sums = [0, *accumulate(counts[node] for node in self._nodes)]

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def total(self, first: int, last: int) -> int:
        """Return the sum over the nodes `first` to `last`, both included."""
        return self._sums[bisect_right(self._nodes, last)] - self._sums[bisect_left(self._nodes, first)]


def hits_by_section(document: Document, spans: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Count byte spans of a document by the index of the section they start in."""
    starts = [section.start for section in document.sections]
    counts: dict[int, int] = {}
    for start, _ in spans:
        index = bisect_right(starts, start) - 1
        counts[index] = counts.get(index, 0) + 1
    return counts
