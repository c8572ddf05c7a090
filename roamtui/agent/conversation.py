"""The conversation with the model: an append-only list of messages, each known by a hash.

System message and outline stay byte-identical for a whole session; compaction rewrites an earlier tool
result once, to a receipt.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from roamtui.estimate import estimate_tokens
from roamtui.models.base import Message

MESSAGE_OVERHEAD = 6
"""Tokens a message costs beyond its text (role, separators)."""


def message_hash(message: Any) -> str:
    """Return 16 hexadecimal characters naming a message by its content."""
    canonical = json.dumps(message, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def message_tokens(message: Message) -> int:
    """Estimate the tokens of one message."""
    total = estimate_tokens(str(message.get("content") or "")) + MESSAGE_OVERHEAD
    for call in message.get("tool_calls", ()):
        total += estimate_tokens(call["function"]["name"] + call["function"]["arguments"]) + MESSAGE_OVERHEAD
    if message.get("provider_fields"):
        total += estimate_tokens(json.dumps(message["provider_fields"], default=str))
    return total


class Conversation:
    """Messages in order, with their hashes and sizes."""

    def __init__(self, system: str) -> None:
        self.messages: list[Message] = []
        self.hashes: list[str] = []
        self.tokens: list[int] = []
        self.append({"role": "system", "content": system})

    def append(self, message: Message) -> str:
        """Add a message; return its hash."""
        found = message_hash(message)
        self.messages.append(message)
        self.hashes.append(found)
        self.tokens.append(message_tokens(message))
        return found

    def rewrite(self, index: int, message: Message) -> str:
        """Put another message in an earlier one's place; return its hash."""
        found = message_hash(message)
        self.messages[index] = message
        self.hashes[index] = found
        self.tokens[index] = message_tokens(message)
        return found

    def truncate(self, length: int) -> None:
        """Drop everything from message number `length` on."""
        del self.messages[length:], self.hashes[length:], self.tokens[length:]

    @property
    def answered_length(self) -> int:
        """Length of the longest beginning in which every tool call has its result."""
        waiting: set[str] = set()
        length = 1
        for index, message in enumerate(self.messages):
            waiting |= {call["id"] for call in message.get("tool_calls", ())}
            waiting.discard(message.get("tool_call_id", ""))
            if not waiting:
                length = index + 1
        return length

    def sizes(self) -> tuple[int, int, int]:
        """Return tokens of (system and outline, tool results, everything else)."""
        results = sum(
            size for message, size in zip(self.messages, self.tokens, strict=True) if message["role"] == "tool"
        )
        return self.tokens[0], results, sum(self.tokens) - results - self.tokens[0]
