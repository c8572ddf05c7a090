"""The outline of 100,000 sections and a section of a megabyte, beside Textual's own widgets (P4, P5).

Run: python tests/benchmarks/bench_screen.py [FILE]. Times are the screen's thread's own, so that what else the
machine does counts little. FILE, a large Markdown document, adds a row about the memory of reading all over it.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.text import Text
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Markdown, Tree
from textual.widgets.tree import TreeNode

from roamtui.document.model import Library
from roamtui.tui.rendering import render_markdown
from roamtui.tui.widgets.flow import FlowView
from tests.support.documents import document
from tests.support.panes import Panes

SECTIONS = 100_000
PEER_TEXT = 64_000
"""Bytes given to `textual.Markdown`; a megabyte takes it more than 400 seconds."""
ROUNDS = 7

Table = list[tuple[str, str, str]]


def timed(work: Callable[[], object], rounds: int = 1) -> float:
    """Return the median duration of some work, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append((time.thread_time() - start) * 1000)
    return statistics.median(times)


def paint(widget: Widget) -> None:
    """Draw all a widget shows, as a repaint does."""
    widget.render_lines(Region(0, 0, *widget.size))


def shown(widget: Widget, work: Callable[[], object]) -> Callable[[], None]:
    """Return some work with the drawing of what it changed."""

    def done() -> None:
        work()
        paint(widget)

    return done


def row(name: str, ours: float, theirs: float | None = None, aim: str = "") -> tuple[str, str, str]:
    peer = "" if theirs is None else f"{theirs:9.1f} ms   {theirs / ours:7.0f} x"
    return name, f"{ours:9.2f} ms", f"{peer:28} {aim}"


def wide_outline() -> Library:
    """Return 100,000 sections on four levels."""
    lines = []
    for number in range(SECTIONS):
        level = 1 if number % 1000 == 0 else 2 if number % 100 == 0 else 3 if number % 10 == 0 else 4
        lines.append(f"{'#' * level} Section {number} of the outline\n")
    return Library([document("\n".join(lines))])


class Peer(App[None]):
    """Textual's own tree and Markdown."""

    def compose(self) -> ComposeResult:
        yield Tree[int]("root", id="tree")
        yield Markdown(id="markdown", open_links=False)


async def outline_rows() -> Table:
    """Time the outline and Textual's tree on the same nodes."""
    library = wide_outline()
    sections = library.documents[0].sections
    app = Panes(Library([document("# x\n\ny\n")]))
    async with app.run_test(size=(140, 45)) as pilot:
        pane = app.outline

        load = timed(shown(pane, lambda: pane.load(library)))
        expand = timed(shown(pane, pane.expand_all))
        middle = sections[50_000].id
        toggle = timed(shown(pane, lambda: pane.toggle(middle)), ROUNDS)
        pane.collapse_all()
        reveal = timed(shown(pane, lambda: pane.reveal(sections[-5].id)))
        key = timed(shown(pane, lambda: pane.action_move(1)), ROUNDS)
        await pilot.pause()
    tree_add, tree_expand, tree_toggle = await peer_tree(library)
    return [
        row("outline of 100k: add", load, tree_add, "aim >= 100 x"),
        row("outline of 100k: expand all", expand, tree_expand, "aim >= 100 x"),
        row("outline of 100k: toggle", toggle, tree_toggle, "aim >= 100 x"),
        row("outline of 100k: reveal the last", reveal, None, "aim < 50 ms"),
        row("outline of 100k: a key", key, None, "aim < 50 ms"),
    ]


async def peer_tree(library: Library) -> tuple[float, float, float]:
    """Time Textual's tree: adding, expanding all, toggling one node."""
    peer = Peer()
    async with peer.run_test(size=(140, 45)) as pilot:
        tree = peer.query_one("#tree", Tree)
        document_ = library.documents[0]
        start = time.thread_time()
        nodes: dict[int, TreeNode[int]] = {-1: tree.root}
        for section in document_.sections:
            nodes[section.index] = nodes[section.parent].add(Text(section.title), section.index)
        add = (time.thread_time() - start) * 1000
        start = time.thread_time()
        tree.root.expand_all()
        await pilot.pause()
        paint(tree)
        expand = (time.thread_time() - start) * 1000
        start = time.thread_time()
        nodes[50_000].toggle()
        await pilot.pause()
        paint(tree)
        return add, expand, (time.thread_time() - start) * 1000


def megabyte(size: int) -> str:
    """Return a section of Markdown of many kinds."""
    unit = (
        "A paragraph with *emphasis*, **weight**, `code` and [a link](http://a.example/), long enough to wrap.\n\n"
        "- an item of a list\n- another one\n  - below it\n\n```python\nfor x in range(3):\n    print(x)\n```\n\n"
        "| name | size |\n|------|-----:|\n| a    |   10 |\n\n> a quotation of some words\n\n"
    )
    return "# Large\n\n" + unit * (size // len(unit))


async def section_rows() -> Table:
    """Time opening and paging through one section of a megabyte."""
    library = Library([document(megabyte(1_000_000))])
    section = library.documents[0].sections[0]
    app = Panes(library)
    async with app.run_test(size=(140, 45)) as pilot:
        view = app.sections.view
        await pilot.pause()

        opened = timed(shown(view, lambda: app.mark(section.id, open_user=True)))
        pages = [timed(shown(view, view.action_page_down)) for _ in range(40)]
        back = [timed(shown(view, view.action_page_up)) for _ in range(20)]
        jump = timed(shown(view, lambda: app.sections.go_to(section.id, 20_000)))
        end = timed(shown(view, view.action_scroll_end))
        await pilot.pause()
        start = time.thread_time()
        app.theme = "roamtui-light"
        await pilot.pause()
        theme = (time.thread_time() - start) * 1000
        start = time.thread_time()
        await pilot.resize_terminal(100, 40)
        await pilot.pause()
        resized = (time.thread_time() - start) * 1000
    peer_open, peer_page = await peer_markdown()
    whole = timed(lambda: render_markdown(megabyte(PEER_TEXT), 76))
    scale = 1_000_000 / PEER_TEXT
    return [
        row("section of 1 MB: open", opened, peer_open * scale, "aim >= 1,000 x, < 50 ms (peer scaled from 64 KB)"),
        row("section of 1 MB: page down, median", statistics.median(pages), peer_page, "aim >= 50 x (peer at 64 KB)"),
        row("section of 1 MB: page down, p95", sorted(pages)[38], None, "aim <= 16.7 ms"),
        row("section of 1 MB: page down, worst (a collection of garbage)", max(pages)),
        row("section of 1 MB: page up, worst", max(back), None, "aim <= 16.7 ms"),
        row("section of 1 MB: go to line 20,000", jump),
        row("section of 1 MB: to the end", end),
        row("section of 1 MB: another theme, with a frame", theme),
        row("section of 1 MB: another width, with frames", resized),
        row("64 KB rendered at once", whole, peer_open),
    ]


async def peer_markdown() -> tuple[float, float]:
    """Time Textual's Markdown on 64 KB: until it is laid out, and a page."""
    peer = Peer()
    async with peer.run_test(size=(140, 45)) as pilot:
        markdown = peer.query_one("#markdown", Markdown)
        start = time.thread_time()
        await markdown.update(megabyte(PEER_TEXT))
        await pilot.pause()
        opened = (time.thread_time() - start) * 1000
        times = []
        for _ in range(5):
            start = time.thread_time()
            peer.screen.scroll_page_down(animate=False)
            await pilot.pause()
            times.append((time.thread_time() - start) * 1000)
        return opened, statistics.median(times)


async def memory_rows(library: Library) -> Table:
    """Tell what opening sections all over a document costs in memory."""
    source = library.documents[0].source
    before = _megabytes()
    sections = library.documents[0].sections
    app = Panes(library)
    async with app.run_test(size=(140, 45)) as pilot:
        app.outline.expand_all()
        for section in sections[:: max(1, len(sections) // 200)]:
            app.mark(section.id, open_user=True)
        view: FlowView = app.sections.view
        for _ in range(300):
            view.action_page_down()
        await pilot.pause()
    name = f"{len(source) / 1e6:.0f} MB, {len(sections):,} sections, 200 open, 300 pages"
    return [(name, f"{_megabytes() - before:9.0f} MB", f"more than the {before:.0f} MB with the document read")]


def read(path: str) -> bytes:
    """Return the bytes of a file."""
    return Path(path).read_bytes()


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main() -> None:
    """Print the table."""
    rows = [*await section_rows(), *await outline_rows()]
    for path in sys.argv[1:]:
        rows += await memory_rows(Library([document(read(path))]))
    width = max(len(name) for name, _, _ in rows)
    print(f"{'':{width}}  {'here':>12}   {'Textual':>12}   {'ratio':>9}")
    for name, ours, theirs in rows:
        print(f"{name:{width}}  {ours}   {theirs}")


if __name__ == "__main__":
    asyncio.run(main())
