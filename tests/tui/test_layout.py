"""The three widths, zooming, dragging; it never breaks from size."""

from __future__ import annotations

import pytest

from tests.support.puppet import Say
from tests.support.screen import Played, stage


async def test_wide_terminals_show_three_panes_beside_each_other() -> None:
    async with stage(size=(140, 45)) as on:
        head = on.lines[1]
        assert head.index("Outline") < head.index("Sections") < head.index("Chat")


async def test_medium_terminals_show_the_conversation_below() -> None:
    async with stage(size=(80, 24)) as on:
        assert on.lines[1].index("Outline") < on.lines[1].index("Sections")
        row = next(number for number, line in enumerate(on.lines) if "Chat" in line)
        assert row > 8
        assert on.lines[row - 1].startswith(" Trace")


async def test_narrow_terminals_show_one_pane_with_tabs() -> None:
    async with stage(Played([Say("Fine.")]), size=(50, 20)) as on:
        assert on.shows("Outline   Sections   Chat")
        assert on.shows("Plants")
        await on.press("tab")
        assert on.shows("Nothing is open")
        await on.press("tab")
        assert on.shows("You could ask")
        await on.ask("How?")
        assert on.shows("Fine.")


async def test_going_to_a_section_in_a_narrow_terminal_shows_it() -> None:
    async with stage(size=(50, 20)) as on:
        await on.press("down", "space")
        assert on.shows("preview")


async def test_zoom_and_back_keep_the_keyboard_where_it_was() -> None:
    async with stage() as on:
        await on.press("tab", "z")
        assert not on.shows("Outline ─")
        assert on.main.arrangement.pane == "sections"
        await on.press("z")
        assert on.lines[1].index("Outline") < on.lines[1].index("Sections")


async def test_panes_are_dragged_with_the_mouse() -> None:
    async with stage() as on:
        before = on.main.query_one("#outline-box").size.width
        bar = on.main.query_one("#split-outline").region
        await on.pilot.mouse_down(offset=(bar.x, bar.y + 3))
        await on.pilot.hover(offset=(bar.x + 10, bar.y + 3))
        await on.pilot.mouse_up(offset=(bar.x + 10, bar.y + 3))
        await on.settle()
        assert on.main.query_one("#outline-box").size.width == before + 10


@pytest.mark.parametrize("question", [False, True])
async def test_any_size_is_survived(question: bool) -> None:
    async with stage(Played([Say("# Head\n\n" + "word " * 200)])) as on:
        if question:
            await on.ask("What?")
        for size in [(1, 1), (3, 2), (20, 5), (59, 10), (60, 10), (109, 8), (110, 50), (400, 100), (80, 24)]:
            await on.pilot.resize_terminal(*size)
            await on.settle()
        assert on.shows("garden.md", "Trace")


async def test_no_color_keeps_every_state_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage(Played([Say("Fine.")])) as on:
        await on.ask("What?")
        assert on.shows("Fine.", "Answer")
        assert on.app.no_color
