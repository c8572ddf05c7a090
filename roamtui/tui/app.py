"""The application: it reads documents, makes sessions, and shows them on the main screen."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.screen import Screen

from roamtui import paths
from roamtui.config import Settings
from roamtui.errors import RoamError
from roamtui.text import one_line
from roamtui.tui import safe
from roamtui.tui.keymap import build_keymap
from roamtui.tui.loading import Loader, ModelReady, Noticed, Opened, Problem, Progressed, Ready, Workshop
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.terminal import HardenedApp
from roamtui.tui.themes import DARK_THEME, register_themes
from roamtui.tui.widgets.prompt import QuestionHistory
from roamtui.tui.widgets.status import Facts

if TYPE_CHECKING:
    from roamtui.session import Session

_FAREWELL = 1.0
"""Seconds a running question gets to end when the program is left."""


class RoamApp(HardenedApp):
    """roamtui on the screen."""

    CSS_PATH = "roamtui.tcss"
    TITLE = "roamtui"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, addresses: Sequence[str], settings: Settings, *, workshop: Workshop, notices: Sequence[str] = ()
    ) -> None:
        """`workshop` makes libraries, indexes, sessions and models; `notices` are shown once at the start."""
        super().__init__()
        self._addresses = tuple(addresses)
        self._settings = settings
        self._notices = tuple(notices)
        self.keys = build_keymap(settings.keys)
        self._loader = Loader(self, workshop)
        self._session: Session | None = None
        self._sizes = 0
        self._themes = [theme.name for theme in register_themes(self, paths.themes_dirs()).usable] or [self.theme]
        self._wanted_theme = settings.theme or os.environ.get("TEXTUAL_THEME", "") or DARK_THEME
        if self._wanted_theme in self.available_themes:
            self.theme = self._wanted_theme
        self.problem: RoamError | None = None
        """Why nothing could be shown; `run_screen` raises it again."""
        self.history = QuestionHistory(paths.state_dir() / "questions.jsonl")
        self.main = MainScreen(
            self.keys,
            self.history,
            Facts(
                document=os.path.basename(self._addresses[0]) or self._addresses[0],
                work="reading",
                model=settings.model,
                maker="guide" if settings.model == "guide" else "",
                max_steps=settings.max_steps,
            ),
        )

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen."""
        return self.main

    def on_mount(self) -> None:
        """Say what the user should know, and read behind the first paint."""
        if self._wanted_theme not in self.available_themes:
            safe.toast(self, f"There is no theme {one_line(self._wanted_theme)}.", severity="warning")
        for notice in (*self._notices, *self.keys.problems):
            safe.toast(self, notice, severity="warning", timeout=10)
        self.call_after_refresh(self._open, self._addresses)  # a busy thread would hold up the first paint
        self.run_worker(self.history.load, thread=True, exit_on_error=False)

    async def on_unmount(self) -> None:
        """Let a running question end, and the trace be written."""
        await self._close(self._session)

    async def _close(self, session: Session | None) -> None:
        if session is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(session.aclose(), _FAREWELL)

    # -- documents ----------------------------------------------------------------------------

    def _open(self, addresses: Sequence[str]) -> None:
        self._addresses = tuple(addresses)
        self._sizes = sum(_size(address) for address in addresses)
        self._loader.open(self._addresses, self._settings)

    def open_document(self, address: str) -> None:
        """Open another document in place of the present one, on success."""
        if self.main.asking.bridge.running:
            self.main.say("The agent is at work; esc stops it.")
            return
        self._open((os.path.expanduser(address),))

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        if event.what == "reading":
            share = f" {event.done * 100 // self._sizes} %" if self._sizes else ""
            work = f"reading{share} · {event.total:,} sections"
            if self.main.reading.library is None:
                self.main.outline.loading_progress(event.total, event.done, self._sizes)
        else:
            work = f"indexing {event.done * 100 // event.total} %" if event.total else event.what
        self.main.show_facts(replace(self.main.facts, work=work))

    @on(Opened)
    def _opened(self, event: Opened) -> None:
        self.main.show_library(event.library)
        self.call_after_refresh(self._loader.painted.set)

    @on(Ready)
    async def _session_ready(self, event: Ready) -> None:
        before, self._session = self._session, event.session
        self.main.attach(event.session)
        await self._close(before)

    @on(Problem)
    def _problem(self, event: Problem) -> None:
        error = event.error
        if self.main.reading.library is None and event.addresses:
            self.problem = error
            self.exit(return_code=int(error.exit_code))
            return
        self.main.show_facts(replace(self.main.facts, work=""))
        safe.toast(self, f"{error.message} {error.hint}".strip(), severity="error", timeout=10)

    @on(Noticed)
    def _noticed(self, event: Noticed) -> None:
        safe.toast(self, event.text, severity="warning", timeout=8)

    # -- models -------------------------------------------------------------------------------

    def use_model(self, name: str) -> None:
        """Have another model answer the next questions. Nothing is sent by this."""
        if self.main.asking.bridge.running:
            self.main.say("The agent is at work; esc stops it.")
            return
        self._loader.choose(msgspec.structs.replace(self._settings, model=name))

    @on(ModelReady)
    async def _model_ready(self, event: ModelReady) -> None:
        self._settings = event.settings
        if self._session is None:
            return
        before = self._session.model
        self._session.use(event.chosen.model, window=event.chosen.window, price=event.chosen.price)
        self.main.show_model(self._session)
        await before.aclose()

    # -- colours and links --------------------------------------------------------------------

    def next_theme(self) -> None:
        """Take the next theme of the folders."""
        names = self._themes
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        self.main.say(f"Theme {self.theme}")

    def offer_link(self, url: str) -> None:
        """Ask before a web address is opened; anything else is shown and not opened."""
        from roamtui.tui.screens.dialogs import link_dialog

        address = safe.web_address(url)
        if address is None:
            self.main.say(f"Not opened: {url[:200]}")
            return

        def chosen(what: str | None) -> None:
            if what == "copy":
                self.main.reading.copy_text(address, "The address")
            elif what == "open":
                import webbrowser

                self.run_worker(lambda: webbrowser.open(address), thread=True, exit_on_error=False)

        self.push_screen(link_dialog(address), chosen)


def _size(address: str) -> int:
    try:
        return os.stat(address).st_size
    except (OSError, ValueError):
        return 0
