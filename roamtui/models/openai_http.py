"""The maker for `--base-url`: any OpenAI-compatible server over httpx.

It starts in milliseconds, follows no redirect and reads replies in bounds. Proxies from the environment
(`HTTPS_PROXY`, `NO_PROXY`…) are honoured for servers elsewhere, since a user behind one has no other way; for
servers on this machine they are off.
"""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from roamtui.errors import ModelError
from roamtui.models.addresses import check_base_url, host_of, is_loopback
from roamtui.models.base import Delta, ProviderFields, Request
from roamtui.models.chat_chunks import ChatChunks
from roamtui.models.json_reply import parse_json
from roamtui.models.outgoing import fields_for, outgoing, tagged_fields
from roamtui.models.provider_errors import error_from_reply, error_words, retry_after_seconds
from roamtui.models.secret import Secret
from roamtui.models.sse import EventStream

if TYPE_CHECKING:
    import httpx

MAX_REPLY = 64_000_000
"""Most bytes of one reply, decoded: about 300,000 streamed pieces."""
MAX_ERROR = 64_000
"""Most bytes read of a reply that is an error."""
AFTER_FINISH_S = 5.0
"""Seconds a server may take after its finish reason to send usage and end; the answer is complete by then."""


class OpenAIHTTP:
    """A model behind an OpenAI-compatible server."""

    maker = "openai-http"
    version = "1"
    """Raised when the same reply would give other deltas; part of the cache key."""

    def __init__(
        self, name: str, base_url: str, *, api_key: Secret | None = None, problem: ModelError | None = None
    ) -> None:
        """Name a model and its server; nothing is sent or imported yet. `problem` is raised instead of sending.

        One leading `openai/` is litellm's way to say "an OpenAI-compatible server" and is not part of the name there.
        Raises `ConfigError` for an address that makes no sense.
        """
        self.name = name
        self.base_url = check_base_url(base_url)
        self._api_key = api_key
        self._problem = problem
        self._wire_name = name.removeprefix("openai/")
        self._where = host_of(self.base_url)
        self._client: httpx.AsyncClient | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer one request. Raises `ModelError`; closing the iterator closes the connection."""
        if self._problem is not None:
            raise self._problem
        client = await self._connected()
        chunks = ChatChunks(id_prefix=f"call_{len(request.messages)}_", where=self._where)
        async with aclosing(_Exchange(client, self._where).replies(self._post(client, request), chunks)) as replies:
            async for reply in replies:
                for delta in chunks.feed(reply):
                    yield delta
        for delta in chunks.close():
            yield self._tagged(delta)

    def _tagged(self, delta: Delta) -> Delta:
        if isinstance(delta, ProviderFields):
            return ProviderFields(tagged_fields(self.maker, self.name, delta.fields))
        return delta

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = await asyncio.to_thread(_new_client, self.base_url)
        return self._client

    def _post(self, client: httpx.AsyncClient, request: Request) -> httpx.Request:
        headers = {"accept": "text/event-stream, application/json", "accept-encoding": "identity"}
        if self._api_key is not None:
            headers["authorization"] = f"Bearer {self._api_key.reveal()}"
        body: dict[str, Any] = {**request.params, "model": self._wire_name, "messages": self._messages(request)}
        if request.tools:
            body["tools"] = list(request.tools)
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        headers["content-type"] = "application/json"
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return client.build_request("POST", f"{self.base_url}/chat/completions", headers=headers, content=content)

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        messages = outgoing(request.messages)
        for message, original in zip(messages, request.messages, strict=True):
            fields = fields_for(original, self.maker, self.name)
            extras = fields.pop("extra_content", {})
            message |= fields
            for call in message.get("tool_calls", ()):
                if call["id"] in extras:
                    call["extra_content"] = extras[call["id"]]
        return messages


def _new_client(base_url: str) -> httpx.AsyncClient:
    """Make the client; importing httpx and loading certificates takes up to 0.1 s, hence on a thread."""
    import httpx

    return httpx.AsyncClient(
        follow_redirects=False,
        trust_env=not is_loopback(base_url),
        timeout=httpx.Timeout(None),  # `bounded.Bounded` keeps the time of whole calls; httpx would only per read
        limits=httpx.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=30),
    )


class _Exchange:
    """One request and its reply, with every failure of the wire as a `ModelError`."""

    def __init__(self, client: httpx.AsyncClient, where: str) -> None:
        self._client = client
        self._where = where

    async def replies(self, request: httpx.Request, chunks: ChatChunks) -> AsyncGenerator[object, None]:
        """Yield the JSON objects of the reply, whether it streams or comes whole."""
        import httpx

        started = False
        try:
            response = await self._client.send(request, stream=True)
            started = True
            try:
                async with aclosing(self._objects(response, chunks)) as objects:
                    async for item in objects:
                        yield item
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            if not chunks.finish_reason:
                raise _wire_error(error, self._where, started=started) from None
        except (httpx.InvalidURL, UnicodeError, OSError) as error:
            raise ModelError("connection", f"{self._where} cannot be asked: {type(error).__name__}.") from None

    async def _objects(self, response: httpx.Response, chunks: ChatChunks) -> AsyncGenerator[object, None]:
        if response.status_code != 200:
            raise await self._refusal(response)
        events, kind, whole = EventStream(), "", bytearray()
        async with aclosing(_bounded_body(response, self._where)) as body:
            while (piece := await self._next_piece(body, chunks)) is not None:
                if kind == "":
                    whole += piece
                    kind, piece = _kind_of_body(whole), bytes(whole)
                elif kind == "json":
                    whole += piece
                if kind == "other":
                    raise ModelError(
                        "bad_reply",
                        f"{self._where} answered with something that is not a chat completion.",
                        "Check the address; OpenAI-compatible ones usually end in /v1.",
                    )
                if kind == "events":
                    for data in events.feed(piece):
                        if data.strip() == "[DONE]":
                            return
                        yield parse_json(data)
        if kind == "json":
            yield parse_json(bytes(whole))
        for data in events.close():
            if data.strip() != "[DONE]":
                yield self._last(data)

    def _last(self, data: str) -> object:
        """Return the value of an event that the end of the stream cut off, or nearly so."""
        try:
            return parse_json(data)
        except ModelError:
            raise ModelError("truncated", f"{self._where} ended the stream in the middle of a piece.") from None

    async def _next_piece(self, body: AsyncIterator[bytes], chunks: ChatChunks) -> bytes | None:
        try:
            async with asyncio.timeout(AFTER_FINISH_S if chunks.finish_reason else None):
                return await anext(body, None)
        except TimeoutError:
            return None

    async def _refusal(self, response: httpx.Response) -> ModelError:
        if response.is_redirect or 300 <= response.status_code < 400:
            return ModelError(
                "bad_request",
                f"{self._where} sends us to another address ({response.status_code}); that is not followed.",
                "If you trust the other address, give it as --base-url.",
                status=response.status_code,
            )
        body = bytearray()
        async with aclosing(_bounded_body(response, self._where)) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > MAX_ERROR:
                    break
        wait = retry_after_seconds(response.headers, time.time())
        words, code = error_words(bytes(body[:MAX_ERROR]).decode("utf-8", "replace"))
        return error_from_reply(response.status_code, words, where=self._where, retry_after=wait, code=code)


def _kind_of_body(head: bytes | bytearray) -> str:
    """Tell by its first bytes what a reply is: `events`, `json`, `other`; empty while it is too early to say.

    The content type is not asked: servers get it wrong in both directions.
    """
    start = bytes(head[:4096]).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return "other" if len(head) > 4096 else ""
    if start[:1] in (b"{", b"["):
        return "json"
    known = (b"data:", b"event:", b":", b"id:", b"retry:")
    if start.startswith(known):
        return "events"
    return "" if any(word.startswith(start) for word in known) else "other"


async def _bounded_body(response: httpx.Response, where: str) -> AsyncGenerator[bytes, None]:
    """Yield the body, decoded here because httpx would inflate a bomb before anyone can stop it."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    inflate = None
    if encoding in ("gzip", "x-gzip", "deflate"):
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
    elif encoding not in ("", "identity"):
        raise ModelError("bad_reply", f"{where} packed its reply in a way that was not asked for.")
    total = 0
    async for packed in response.aiter_raw():
        rest = packed
        while rest:
            data = rest if inflate is None else _inflate(inflate, rest, where)
            rest = b"" if inflate is None else inflate.unconsumed_tail
            total += len(data)
            if total > MAX_REPLY:
                raise ModelError("too_large", f"{where} sent more than {MAX_REPLY // 1_000_000} MB.")
            yield data


def _inflate(inflate: zlib._Decompress, piece: bytes, where: str) -> bytes:
    try:
        return inflate.decompress(piece, 1 << 20)
    except zlib.error:
        raise ModelError("bad_reply", f"{where} sent a damaged packed reply.") from None


def _wire_error(error: httpx.HTTPError, where: str, *, started: bool) -> ModelError:
    import ssl

    import httpx

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ModelError(
                "unavailable",
                f"The certificate of {where} is not trusted: {cause.verify_message}.",
                "For a private authority, set SSL_CERT_FILE to its certificates.",
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return ModelError("connection", f"{where} cannot be reached.", f"Is the server running at {where}?")
    if isinstance(error, httpx.ProxyError):
        return ModelError("connection", f"The proxy on the way to {where} refused.", "Check HTTPS_PROXY and NO_PROXY.")
    if started:
        return ModelError("truncated", f"The connection to {where} broke before the answer was complete.")
    if isinstance(error, httpx.RemoteProtocolError) and "disconnected" not in str(error):
        return ModelError("bad_reply", f"{where} does not speak HTTP as expected.", "Check the address.")
    return ModelError("connection", f"The connection to {where} broke.", f"Is the server running at {where}?")
