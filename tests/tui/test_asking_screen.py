"""Asking on the screen: what one sees while the agent roams, and how each ending looks."""

from __future__ import annotations

import pytest

from roamtui.agent.settings import RunSettings
from roamtui.errors import ModelError
from roamtui.models.base import Usage
from roamtui.tui.screens.picker import Picker
from tests.support.documents import library, ref
from tests.support.puppet import Puppet, Say, opens
from tests.support.screen import Played, stage

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
BEANS = ref(GARDEN, "Garden", "Plants", "Beans")
SOIL = ref(GARDEN, "Garden", "Soil")
CITED = f"Every second day. [[{TOMATOES}|Water them every second day]]"


async def test_a_question_is_answered_and_its_quote_shown_in_the_text() -> None:
    puppet = Played([opens(TOMATOES, reason="watering is about plants"), Say(CITED)])
    async with stage(puppet) as on:
        await on.ask("How often do tomatoes get water?")
        assert on.says("You How often do tomatoes get water?", "opens 1 section — “watering", "✓ Tomatoes")
        assert on.says("Every second day. ✓1", "[✓ Tomatoes L19–20]")
        assert on.shows("opened by the agent at step 1: watering")
        assert any(line.lstrip().startswith("✓ Tomatoes") for line in on.lines)
        assert TOMATOES not in on.text


async def test_the_guide_answers_without_a_model() -> None:
    async with stage() as on:
        assert on.shows("guide (no model)") and on.says("To have a model answer")
        await on.ask("When is the last frost and what about beans?")
        assert on.says("after the last frost"), on.chat_text
        assert on.says("[✓ Beans")


async def test_the_header_says_model_context_tokens_and_document() -> None:
    puppet = Played([Say("Nothing to cite.", usage=Usage(input=1200, output=34))])
    async with stage(puppet) as on:
        await on.ask("Hello?")
        header = on.lines[0]
        assert "garden.md · 7 sections" in header
        assert "puppet" in header
        assert "ctx" in header
        assert "1.2k tok" in header


async def test_a_tool_call_unfolds_to_everything_known_of_it() -> None:
    puppet = Played([opens(TOMATOES, BEANS), opens(SOIL, judged=[{"id": BEANS, "helpful": "no"}]), Say(CITED)])
    async with stage(puppet) as on:
        await on.ask("Water?")
        assert "Garden › Plants › Tomatoes" not in on.chat_text
        on.main.arrangement.focus("log")
        await on.press("home")
        for _ in range(20):
            if on.chat.chosen is not None and on.chat.chosen[0] == "fold":
                break
            await on.press("down")
        await on.press("enter")
        assert on.says("✓ Garden › Plants › Tomatoes")
        assert on.says("✗ Garden › Plants › Beans", "not helpful")
        assert on.says("what was sent")
        await on.press("enter")
        assert "Garden › Plants › Tomatoes" not in on.chat_text


async def test_a_citation_leads_to_its_words() -> None:
    puppet = Played([opens(TOMATOES), Say(CITED)])
    async with stage(puppet, size=(80, 24)) as on:
        await on.ask("Water?")
        on.main.reading.close(TOMATOES)
        await on.settle()
        assert "opened by the agent" not in on.text
        on.main.arrangement.focus("log")
        await on.press("end", "up")
        while on.chat.chosen != ("cite", on.main.asking.bridge.state.questions[0].run, "1"):
            await on.press("up")
        await on.press("enter")
        await on.until(lambda: on.shows("Water them", "every second day in July"), "the quoted words")
        assert on.main.outline.cursor_ref == TOMATOES


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Lime. [[{TOMATOES}|lime is blue]]", "[✗ Tomatoes — the words are not in this section]"),
        (f"Sow. [[{BEANS}|Sow them]]", "[✗ Beans — this section was never opened]"),
        ("Made up. [[deadbeef|x]]", "[✗ unknown section — there is no such section]"),
    ],
)
async def test_a_citation_that_does_not_hold_is_marked(text: str, shown: str) -> None:
    async with stage(Played([opens(TOMATOES), Say(text)])) as on:
        await on.ask("Water?")
        assert on.says(shown)
        assert on.says("✗1")


async def test_not_found_says_what_was_read_and_what_could_be_asked() -> None:
    given = {"tried": "tomatoes", "missing": "prices", "suggestions": ["When are beans sown?"]}
    puppet = Played(
        [Say(calls=(("search_sections", {"query": "lime soil"}),)), opens(TOMATOES), Say(calls=(("give_up", given),))]
    )
    async with stage(puppet) as on:
        await on.ask("What do tomatoes cost?")
        assert on.says("Not in this document", "Missing prices", "Read Tomatoes", "→ When are beans sown?")
        assert on.says("Unread Acidity") or on.says("Unread Soil")
        on.main.asking.activate(("fill", "When are beans sown?"), on.main.reading)
        assert on.main.prompt.value == "When are beans sown?"


async def test_a_failed_call_stays_in_the_chat_with_a_way_to_try_again() -> None:
    error = ModelError("auth", "The provider refused the key.", "Check ANTHROPIC_API_KEY.")
    puppet = Played([Say("I begin", error=error), Say("Now it works.")])
    async with stage(puppet) as on:
        await on.ask("Water?")
        assert on.says("✗  The provider refused the key.")
        assert on.says("Check ANTHROPIC_API_KEY.")
        on.main.arrangement.focus("log")
        await on.press("r")
        await on.ended()
        assert on.says("Now it works.")
        assert [item.outcome for item in on.main.asking.bridge.state.questions] == ["failed", "answered"]


async def test_a_cap_is_said_with_what_is_missing() -> None:
    puppet = Played([opens(TOMATOES), Say(CITED)])
    async with stage(puppet, settings=RunSettings(max_steps=1, always_roam=True)) as on:
        await on.ask("Water?")
        assert on.says("Stopped at a limit: the cap on steps.")
        assert on.says("[✓ Tomatoes")


async def test_esc_stops_the_agent_and_the_next_question_works() -> None:
    puppet = Played([Say("I think about", hang=True), Say("Done.")])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(puppet.hanging.is_set, "the model to hang")
        await on.until(lambda: "I think about" in on.chat_text, "the first words")
        await on.press("escape")
        await on.ended()
        assert on.says("Stopped.")
        assert puppet.closed == 1
        await on.ask("Again?")
        assert on.says("Done.")


async def test_a_question_of_the_model_opens_a_dialog_whose_answer_goes_back() -> None:
    asked = {"question": "Which [/]plant?", "options": ["Tomatoes", "Beans"]}
    puppet = Played([Say(calls=(("ask_user", asked),)), Say("Thanks.")])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(lambda: on.shows("The model asks you", "Which [/]plant?", "Beans"), "the dialog")
        await on.press("down")
        dialog = on.app.screen
        assert isinstance(dialog, Picker)
        await on.until(lambda: dialog.awake, "the dialog to take keys")
        await on.press("enter")
        await on.ended()
        assert on.says("asks you: Which [/]plant?")
        assert on.main.asking.bridge.state.questions[0].steps[0].tools[0].reply == "Beans"
        assert "The user says: Beans" in str(puppet.requests[1].messages[-1])


async def test_leaving_the_dialog_tells_the_model_that_there_is_no_answer() -> None:
    puppet = Played([Say(calls=(("ask_user", {"question": "Which?"}),)), Say("Then without.")])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(lambda: on.shows("The model asks you"), "the dialog")
        await on.press("escape")
        await on.ended()
        assert on.says("Then without.")


async def test_follow_up_questions_stay_in_one_conversation() -> None:
    puppet = Played([opens(TOMATOES), Say(CITED), Say("As I said.")])
    async with stage(puppet) as on:
        await on.ask("Water?")
        await on.ask("And again?")
        assert on.says("As I said.")
        assert len(puppet.requests[2].messages) > len(puppet.requests[1].messages)


async def test_a_question_while_one_runs_stays_in_the_input() -> None:
    puppet = Played([Say("wait", hang=True)])
    async with stage(puppet) as on:
        await on.ask("Water?", wait=False)
        await on.until(puppet.hanging.is_set, "the model to hang")
        on.main.fill_prompt("Another?")
        await on.press("enter")
        assert on.main.prompt.value == "Another?"
        assert len(on.main.asking.bridge.state.questions) == 1
        await on.press("escape")
        await on.ended()


async def test_examples_fill_the_input_and_history_brings_questions_back() -> None:
    async with stage() as on:
        assert on.says("You could ask")
        await on.press("f3")
        await on.until(lambda: on.shows("Example questions"), "the dialog")
        await on.press("enter")
        await on.until(lambda: on.main.prompt.value != "", "the question")
        first = on.main.prompt.value
        await on.press("enter")
        await on.ended()
        assert on.main.prompt.value == ""
        await on.press("up")
        assert on.main.prompt.value == first
        await on.press("down")
        assert on.main.prompt.value == ""
        await on.press("ctrl+r")
        await on.until(lambda: on.shows("Earlier questions", first), "the dialog")
        await on.press("enter")
        await on.until(lambda: on.main.prompt.value == first, "the question")


async def test_a_model_is_chosen_once_and_nothing_is_sent_by_choosing() -> None:
    puppet = Puppet([Say('{"questions": ["Why is soil important?"]}'), Say("From the puppet.")])
    async with stage(others=lambda name: puppet) as on:
        await on.press("f4")
        await on.until(lambda: on.shows("Who answers", "guide (no model)"), "the dialog")
        await on.type("puppet")
        await on.until(lambda: on.shows("use “puppet”"), "the typed name")
        await on.press("enter")
        await on.until(lambda: on.main.facts.model == "puppet", "the model")
        assert "guide (no model)" not in on.lines[0]
        await on.ask("Who are you?")
        assert on.says("From the puppet.") or "Why is soil important?" in on.chat_text
