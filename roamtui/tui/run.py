"""From settings to the screen, and back to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamtui.config import Resolved, Settings
from roamtui.tui.app import RoamApp
from roamtui.tui.loading import Notice, Progress, Workshop
from roamtui.tui.terminal import require_terminal

if TYPE_CHECKING:
    from roamtui.document.model import Library
    from roamtui.engine import ChosenModel
    from roamtui.search.index import Index
    from roamtui.session import Session


_SWITCH = 0.0005
"""Seconds after which a busy thread lets another run. Python's 5 ms add up when every key waits for several."""


def workshop(settings: Settings) -> Workshop:
    """Return what makes libraries, indexes, sessions and models for these settings.

    The engine is imported by the thread that calls it, after the first paint.
    """

    def read(addresses: Sequence[str], progress: Progress) -> Library:
        from roamtui.sources.open import open_library

        return open_library(addresses, max_bytes=settings.max_bytes, progress=progress)

    def index(library: Library) -> Index:
        from roamtui.search.lexical import LexicalIndex

        return LexicalIndex(library)

    def session(library: Library, made: Index, wanted: Settings, notice: Notice) -> Session:
        from roamtui.engine import make_session

        return make_session(library, wanted, interactive=True, index=made, notice=notice)

    def model(wanted: Settings, notice: Notice) -> ChosenModel:
        from roamtui.engine import choose_model

        return choose_model(wanted, notice=notice)

    return Workshop(read, index, session, model)


def run_screen(documents: Sequence[str], resolved: Resolved) -> int:
    """Show documents until the user leaves; return the exit code. Raises `RoamError` when nothing can be shown."""
    require_terminal()
    sys.setswitchinterval(_SWITCH)
    app = RoamApp(documents, resolved.settings, workshop=workshop(resolved.settings))
    app.run()
    if app.problem is not None:
        raise app.problem
    return app.return_code or 0
