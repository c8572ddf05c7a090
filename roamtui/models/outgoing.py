"""Messages as they go to a provider: in its shape, with what it wants back, and nothing it would choke on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from roamtui.models.base import Message

_MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def tagged_fields(maker: str, model: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return provider fields marked with who may have them back: another model must not see them."""
    return {maker: {"model": model, **fields}}


def fields_for(message: Message, maker: str, model: str) -> dict[str, Any]:
    """Return the provider fields of `message` that came from this maker and model, without the mark."""
    fields = (message.get("provider_fields") or {}).get(maker)
    if not isinstance(fields, dict) or fields.get("model") != model:
        return {}
    return {name: value for name, value in fields.items() if name != "model"}


def outgoing(messages: Iterable[Message]) -> list[Message]:
    """Return copies of `messages` with the keys of the chat protocol only, and tool calls every server accepts.

    A model may write a call with a bad name or arguments that are no JSON object; the conversation keeps what it
    wrote, but several servers answer 400 or 500 when they get it back.
    """
    return [_message(message) for message in messages]


def _message(message: Message) -> Message:
    kept = {key: message[key] for key in _MESSAGE_KEYS if message.get(key) is not None}
    if "tool_calls" in kept:
        kept["tool_calls"] = [_call(call) for call in kept["tool_calls"]]
    return kept


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {
        "id": call["id"],
        "type": "function",
        "function": {
            "name": _NAME.sub("_", function["name"])[:64] or "unnamed",
            "arguments": _object_text(function["arguments"]),
        },
    }


def _object_text(arguments: str) -> str:
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"unreadable": arguments})
