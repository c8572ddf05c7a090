"""The outline as one sees and uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from roamtui.document.model import Library
from roamtui.trace.state import GLYPHS, MARKS, PIN, Mark, TraceState
from roamtui.tui.widgets.outline import OutlinePane
from roamtui.tui.widgets.outline_tree import NodeCounts, OutlineTree, hits_by_section
from tests.support.documents import document, library, ref
from tests.support.hostile import ESCAPES, MARKUP, UNSAFE
from tests.support.panes import Panes

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
PLANTS = ref(GARDEN, "Garden", "Plants")
SOIL = ref(GARDEN, "Garden", "Soil")


class Outlook:
    """The outline on the screen."""

    def __init__(self, app: Panes, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def rows(self) -> list[str]:
        """The rows of the outline that hold something."""
        cells = self.app.outline.size.width
        rows = [line[:cells].rstrip() for line in self.app.lines[: self.app.outline.size.height]]
        return [row for row in rows if row]

    def row(self, title: str) -> str:
        return next(row for row in self.rows if title in row)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def pulses(self) -> bool:
        return self.app.outline._pulse is not None

    @property
    def cursor(self) -> str:
        found = self.app.library.find(self.app.outline.cursor_ref or "")
        return found.section.title if found is not None else ""


@asynccontextmanager
async def outlook(of: Library = GARDEN, size: tuple[int, int] = (100, 24)) -> AsyncIterator[Outlook]:
    app = Panes(of)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Outlook(app, pilot)


def titles(rows: Sequence[str]) -> list[str]:
    return [row.strip(" ▾▸○◐◉✓✗·⌂").split("  ")[0] for row in rows]


async def test_a_small_document_is_shown_unfolded_with_sizes() -> None:
    async with outlook() as on:
        assert titles(on.rows) == ["Garden", "Soil", "Acidity", "Plants", "Tomatoes", "Beans", "Tools"]
        assert on.row("Garden").startswith("▾")
        assert on.row("Garden").split()[-1].isdecimal()
        assert on.row("Tomatoes").index("Tomatoes") > on.row("Plants").index("Plants")


async def test_keys_walk_fold_and_unfold() -> None:
    async with outlook() as on:
        await on.press("down", "j")
        assert on.cursor == "Acidity"
        await on.press("left")
        assert on.cursor == "Soil"
        await on.press("h")
        assert "Acidity" not in titles(on.rows)
        await on.press("l", "right")
        assert on.cursor == "Acidity"
        await on.press("end")
        assert on.cursor == "Tools"
        await on.press("home")
        assert on.cursor == "Garden"
        await on.press("enter")
        assert titles(on.rows) == ["Garden"]
        await on.press("enter", "pagedown")
        assert on.cursor == "Tools"
        await on.press("k")
        assert on.cursor == "Beans"


async def test_enter_on_a_leaf_selects_and_space_previews() -> None:
    async with outlook() as on:
        on.app.outline.move_to(TOMATOES)
        await on.press("enter", "space")
        kinds = [(type(item).__name__, getattr(item, "ref", "")) for item in on.app.heard]
        assert kinds == [("Highlighted", TOMATOES), ("Selected", TOMATOES), ("Preview", TOMATOES)]


async def test_the_mouse_folds_chooses_and_opens() -> None:
    async with outlook() as on:
        await on.pilot.click(OutlinePane, offset=(2, 3))
        assert titles(on.rows) == ["Garden", "Soil", "Acidity", "Plants", "Tools"]
        await on.pilot.click(OutlinePane, offset=(2, 3))
        await on.pilot.click(OutlinePane, offset=(10, 5))
        assert on.cursor == "Beans"
        await on.pilot.click(OutlinePane, offset=(10, 4), times=2)
        selected = [item.ref for item in on.app.heard if isinstance(item, OutlinePane.Selected)]
        assert selected == [TOMATOES]


STATES: dict[Mark, dict[str, object]] = {
    "closed": {"was_open": True},
    "found": {"found": 1},
    "open": {"open_agent": True},
    "yours": {"open_user": True},
    "unhelpful": {"open_agent": True, "helpful": "no"},
    "helpful": {"open_agent": True, "cited": True},
    "opening": {"opening": True},
}


async def test_every_mark_has_a_glyph_and_is_seen_through_a_fold() -> None:
    assert set(STATES) == set(MARKS[1:])
    async with outlook() as on:
        for mark, changes in STATES.items():
            on.app.show(TraceState())
            on.app.mark(TOMATOES, **changes)
            await on.pilot.pause()
            assert GLYPHS[mark] in on.row("Tomatoes")
            assert GLYPHS[mark] not in on.row("Plants")
            on.app.outline.toggle(PLANTS)
            await on.pilot.pause()
            assert GLYPHS[mark] in on.row("Plants")
            on.app.outline.toggle(PLANTS)


async def test_a_fold_carries_the_strongest_mark_and_counts_what_was_found() -> None:
    async with outlook() as on:
        on.app.mark(TOMATOES, found=2)
        on.app.mark(ref(GARDEN, "Garden", "Plants", "Beans"), found=1, open_agent=True, helpful="yes")
        on.app.outline.collapse_all()
        await on.pilot.pause()
        assert on.rows[0].startswith("▸ ✓ Garden")
        assert "2×" in on.rows[0]


async def test_hits_stand_at_their_sections_and_add_up_where_folded() -> None:
    async with outlook() as on:
        place = GARDEN.documents[0]
        spans = [(at, at + 5) for at in (i for i in range(len(place.source)) if place.source.startswith(b"Water", i))]
        spans += [(place.source.index(b"watering"), place.source.index(b"watering") + 5)]
        on.app.outline.show_hits(place, sorted(spans))
        await on.pilot.pause()
        assert "1×" in on.row("Tomatoes") and "1×" in on.row("Tools") and "×" not in on.row("Plants")
        on.app.outline.collapse_all()
        await on.pilot.pause()
        assert "2×" in on.row("Garden")
        on.app.outline.show_hits(place, [])
        await on.pilot.pause()
        assert "×" not in "".join(on.rows)


async def test_a_pin_stands_beside_the_mark() -> None:
    async with outlook() as on:
        on.app.mark(SOIL, open_agent=True, pinned=True)
        await on.pilot.pause()
        assert "◉ Soil" in on.row("Soil") and PIN in on.row("Soil")


async def test_reveal_unfolds_scrolls_pulses_once_and_leaves_the_cursor() -> None:
    text = "# A\n\n" + "".join(f"## B{i}\n\n### C{i}\n\nx\n\n" for i in range(300))
    of = library(text)
    async with outlook(of) as on:
        target = ref(of, "A", "B250", "C250")
        assert "C250" not in on.app.text
        on.app.outline.reveal(target)
        await on.pilot.pause()
        assert "C250" in on.app.text
        assert on.cursor == "A"
        assert on.pulses()
        await on.pilot.pause(0.8)
        assert not on.pulses()
        on.app.animation_level = "none"
        on.app.outline.reveal(target)
        assert not on.pulses()


async def test_a_place_asked_for_while_the_pane_is_hidden_is_there_when_it_is_shown() -> None:
    text = "# A\n\n" + "".join(f"## B{i}\n\nx\n\n" for i in range(300))
    of = library(text)
    async with outlook(of) as on:
        on.app.outline.display = False
        await on.pilot.pause()
        on.app.outline.move_to(ref(of, "A", "B250"))
        await on.pilot.pause()
        on.app.outline.display = True
        await on.pilot.pause()
        await on.pilot.pause()
        assert "B250" in on.app.text


async def test_reading_shows_how_far_it_is() -> None:
    async with outlook(size=(120, 24)) as on:
        on.app.outline.loading_progress(12_345, 4_000, 10_000)
        await on.pilot.pause()
        assert "12,345 sections · 40 %" in on.app.text
        on.app.outline.load(GARDEN)
        await on.pilot.pause()
        assert "reading" not in on.app.text


async def test_several_documents_have_a_row_each_and_keep_their_folds() -> None:
    first, second = document("# One\n\n## In one\n\nx\n"), document("# Two\n\nx\n", "two.md")
    async with outlook(Library([first, second])) as on:
        assert titles(on.rows) == ["garden.md", "One", "In one", "two.md", "Two"]
        await on.press("down", "left")
        assert titles(on.rows) == ["garden.md", "One", "two.md", "Two"]
        on.app.outline.load(Library([first, second, document("# Three\n\nx\n", "three.md")]))
        await on.pilot.pause()
        assert titles(on.rows)[:4] == ["garden.md", "One", "two.md", "Two"]
        assert on.cursor == "One"


async def test_a_narrow_pane_shows_what_fits() -> None:
    async with outlook() as on:
        on.app.mark(TOMATOES, open_agent=True, pinned=True)
        for width in (1, 2, 5, 12, 20):
            on.app.outline.styles.width = width
            await on.pilot.pause()
            strips = on.app.outline.render_lines(on.app.outline.size.region)
            assert {strip.cell_length for strip in strips} == {width}


async def test_long_and_wide_titles_are_cut_by_cells() -> None:
    of = library("# " + "長い題名" * 40 + "\n\nx\n\n# " + "e\u0301" * 90 + "\n\nx\n")
    async with outlook(of) as on:
        assert all("│" in line and line.index("│") <= 34 for line in on.app.lines[:2])
        assert "…" in on.rows[0]


@pytest.mark.faults
async def test_headings_are_shown_word_for_word_and_do_nothing() -> None:
    """F-T16: markup in titles is text and no click target."""
    text = "".join(f"# `{payload}`\n\nx\n\n" for payload in MARKUP)
    async with outlook(library(text), size=(160, 40)) as on:
        on.app.outline.styles.width = 80
        await on.pilot.pause()
        for payload in MARKUP:
            assert " ".join(payload.split()) in on.app.text
        for line in range(6):
            await on.pilot.click(OutlinePane, offset=(6, line))
        assert on.app.is_running
        styles = [style for strip in on.app.outline.render_lines(on.app.outline.size.region) for _, style, _ in strip]
        assert all("@click" not in style.meta for style in styles if style)


@pytest.mark.faults
async def test_no_unsafe_character_of_a_heading_is_drawn() -> None:
    text = "".join(f"# {name} {payload} end\n\nx\n\n" for name, payload in ESCAPES.items())
    async with outlook(library(text), size=(160, 40)) as on:
        on.app.outline.styles.width = 120
        await on.pilot.pause()
        assert not UNSAFE.search("".join(on.app.lines).replace("\n", ""))


# -- the tree by itself ---------------------------------------------------------------------------


def nested(levels: Sequence[int]) -> str:
    return "".join(f"{'#' * level} {number}\n\n" for number, level in enumerate(levels))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=40), st.lists(st.integers(0, 39), max_size=25))
def test_rows_are_what_the_folds_say(levels: list[int], toggles: list[int]) -> None:
    """Whatever is folded in whatever order, the rows are the nodes all of whose ancestors are unfolded."""
    tree = OutlineTree(library(nested(levels)))
    for toggle in toggles:
        node = toggle % len(tree)
        if tree.is_unfolded(node):
            tree.fold(node)
        else:
            tree.unfold(node)
    visible = []
    for node in range(len(tree)):
        above = tree.parent(node)
        while above is not None and tree.is_unfolded(above):
            above = tree.parent(above)
        if above is None:
            visible.append(node)
    assert list(tree.rows) == visible
    for node in range(len(tree)):
        assert tree.rows[tree.reveal(node)] == node


@given(st.dictionaries(st.integers(0, 50), st.integers(1, 9)), st.integers(0, 50), st.integers(0, 20))
def test_counts_of_a_range_are_sums(counts: dict[int, int], first: int, more: int) -> None:
    last = first + more
    assert NodeCounts(counts).total(first, last) == sum(counts.get(node, 0) for node in range(first, last + 1))


def test_hits_belong_to_the_section_they_start_in() -> None:
    of = document("# A\n\nxx\n\n# B\n\nx\n")
    assert hits_by_section(of, [(5, 6), (6, 7), (of.source.index(b"# B"), 20)]) == {0: 2, 1: 1}


def test_a_hundred_thousand_sections_cost_rows_only_where_one_looks() -> None:
    """The guard against slow trees: folding and unfolding create no object per node."""
    tree = OutlineTree(library("# Top\n\n" + "## x\n" * 3_000))
    assert len(tree.rows) == 3_001 or tree.rows[0] == 0
    tree.fold_all()
    assert list(tree.rows) == [0]
    tree.unfold_all()
    assert len(tree.rows) == len(tree) == 3_001
