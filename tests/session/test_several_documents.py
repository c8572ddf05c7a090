"""One loop over several documents: ids carry their document, and a grafted page joins in."""

from __future__ import annotations

from roamtui import events as ev
from roamtui.agent.settings import RunSettings
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from tests.support.documents import GARDEN, document, library, ref
from tests.support.puppet import Puppet, Say, opens

KITCHEN = "# Kitchen\n\nA stove and a sink.\n\n## Plants\n\nBasil stands on the sill.\n"


async def test_sections_of_both_documents_are_opened_and_cited() -> None:
    both = library(GARDEN, KITCHEN)
    basil = ref(both, "Kitchen", "Plants")
    beans = ref(both, "Garden", "Plants", "Beans")
    assert basil.partition(".")[0] != beans.partition(".")[0]
    answer = f"Beans [[{beans}|climb]], basil [[{basil}|stands on the sill]]."
    puppet = Puppet([Say(calls=(("search_sections", {"query": "basil"}),)), opens(basil, beans), Say(answer)])
    session = Session(both, puppet, index=LexicalIndex(both), settings=RunSettings(always_roam=True))
    events = [event async for event in session.run("What grows where?")]
    searched = next(event for event in events if isinstance(event, ev.Searched))
    assert searched.hits[0].id == basil
    assert basil in session.outline.text
    ending = events[-1]
    assert isinstance(ending, ev.Answered)
    assert [item.status for item in ending.citations] == ["exact", "exact"]
    assert [item.path[0] for item in ending.citations] == ["Garden", "Kitchen"]


def test_equal_documents_have_ids_of_their_own() -> None:
    twins = library(KITCHEN, KITCHEN)
    refs = [found for found, _ in twins.places()]
    assert len(set(refs)) == len(refs) == 4
    assert all(twins.find(found) is not None for found in refs)


def test_a_grafted_page_keeps_old_ids_alive() -> None:
    grown = library(GARDEN)
    beans = ref(grown, "Garden", "Plants", "Beans")
    page = document(KITCHEN, "https://example.org/kitchen.md")
    grown.graft(page, beans)
    place = grown.find(beans)
    assert place is not None
    assert place.section.title == "Beans"
    assert grown.grafted_below(page) == ref(grown, "Garden", "Plants", "Beans")
    assert grown.find(ref(grown, "Kitchen", "Plants")) is not None
