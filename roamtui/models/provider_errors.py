"""What providers say when they refuse, sorted into the kinds of `ModelError`."""

from __future__ import annotations

import email.utils
import math
import re
from collections.abc import Mapping

from roamtui.errors import ModelError
from roamtui.models.json_reply import field, mend, parse_json
from roamtui.text import clip, one_line, redact

QUOTE_CELLS = 300
"""Most cells of a provider's own words shown in an error."""

_CONTEXT_WORDS = (
    "context_length_exceeded",
    "maximum context length",
    "context size",
    "context window",
    "context length",
    "prompt is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "input is too long",
    "exceed_context_size",
)
_FILTER_WORDS = ("content_filter", "content_policy", "content management policy", "safety system")
_OVERLOAD_WORDS = ("overloaded", "server_error", "internal_error", "unavailable", "insufficient_system_resource")
_RATE_WORDS = ("rate_limit", "rate limit", "too many requests", "quota")

_MARKUP = re.compile(r"\s*(?:b['\"])?\s*<")
"""Start of an HTML page, also as litellm quotes bytes."""

_HINTS = {
    "auth": "Check the key, and that it may use this model.",
    "rate_limit": "Wait a little, or ask for a smaller share with fewer steps.",
    "context": "Close sections, or choose a model with a larger window.",
    "overloaded": "The provider is in trouble; try again later.",
    "refused": "The provider's filter stopped the answer; ask differently.",
}


def quote(words: str) -> str:
    """Return a provider's words fit for one line on a screen: no secrets, nothing unsafe, not long."""
    return clip(one_line(redact(words[:4000])), QUOTE_CELLS)


def error_words(reply: str) -> tuple[str, str]:
    """Return message and code of an error reply in any of the usual shapes; short prose is its own message."""
    start = reply.find("{")
    if start < 0:
        return ("" if _MARKUP.match(reply) else reply.strip()), ""
    try:
        value = parse_json(reply[start : reply.rfind("}") + 1])
    except ModelError:
        return reply.strip(), ""
    error = field(value, "error") or value
    if isinstance(error, str):
        return mend(error), ""
    message = next((item for name in ("message", "detail", "msg") if isinstance(item := field(error, name), str)), "")
    return mend(message), str(field(error, "code") or field(error, "type") or "")


def error_from_reply(
    status: int | None, words: str, *, where: str, retry_after: float | None = None, code: str = ""
) -> ModelError:
    """Return the error for a reply that is not an answer.

    `status` is the HTTP status (None for an error inside a stream), `words` the provider's message, `code` its
    machine-readable code or type, `where` the host or provider as people know it.
    """
    kind = _kind(status, f"{code} {words}".lower())
    said = f" says: {quote(words)}" if words.strip() else " gave no reason."
    if status == 404:
        hint = "Check the model's name and the address (OpenAI-compatible ones usually end in /v1)."
    else:
        hint = _HINTS.get(kind, "")
    number = f" ({status})" if status is not None else ""
    return ModelError(kind, f"{where}{number}{said}", hint, status=status, retry_after=retry_after)


def _kind(status: int | None, words: str) -> str:
    if status in (401, 403, 407):
        return "auth"
    if status == 429:
        return "rate_limit"
    if any(word in words for word in _FILTER_WORDS):
        return "refused"
    if status in (None, 400, 413, 422, 500) and any(word in words for word in _CONTEXT_WORDS):
        return "context"
    if status in (408, 409, 425) or (status is not None and status >= 500):
        return "overloaded"
    if status is not None:
        return "bad_request"
    if any(word in words for word in _RATE_WORDS):
        return "rate_limit"
    if "429" in words.split():
        return "rate_limit"
    if any(word in words for word in _OVERLOAD_WORDS) or {"500", "502", "503", "529"} & set(words.split()):
        return "overloaded"
    return "bad_reply"


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Return how long the provider asks us to wait, from its headers; None when it does not say or talks nonsense.

    Understands `retry-after-ms`, and `retry-after` in seconds or as an HTTP date; `now` is seconds since the epoch.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        when = email.utils.parsedate_to_datetime(text)
        return max(0.0, when.timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
