"""A model that plays a file: for demonstrations, and the tests' workhorse.

`scripted:FILE` reads a JSON list; each item answers one request, in order::

    [
      {"reasoning": "The outline names it.",
       "tool_calls": [{"name": "expand_section", "arguments": {"section_ids": ["$id:Models › Model Dropdown"]}}]},
      {"match": "Model Dropdown",
       "text": "It is in the sidebar [[$id:Models › Model Dropdown|below the chat box]].",
       "usage": {"input": 1200, "output": 40}}
    ]

Per turn, all optional: `text`, `reasoning`; `tool_calls` (`name`, `arguments` as any JSON, or as a string sent
unchanged, `id`); `usage` (`input`, `output`, `cache_read`, `cache_write`, `reasoning`); `finish` (default `stop` or
`tool_calls`; `""` leaves the stream unfinished); `delay` (seconds before the first piece), `pace` (seconds between
pieces); `match` (words that must be in the last message); `error` (`kind`, `message`, `status`, `retry_after`), raised
after the turn's pieces.

`$id:` and a section's title, or the end of its path with ` › ` between titles, stands for the section's id. It is
looked up in what the conversation has shown so far: outline, search results, lists, opened sections.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import msgspec

from roamtui.errors import MODEL_ERROR_KINDS, ConfigError, ModelError
from roamtui.models.base import Delta, Finish, Reasoning, Request, Text, ToolCallPart, Usage
from roamtui.models.shown_ids import ShownIds
from roamtui.text import one_line

MAX_SCRIPT = 16_000_000
"""Most bytes of a script file."""
_PIECES = re.compile(r"\s*\S{1,24}(?:\s+\Z)?|\s+\Z")
_IN_TEXT = re.compile(r"\$id:([^|\]\n]+)")


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tool call of a turn."""

    name: str
    arguments: Any = msgspec.field(default_factory=dict)
    """Any JSON; a string is sent as it is, so that broken arguments can be played too."""
    id: str = ""
    """The call's id; empty: made from the turn's place in the conversation."""


class ScriptedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failure to play."""

    kind: str
    """One of `errors.MODEL_ERROR_KINDS`."""
    message: str = "The script says so."
    status: int | None = None
    retry_after: float | None = None
    """Seconds."""


class ScriptedTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to answer to one request."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: Usage | None = None
    finish: str | None = None
    """Finish reason; None: `stop` or `tool_calls`; empty: none, as a cut stream."""
    delay: float = 0.0
    """Seconds before the first piece."""
    pace: float = 0.0
    """Seconds between pieces."""
    match: str = ""
    """Words that must be in the last message."""
    error: ScriptedError | None = None


class ScriptedModel:
    """Plays turns, one per request."""

    maker = "scripted"
    version = "1"
    """Raised when the same script would give other deltas."""

    def __init__(self, turns: tuple[ScriptedTurn, ...], name: str = "scripted") -> None:
        """Play `turns`; people read the model's name as `name`."""
        self.name = name
        self._turns = turns
        self._next = 0

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """Read a script. Raises `ConfigError` for a file that is none."""
        shown = one_line(str(path))
        try:
            with path.open("rb") as file:
                data = file.read(MAX_SCRIPT + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "bad file name"
            raise ConfigError(f"The script {shown} cannot be read: {reason}.") from None
        if len(data) > MAX_SCRIPT:
            raise ConfigError(f"The script {shown} is larger than {MAX_SCRIPT // 1_000_000} MB.")
        return cls(parse_script(data, shown), f"scripted:{path.name}")

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Play the next turn. Raises `ModelError` when the script ran out or does not fit."""
        if self._next >= len(self._turns):
            raise ModelError(
                "bad_request", f"The script has {len(self._turns)} turns and all were played.", "Start again."
            )
        number, turn = self._next, self._turns[self._next]
        self._next += 1
        last = str(request.messages[-1].get("content") or "") if request.messages else ""
        if turn.match not in last:
            raise ModelError("bad_request", f"Turn {number + 1} of the script expects “{turn.match}” before it.")
        await asyncio.sleep(turn.delay)
        for delta in _pieces(turn, ShownIds(request.messages), f"call_{len(request.messages)}_"):
            yield delta
            if turn.pace:
                await asyncio.sleep(turn.pace)
        if turn.error is not None:
            error = turn.error
            raise ModelError(error.kind, error.message, status=error.status, retry_after=error.retry_after)
        if turn.finish == "":
            raise ModelError("truncated", "The script leaves this turn unfinished.")
        if turn.usage is not None:
            yield turn.usage
        yield Finish(turn.finish or ("tool_calls" if turn.tool_calls else "stop"))

    async def aclose(self) -> None:
        """Do nothing: a script holds no connection."""


def parse_script(data: bytes, shown: str) -> tuple[ScriptedTurn, ...]:
    """Return the turns of a script file; `shown` names it in errors. Raises `ConfigError`."""
    try:
        turns = msgspec.json.decode(data, type=tuple[ScriptedTurn, ...])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        reason = one_line(str(error))
        raise ConfigError(f"The script {shown} is wrong: {reason}", "It is a JSON list of turns.") from None
    for number, turn in enumerate(turns, 1):
        if turn.error is not None and turn.error.kind not in MODEL_ERROR_KINDS:
            kinds = ", ".join(sorted(MODEL_ERROR_KINDS))
            raise ConfigError(f"The script {shown}, turn {number}: no error of kind “{turn.error.kind}”.", kinds)
    return turns


def _pieces(turn: ScriptedTurn, ids: ShownIds, id_prefix: str) -> Iterator[Delta]:
    for piece in _PIECES.findall(turn.reasoning):
        yield Reasoning(piece)
    for piece in _PIECES.findall(_IN_TEXT.sub(lambda match: ids.find(match[1]), turn.text)):
        yield Text(piece)
    for number, call in enumerate(turn.tool_calls):
        arguments = call.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps(_resolved(arguments, ids), ensure_ascii=False)
        yield ToolCallPart(number, call.id or f"{id_prefix}{number}", call.name)
        middle = len(arguments) // 2
        for part in filter(None, (arguments[:middle], arguments[middle:])):
            yield ToolCallPart(number, arguments=part)


def _resolved(value: Any, ids: ShownIds) -> Any:
    if isinstance(value, str):
        return ids.find(value.removeprefix("$id:")) if value.startswith("$id:") else value
    if isinstance(value, list):
        return [_resolved(item, ids) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, ids) for key, item in value.items()}
    return value
