"""The trace in full: what was sent, what is new in it, what came back, and what it took."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from roamtui.models.base import Delta, Finish, Request, Served, Text, Usage
from roamtui.tui.screens.inspector import Inspector, pages_of, parts_of
from roamtui.tui.widgets.tracestrip import Item, items_of, shown_items
from tests.support.documents import library, ref
from tests.support.puppet import Say, opens
from tests.support.screen import Played, stage

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
CITED = f"Every second day. [[{TOMATOES}|Water them every second day]]"


async def test_each_step_shows_what_is_new_in_what_was_sent_and_what_came_back() -> None:
    asked = Say(calls=(("expand_section", '{"section_ids": ["' + TOMATOES + '"], "reason": "why"}'),))
    puppet = Played([asked, Say(CITED, usage=Usage(input=321, output=12))])
    async with stage(puppet) as on:
        await on.ask("Water?")
        state = on.main.asking.bridge.state
        pages = pages_of(state)
        assert [page.label.split()[1] for page in pages] == ["outline", "expand", "answer"]
        first = {part.title: part for part in parts_of(state, pages[1])}
        assert first["Sent 1/2 · system"].new
        assert first["Sent 2/2 · user"].text == "Water?"
        assert first["Tool call · expand_section · raw arguments"].text == asked.calls[0][1]
        assert "Tomatoes need a stake" in first["Result of expand_section"].text
        second = {part.title: part for part in parts_of(state, pages[2])}
        assert second["Sent 1/4 · system"].known
        assert second["Sent 4/4 · tool"].new
        assert second["Came back"].text == CITED
        assert "usage      321 in, 12 out" in second["Figures"].text
        sent = puppet.requests[1].messages[0]["content"]
        assert second["Sent 1/4 · system"].text == sent
        await on.press("f2")
        await on.until(lambda: isinstance(on.app.screen, Inspector), "the trace")
        await on.until(lambda: on.shows("Came back", "Sent as in the step before: 2 messages"), "the last step")
        await on.press("d")
        await on.until(lambda: on.shows("Sent 1/4 · system"), "everything sent")
        await on.press("left_square_bracket", "left_square_bracket")
        await on.until(
            lambda: on.shows("Tools the model is offered") or on.shows("System message and outline"), "the outline"
        )
        await on.press("escape")
        await on.until(lambda: not isinstance(on.app.screen, Inspector), "the document again")


async def test_cache_hits_are_shown_with_their_key() -> None:
    class Cachedly(Played):
        async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            yield Served(cached=True, key="abcdef01")
            yield Text("From the cache.")
            yield Finish("stop")

    async with stage(Cachedly([])) as on:
        await on.ask("Water?")
        state = on.main.asking.bridge.state
        figures = next(part for part in parts_of(state, pages_of(state)[1]) if part.title == "Figures")
        assert "cache      hit, key abcdef01" in figures.text
        assert on.says("1 from the cache")


async def test_the_strip_leads_through_the_steps_of_all_questions() -> None:
    puppet = Played([opens(TOMATOES), Say(CITED), Say("Second.")])
    async with stage(puppet) as on:
        await on.ask("Water?")
        assert on.shows("Trace", "1 outline", "2 expand ×1", "3 answer ✓1 ✗0", "◀ step 3/3 ▶")
        await on.ask("More?")
        assert on.shows("Q2", "◀ step 2/2 ▶")
        on.main.arrangement.focus("log")
        await on.press("left_square_bracket", "left_square_bracket")
        assert on.shows("Q1", "◀ step 3/3 ▶")
        await on.press("left_square_bracket")
        assert on.main.strip.chosen == (on.main.asking.bridge.state.questions[0].run, 1)
        await on.press("right_square_bracket", "right_square_bracket")
        assert on.shows("Q2", "◀ step 1/2 ▶")


def test_a_strip_that_is_too_long_shortens_what_is_far_from_the_chosen_step() -> None:
    items = [Item(f"search “something long {number}” 4 hits 1.1 s", "search", "item", number) for number in range(30)]
    for at in (0, 14, 29):
        for room in (10, 30, 60, 200):
            found = shown_items(items, at, room)
            assert at in [number for number, _ in found]
            if room >= 30:
                assert sum(len(f"{number + 1} {text}") + 2 for number, text in found) <= room
    assert dict(shown_items(items, 14, 200))[14] == items[14].text


async def test_items_tell_each_ending_apart() -> None:
    puppet = Played([Say(calls=(("give_up", {"tried": "a", "missing": "b"}),)), Say("x [[deadbeef]]")])
    async with stage(puppet) as on:
        await on.ask("One?")
        await on.ask("Two?")
        questions = on.main.asking.bridge.state.questions
        assert [items_of(item, 0, whole=False)[-1].short for item in questions] == ["not found", "answer ✓0 ✗1"]
        assert items_of(questions[1], 0, whole=False)[-1].style == "bad"
