"""Thinking blocks put together from a stream: some providers want them back, signatures and all."""

from __future__ import annotations

from typing import Any

from roamtui.models.json_reply import field, mend


class ThinkingBlocks:
    """Collects Anthropic's thinking blocks: text comes in pieces, the signature last, redacted blocks whole."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []

    def feed(self, pieces: object) -> None:
        """Take the pieces of one chunk, in litellm's shape; anything else is ignored."""
        for piece in pieces if isinstance(pieces, list) else ():
            kind = field(piece, "type")
            if kind == "thinking":
                self._thinking(str(field(piece, "thinking") or ""), str(field(piece, "signature") or ""))
            elif kind == "redacted_thinking":
                self._blocks.append({"type": kind, "data": str(field(piece, "data") or "")})

    def _thinking(self, text: str, signature: str) -> None:
        last = self._blocks[-1] if self._blocks else {}
        if last.get("type") != "thinking" or last.get("signature"):
            last = {"type": "thinking", "thinking": "", "signature": ""}
            self._blocks.append(last)
        # With the signature some versions of litellm send the whole text once more.
        last["thinking"] = text if signature and text.startswith(last["thinking"]) else last["thinking"] + text
        last["signature"] = signature

    def close(self) -> list[dict[str, Any]]:
        """Return the complete blocks; one without its signature would be refused and is left out."""
        complete = [block for block in self._blocks if block.get("signature") or block.get("data")]
        return [{name: mend(value) for name, value in block.items()} for block in complete]
