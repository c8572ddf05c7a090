"""A loopback server that speaks Ollama's own chat protocol: one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire import Received, Reply, WireServer, pieces


class OllamaServer(WireServer):
    """`POST /api/chat`. Like the real one, it sends each tool call whole, and every parallel call as the first."""

    content_type = "application/x-ndjson"

    def events(self, request: Any, reply: Reply) -> Iterator[bytes]:
        for piece in pieces(reply.reasoning):
            yield self.frame(_line({"thinking": piece, "content": ""}))
        for piece in pieces(reply.text):
            yield self.frame(_line({"content": piece}))
        for name, arguments in reply.tool_calls:
            call = {"function": {"index": 0, "name": name, "arguments": arguments}}
            yield self.frame(_line({"content": "", "tool_calls": [call]}))
        if reply.finish != "":
            counts = {"prompt_eval_count": reply.usage.get("input", 0), "eval_count": reply.usage.get("output", 0)}
            last = {**_line({"content": ""}), "done": True, "done_reason": reply.finish or "stop", **counts}
            yield self.frame(last)

    def aside(self, request: Received) -> bytes | None:
        """litellm asks for facts about the model in passing."""
        return b"{}" if request.path == "/api/show" else None

    def error_body(self, reply: Reply) -> bytes:
        return json.dumps({"error": reply.error}).encode()

    def frame(self, chunk: object) -> bytes:
        return json.dumps(chunk).encode() + b"\n"


def _line(message: dict[str, Any]) -> dict[str, Any]:
    stamp = "2026-01-01T00:00:00.000000Z"
    return {"model": "fake", "created_at": stamp, "message": {"role": "assistant", **message}, "done": False}
