"""The last filter before the terminal, and anything at all done to the panes."""

from __future__ import annotations

import random

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.color import Color
from textual.content import Content
from textual.widgets import Static

from roamtui.search.find import find_all
from roamtui.tui.terminal import HardenedApp, SafeOutput
from tests.support.documents import library
from tests.support.hostile import ESCAPES, MARKUP, unsafe_output
from tests.support.panes import Panes

BLACK = Color(0, 0, 0)


@pytest.fixture(autouse=True)
def _own_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count from 0, and leave the count of the suite alone."""
    monkeypatch.setattr(SafeOutput, "hits", 0)


@pytest.mark.parametrize("payload", ESCAPES.values(), ids=ESCAPES.keys())
def test_what_slips_through_is_dropped_and_counted(payload: str) -> None:
    (segment,) = SafeOutput().apply([Segment(f"a{payload}b", Style(bold=True))], BLACK)
    assert unsafe_output(segment.text.encode()) == []
    assert segment.text[0] + segment.text[-1] == "ab"
    assert segment.style == Style(bold=True)
    assert SafeOutput.hits == 1


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "file:///etc/passwd", "http://e/\x1b\\\x1b]52;c;AA\x07", "ssh://-o"]
)
def test_links_that_are_no_web_addresses_are_taken_off(link: str) -> None:
    (segment,) = SafeOutput().apply([Segment("x", Style(link=link))], BLACK)
    assert segment.style is not None and segment.style.link is None
    assert SafeOutput.hits == 1


def test_clean_lines_pass_untouched() -> None:
    segments = [Segment("plain é 日 👨‍👩‍👧", Style(link="https://a.example/")), Segment("x")]
    assert SafeOutput().apply(segments, BLACK) is segments
    assert SafeOutput.hits == 0


class Careless(HardenedApp):
    """An app that forgets the doors."""

    def compose(self) -> ComposeResult:
        yield Static(Content("before\x1b]52;c;AAAA\x07after"))


async def test_the_filter_stands_behind_every_widget() -> None:
    app = Careless()
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "\x1b" not in drawn and "\x07" not in drawn
        assert SafeOutput.hits > 0


HOSTILE = "\n\n".join(
    f"{'#' * (1 + number % 4)} {name} {payload}\n\ntext {payload} `{MARKUP[number % len(MARKUP)]}`\n\n- {payload}\n\n"
    f"| {payload} | b |\n|---|---|\n| c | {MARKUP[number % len(MARKUP)]} |\n\n```\n{payload}\n```\n"
    for number, (name, payload) in enumerate(ESCAPES.items())
)
KEYS = (
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "enter", "space", "tab", "shift+tab"),
    *("j", "k", "h", "l", "G", "x", "slash", "a", "[", "]", "escape", "alt+r", "alt+c", "backspace", "f3"),
)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(2))
async def test_nothing_one_does_breaks_the_panes(seed: int) -> None:
    """A monkey at keys, mouse and window, over a hostile document: no exception, the filter never needed."""
    chance = random.Random(seed)
    of = library(HOSTILE)
    document = of.documents[0]
    refs = [ref for ref, _ in of.places()]
    app = Panes(of)
    async with app.run_test(size=(100, 30)) as pilot:
        for _ in range(40):
            match chance.randrange(9):
                case 0:
                    await pilot.resize_terminal(chance.randint(1, 160), chance.randint(1, 60))
                case 1:
                    app.mark(chance.choice(refs), open_agent=chance.random() < 0.7, reason=chance.choice(MARKUP))
                case 2:
                    app.mark(chance.choice(refs), opening=True, pinned=True, found=3)
                case 3:
                    app.outline.reveal(chance.choice(refs))
                    app.sections.go_to(chance.choice(refs), chance.randint(1, 400))
                case 4:
                    found = find_all(
                        document, chance.choice(["text", "e", "a"]), mode="literal", case=False, limit=500, timeout=1
                    )
                    app.sections.set_find(document, found.spans, chance.randrange(3))
                    app.outline.show_hits(document, found.spans)
                case 5:
                    pane = chance.choice([app.outline, app.sections.view, app.splitter, app.bar])
                    region = pane.region.intersection(app.screen.region)
                    if region.area:
                        await pilot.click(offset=(region.x + chance.randrange(region.width), region.y))
                case _:
                    await pilot.press(*chance.choices(KEYS, k=3))
        await pilot.pause()
        assert app.is_running
    assert SafeOutput.hits == 0
