"""Tool-call fragments as servers really send them, turned into clean `ToolCallPart`s.

The index of a fragment is not trusted: Ollama streams every parallel call with index 0, some servers send
none, some repeat id and name on every fragment, some send the arguments as an object, some send no id.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from roamtui.errors import ModelError
from roamtui.models.base import ToolCallPart, is_json

MAX_CALLS = 128
"""Most tool calls in one turn; more is a runaway reply."""

MAX_LOOK = 20_000
"""Most characters of arguments that are checked for completeness when a fragment may begin a new call."""


@dataclass(slots=True)
class _Call:
    number: int
    """Place in the turn, from 0."""
    given_id: str
    """The id as the server wrote it; empty when it gave none."""
    name: str
    parts: list[str] = field(default_factory=list)
    """Pieces of the arguments so far."""
    size: int = 0
    """Characters of the arguments so far."""
    sent: bool = False
    """Whether the part with id and name was handed out."""

    def is_whole(self) -> bool:
        """Tell whether the arguments are complete JSON; long ones are not looked at, to stay linear in time."""
        return 0 < self.size <= MAX_LOOK and is_json("".join(self.parts))


class ToolParts:
    """Assigns fragments to calls; one object per turn."""

    def __init__(self, id_prefix: str) -> None:
        """Make ids of calls without one start with `id_prefix`, which must be new in the conversation."""
        self._prefix = id_prefix
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, index: object, id: object, name: object, arguments: object) -> list[ToolCallPart]:
        """Take one fragment with any of its fields odd or missing; return the clean parts it makes."""
        number = index if type(index) is int else None
        given_id = id if isinstance(id, str) else ""
        given_name = name if isinstance(name, str) else ""
        text = _arguments_text(arguments)
        call = self._find(number, given_id, given_name, text)
        if call is None:
            if not (given_id or given_name or text):
                return []
            call = self._start(given_id, given_name)
        if number is not None:
            self._by_index[number] = call
        call.given_id = call.given_id or given_id
        late_name = given_name if not call.name else ""
        call.name = call.name or given_name
        call.parts.append(text)
        call.size += len(text)
        if not call.sent:
            call.sent = True
            return [ToolCallPart(call.number, self._unique_id(call), call.name, text)]
        return [ToolCallPart(call.number, "", late_name, text)] if text or late_name else []

    def _find(self, index: int | None, given_id: str, name: str, text: str) -> _Call | None:
        """Return the call a fragment continues, None when it begins a new one."""
        call = next((item for item in reversed(self._calls) if given_id and item.given_id == given_id), None)
        if call is None:
            if index is not None:
                call = self._by_index.get(index)
            elif self._calls:
                call = self._calls[-1]
            if call is not None and given_id and call.given_id and (name or call.is_whole()):
                return None  # an id alone does not begin a call: some servers invent one for every fragment
        if call is None or not name:
            return call
        if call.name and call.name != name:
            return None
        return None if text.strip() and call.is_whole() else call

    def _start(self, given_id: str, name: str) -> _Call:
        if len(self._calls) >= MAX_CALLS:
            raise ModelError("too_large", f"The model asked for more than {MAX_CALLS} tool calls at once.")
        call = _Call(len(self._calls), given_id, name)
        self._calls.append(call)
        return call

    def _unique_id(self, call: _Call) -> str:
        base = call.given_id or f"{self._prefix}{call.number}"
        unique, copy = base, 2
        while unique in self._ids:
            unique, copy = f"{base}_{copy}", copy + 1
        self._ids.add(unique)
        return unique


def _arguments_text(arguments: object) -> str:
    """Return arguments as JSON text; an empty object is a placeholder that says nothing yet."""
    if isinstance(arguments, str):
        return arguments
    if not arguments:
        return ""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
