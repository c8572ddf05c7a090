"""A loopback server that speaks Anthropic's Messages API, streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire import Reply, WireServer, arguments_text, pieces

SIGNATURE = "c2lnbmF0dXJl"
"""Signature of every thinking block; it must come back unchanged."""


class AnthropicServer(WireServer):
    """`POST /v1/messages`."""

    def events(self, request: Any, reply: Reply) -> Iterator[bytes]:
        usage = reply.usage
        start = {
            "input_tokens": usage.get("input", 0) - usage.get("cache_read", 0) - usage.get("cache_write", 0),
            "cache_read_input_tokens": usage.get("cache_read", 0),
            "cache_creation_input_tokens": usage.get("cache_write", 0),
            "output_tokens": 1,
        }
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": [],
            "usage": start,
        }
        yield self.frame({"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}})
        for index, (block, changes) in enumerate(_blocks(reply)):
            yield self.frame({"type": "content_block_start", "index": index, "content_block": block})
            for change in changes:
                yield self.frame({"type": "content_block_delta", "index": index, "delta": change})
            yield self.frame({"type": "content_block_stop", "index": index})
        finish = ("tool_use" if reply.tool_calls else "end_turn") if reply.finish is None else reply.finish
        if finish:
            end = {"stop_reason": finish, "stop_sequence": None}
            yield self.frame(
                {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage.get("output", 0)}}
            )
            yield self.frame({"type": "message_stop"})

    def error_body(self, reply: Reply) -> bytes:
        error = {"type": reply.code or "api_error", "message": reply.error}
        return json.dumps({"type": "error", "error": error}).encode()

    def frame(self, chunk: object) -> bytes:
        name = chunk["type"] if isinstance(chunk, dict) else "message"
        return f"event: {name}\ndata: {json.dumps(chunk)}\n\n".encode()


def _blocks(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each content block as it starts, and the changes that fill it."""
    if reply.reasoning:
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(reply.reasoning)]
        signature = {"type": "signature_delta", "signature": SIGNATURE}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
    if reply.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
    for number, (name, arguments) in enumerate(reply.tool_calls):
        changes = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments_text(arguments))]
        yield {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}, changes
