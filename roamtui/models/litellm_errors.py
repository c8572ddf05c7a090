"""litellm's exceptions as our `ModelError`s, told apart by class name, status and words.

Its classes are not imported: this must work while litellm is not loaded, and they move between versions. Facts on
what each failure arrives as were measured on litellm 1.91 to 1.109 against loopback servers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from roamtui.errors import ModelError
from roamtui.models.provider_errors import error_from_reply, error_words, quote, retry_after_seconds

_STATUSES = {
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "NotFoundError": 404,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
    "BadRequestError": 400,
    "InvalidRequestError": 400,
    "InternalServerError": 500,
    "BadGatewayError": 502,
    "ServiceUnavailableError": 503,
}
"""HTTP status that a class stands for, where the exception carries none."""
_KINDS = {
    "ContextWindowExceededError": "context",
    "ContentPolicyViolationError": "refused",
    "GuardrailRaisedException": "refused",
    "BlockedPiiEntityError": "refused",
    "RejectedRequestError": "refused",
    "MidStreamFallbackError": "truncated",
    "APIResponseValidationError": "bad_reply",
    "JSONSchemaValidationError": "bad_reply",
    "UnsupportedParamsError": "bad_request",
    "BudgetExceededError": "rate_limit",
    "ModelNotMappedError": "bad_request",
    "Timeout": "overloaded",
    "APITimeoutError": "overloaded",
}
"""Kinds that a class decides by itself."""
_HINTS = {
    "context": "Close sections, or choose a model with a larger window.",
    "refused": "The provider's filter stopped the answer; ask differently.",
}
_BROKEN = ("peer closed connection", "incomplete chunked read", "connection reset", "readerror", "server disconnected")
_UNREACHED = ("connection error", "connecterror", "connection refused", "name or service not known", "all connection")
_GARBAGE = (
    "expecting value",
    "jsondecode",
    "utf-8",
    "remoteprotocolerror",
    "exceeds the limit",
    "recursion",
    "extra data",
    "invalid response object",
    "unterminated",
    "expecting property",
    "error parsing chunk",
    "validation error",
    "illegal",
)


def error_from_exception(error: BaseException, *, where: str) -> ModelError:
    """Return our error for anything litellm raised; `where` names the provider."""
    chain = list(_chain(error))
    own = next((item for item in chain if isinstance(item, ModelError)), None)
    if own is not None:
        return own
    names = {cls.__name__ for cls in type(error).__mro__}
    if "CancelledError" in names:
        return ModelError("connection", f"The call to {where} was dropped.")
    words, code = error_words(_words(error))
    status = _status(error, names)
    wait = retry_after_seconds(_headers(error), time.time())
    kind = next((kind for name, kind in _KINDS.items() if name in names), None)
    if kind == "truncated":
        return _broken(where)
    if kind is not None:
        return ModelError(kind, f"{where} says: {quote(words)}", _HINTS.get(kind, ""), status=status, retry_after=wait)
    text = " ".join(f"{type(item).__name__} {item}" for item in chain).lower()
    if "llm provider not provided" in text:
        return ModelError(
            "bad_request",
            f"{where} is no model name litellm knows.",
            "Write it with the provider in front, as in openai/…, anthropic/…, ollama_chat/….",
        )
    if status in (None, 500):
        if any(word in text for word in _UNREACHED):
            return ModelError("connection", f"{where} cannot be reached.", "Is the server up, and the network?")
        if any(word in text for word in _BROKEN):
            return _broken(where)
        if any(word in text for word in _GARBAGE):
            return ModelError("bad_reply", f"{where} sent something that is not an answer.")
        if "missing credentials" in text or "api_key" in text:
            return ModelError("auth", f"No key for {where}.", "Set the provider's key variable.")
    if status is None:
        kind = "connection" if names & {"APIConnectionError", "TransportError", "OSError"} else "bad_reply"
        return ModelError(kind, f"{where} says: {quote(words)}")
    return error_from_reply(status, words, where=where, retry_after=wait, code=code)


def _broken(where: str) -> ModelError:
    return ModelError("truncated", f"The connection to {where} broke before the answer was complete.")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        current = current.__cause__ or current.__context__ or original


def _status(error: BaseException, names: set[str]) -> int | None:
    given = getattr(error, "status_code", None)
    if isinstance(given, str) and given.isdigit():
        given = int(given)
    if type(given) is int and 400 <= given < 600:
        return given
    return next((status for name, status in _STATUSES.items() if name in names), None)


def _words(error: BaseException) -> str:
    """Return the provider's words without litellm's own prefixes ("litellm.X: YException - …")."""
    words = str(getattr(error, "message", "") or error).partition(" Handle with `litellm")[0].replace("\\'", "'")
    if words.startswith("litellm."):
        words = words.partition(": ")[2] or words
    head, dash, rest = words.partition(" - ")
    return rest if dash and head.endswith(("Exception", "Error")) else words


def _headers(error: BaseException) -> dict[str, str]:
    found: dict[str, str] = {}
    for source in (
        getattr(getattr(error, "response", None), "headers", None),
        getattr(error, "litellm_response_headers", None),
        getattr(error, "headers", None),
    ):
        items = getattr(source, "items", None)
        if callable(items):
            found |= {str(name).lower(): str(value) for name, value in items()}
    return {name.removeprefix("llm_provider-"): value for name, value in found.items()}
