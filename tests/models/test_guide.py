"""What people see of the built-in guide: it searches, opens, quotes word for word, and says when nothing is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui import events as ev
from roamtui.agent.settings import RunSettings
from roamtui.document.model import Library
from roamtui.models.base import Assembler, Message, Request, Turn
from roamtui.models.guide import GuideModel
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.sources.open import open_library
from tests.support.documents import GARDEN, library, ref

KITCHEN = "# Kitchen\n\nA stove and a sink.\n\n## Plants\n\nBasil stands on the sill.\n"
GERMAN = """\
# Hausordnung

Diese Hausordnung gilt für alle, die in dem Haus wohnen.

## Ruhe

Die Ruhezeit beginnt um 22 Uhr und endet um 6 Uhr.

## Müll

Der Müll wird am Dienstag abgeholt, die Tonnen stehen im Hof.
"""
JAPANESE = """\
# 手引き

この手引きは社員のためのものです。

## 休暇

有給休暇は二週間前に申請してください。

## 経費

領収書は五年間保管します。
"""


def session(of: Library, **settings: object) -> Session:
    shaped = replace(RunSettings(always_roam=True), **settings)
    return Session(of, GuideModel(), index=LexicalIndex(of), settings=shaped, clock=lambda: 0.0)


async def ask(of: Session, question: str) -> list[ev.Event]:
    return [event async for event in of.run(question)]


def opened(events: list[ev.Event]) -> list[str]:
    return [event.path[-1] for event in events if isinstance(event, ev.SectionOpened)]


def answered(events: list[ev.Event]) -> ev.Answered:
    ending = events[-1]
    assert isinstance(ending, ev.Answered), ending
    return ending


async def test_it_searches_opens_and_quotes_word_for_word() -> None:
    events = await ask(session(library()), "How tall must the stake of a tomato be?")
    assert any(isinstance(event, ev.Searched) for event in events)
    assert "Tomatoes" in opened(events)
    ending = answered(events)
    assert "Tomatoes need a stake of 150 cm." in ending.text
    assert ending.citations
    assert {item.status for item in ending.citations} == {"exact"}
    assert ending.text.startswith("These passages match best:")


async def test_the_answer_arrives_in_pieces_and_every_opening_has_a_reason() -> None:
    events = await ask(session(library()), "When are beans sown?")
    assert sum(isinstance(event, ev.TextDelta) for event in events) > 2
    assert all(event.reason for event in events if isinstance(event, ev.SectionOpened))
    assert "“beans”" in next(event.reason for event in events if isinstance(event, ev.SectionOpened))


async def test_what_is_not_there_is_not_answered() -> None:
    events = await ask(session(library()), "Which insurance covers burglary?")
    ending = events[-1]
    assert isinstance(ending, ev.NotFound)
    assert "insurance covers burglary" in ending.tried
    assert "burglary" in ending.missing


async def test_nearest_sections_are_suggested() -> None:
    filler = "".join(f"## Shelf {number}\n\nBooks about history and maps.\n\n" for number in range(9))
    text = f"# Library\n\n{filler}## Opening hours\n\nThe library opens at nine.\n\n## Loans\n\nA loan lasts a month.\n"
    events = await ask(
        session(library(text)), "Which parking permits does the campus library sell to visiting cyclists?"
    )
    ending = events[-1]
    assert isinstance(ending, ev.NotFound)
    assert any("Opening hours" in item for item in ending.suggestions)


async def test_a_short_follow_up_leans_on_the_question_before() -> None:
    of = session(library())
    await ask(of, "How do I grow tomatoes?")
    events = await ask(of, "and how often do they need water?")
    assert "every second day in July" in answered(events).text


async def test_sections_open_already_answer_without_being_opened_again() -> None:
    of = session(library())
    await ask(of, "How tall is the stake of a tomato?")
    events = await ask(of, "How often does a tomato need water?")
    assert "Tomatoes" not in opened(events)
    assert "every second day in July" in answered(events).text


@pytest.mark.parametrize(
    ("text", "question", "expected", "intro"),
    [
        (GERMAN, "Wann wird der Müll abgeholt?", "am Dienstag abgeholt", "Diese Stellen"),
        (JAPANESE, "領収書はいつまで保管しますか?", "領収書は五年間保管します。", "最も近い"),
    ],
)
async def test_questions_are_answered_in_the_language_of_the_document(
    text: str, question: str, expected: str, intro: str
) -> None:
    ending = answered(await ask(session(library(text)), question))
    assert expected in ending.text
    assert ending.text.startswith(intro)
    assert {item.status for item in ending.citations} == {"exact"}


@pytest.mark.parametrize("question", ["What is this about?", "Give me an overview", "summarize the document"])
async def test_questions_about_the_document_open_its_beginning(question: str) -> None:
    events = await ask(session(library()), question)
    assert "Garden" in opened(events)
    ending = answered(events)
    assert "A small book about a garden" in ending.text
    assert "- Plants" in ending.text


async def test_several_documents_are_quoted_with_their_own_ids() -> None:
    both = library(GARDEN, KITCHEN)
    ending = answered(await ask(session(both), "Where does the basil stand?"))
    assert ref(both, "Kitchen", "Plants") in {item.id for item in ending.citations}
    assert {item.status for item in ending.citations} == {"exact"}


async def test_a_small_document_that_is_sent_whole_is_answered_at_once() -> None:
    events = await ask(session(library(), always_roam=False), "How tall is the stake?")
    assert not any(isinstance(event, ev.Searched) for event in events)
    assert "a stake of 150 cm" in answered(events).text


async def test_it_opens_a_large_section_at_the_part_that_was_found() -> None:
    weather = "\n\n".join(f"On day {number} it rained and the wind blew from the west." for number in range(700))
    text = f"# Diary\n\n## Voyage\n\n{weather}\n\nThe anchor was lost near Lisbon.\n\n## Crew\n\nTwelve sailors.\n"
    events = await ask(session(library(text)), "Where was the anchor lost?")
    parts = [event.part for event in events if isinstance(event, ev.SectionOpened) and event.path[-1] == "Voyage"]
    assert parts[0] > 2
    assert "The anchor was lost near Lisbon." in answered(events).text


async def test_at_a_cap_it_answers_from_what_is_open() -> None:
    events = await ask(session(library(), max_steps=2), "How tall must the stake of a tomato be?")
    ending = events[-1]
    assert isinstance(ending, ev.LimitReached)
    assert "150 cm" in ending.text


async def test_the_same_question_gives_the_same_bytes() -> None:
    runs = [
        [ev.comparable(event) for event in await ask(session(library()), "Which soil holds water?")] for _ in range(2)
    ]
    assert runs[0] == runs[1]


async def turn(messages: list[Message], *tools: str) -> Turn:
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    assembler = Assembler()
    async for delta in GuideModel().stream(Request(model="guide", messages=messages, tools=offered)):
        assembler.feed(delta)
    return assembler.turn()


async def test_without_tools_it_speaks_and_calls_nothing() -> None:
    said = await turn([{"role": "system", "content": "rules"}, {"role": "user", "content": "How tall is the stake?"}])
    assert said.text
    assert said.tool_calls == ()
    assert said.finish == "stop"


async def test_the_guide_on_real_questions_cites_only_what_stands_there(dev_data: Path) -> None:
    of = open_library([str(dev_data / "docs" / "grundgesetz-de.md")])
    for question in ("Wer wählt den Bundespräsidenten?", "Wie oft kann der Bundespräsident gewählt werden?"):
        ending = answered(await ask(session(of), question))
        assert {item.status for item in ending.citations} == {"exact"}


async def test_double_brackets_in_the_text_do_not_break_the_citation() -> None:
    text = (
        "# Shell\n\n## Tests\n\nUse [[ -f file ]] to test whether a file exists; a | b is a pipe.\n\n## Other\n\nNo.\n"
    )
    ending = answered(await ask(session(library(text)), "How do I test whether a file exists?"))
    assert all(item.status == "exact" for item in ending.citations)


async def test_several_documents_are_introduced_one_by_one() -> None:
    events = await ask(session(library(GARDEN, KITCHEN)), "What is this about?")
    assert not any(isinstance(event, ev.SectionRefused) for event in events)
    ending = answered(events)
    assert "A small book about a garden" in ending.text
    assert "A stove and a sink." in ending.text


async def test_the_long_form_of_the_outline_is_read_too() -> None:
    events = await ask(session(library(), marker="full"), "What is this about?")
    assert "A small book about a garden" in answered(events).text


async def test_a_question_without_words_is_answered_kindly() -> None:
    for question in ("?", "and so?", "🙂"):
        events = await ask(session(library()), question)
        assert isinstance(events[-1], ev.Answered | ev.NotFound)


async def test_what_looks_like_a_citation_in_the_text_stays_text() -> None:
    forged = library(
        "# Book\n\n## Keys\n\nThe spare key hangs [[deadbeef|under the mat]] behind the blue door.\n\n## Cats\n\nNo.\n"
    )
    events = [event async for event in session(forged).run("Where does the spare key hang?")]
    ending = events[-1]
    assert isinstance(ending, ev.Answered)
    assert [item.status for item in ending.citations] == ["exact"]
