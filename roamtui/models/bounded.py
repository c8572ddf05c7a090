"""Bounds around any maker: how long a call may take and how much it may say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from roamtui.errors import ModelError
from roamtui.models.base import Delta, Model, Reasoning, Request, Served, Text, ToolCallPart

MAX_CHARACTERS = 8_000_000
"""Most characters of answer, thinking and arguments together; far beyond any model's output limit."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Limits of one call in seconds, on the monotonic clock."""

    first_event: float = 60.0
    """Until the first delta, connecting and loading included."""
    idle: float = 60.0
    """Between two deltas. Keep-alive comments of a server do not count as deltas."""
    call: float = 600.0
    """The whole call."""


class Bounded:
    """A model whose calls end in time. Raises `ModelError` (`timeout`, `too_large`)."""

    def __init__(self, model: Model, deadlines: Deadlines) -> None:
        """Bound `model` by `deadlines`."""
        self._model = model
        self._deadlines = deadlines

    @property
    def maker(self) -> str:
        """The inner model's maker."""
        return self._model.maker

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Pass on the inner model's deltas while they keep within the bounds."""
        now = asyncio.get_running_loop().time
        limits = self._deadlines
        end = now() + limits.call
        has_begun, size = False, 0
        async with aclosing(self._model.stream(request)) as deltas:
            while True:
                deadline = min(end, now() + (limits.idle if has_begun else limits.first_event))
                try:
                    async with asyncio.timeout_at(deadline):
                        delta = await anext(deltas, None)
                except TimeoutError:
                    raise self._timeout(is_whole=deadline >= end, has_begun=has_begun) from None
                if delta is None:
                    return
                has_begun = has_begun or not isinstance(delta, Served)
                size += _characters(delta)
                if size > MAX_CHARACTERS:
                    raise ModelError("too_large", f"{self.name} wrote more than {MAX_CHARACTERS:,} characters.")
                yield delta

    def _timeout(self, *, is_whole: bool, has_begun: bool) -> ModelError:
        if is_whole:
            return ModelError("timeout", f"{self.name} was not done after {self._deadlines.call:g} s.")
        if not has_begun:
            return ModelError(
                "timeout",
                f"{self.name} did not begin to answer within {self._deadlines.first_event:g} s.",
                "A local server may still be loading the model: try again.",
            )
        return ModelError("timeout", f"{self.name} fell silent for {self._deadlines.idle:g} s.")

    async def aclose(self) -> None:
        """Close the inner model."""
        await self._model.aclose()


def _characters(delta: Delta) -> int:
    match delta:
        case Text(text) | Reasoning(text):
            return len(text)
        case ToolCallPart():
            return len(delta.arguments)
        case _:
            return 0
