"""Recorded answers: the response cache on disk, and the model that answers from it.

All disk work happens on one daemon thread, with time limits of our own: opening a locked cache would block for a
minute, and a network folder for ever. Whatever goes wrong with the cache, the program goes on without it and says so
once.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from roamtui import __version__
from roamtui.errors import ModelError, RoamError
from roamtui.models.base import Delta, Finish, Model, Request, Retrying, Served
from roamtui.models.cache_entry import Entry, cache_key, pack, request_document, unpack

if TYPE_CHECKING:
    from roamtui.models.disk import Store

CacheMode = Literal["on", "off", "refresh", "only"]
"""on: read and write; off: neither; refresh: write only; only: read only, a miss is an error."""

SIZE_LIMIT = 200_000_000
"""Default bytes of the cache on disk; the oldest entries go first."""
OPEN_S = 2.0
"""Seconds the cache may take to open."""
USE_S = 2.0
"""Seconds one look-up or one write may take."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What `roamtui cache info` says."""

    entries: int
    """Recorded calls."""
    bytes: int
    """Bytes on disk."""
    path: Path
    """The folder."""


class ResponseCache:
    """Recorded calls in a folder. Nothing is opened before the first use."""

    def __init__(
        self, folder: Path, *, size_limit: int = SIZE_LIMIT, notice: Callable[[str], None] | None = None
    ) -> None:
        """Keep at most `size_limit` bytes in `folder`; `notice` gets one sentence if the cache cannot be used."""
        self.folder = folder
        """Where the cache lies."""
        self.notices: list[str] = []
        """What went wrong with the cache, in sentences for people; at most one per cause of giving up."""
        self._size_limit = size_limit
        self._notice = notice
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._store: Store | None = None
        self._gave_up = False

    # -- in a conversation: never raises, never late ------------------------------------------------

    async def find(self, document: dict[str, object]) -> tuple[str, Entry | None]:
        """Return the key of a request and its entry, if there is one; an empty key when it cannot have one."""
        found = await self._try(lambda: self._find(document))
        return found or ("", None)

    async def record(self, key: str, document: dict[str, object], deltas: list[tuple[float, Delta]]) -> None:
        """Store a call, unless it is one that must not be stored."""
        await self._try(lambda: self._record(key, document, deltas))

    def _find(self, document: dict[str, object]) -> tuple[str, Entry | None]:
        try:
            key = cache_key(document)
        except (ValueError, TypeError, RecursionError):
            return "", None
        data = self._opened().get(key)
        return key, None if data is None else unpack(data, document)

    def _record(self, key: str, document: dict[str, object], deltas: list[tuple[float, Delta]]) -> bool:
        data = pack(document, deltas, recorded=time.time(), version=__version__)
        return data is not None and self._opened().put(key, data)

    async def _try(self, job: Callable[[], _T]) -> _T | None:
        if self._gave_up:
            return None
        future = asyncio.wrap_future(self._submit(job))
        limit = USE_S if self._store is not None else OPEN_S
        done, _ = await asyncio.wait({future}, timeout=limit)
        if not done:
            future.cancel()
            self._give_up("it does not respond")
            return None
        try:
            return future.result()
        except _CacheFailure as failure:
            self._give_up(str(failure))
            return None

    def _give_up(self, reason: str) -> None:
        if self._gave_up:
            return
        self._gave_up = True
        sentence = f"Answers are not recorded: the cache in {self.folder} cannot be used ({reason})."
        self.notices.append(sentence)
        if self._notice is not None:
            self._notice(sentence)

    # -- for commands: raises RoamError ---------------------------------------------------------------

    def info(self) -> CacheInfo:
        """Count what the cache holds. Raises `RoamError` when it cannot be opened."""
        return self._now(lambda: CacheInfo(self._opened().count(), self._opened().volume(), self.folder))

    def clear(self) -> None:
        """Delete all entries, nothing outside the cache's own files. Raises `RoamError` when it cannot."""
        self._now(lambda: self._opened().clear(), limit=60.0)

    def _now(self, job: Callable[[], _T], *, limit: float = OPEN_S) -> _T:
        try:
            return self._submit(job).result(limit)
        except FutureTimeout:
            reason = "another program holds it, or the disk does not respond"
        except _CacheFailure as failure:
            reason = str(failure)
        raise RoamError(f"The cache in {self.folder} cannot be used: {reason}.") from None

    def close(self) -> None:
        """Let the thread end; work already handed in is still done."""
        if self._thread is not None:
            self._jobs.put(self._shut)
            self._jobs.put(None)
            self._thread = None

    # -- the thread -----------------------------------------------------------------------------------

    def _submit(self, job: Callable[[], _T]) -> Future[_T]:
        future: Future[_T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(self._guarded(job))
            except _CacheFailure as failure:
                future.set_exception(failure)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="response-cache", daemon=True)
            self._thread.start()
        self._jobs.put(run)
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _opened(self) -> Store:
        if self._store is None:
            from roamtui.models.disk import Store

            self._store = Store(self.folder, self._size_limit)
        return self._store

    def _guarded(self, job: Callable[[], _T]) -> _T:
        """Run a job; a cache found damaged on the way is put aside and the job tried once more."""
        from roamtui.models.disk import FAILURES, is_damage

        try:
            try:
                return job()
            except FAILURES as error:
                if self._store is None or not is_damage(error):
                    raise
                self._store.close()
                self._store.put_aside()
                self._store = None
                return job()
        except FAILURES as error:
            raise _CacheFailure(_reason(error)) from None
        except ImportError:
            raise _CacheFailure("the package diskcache is missing") from None

    def _shut(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class _CacheFailure(Exception):
    """The cache cannot be used; the text is the reason, for people."""


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


class Cached:
    """A model that answers from recorded calls where it can, and records the others."""

    def __init__(
        self, model: Model, cache: ResponseCache | None, mode: CacheMode, *, version: str = "1", base_url: str = ""
    ) -> None:
        """Wrap `model`; `version` is its maker's, `base_url` its server. Without a cache, only `Served` is added."""
        self._model = model
        self._cache = cache if mode != "off" else None
        self._mode = mode
        self._version = version
        self._base_url = base_url

    @property
    def maker(self) -> str:
        """The inner model's maker."""
        return self._model.maker

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer from the cache or from the model. Raises `ModelError` (`not_cached`) in mode `only` on a miss."""
        if self._cache is None:
            if self._mode == "only":
                raise _not_cached()
            yield Served(cached=False)
            async with aclosing(self._model.stream(request)) as deltas:
                async for delta in deltas:
                    if not isinstance(delta, Served):
                        yield delta
            return
        document = request_document(request, maker=self.maker, maker_version=self._version, base_url=self._base_url)
        key, entry = await self._cache.find(document)
        if entry is not None and self._mode != "refresh":
            yield Served(cached=True, key=key, recorded=entry.recorded)
            for number, (_, delta) in enumerate(entry.deltas, 1):
                yield delta
                if number % 64 == 0:
                    await asyncio.sleep(0)  # a long replay must not keep the screen waiting
            return
        if self._mode == "only":
            raise _not_cached()
        yield Served(cached=False, key=key)
        async with aclosing(self._recorded(request, key, document)) as deltas:
            async for delta in deltas:
                yield delta

    async def _recorded(self, request: Request, key: str, document: dict[str, object]) -> AsyncGenerator[Delta, None]:
        clock = asyncio.get_running_loop().time
        started = clock()
        kept: list[tuple[float, Delta]] = []
        finish: Finish | None = None
        async with aclosing(self._model.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Served):
                    continue
                if isinstance(delta, Retrying):
                    kept.clear()
                else:
                    kept.append((round(clock() - started, 4), delta))
                if isinstance(delta, Finish):
                    finish = delta  # held back until it is stored: a reader may stop at it
                else:
                    yield delta
        if finish is None:
            return
        if self._cache is not None and key:
            await self._cache.record(key, document, kept)
        yield finish

    async def aclose(self) -> None:
        """Close the inner model and the cache."""
        await self._model.aclose()
        if self._cache is not None:
            self._cache.close()


def _not_cached() -> ModelError:
    return ModelError("not_cached", "No recorded answer for this request.", "Run it once with --cache on.")
