"""Loopback servers for tests: real sockets, scripted replies, every way to fail on the wire.

A server runs on a thread of its own, so that a test, a screen or a plain script can use it alike::

    async with OpenAIServer([Reply(text="Hello")]) as server:
        model = OpenAIHTTP("any", server.base_url)
        ...
        assert server.requests[0].json["model"] == "any"
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

WAIT_S = 10.0
"""Seconds a test waits for something that must happen."""


Cut = Literal["end", "close", "reset", "hang"]
"""How a reply breaks off: a proper end, a closed connection, a reset, or silence."""


class Gate:
    """Holds a reply back until the test opens it."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._waiters: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        """Let the reply go on."""
        with self._lock:
            self._opened.set()
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    async def wait(self) -> None:
        """Wait in the server's loop until the gate is open."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            if self._opened.is_set():
                return
            self._waiters.append(lambda: loop.call_soon_threadsafe(event.set))
        await event.wait()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answers to one request, and how it breaks on the way."""

    text: str = ""
    reasoning: str = ""
    tool_calls: Sequence[tuple[str, object]] = ()
    """Name and arguments; a string of arguments is sent as it is."""
    usage: Mapping[str, int] = field(default_factory=lambda: {"input": 100, "output": 7})
    """`input`, `output`, `cache_read`, `cache_write`, `reasoning`."""
    finish: str | None = None
    """Finish reason in the server's own words; None: the right one; empty: none is sent."""
    chunks: Sequence[object] | None = None
    """Replaces the events: JSON objects, or bytes sent as they are."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "boom"
    """Message of a reply whose status is not 200."""
    code: str = ""
    """Error code beside it."""
    body: bytes | None = None
    """Replaces the whole body, whatever the status."""
    gate: Gate | None = None
    """Opened by the test before anything is sent, or before the events after `hold_after`."""
    hold_after: int = 0
    """Number of events sent before the gate; 0: not even the head."""
    cut_after: int | None = None
    """Number of events after which the reply breaks off."""
    cut: Cut = "close"
    """How it does."""
    repeat: bool = False
    """Send the events again and again without end."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    json: Any
    """The body parsed, None when it is no JSON."""


Script = Sequence[Reply] | Callable[[Received, int], Reply]
"""Replies in order, or a function of the request and its number from 0."""


class _Gone(Exception):
    """The client went away, or must."""


class _Connection(asyncio.StreamReaderProtocol):
    """A stream protocol that tells at once when the client closes."""

    def __init__(self, handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Event], Any]) -> None:
        self.gone = asyncio.Event()
        super().__init__(asyncio.StreamReader(limit=1 << 24), lambda reader, writer: handle(reader, writer, self.gone))

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class WireServer:
    """Base of the servers: HTTP over a loopback socket. Subclasses say what the events of a reply are."""

    content_type = "text/event-stream"
    path = ""
    """Appended to the address to give `base_url`."""

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self._script = script
        self._port = port
        self._changed = threading.Condition()
        self._writers: set[asyncio.StreamWriter] = set()
        self.requests: list[Received] = []
        """All requests so far."""
        self.disconnects = 0
        """Clients that went away in the middle of a reply."""

    # -- what a subclass speaks -----------------------------------------------------------------------

    def events(self, request: Any, reply: Reply) -> Iterator[bytes]:
        """Yield the body of a streamed reply, event by event."""
        raise NotImplementedError

    def aside(self, request: Received) -> bytes | None:
        """Return the body for a request that is not the one scripted, None for one that is."""
        return None

    def error_body(self, reply: Reply) -> bytes:
        """Return the body of an error reply."""
        return json.dumps({"error": {"message": reply.error, "type": reply.code, "code": reply.code}}).encode()

    # -- life -----------------------------------------------------------------------------------------

    @property
    def base_url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._port}{self.path}"

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(WAIT_S), "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(WAIT_S)

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.__exit__)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is true of `requests` or `disconnects`."""
        await asyncio.to_thread(self.block_until, condition)

    def block_until(self, condition: Callable[[], bool]) -> None:
        """Wait, without a loop, until something is true of `requests` or `disconnects`."""
        with self._changed:
            assert self._changed.wait_for(condition, WAIT_S), "the server waited in vain"

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(lambda: _Connection(self._client), "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # -- one connection -------------------------------------------------------------------------------

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self._writers.add(writer)
        try:
            while (request := await self._request(reader)) is not None:
                aside = self.aside(request)
                if aside is not None:
                    writer.write(_head(200, {"content-length": str(len(aside))}) + aside)
                    continue
                with self._changed:
                    number = len(self.requests)
                    self.requests.append(request)
                    self._changed.notify_all()
                await self._answer(request, self._reply(request, number), writer, gone)
        except (_Gone, ConnectionError):
            if gone.is_set():
                with self._changed:
                    self.disconnects += 1
                    self._changed.notify_all()
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _reply(self, request: Received, number: int) -> Reply:
        if callable(self._script):
            return self._script(request, number)
        if number < len(self._script):
            return self._script[number]
        return Reply(status=400, error="the test's script has no more replies")

    async def _request(self, reader: asyncio.StreamReader) -> Received | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {
            name.lower(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = None
        return Received(method, path, headers, body, parsed)

    async def _answer(self, request: Received, reply: Reply, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        if reply.gate is not None and reply.hold_after == 0:
            await _until(reply.gate.wait(), gone)
        if reply.cut_after == 0 and reply.cut != "end":
            await self._cut(reply, writer, gone)
        if reply.status != 200 or reply.body is not None:
            body = reply.body if reply.body is not None else self.error_body(reply)
            kind = "application/json" if reply.status != 200 else self.content_type
            headers = {"content-type": kind, "content-length": str(len(body)), **reply.headers}
            writer.write(_head(reply.status, headers) + body)
            await writer.drain()
            return
        headers = {"content-type": self.content_type, "transfer-encoding": "chunked", **reply.headers}
        writer.write(_head(200, headers))
        sent = 0
        while True:
            for event in self._events_of(request, reply):
                if sent == reply.cut_after:
                    await self._cut(reply, writer, gone)
                    return
                if reply.gate is not None and sent == reply.hold_after and sent:
                    await writer.drain()
                    await _until(reply.gate.wait(), gone)
                writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                await writer.drain()
                sent += 1
                if gone.is_set():
                    raise _Gone
            if not reply.repeat:
                break
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _events_of(self, request: Received, reply: Reply) -> Iterator[bytes]:
        if reply.chunks is None:
            yield from self.events(request.json, reply)
            return
        for chunk in reply.chunks:
            yield chunk if isinstance(chunk, bytes) else self.frame(chunk)

    def frame(self, chunk: object) -> bytes:
        """Return one JSON object as an event."""
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    async def _cut(self, reply: Reply, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        await writer.drain()
        if reply.cut == "end":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return
        if reply.cut == "hang":
            await _until(gone.wait(), gone)
        if reply.cut == "reset":
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise _Gone


async def _until(wait: Any, gone: asyncio.Event) -> None:
    """Wait for something, or raise when the client goes away first."""
    waiting, leaving = asyncio.ensure_future(wait), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        leaving.cancel()
    if gone.is_set():
        raise _Gone


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def pieces(text: str, size: int = 6) -> Iterator[str]:
    """Cut text as a server streams it."""
    for start in range(0, len(text), size):
        yield text[start : start + size]


def arguments_text(arguments: object) -> str:
    """Return arguments as a server writes them."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
