"""JSON as servers send it: any type anywhere, huge numbers, deep nesting, halves of surrogate pairs."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from roamtui.errors import ModelError

_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(text: str | bytes) -> Any:
    """Return the value of JSON text. Raises `ModelError` (kind `bad_reply`) for anything else."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    try:
        return json.loads(text)  # also takes lone surrogates, which `SurrogateMender` deals with
    except (ValueError, RecursionError):
        raise ModelError("bad_reply", "The server sent something that is not JSON.") from None


def field(value: object, name: str) -> Any:
    """Return member `name` of a JSON object, None when `value` is no object or has no such member."""
    return value.get(name) if isinstance(value, dict) else None


def text_of(value: object) -> str:
    """Return the text of a message's content: a string, or a list of parts with text; anything else is empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(part for item in value if isinstance(part := field(item, "text"), str))
    return ""


def count_of(value: object) -> int:
    """Return a token count; 0 for what is not a whole number from 0."""
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


def mend(text: str) -> str:
    """Return `text` with split surrogate pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class SurrogateMender:
    """Mends text that arrives in pieces: a pair may be cut between two of them."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """Return what can be said of `text` so far; half a pair at its end waits for the next piece."""
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return mend(text)

    def close(self) -> str:
        """Return U+FFFD when a half was left over."""
        half, self._half = self._half, ""
        return mend(half)
