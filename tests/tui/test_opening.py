"""Opening documents: behind the first paint, with a count; another one later; and what cannot be opened."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.config import Settings
from roamtui.document.model import Library
from roamtui.errors import ConfigError, DocumentError
from roamtui.models.guide import GuideModel
from roamtui.search.lexical import LexicalIndex
from roamtui.trace.reducer import reduce
from roamtui.trace.state import TraceState
from roamtui.tui.app import RoamApp
from roamtui.tui.loading import Progress, Workshop
from tests.support.documents import document, library, ref
from tests.support.puppet import Say, opens
from tests.support.screen import Played, Stage, stage, workshop

OTHER = "# Other\n\n## Elsewhere\n\nQuite another text.\n"
UPDATE = os.environ.get("ROAMTUI_UPDATE_SNAPSHOTS", "") == "1"
SNAPSHOTS = Path(__file__).parent / "snapshots"


def reading(read: object) -> Workshop:
    """Return a workshop whose documents come from `read`."""
    base = workshop(library(), GuideModel())
    assert callable(read)
    return Workshop(read, base.make_index, base.make_session, base.choose_model)


async def test_the_screen_stands_and_counts_while_a_document_is_read() -> None:
    gate = threading.Event()

    def read(addresses: Sequence[str], progress: Progress) -> Library:
        progress(1_000, 1_234)
        gate.wait(30)
        return library()

    app = RoamApp(["slow.md"], Settings(), workshop=reading(read))
    async with app.run_test(size=(100, 30)) as pilot:
        on = Stage(app, pilot)
        await on.until(lambda: on.shows("slow.md", "1,234 sections"), "the count")
        await on.press("i")
        await on.type("early")
        assert on.main.prompt.value == "early"
        gate.set()
        await on.ready()
        assert on.shows("garden.md", "7 sections", "Tomatoes")


async def test_another_document_takes_the_place_of_the_first_and_a_bad_one_does_not() -> None:
    def read(addresses: Sequence[str], progress: Progress) -> Library:
        if addresses[0].endswith("missing.md"):
            raise DocumentError("missing.md cannot be read: no [/]such file.", "Check the path.")
        return Library([document(OTHER, "other.md")]) if addresses[0].endswith("other.md") else library()

    app = RoamApp(["garden.md"], Settings(), workshop=reading(read))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        on = Stage(app, pilot)
        await on.ready()
        first = on.main.asking.bridge.session
        await on.press("ctrl+o")
        await on.until(lambda: on.shows("Open document"), "the dialog")
        await on.type("missing.md")
        await on.until(lambda: on.shows("open “missing.md”"), "the typed path")
        await on.press("enter")
        await on.until(lambda: on.shows("no [/]such file"), "the reason")
        assert on.shows("garden.md · 7 sections")
        app.open_document("other.md")
        await on.until(lambda: on.main.asking.bridge.session is not first, "the other session")
        await on.ready()
        assert on.shows("other.md", "Elsewhere")
        assert not on.shows("Tomatoes")


async def test_a_first_document_that_cannot_be_opened_ends_the_program_with_its_reason() -> None:
    def read(addresses: Sequence[str], progress: Progress) -> Library:
        raise DocumentError("nothing there")

    app = RoamApp(["gone.md"], Settings(), workshop=reading(read))
    async with app.run_test() as pilot:
        await Stage(app, pilot).until(lambda: app.problem is not None, "the end")
    assert app.problem is not None
    assert app.problem.message == "nothing there"
    assert app.return_code == 2


async def test_a_model_that_makes_no_sense_is_said_and_the_one_before_stays() -> None:
    def refuse(name: str) -> GuideModel:
        raise ConfigError("No such [/]model.", "Names are litellm's.")

    async with stage(others=refuse) as on:
        on.app.use_model("nonsense")
        await on.until(lambda: on.shows("No such [/]model."), "the reason")
        assert on.shows("guide (no model)")


async def test_notices_of_the_reader_and_unknown_themes_are_said() -> None:
    app = RoamApp(["x"], Settings(theme="mauve"), workshop=workshop(library(), GuideModel()), notices=["Mind the gap."])
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        on = Stage(app, pilot)
        await on.until(lambda: on.shows("There is no theme mauve.", "Mind the gap."), "the notices")


async def recorded() -> TraceState:
    """Return the state of a session that answered, with times that are the same in every run."""
    of = library()
    tomatoes = ref(of, "Garden", "Plants", "Tomatoes")
    cited = f"A stake of **150 cm** [[{tomatoes}|need a stake of 150 cm]]; they say so [[{tomatoes}|twice]]."
    opened = opens(tomatoes, ref(of, "Garden", "Tools"), reason="stakes belong to plants or tools")
    judged = opens(ref(of, "Garden", "Soil"), judged=[{"id": ref(of, "Garden", "Tools"), "helpful": "no"}])
    model = Played([Say(calls=(("search_sections", {"query": "stake"}),)), opened, judged, Say(cited)])
    session = workshop(of, model).make_session(of, LexicalIndex(of), Settings(), print)
    made = [event async for event in session.run("How tall is a stake for tomatoes?")]
    return reduce([replace(event, ms=1_200) if hasattr(event, "ms") else event for event in made])


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 18)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_screen_looks_as_it_did(size: tuple[int, int]) -> None:
    state = await recorded()
    async with stage(size=size) as on:
        on.main.arrangement.focus("log")
        on.main.show_state(state)
        await on.settle()
        seen = on.text + "\n"
        path = SNAPSHOTS / f"answer-{size[0]}x{size[1]}.txt"
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(seen, encoding="utf-8")
        assert seen == path.read_text(encoding="utf-8"), "ROAMTUI_UPDATE_SNAPSHOTS=1 takes the new look"
