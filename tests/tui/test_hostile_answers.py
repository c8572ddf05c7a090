"""Whatever a model sends is drawn as text: no markup, no escape, no click of its own, no endless work."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from roamtui.document.model import Library
from roamtui.errors import ModelError
from roamtui.models.base import Delta, Finish, Request, Text
from roamtui.tui.terminal import SafeOutput
from tests.support.documents import document, library, ref
from tests.support.puppet import Say, opens
from tests.support.screen import Played, Stage, stage

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
NASTY = (
    "[/] [@click=app.quit]x[/] [b]bold\x1b]52;c;eA==\x07\x9b2J\u202e \u200b\U000e0041 [link=http://e]l[/link] :bomb:"
)


class Torrent(Played):
    """Sends one long answer in large pieces, then short ones."""

    def __init__(self, answer: str) -> None:
        super().__init__([])
        self.answer = answer

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send the next answer."""
        answer, self.answer = self.answer, "And on it goes."
        for start in range(0, len(answer), 2_000):
            yield Text(answer[start : start + 2_000])
        yield Finish("stop")


def inert(on: Stage) -> None:
    for strip in on.app.screen._compositor.render_strips():
        for segment in strip:
            assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in segment.text), segment
            if segment.style is not None:
                assert segment.style.link is None
                assert "@click" not in segment.style.meta


async def test_hostile_text_in_every_place_a_model_can_reach() -> None:
    asked = {"question": NASTY, "options": [NASTY, NASTY]}
    given = {"tried": NASTY, "missing": NASTY, "suggestions": [NASTY]}
    puppet = Played(
        [
            opens(TOMATOES, NASTY, reason=NASTY),
            Say(
                NASTY,
                calls=((NASTY, "{" + NASTY), ("search_sections", {"query": NASTY}), ("list_children", {"id": NASTY})),
            ),
            Say(calls=(("ask_user", asked),)),
            Say(calls=(("give_up", given),)),
            Say(NASTY + f" [[{TOMATOES}|{NASTY}]] [[{NASTY}]]"),
            Say("x", error=ModelError("bad_reply", NASTY, NASTY)),
        ]
    )
    hits = SafeOutput.hits
    async with stage(puppet) as on:
        await on.ask(NASTY, wait=False)
        await on.until(lambda: on.shows("The model asks you"), "the dialog")
        inert(on)
        await on.press("escape")
        await on.ended()
        for _ in range(2):
            await on.ask(NASTY)
            inert(on)
        for key in _fold_keys(on):
            on.chat.toggle(key)
        await on.press("f2")
        for _ in range(7):
            await on.press("left_square_bracket")
            inert(on)
        await on.press("d", "escape")
        inert(on)
        assert on.says("[@click=app.quit]x[/]", ":bomb:")
    assert SafeOutput.hits == hits, "the last filter had to step in"


def _fold_keys(on: Stage) -> list[str]:
    return [target.action[1] for target in on.chat.targets if target.action[0] == "fold"]


async def test_hostile_headings_in_palette_go_to_header_and_notices() -> None:
    hostile = Library([document(f"# {NASTY}\n\ntext\n\n## path [/etc/passwd] here\n\nmore\n", name=f"{NASTY}.md")])
    async with stage(library=hostile) as on:
        inert(on)
        await on.press("g")
        await on.until(lambda: on.shows("╭─ Go to"), "the dialog")
        inert(on)
        await on.type("passwd")
        await on.until(lambda: on.shows("│ path [/etc/passwd] here"), "the heading")
        inert(on)
        await on.press("enter", "p", "y", "a")
        inert(on)
        await on.press("ctrl+p")
        await on.until(lambda: on.shows("Commands"), "the palette")
        inert(on)


@pytest.mark.parametrize(
    "answer",
    ["- item\n" * 10_000, "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 7_000, "x" * 80_000],
    ids=["list", "table", "one line"],
)
async def test_answers_of_any_size_and_shape_leave_the_screen_alive(answer: str) -> None:
    async with stage(Torrent(answer)) as on:
        await on.ask("What?")
        inert(on)
        await on.ask("Still there?")
        await on.until(lambda: on.says("And on it goes."), "the next answer")
