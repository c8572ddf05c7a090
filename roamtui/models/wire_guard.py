"""What httpx clients inside litellm may do: no redirects, nothing packed, replies in bounds.

Imported on litellm's thread only, because it imports httpx.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from roamtui.errors import ModelError
from roamtui.models.sse import MAX_LINE

MAX_REPLY = 64_000_000
"""Most bytes of one reply."""


def guard(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Put the rules on a client and return it. What breaks one raises `ModelError` inside the call."""
    client.follow_redirects = False
    client.event_hooks = {
        "request": [*client.event_hooks["request"], _ask_plain],
        "response": [*client.event_hooks["response"], _check],
    }
    return client


async def _ask_plain(request: httpx.Request) -> None:
    request.headers["accept-encoding"] = "identity"


async def _check(response: httpx.Response) -> None:
    where = response.request.url.host
    if response.has_redirect_location:
        raise ModelError(
            "bad_request",
            f"{where} sends us to another address ({response.status_code}); that is not followed.",
            status=response.status_code,
        )
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise ModelError("bad_reply", f"{where} packed its reply in a way that was not asked for.")
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Bounded(response.stream, where)


class _Bounded(httpx.AsyncByteStream):
    """A reply's bytes, which end in an error when a line or the whole is too long."""

    def __init__(self, inner: httpx.AsyncByteStream, where: str) -> None:
        self._inner = inner
        self._where = where

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for piece in self._inner:
            total += len(piece)
            line = line + len(piece) if b"\n" not in piece else len(piece) - piece.rfind(b"\n")
            if total > MAX_REPLY or line > MAX_LINE:
                raise ModelError("too_large", f"{self._where} sent more than any answer has.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
