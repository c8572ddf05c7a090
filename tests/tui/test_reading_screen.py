"""Reading by hand: everything works without any model."""

from __future__ import annotations

import base64

import pytest

from roamtui.document.model import Library
from tests.support.documents import GARDEN, document, library, ref
from tests.support.puppet import Say, opens
from tests.support.screen import Played, stage

LIBRARY = library()
TOMATOES = ref(LIBRARY, "Garden", "Plants", "Tomatoes")
SOIL = ref(LIBRARY, "Garden", "Soil")
BEANS = ref(LIBRARY, "Garden", "Plants", "Beans")


async def test_sections_are_opened_previewed_pinned_and_closed() -> None:
    async with stage() as on:
        on.main.outline.move_to(TOMATOES)
        await on.press("space")
        assert on.shows("Tomatoes need a stake", "preview")
        assert not on.main.asking.bridge.state.sections
        await on.press("o")
        await on.until(lambda: on.shows("opened by you"), "the opened section")
        assert on.main.asking.bridge.state.section(TOMATOES).open_user
        await on.press("p")
        await on.until(lambda: on.main.asking.bridge.state.section(TOMATOES).pinned, "the pin")
        await on.press("x")
        await on.until(lambda: not on.shows("Tomatoes need a stake"), "the section to go")
        assert on.main.asking.bridge.state.section(TOMATOES).mark == "closed"


async def test_a_preview_makes_room_for_the_next_one() -> None:
    async with stage() as on:
        for section in (TOMATOES, SOIL):
            on.main.outline.move_to(section)
            await on.press("space")
        assert on.main.sections.open_refs == (SOIL,)


async def test_what_the_agent_opened_can_be_taken_off_the_screen() -> None:
    async with stage(Played([opens(TOMATOES, BEANS), Say("Done."), opens(TOMATOES), Say("Again.")])) as on:
        await on.ask("Water?")
        assert set(on.main.sections.open_refs) == {TOMATOES, BEANS}
        on.main.reading.close(TOMATOES)
        await on.settle()
        assert on.main.sections.open_refs == (BEANS,)
        assert on.main.asking.bridge.state.section(TOMATOES).open_agent
        on.main.reading.open(TOMATOES)
        await on.settle()
        assert set(on.main.sections.open_refs) == {TOMATOES, BEANS}


async def test_back_and_forward_lead_through_the_places_one_has_been_to() -> None:
    async with stage() as on:
        for section in (TOMATOES, SOIL, BEANS):
            on.main.outline.move_to(section)
            await on.press("space")
        await on.press("alt+left", "alt+left")
        assert on.main.outline.cursor_ref == TOMATOES
        await on.press("alt+right")
        assert on.main.outline.cursor_ref == SOIL
        await on.press("alt+right", "alt+right")
        assert on.main.outline.cursor_ref == BEANS


async def test_find_marks_matches_counts_them_in_the_outline_and_goes_around() -> None:
    async with stage() as on:
        await on.press("slash")
        await on.type("ph")
        await on.until(lambda: on.shows("1/2"), "the count")
        assert any("Soil" in line and "2×" in line for line in on.lines)
        await on.press("enter")
        await on.until(lambda: on.main.arrangement.place == "sections", "the text to have the keyboard")
        await on.press("n")  # enter goes to the text; the bar and its count stay
        await on.until(lambda: on.shows("2/2"), "the second match")
        await on.press("n")
        await on.until(lambda: on.shows("1/2"), "the first match again")
        await on.press("N")
        await on.until(lambda: on.shows("2/2"), "the last match")
        await on.press("escape")
        assert not on.main.find_bar.display
        assert not any("2×" in line for line in on.lines)


async def test_a_wrong_regular_expression_is_said_and_a_right_one_finds() -> None:
    async with stage() as on:
        await on.press("slash", "alt+r")
        await on.type("B[")
        await on.until(lambda: on.shows("Not a regular expression"), "the reason")
        await on.press("backspace")
        await on.type("[el]")
        await on.until(lambda: on.main.find_bar.pattern == "B[el]" and on.shows("1/5"), "the matches")


async def test_esc_closes_the_find_bar_before_it_stops_the_agent() -> None:
    puppet = Played([Say("wait", hang=True)])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(puppet.hanging.is_set, "the model to hang")
        on.main.verbs.run("find")
        await on.press("escape")
        assert on.main.asking.bridge.running
        await on.press("escape")
        await on.ended()
        assert on.main.asking.bridge.state.questions[0].outcome == "cancelled"


@pytest.mark.parametrize("typed", ["toma", "18", BEANS[:6]])
async def test_go_to_finds_titles_lines_and_ids(typed: str) -> None:
    async with stage() as on:
        await on.press("g")
        await on.until(lambda: on.shows("Garden"), "the dialog")
        await on.type(typed)
        wanted = "Beans" if typed == BEANS[:6] else "Tomatoes"
        await on.until(lambda: on.shows(f"│ {wanted}  Garden › Plants"), "the section")
        await on.press("enter")
        await on.until(lambda: on.main.outline.cursor_ref == (BEANS if wanted == "Beans" else TOMATOES), "the cursor")


async def test_copying_sends_the_text_to_the_terminal_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as on:
        sent: list[str] = []
        driver = on.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", sent.append)
        on.main.outline.move_to(SOIL)
        await on.press("y")
        assert (
            on.app.clipboard
            == "## Soil\n\nClay holds water. Sand lets it run away.\nMix both with compost in spring.\n\n"
        )
        assert any(base64.b64encode(on.app.clipboard.encode()).decode() in data for data in sent)
        assert on.shows("Copied", "characters")
        await on.press("Y")
        assert "### Acidity" in on.app.clipboard


async def test_more_than_terminals_take_is_kept_and_said() -> None:
    big = Library([document("# Big\n\n" + "word " * 20_000)])
    async with stage(library=big) as on:
        await on.press("y")
        assert on.shows("Not copied", "are more than terminals take")
        assert len(on.app.clipboard) > 75_000


async def test_the_answer_is_copied_with_titles_and_lines_for_ids() -> None:
    cited = f"Daily. [[{TOMATOES}|Water them every second day]] And [[{BEANS}|x]]."
    async with stage(Played([opens(TOMATOES), Say(cited)])) as on:
        await on.ask("Water?")
        on.main.arrangement.focus("log")
        await on.press("c")
        assert on.app.clipboard == "Daily. (Tomatoes, L19–20) And (Beans, not supported)."


async def test_the_first_tab_is_the_outline_as_the_model_sees_it() -> None:
    async with stage() as on:
        on.main.sections.show_tab("outline")
        await on.settle()
        assert on.shows(f"[{TOMATOES}]")
        assert GARDEN.splitlines()[0] in on.text


async def test_a_link_is_offered_and_never_opened_by_itself() -> None:
    linked = Library([document("# Links\n\nSee [here](https://example.org/a) and [there](javascript:alert(1)).\n")])
    async with stage(library=linked) as on:
        on.app.offer_link("https://example.org/a")
        await on.until(lambda: on.shows("A link in the document", "https://example.org/a"), "the dialog")
        await on.press("escape")
        on.app.offer_link("javascript:alert(1)")
        await on.until(lambda: on.shows("Not opened: javascript:alert(1)"), "the notice")
