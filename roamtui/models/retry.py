"""Trying a failed call again: few times, spaced out, visibly, and never over an answer someone is reading."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from roamtui.errors import RETRYABLE_KINDS, ModelError
from roamtui.models.base import Delta, Model, Request, Retrying, Text


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently a call is tried again."""

    tries: int = 3
    """Most tries of one call, the first included."""
    base: float = 0.5
    """Seconds before the second try; doubled for each further one."""
    cap: float = 8.0
    """Most seconds of a wait the provider did not ask for."""
    honoured: float = 60.0
    """Most seconds a provider's Retry-After is obeyed; if it asks for more, the call fails at once and says so."""
    total: float = 120.0
    """Most seconds from the first try's start to the last try's start."""
    keep_text: int = 200
    """Characters of answer beyond which a broken call is not repeated: someone is reading it."""

    def wait(self, attempt: int, asked: float | None, chance: float) -> float:
        """Return the seconds before try `attempt` (from 2); `chance` in [0, 1) spreads callers apart by half."""
        backoff: float = min(self.cap, self.base * 2 ** (attempt - 2)) * (0.5 + chance / 2)
        return max(backoff, asked or 0.0)


class Retried:
    """A model that tries again after `RETRYABLE_KINDS`.

    A `Retrying` delta goes out before each wait and voids everything of the failed try. Thinking, tool-call pieces
    and a short lead-in are voided so; an answer of more than `keep_text` characters is not: the error is raised and
    what came stays, as an incomplete answer, for the user to judge.
    """

    def __init__(
        self,
        model: Model,
        policy: RetryPolicy | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Wrap `model`; `sleep` and `chance` (uniform in [0, 1)) are for tests."""
        self._model = model
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._chance = chance

    @property
    def maker(self) -> str:
        """The inner model's maker."""
        return self._model.maker

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Pass on deltas; on a passing failure say so, wait, and start the call again."""
        clock = asyncio.get_running_loop().time
        started, attempt = clock(), 1
        while True:
            said = 0
            try:
                async with aclosing(self._model.stream(request)) as deltas:
                    async for delta in deltas:
                        if isinstance(delta, Text):
                            said += len(delta.text)
                        yield delta
                return
            except ModelError as error:
                attempt += 1
                wait = self._wait(error, attempt, said, clock() - started)
                retrying = Retrying(attempt=attempt, wait=wait, kind=error.kind, message=error.message)
            yield retrying
            await self._sleep(wait)

    def _wait(self, error: ModelError, attempt: int, said: int, elapsed: float) -> float:
        """Return the seconds to wait before try `attempt`, or raise `error` when there is none."""
        policy = self._policy
        if error.kind not in RETRYABLE_KINDS or attempt > policy.tries or said > policy.keep_text:
            raise error
        if error.retry_after is not None and error.retry_after > policy.honoured:
            error.hint = f"It asks for {_duration(error.retry_after)} of pause before the next try."
            raise error
        wait = policy.wait(attempt, error.retry_after, self._chance())
        if elapsed + wait > policy.total:
            raise error
        return wait

    async def aclose(self) -> None:
        """Close the inner model."""
        await self._model.aclose()


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
