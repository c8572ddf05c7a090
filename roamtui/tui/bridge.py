"""Between the engine and the screen: runs one question at a time and says, at most 30 times a second, that
the state has changed. The screen never sees an event, only the `TraceState`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.timer import Timer
from textual.worker import Worker

from roamtui.agent.user import Action
from roamtui.trace.state import TraceState

if TYPE_CHECKING:
    from roamtui.session import Session

FRAME = 1 / 30
"""Seconds between two repaints; more would be drawn than a terminal shows."""
PATIENCE = 0.25
"""Seconds a run gets to end by itself after it was told to; then its task is cut."""
_TURN = 0.008
"""Seconds of events in a row after which keys and drawing get their turn."""


class Bridge:
    """Drives a session from a node of the screen."""

    def __init__(
        self,
        node: DOMNode,
        *,
        changed: Callable[[TraceState], None],
        crashed: Callable[[Exception], None],
    ) -> None:
        self._node = node
        self._changed = changed
        self._crashed = crashed
        self._session: Session | None = None
        self._worker: Worker[None] | None = None
        self._frame: Timer | None = None
        self._painted = 0.0
        self.frames = 0
        """How often the screen was told; a counter for tests."""

    @property
    def session(self) -> Session | None:
        """The session driven; None before there is one."""
        return self._session

    @property
    def state(self) -> TraceState:
        """What to show."""
        return self._session.state if self._session is not None else TraceState()

    @property
    def running(self) -> bool:
        """Whether a question is being worked on."""
        return self._worker is not None and not self._worker.is_finished

    def attach(self, session: Session) -> None:
        """Drive another session from now on. Only while nothing runs."""
        if self.running:
            raise RuntimeError("a question is being worked on")
        self._session = session
        self.touch()

    # -- verbs ------------------------------------------------------------------------------

    def ask(self, question: str) -> bool:
        """Start working on a question; False while another is being worked on or without a session."""
        if self._session is None or self.running:
            return False
        self._worker = self._node.run_worker(
            self._work(self._session, question), name="question", group="agent", exclusive=True, exit_on_error=False
        )
        return True

    def stop(self) -> bool:
        """Stop the question; False when there is none. The session stays usable."""
        worker = self._worker
        if worker is None or worker.is_finished or self._session is None:
            return False
        self._session.cancel()
        self._node.set_timer(PATIENCE, worker.cancel)  # does nothing to a worker that has ended
        return True

    def tell(self, action: Action) -> None:
        """Let the session know what the user did."""
        if self._session is not None and self._session.tell(action):
            self.touch()

    def reply(self, request: str, answer: str, *, refused: str = "") -> None:
        """Answer what the model asked the user."""
        if self._session is not None:
            self._session.reply(request, answer, refused=refused)

    # -- repainting -------------------------------------------------------------------------

    def touch(self) -> None:
        """Have the screen repainted in the next frame."""
        if self._frame is None:
            wait = FRAME - (time.monotonic() - self._painted)
            self._frame = self._node.set_timer(max(0.001, wait), self._paint)

    def _paint(self) -> None:
        self._frame = None
        self._painted = time.monotonic()
        self.frames += 1
        self._changed(self.state)

    async def _work(self, session: Session, question: str) -> None:
        turn = time.monotonic()
        try:
            async with aclosing(session.run(question)) as events:
                async for _ in events:
                    self.touch()
                    if time.monotonic() - turn > _TURN:  # a full queue never waits, so it is made to
                        await asyncio.sleep(0)
                        turn = time.monotonic()
        except Exception as error:  # the boundary: whatever broke, the screen goes on
            self._crashed(error)
        finally:
            self.touch()
