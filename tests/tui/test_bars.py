"""The find bar and the splitter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual import events
from textual.message import Message

from roamtui.tui.widgets.findbar import FindBar
from roamtui.tui.widgets.splitter import Splitter
from tests.support.documents import library
from tests.support.panes import Panes


def kinds(heard: Sequence[Message]) -> list[str]:
    return [type(item).__name__ for item in heard]


async def test_typing_tells_and_the_arrows_step() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        app.bar.start()
        await pilot.press("a", "b")
        assert (app.bar.pattern, app.bar.mode, app.bar.case) == ("ab", "literal", False)
        await pilot.press("enter", "down", "up", "f3", "shift+f3", "escape")
        expected = ["FindChanged"] * 2 + ["Committed", "FindNext", "FindPrevious", "FindNext", "FindPrevious", "Closed"]
        assert kinds(app.heard) == expected


async def test_the_switches_are_for_keys_and_mouse() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        app.bar.start("a.b")
        await pilot.press("alt+r")
        assert app.bar.mode == "regex"
        await pilot.click("#find-case")
        assert app.bar.case
        await pilot.press("alt+c", "alt+r")
        assert (app.bar.mode, app.bar.case) == ("literal", False)
        assert kinds(app.heard).count("FindChanged") == 5


@pytest.mark.parametrize(
    ("current", "total", "complete", "words"),
    [(3, 17, True, "3/17"), (1, 1200, False, "1/1,200+"), (0, 0, True, "no hits")],
)
async def test_the_count_is_shown(current: int, total: int, complete: bool, words: str) -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        app.bar.start("x")
        app.bar.show_count(current, total, complete=complete)
        await pilot.pause()
        assert words in app.lines[-1]
        app.bar.start("(")
        app.bar.show_error("missing ) at position [/] 1 \x1b[2J")
        await pilot.pause()
        assert "missing ) at position [/] 1 ␛[2J" in app.lines[-1]


async def test_a_pattern_of_a_megabyte_is_cut_to_what_can_be_meant() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        app.bar.start("x" * 1_000_000)
        await pilot.pause()
        assert len(app.bar.pattern) <= 1_000


async def test_the_splitter_is_dragged_and_moved_by_keys() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.mouse_down(app.splitter, offset=(0, 5))
        await pilot.hover(app.splitter, offset=(11, 5))
        await pilot.mouse_up(app.splitter, offset=(0, 5))
        await pilot.pause()
        assert app.outline.size.width == 45
        app.splitter.focus()
        await pilot.press("left", "left", "right")
        assert app.outline.outer_size.width == 43
        assert [item.cells for item in app.heard if isinstance(item, Splitter.Moved)][-1] == 43


async def test_neither_pane_can_be_pushed_off_the_screen() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        for cells in (0, 500, -3):
            app.splitter.resize_to(cells)
            await pilot.pause()
            assert 8 <= app.outline.outer_size.width <= 91
        await pilot.resize_terminal(5, 3)
        app.splitter.resize_to(50)
        await pilot.pause()
        assert app.is_running


async def test_the_bar_fits_any_width() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        for width in (1, 10, 30, 200):
            await pilot.resize_terminal(width, 10)
            assert app.query_one(FindBar).size.width == width


async def test_a_letter_that_comes_with_alt_is_a_command_not_text() -> None:
    app = Panes(library())
    async with app.run_test(size=(100, 20)) as pilot:
        app.bar.start("mut(")
        await pilot.pause()
        app.post_message(events.Key("alt+r", "r"))  # as terminals send it
        await pilot.pause()
        await pilot.pause()
        assert (app.bar.pattern, app.bar.mode) == ("mut(", "regex")
