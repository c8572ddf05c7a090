"""The screen on a stage: a real session with a played model over a small document, and the text one sees."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from textual import events
from textual.keys import _character_to_key, key_to_character
from textual.pilot import Pilot

from roamtui.agent.settings import RunSettings
from roamtui.config import Settings
from roamtui.document.model import Library
from roamtui.engine import ChosenModel
from roamtui.models.base import Model
from roamtui.models.guide import GuideModel
from roamtui.search.index import Index
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.tui.app import RoamApp
from roamtui.tui.loading import Notice, Progress, Workshop
from roamtui.tui.widgets.chat import ChatLog
from tests.support.documents import library as small_library
from tests.support.puppet import Puppet

PATIENCE = 40.0
"""Seconds after which a condition counts as never met."""


class Played(Puppet):
    """A puppet that counts as running inside the program, as scripts do: it is not asked for example questions."""

    maker = "scripted"


class Stage:
    """An application under a pilot."""

    def __init__(self, app: RoamApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self.main = app.main

    async def until(self, condition: Callable[[], bool], what: str = "the condition") -> None:
        """Let the application work until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}:\n{self.text}")
            await asyncio.sleep(0.005)
        await self.settle()

    async def settle(self) -> None:
        """Let every message that is on its way arrive, and what comes of it be drawn.

        The pilot's own pause waits besides until the process is idle, which takes ten times as long.
        """
        for _ in range(5):  # from the widget up to the screen, to the application, and back
            await self.pilot._wait_for_screen()
            self.app.screen._on_timer_update()

    async def ready(self) -> None:
        """Wait for the session and the index."""
        await self.until(lambda: self.main.asking.bridge.session is not None and not self.main.facts.work, "a session")

    async def ask(self, question: str, *, wait: bool = True) -> None:
        """Type a question; wait for the ending unless told not to."""
        await self.ready()
        self.main.fill_prompt(question)
        await self.pilot.press("enter")
        await self.until(lambda: bool(self.main.asking.bridge.state.questions), "the question")
        if wait:
            await self.ended()

    async def ended(self) -> None:
        """Wait until nothing runs and everything of it is drawn."""
        bridge = self.main.asking.bridge
        await self.until(lambda: not bridge.running, "the ending")
        frames = bridge.frames
        bridge.touch()
        await self.until(lambda: bridge.frames > frames, "the last frame")

    async def press(self, *keys: str) -> None:
        """Press keys and let them have their effect, one after the other."""
        for key in keys:
            character = key_to_character(key)
            self.app.post_message(events.Key(key, character))
            await self.settle()

    async def type(self, text: str) -> None:
        """Type characters."""
        await self.press(*(_character_to_key(char) for char in text))

    @property
    def lines(self) -> list[str]:
        """What is on the screen, row by row."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def chat(self) -> ChatLog:
        """The conversation."""
        return self.main.log_view

    @property
    def chat_text(self) -> str:
        """All of the conversation, also what is scrolled away."""
        return "\n".join(self.chat.lines())

    def says(self, *words: str) -> bool:
        """Tell whether all words are in the conversation, however it is wrapped."""
        folded = " ".join(self.chat_text.split())
        return all(" ".join(word.split()) in folded for word in words)

    def shows(self, *words: str) -> bool:
        """Tell whether all words are on the screen."""
        return all(word in self.text for word in words)


def workshop(
    library: Library, model: Model, *, settings: RunSettings | None = None, others: Callable[[str], Model] | None = None
) -> Workshop:
    """Return a workshop that gives this library and this model; `others` makes models chosen later."""

    def read(addresses: Sequence[str], progress: Progress) -> Library:
        progress(10, len(library.documents[0].sections))
        return library

    def index(of: Library) -> Index:
        return LexicalIndex(of)

    def session(of: Library, made: Index, wanted: Settings, notice: Notice) -> Session:
        shape = settings or RunSettings(always_roam=True)
        return Session(of, model, index=made, settings=shape, window=2_000_000, interactive=True)

    def choose(wanted: Settings, notice: Notice) -> ChosenModel:
        return ChosenModel((others or (lambda name: model))(wanted.model), 32_000, lambda usage: None)

    return Workshop(read, index, session, choose)


@asynccontextmanager
async def stage(
    model: Model | None = None,
    *,
    library: Library | None = None,
    size: tuple[int, int] = (140, 45),
    settings: RunSettings | None = None,
    others: Callable[[str], Model] | None = None,
    keys: dict[str, str] | None = None,
) -> AsyncIterator[Stage]:
    """Run the application over a document (the garden) with a model (the guide)."""
    shop = workshop(library or small_library(), model or GuideModel(), settings=settings, others=others)
    name = "guide" if model is None else model.name
    app = RoamApp(["garden.md"], Settings(model=name, keys=keys or {}), workshop=shop)
    async with app.run_test(size=size, notifications=True) as pilot:
        on_stage = Stage(app, pilot)
        await on_stage.ready()
        yield on_stage
