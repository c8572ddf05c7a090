"""The bridge: stopping at any moment, storms of deltas, faults of the program."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest
from textual import events

from roamtui.models.base import Delta, Finish, Request, Text
from tests.support.documents import library, ref
from tests.support.puppet import Say, opens
from tests.support.screen import Played, Stage, stage

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")


class Gated(Played):
    """Lets a number of deltas pass, then waits for ever."""

    allowed = 0
    passed = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Play the next turn up to the gate."""
        async for delta in super().stream(request):
            if self.passed >= self.allowed:
                self.hanging.set()
                await asyncio.Event().wait()
            self.passed += 1
            yield delta


def turns(request: Request, number: int) -> Say:
    """Open a section, then talk; at the last question be done."""
    last = request.messages[-1]
    if str(last["content"]).startswith("Last"):
        return Say("Done.")
    return Say("Words " * 12) if last["role"] == "tool" else opens(TOMATOES)


async def test_stopping_at_any_delta_leaves_a_usable_session() -> None:
    puppet = Gated(turns)
    async with stage(puppet) as on:
        bridge = on.main.asking.bridge
        slowest = 0.0
        for point in range(14):
            puppet.allowed, puppet.passed = point, 0
            puppet.hanging.clear()
            on.main.asking.ask(f"Question {point}?")
            await on.until(puppet.hanging.is_set, "the model to hang")
            stopped = time.monotonic()
            bridge.stop()
            await on.until(lambda: not bridge.running, "the end")
            slowest = max(slowest, time.monotonic() - stopped)
            assert bridge.state.questions[-1].outcome == "cancelled"
            assert not any(section.opening for section in bridge.state.sections.values())
        assert slowest < 1.0
        puppet.allowed = 1_000
        await on.ask("Last?")
        assert on.says("Done.")


async def test_a_storm_of_deltas_is_drawn_in_few_frames_and_keys_get_through() -> None:
    class Storm(Played):
        async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            for number in range(20_000):
                yield Text(f"w{number} ")
            yield Finish("stop")

    async with stage(Storm([])) as on:
        bridge = on.main.asking.bridge
        started = time.monotonic()
        await on.ask("Storm?")
        assert bridge.frames <= (time.monotonic() - started) * 31 + 20
        assert on.says("w0 w1 w2")


async def test_a_fault_of_the_program_is_said_and_the_screen_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Played):
        async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            if len(self.requests) == 0:
                self.requests.append(request)
                raise ZeroDivisionError("sk-secret1234567890 [/]")
            yield Text("Fine again.")
            yield Finish("stop")

    async with stage(Broken([])) as on:
        await on.ask("Break?")
        await on.until(lambda: on.shows("The program failed while answering"), "the notice")
        assert "sk-secret1234567890" not in on.text
        assert on.says("The program itself failed while answering.", "[Ask again]")
        await on.ask("And now?")
        assert on.says("Fine again.")


async def test_a_paste_becomes_one_line_of_visible_characters() -> None:
    async with stage() as on:
        on.main.arrangement.focus("prompt")
        on.main.prompt.post_message(events.Paste("two\nlines \x1b]52;c;eA==\x07 and \u202emore"))
        await on.until(lambda: on.main.prompt.value != "", "the paste")
        assert on.main.prompt.value == "two lines ␛]52;c;eA==␇ and ‹U+202E›more"


async def test_what_is_typed_ahead_reaches_the_input() -> None:
    async with stage() as on:
        for key in ("i", "x", "p", "z"):
            on.app.post_message(events.Key(key, key))
        await on.until(lambda: on.main.prompt.value == "xpz", "the letters")
        for key in ("enter", "x"):
            on.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await on.until(lambda: bool(on.main.asking.bridge.state.questions), "the question")
        assert on.main.asking.bridge.state.questions[0].text == "xpz"
        assert on.main.prompt.value == "x"
        await on.ended()
        await on.press("escape")
        on.app.post_message(events.Key("slash", "/"))
        on.app.post_message(events.Key("z", "z"))
        await on.until(lambda: on.main.find_bar.pattern == "z", "the letter")
        assert on.main.arrangement.single is None


async def test_leaving_while_the_agent_works_ends_at_once() -> None:
    puppet = Played([Say("wait", hang=True)])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(puppet.hanging.is_set, "the model to hang")
        session = on.main.asking.bridge.session
        started = time.monotonic()
        await on.press("ctrl+q")
    assert time.monotonic() - started < 5
    assert session is not None
    assert not session.running
    assert session.state.questions[0].outcome == "cancelled"


async def test_a_question_before_the_document_is_there_waits_for_it() -> None:
    async with stage() as on:
        session = on.main.asking.bridge.session
        assert session is not None
        await _ask_too_early(on)


async def _ask_too_early(on: Stage) -> None:
    asking = on.main.asking
    session = asking.bridge.session
    asking.bridge._session = None
    assert asking.ask("When is the last frost and what about beans?")
    assert not asking.bridge.running
    assert session is not None
    on.main.attach(session)
    await on.ended()
    assert on.says("after the last frost")
