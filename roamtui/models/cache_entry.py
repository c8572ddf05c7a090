"""What the response cache keys and stores: a whole request, and the deltas that answered it.

The key is the SHA-256 of the request's canonical JSON: maker and its version, model, address without user info,
messages with their call ids renumbered (fresh ids must not miss), tools, parameters and sample. An entry repeats the
request, which is compared on reading, so that no mistake in the key can serve a wrong answer.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from roamtui.models.base import Assembler, Delta, Message, Request, Turn, is_json
from roamtui.text import redact

SCHEMA = 1
"""Version of keys and entries; another one is a miss."""
MAX_ENTRY = 32_000_000
"""Most bytes of an unpacked entry."""
_MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded model call."""

    schema: int
    version: str
    """Version of roamtui that wrote it."""
    recorded: float
    """When, in seconds since the epoch."""
    request: dict[str, Any]
    """The request as `request_document` gives it, without secrets."""
    deltas: list[tuple[float, Delta]]
    """Seconds since the request went out, and the delta."""


def request_document(request: Request, *, maker: str, maker_version: str, base_url: str = "") -> dict[str, Any]:
    """Return everything that decides an answer, as plain data; never a key or a header."""
    return {
        "schema": SCHEMA,
        "maker": maker,
        "maker_version": maker_version,
        "model": request.model,
        "base_url": base_url or request.base_url,
        "messages": _messages(request.messages),
        "tools": list(request.tools),
        "params": dict(request.params),
        "sample": request.sample,
    }


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    ids: dict[str, str] = {}
    normal = []
    for message in messages:
        kept = {name: message[name] for name in _MESSAGE_KEYS if message.get(name) is not None}
        if "tool_calls" in kept:
            kept["tool_calls"] = [_call(call, ids) for call in kept["tool_calls"]]
        if "tool_call_id" in kept:
            kept["tool_call_id"] = ids.get(kept["tool_call_id"], kept["tool_call_id"])
        normal.append(kept)
    return normal


def _call(call: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    number = ids[""] = str(int(ids.get("", "0")) + 1)
    ids[call["id"]] = f"t{number}"  # the latest call of an id is meant by the results after it
    arguments = call["function"]["arguments"]
    try:
        arguments = json.loads(arguments)
    except (ValueError, RecursionError):
        pass
    return {"id": f"t{number}", "name": call["function"]["name"], "arguments": arguments}


def cache_key(document: dict[str, Any]) -> str:
    """Return the key of a request document, 64 hexadecimal digits. Raises `ValueError` or `TypeError` for no JSON."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(b"roamtui response\0" + canonical.encode("ascii")).hexdigest()


def redacted(value: Any) -> Any:
    """Return plain data with every secret taken out of its strings."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key) if isinstance(key, str) else key: redacted(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value


def pack(document: dict[str, Any], deltas: list[tuple[float, Delta]], *, recorded: float, version: str) -> bytes | None:
    """Return an entry as bytes; None for a turn that must not be stored.

    Stored are complete turns only: an end the provider declared, something in it, and arguments that parse. A turn
    that holds a secret is not stored at all, because it could only be served altered.
    """
    if not _is_complete(deltas) or _holds_secret(deltas):
        return None
    entry = Entry(schema=SCHEMA, version=version, recorded=recorded, request=redacted(document), deltas=deltas)
    try:
        data = msgspec.json.encode(entry)
    except (UnicodeError, TypeError, ValueError, RecursionError):
        return None
    return zlib.compress(data, 5) if len(data) <= MAX_ENTRY else None


def unpack(data: bytes, document: dict[str, Any]) -> Entry | None:
    """Return the entry in `data` if it answers exactly `document`, else None."""
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(data, MAX_ENTRY)
        if not inflate.eof or inflate.unused_data:
            return None
        entry = msgspec.json.decode(raw, type=Entry)
    except (zlib.error, msgspec.DecodeError, RecursionError, UnicodeError, ValueError):
        return None
    if entry.schema != SCHEMA or not _is_complete(entry.deltas):
        return None
    is_same = entry.request == document  # the common case, without a secret anywhere, needs no slow redaction
    return entry if is_same or entry.request == json.loads(json.dumps(redacted(document))) else None


def _turn(deltas: list[tuple[float, Delta]]) -> Turn:
    assembler = Assembler()
    for _, delta in deltas:
        assembler.feed(delta)
    return assembler.turn()


def _is_complete(deltas: list[tuple[float, Delta]]) -> bool:
    turn = _turn(deltas)
    if turn.finish not in ("stop", "tool_calls") or not (turn.text.strip() or turn.tool_calls):
        return False
    return all(call.name and is_json(call.arguments) for call in turn.tool_calls)


def _holds_secret(deltas: list[tuple[float, Delta]]) -> bool:
    """Tell whether a secret stands anywhere in a turn, also where it was streamed in pieces."""
    turn = _turn(deltas)
    strings = [turn.text, turn.reasoning, *(call.arguments for call in turn.tool_calls)]
    plain = msgspec.to_builtins(turn.provider_fields)
    return any(redact(text) != text for text in strings) or bool(redacted(plain) != plain)
