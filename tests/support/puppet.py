"""A model that says what a test tells it to: turns in a list, or a function of the request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from roamtui.errors import ModelError
from roamtui.models.base import Delta, Finish, Request, Text, ToolCallPart, Usage


@dataclass(frozen=True)
class Say:
    """One turn of the puppet."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    """Tool name and arguments; a string is sent as it is."""
    ids: tuple[str, ...] = ()
    """Call ids; made up when left out."""
    finish: str = ""
    error: ModelError | None = None
    """Raised after the text."""
    hang: bool = False
    """Wait for ever after the text."""
    usage: Usage | None = None


def opens(*refs: str, reason: str = "looks right", **more: Any) -> Say:
    """Return a turn that opens sections."""
    return Say(calls=(("expand_section", {"section_ids": list(refs), "reason": reason, **more}),))


@dataclass
class Puppet:
    """Plays turns; keeps the requests it was sent."""

    turns: Sequence[Say] | Callable[[Request, int], Say]
    requests: list[Request] = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while a turn hangs."""
    closed: int = 0
    """Streams that were closed before they ended."""

    maker = "puppet"
    name = "puppet"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Play the next turn."""
        number = len(self.requests)
        self.requests.append(request)
        turn = self.turns(request, number) if callable(self.turns) else self.turns[min(number, len(self.turns) - 1)]
        try:
            for start in range(0, len(turn.text), 7):
                yield Text(turn.text[start : start + 7])
            for index, (name, arguments) in enumerate(turn.calls):
                given = turn.ids[index] if index < len(turn.ids) else f"c{number}-{index}"
                yield ToolCallPart(index, given, name)
                yield ToolCallPart(index, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))
            if turn.hang:
                self.hanging.set()
                await asyncio.Event().wait()
            if turn.error is not None:
                raise turn.error
            if turn.usage is not None:
                yield turn.usage
            yield Finish(turn.finish or ("tool_calls" if turn.calls else "stop"))
        except (GeneratorExit, asyncio.CancelledError):
            self.closed += 1
            raise

    async def aclose(self) -> None:
        """Nothing to give back."""
