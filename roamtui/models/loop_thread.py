"""A thread with an event loop of its own, for code that blocks its loop.

litellm takes three seconds to import and works in bursts of tens of milliseconds; on the screen's loop every key would
wait for it. Here the screen only receives results.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import aclosing, suppress
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines on a daemon thread, which starts at first use and lives as long as the program."""

    def __init__(self, name: str) -> None:
        """Call the thread `name`."""
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine there; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    async def stream(
        self, source: Callable[[], AsyncGenerator[_T, None]], *, failed: Callable[[BaseException], Exception]
    ) -> AsyncGenerator[_T, None]:
        """Yield here what `source()` yields there, and raise `failed(error)` for what it raises.

        Closing this iterator cancels the source and does not wait for it.
        """
        hand_over: _HandOver[_T] = _HandOver(asyncio.get_running_loop())

        async def work() -> None:
            async with aclosing(source()) as items:
                async for item in items:
                    hand_over.put(item)

        future = self.submit(work())
        future.add_done_callback(hand_over.end)
        try:
            while batch := await hand_over.take():
                for item in batch:
                    yield item
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None:
                raise failed(error)
        finally:
            future.cancel()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True, name=self._name).start()
            return self._loop


class _HandOver(Generic[_T]):
    """Items on their way from one loop to another: many items, one wake-up."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._items: deque[_T] = deque()
        self._arrived = asyncio.Event()
        self._is_waking = False
        self._is_over = False

    def put(self, item: _T) -> None:
        self._items.append(item)
        self._wake()

    def end(self, _: Future[None]) -> None:
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        if not self._is_waking:
            self._is_waking = True
            with suppress(RuntimeError):  # the receiving loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._arrived.set)

    async def take(self) -> list[_T]:
        """Return what has arrived, waiting for at least one item; empty when there will be no more."""
        while True:
            is_over = self._is_over  # read first: whatever came before the end is then in the queue
            batch = [self._items.popleft() for _ in range(len(self._items))]
            if batch or is_over:
                return batch
            await self._arrived.wait()
            self._arrived.clear()
            self._is_waking = False
