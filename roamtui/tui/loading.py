"""Everything slow before the first question, on a thread: reading documents, making the session, indexing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message
from textual.worker import Worker, get_current_worker

from roamtui.config import Settings
from roamtui.document.model import Library
from roamtui.errors import DocumentError, RoamError

if TYPE_CHECKING:
    from roamtui.engine import ChosenModel
    from roamtui.search.index import Index
    from roamtui.session import Session

Progress = Callable[[int, int], None]
Notice = Callable[[str], None]
_OFTEN = 0.05
"""Seconds between two reports of progress."""
_PAINT = 1.0
"""Seconds the work behind waits at most for the documents to be drawn."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Makes what the screen shows. Everything is called on a thread; `RoamError` is shown to the user."""

    open_library: Callable[[Sequence[str], Progress], Library]
    """Reads documents by their addresses; told bytes done and sections so far."""
    make_index: Callable[[Library], Index]
    make_session: Callable[[Library, Index, Settings, Notice], Session]
    choose_model: Callable[[Settings, Notice], ChosenModel]


class Progressed(Message):
    """Something long goes on."""

    def __init__(self, what: str, done: int, total: int) -> None:
        super().__init__()
        self.what = what
        """`reading` (bytes, sections so far), `indexing` (bytes, bytes in all), or empty when all is done."""
        self.done = done
        self.total = total


class Opened(Message):
    """Documents were read."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self.library = library


class Ready(Message):
    """A session can be asked."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session


class ModelReady(Message):
    """Another model was chosen and can be asked."""

    def __init__(self, chosen: ChosenModel, settings: Settings) -> None:
        super().__init__()
        self.chosen = chosen
        self.settings = settings


class Problem(Message):
    """Something could not be opened or made."""

    def __init__(self, error: RoamError, addresses: Sequence[str] = ()) -> None:
        super().__init__()
        self.error = error
        self.addresses = addresses
        """The documents it is about; empty when it is about a model."""


class Noticed(Message):
    """Something the user should know."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Loader:
    """Runs the slow work of an application and sends it messages."""

    def __init__(self, app: App[int], workshop: Workshop) -> None:
        self._app = app
        self._workshop = workshop
        self.painted = threading.Event()
        """Set once the documents stand on the screen: what follows would only delay that."""

    def open(self, addresses: Sequence[str], settings: Settings) -> Worker[None]:
        """Open documents; what is being opened before is given up."""
        self.painted.clear()
        return self._app.run_worker(
            lambda: self._open(addresses, settings), group="load", exclusive=True, thread=True, exit_on_error=False
        )

    def choose(self, settings: Settings) -> Worker[None]:
        """Make the model that the settings name."""
        return self._app.run_worker(
            lambda: self._choose(settings), group="model", exclusive=True, thread=True, exit_on_error=False
        )

    def _post(self, message: Message) -> None:
        if not get_current_worker().is_cancelled:
            self._app.post_message(message)

    def _notice(self, text: str) -> None:
        self._app.post_message(Noticed(text))

    def _report(self, what: str) -> Progress:
        last = 0.0

        def report(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _OFTEN:
                last = now
                self._post(Progressed(what, done, total))

        return report

    def _open(self, addresses: Sequence[str], settings: Settings) -> None:
        try:
            library = self._workshop.open_library(addresses, self._report("reading"))
            self._post(Opened(library))
            self.painted.wait(_PAINT)
            index = self._workshop.make_index(library)
            session = self._workshop.make_session(library, index, settings, self._notice)
            _ = session.outline  # worked out here, so that the screen never waits for it
            self._post(Ready(session))
            index.build(self._report("indexing"))
            self._post(Progressed("", 0, 0))
        except RoamError as error:
            self._post(Problem(error, addresses))
        except MemoryError:
            self._post(Problem(DocumentError("There is not enough memory for this document."), addresses))

    def _choose(self, settings: Settings) -> None:
        try:
            self._post(ModelReady(self._workshop.choose_model(settings, self._notice), settings))
        except RoamError as error:
            self._post(Problem(error))
