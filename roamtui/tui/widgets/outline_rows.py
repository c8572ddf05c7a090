"""What stands in one row of the outline: fold, mark, title, hits, pin, size."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from roamtui.document.model import Document
from roamtui.estimate import estimate_tokens
from roamtui.text import clip, one_line
from roamtui.trace.state import GLYPHS, MARKS, PIN, Mark, TraceState
from roamtui.tui.counts import short_count
from roamtui.tui.widgets.outline_tree import NodeCounts, OutlineTree, hits_by_section

_SAMPLES, _SAMPLE_SIZE = 5, 2_000
"""Pieces of a document, and their bytes, from which its tokens per byte are estimated: `Document.tokens` is exact
but reads the whole document first, and the sizes shown are rounded anyway."""
_SIZE_CELLS = 5
_ROOM_FOR_SIZE = 24
"""Width under which titles need the cells that sizes and wide indents would take."""

StyleOf = Callable[[str], Style]


class OutlineMarks:
    """Marks, pins, hits and sizes by node of a tree."""

    def __init__(self) -> None:
        self._own: dict[int, int] = {}
        self._below: dict[int, int] = {}
        self._pins: set[int] = set()
        self._found = NodeCounts({})
        self._hits: NodeCounts | None = None
        self._rates: dict[int, float] = {}

    def update(self, tree: OutlineTree, state: TraceState) -> None:
        """Take marks, pins and found sections from a session."""
        self._own.clear()
        self._below.clear()
        self._pins.clear()
        found: dict[int, int] = {}
        for ref, section in state.sections.items():
            node = tree.node(ref)
            if node is None:
                continue
            rank = MARKS.index(section.mark)
            self._own[node] = rank
            if section.pinned:
                self._pins.add(node)
            if section.found:
                found[node] = 1
            parent = tree.parent(node)
            while parent is not None and self._below.get(parent, 0) < rank:
                self._below[parent] = rank
                parent = tree.parent(parent)
        self._found = NodeCounts(found)

    def count_hits(self, tree: OutlineTree, document: Document, spans: Iterable[tuple[int, int]]) -> None:
        """Take the places words were found at, as byte spans of a document; none: found sections count again."""
        counts: dict[int, int] = {}
        for index, count in hits_by_section(document, spans).items():
            node = tree.node_at(document, index)
            if node is not None:
                counts[node] = count
        self._hits = NodeCounts(counts) if counts else None

    def own(self, node: int) -> Mark:
        """Return the mark of a section itself."""
        return MARKS[self._own.get(node, 0)]

    def shown(self, tree: OutlineTree, node: int) -> Mark:
        """Return the mark of a row: on a folded branch the strongest of those below, too."""
        own = self._own.get(node, 0)
        return MARKS[own if tree.is_unfolded(node) else max(own, self._below.get(node, 0))]

    def is_pinned(self, node: int) -> bool:
        """Tell whether a section is pinned."""
        return node in self._pins

    def hits(self, tree: OutlineTree, node: int) -> int:
        """Return how many hits a row stands for: its own, and those of what is folded below it."""
        folded = tree.has_children(node) and not tree.is_unfolded(node)
        last = tree.last(node) if folded else node
        if self._hits is not None:
            return self._hits.total(node, last)
        return self._found.total(node + 1, last) if folded else 0

    def tokens(self, tree: OutlineTree, node: int) -> int:
        """Return about how many tokens a subtree has."""
        document, section = tree.place(node)
        rate = self._rates.get(id(document))
        if rate is None:
            rate = _tokens_per_byte(document.source)
            self._rates[id(document)] = rate
        return round((section.end - section.start) * rate)


def _tokens_per_byte(source: bytes) -> float:
    step = max(_SAMPLE_SIZE, len(source) // _SAMPLES)
    sample = b"".join(source[start : start + _SAMPLE_SIZE] for start in range(0, len(source), step))
    return estimate_tokens(sample.decode("utf-8", "replace")) / max(1, len(sample))


def indent_of(tree: OutlineTree, node: int, cells: int) -> int:
    """Return the column of a node's arrow in a pane of `cells` cells."""
    step = 2 if cells >= _ROOM_FOR_SIZE else 1
    return min(tree.depth(node) * step, max(0, cells // 3))


def draw_node(tree: OutlineTree, marks: OutlineMarks, node: int, cells: int, style: StyleOf) -> list[Segment]:
    """Return one row as segments that take `cells` cells in all."""
    section = tree.place(node)[1]
    branch, unfolded = tree.has_children(node), tree.is_unfolded(node)
    shown = marks.shown(tree, node)
    right = _right_side(tree, marks, node, cells, style)
    left = " " * indent_of(tree, node, cells) + (("▾ " if unfolded else "▸ ") if branch else "  ")
    room = max(1, cells - cell_len(left) - 2 - sum(item.cell_length for item in right))
    title = clip(one_line(section.title), room)
    return [
        Segment(left, style("arrow")),
        Segment(f"{GLYPHS[shown]} ", style(shown)),
        Segment(title, style("document" if section.index < 0 else marks.own(node))),
        Segment(" " * max(0, room - cell_len(title))),
        *right,
    ]


def _right_side(tree: OutlineTree, marks: OutlineMarks, node: int, cells: int, style: StyleOf) -> list[Segment]:
    segments: list[Segment] = []
    hits = marks.hits(tree, node)
    if marks.is_pinned(node):
        segments.append(Segment(f" {PIN}", style("pin")))
    if hits:
        segments.append(Segment(f" {short_count(hits)}×", style("hits")))
    if cells >= _ROOM_FOR_SIZE:
        segments.append(Segment(f"{short_count(marks.tokens(tree, node)):>{_SIZE_CELLS}}", style("size")))
    return segments
