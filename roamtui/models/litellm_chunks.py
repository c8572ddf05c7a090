"""litellm's chunk objects as plain data; litellm itself is not imported here."""

from __future__ import annotations

from typing import Any

from roamtui.models.thinking import ThinkingBlocks


class Extras:
    """What a provider wants back with the turn: thinking blocks, signatures, fields per tool call."""

    def __init__(self) -> None:
        self._thinking = ThinkingBlocks()
        self._fields: dict[str, Any] = {}
        self._calls: dict[str, Any] = {}

    def feed(self, delta: object) -> None:
        """Take what is in one delta."""
        self._thinking.feed(plain(getattr(delta, "thinking_blocks", None)))
        fields = plain(getattr(delta, "provider_specific_fields", None))
        if isinstance(fields, dict):
            self._fields |= {name: value for name, value in fields.items() if name != "thinking_blocks" and value}
        for call in getattr(delta, "tool_calls", None) or ():
            own = plain(getattr(call, "provider_specific_fields", None))
            if own and getattr(call, "id", None):
                self._calls[call.id] = own

    def close(self) -> dict[str, Any]:
        """Return everything kept, empty when there is nothing."""
        kept = {
            "thinking_blocks": self._thinking.close(),
            "provider_specific_fields": self._fields,
            "calls": self._calls,
        }
        return {name: value for name, value in kept.items() if value}


def plain(value: Any) -> Any:
    """Return pydantic objects as dictionaries, also inside lists; anything else unchanged."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else value


def chunk_data(chunk: object, extras: Extras) -> dict[str, Any]:
    """Return a chunk in the shape of the wire, and leave the rest of it with `extras`."""
    data: dict[str, Any] = {}
    usage = getattr(chunk, "usage", None)
    if usage is not None:
        data["usage"] = plain(usage)
    choices = getattr(chunk, "choices", None)
    if not choices:
        return data
    delta = getattr(choices[0], "delta", None)
    extras.feed(delta)
    data["choices"] = [
        {
            "finish_reason": getattr(choices[0], "finish_reason", None),
            "delta": {
                "content": getattr(delta, "content", None),
                "reasoning_content": getattr(delta, "reasoning_content", None),
                "tool_calls": [_call(call) for call in getattr(delta, "tool_calls", None) or ()],
                "function_call": plain(getattr(delta, "function_call", None)),
            },
        }
    ]
    return data


def _call(call: object) -> dict[str, Any]:
    function = getattr(call, "function", None)
    return {
        "index": getattr(call, "index", None),
        "id": getattr(call, "id", None),
        "function": {"name": getattr(function, "name", None), "arguments": getattr(function, "arguments", None)},
    }
