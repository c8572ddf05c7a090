"""From settings to the screen, and back to an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.config import Resolved, Settings
from roamtui.document.model import Library
from roamtui.engine import ChosenModel, choose_model, make_session
from roamtui.search.index import Index
from roamtui.session import Session
from roamtui.sources.open import open_library
from roamtui.tui.app import RoamApp
from roamtui.tui.loading import Notice, Progress, Workshop
from roamtui.tui.terminal import require_terminal


def workshop(settings: Settings) -> Workshop:
    """Return what makes libraries, indexes, sessions and models for these settings."""

    def read(addresses: Sequence[str], progress: Progress) -> Library:
        return open_library(addresses, max_bytes=settings.max_bytes, progress=progress)

    def index(library: Library) -> Index:
        from roamtui.search.lexical import LexicalIndex

        return LexicalIndex(library)

    def session(library: Library, made: Index, wanted: Settings, notice: Notice) -> Session:
        return make_session(library, wanted, interactive=True, index=made, notice=notice)

    def model(wanted: Settings, notice: Notice) -> ChosenModel:
        return choose_model(wanted, notice=notice)

    return Workshop(read, index, session, model)


def run_screen(documents: Sequence[str], resolved: Resolved) -> int:
    """Show documents until the user leaves; return the exit code. Raises `RoamError` when nothing can be shown."""
    require_terminal()
    app = RoamApp(documents, resolved.settings, workshop=workshop(resolved.settings))
    app.run()
    if app.problem is not None:
        raise app.problem
    return app.return_code or 0
