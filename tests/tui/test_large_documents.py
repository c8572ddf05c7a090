"""Documents of any size: the screen draws what is looked at, and its thread is never held for long."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator

import pytest

from roamtui.document.model import Library
from tests.support.documents import document
from tests.support.puppet import Say, opens
from tests.support.screen import Played, stage

SECTIONS = 50_000
HELD = 0.25
"""Seconds; what people notice. The aim of 50 ms is measured by tests/benchmarks/bench_paint.py on a quiet machine."""


def large() -> Library:
    text = "".join(
        f"{'#' * (1 + (number % 10 > 0) + (number % 5 > 0))} Section {number}\n\nWords of {number}.\n\n"
        for number in range(SECTIONS)
    )
    return Library([document(text)])


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """Keep the garbage of other tests out of the time the screen takes."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
async def test_fifty_thousand_sections_are_browsed_found_and_asked_about() -> None:
    library = large()
    last = library.ref(library.documents[0], library.documents[0].sections[-1])
    puppet = Played([opens(last), Say("There.")])
    async with stage(puppet, library=library) as on:
        held = asyncio.create_task(_longest_pause())
        await on.press("end", "home", "right", "down")
        await on.press("g")
        await on.type("section 49999")
        await on.until(lambda: on.shows("│ Section 49999"), "the section")
        await on.press("enter")
        await on.until(lambda: on.shows("Words of 49999."), "its text")
        on.main.verbs.run("find")
        await on.type("Words of 4242")
        await on.until(lambda: on.shows("1/1"), "the matches")
        await on.press("escape")
        await on.ask("Where?")
        assert on.main.outline.cursor_ref is not None
        held.cancel()
        longest = await asyncio.gather(held, return_exceptions=True)
        assert not isinstance(longest[0], AssertionError), longest
        assert len(list(on.app.screen.walk_children())) < 60


async def _longest_pause() -> None:
    """Fail when the event loop does not get around for too long."""
    while True:
        before = time.thread_time()
        await asyncio.sleep(0.005)
        assert time.thread_time() - before < HELD, "the screen's thread was held"
