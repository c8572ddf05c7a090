"""What a model is to roamtui: a request in, a stream of deltas out.

Requests and deltas are plain data. Messages have the OpenAI chat shape (`role`, `content`, `tool_calls`,
`tool_call_id`); an assistant message may carry `provider_fields`, which makers send back verbatim.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

Message = dict[str, Any]
"""One chat message, in the OpenAI shape."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One model call: everything that decides its answer, and nothing else."""

    model: str
    """Model name as litellm spells it (`anthropic/…`), or the maker's own (`guide`)."""
    messages: Sequence[Message]
    """The conversation, system message first."""
    tools: Sequence[dict[str, Any]] = ()
    """Tool definitions, in the OpenAI shape; order matters to caches."""
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Sampling and limits that change the answer: temperature, max_tokens, seed, tool_choice…"""
    base_url: str = ""
    """Server address for OpenAI-compatible models; empty means the provider's own."""
    sample: int = 0
    """Run number, part of the cache key, so that repeated runs are different samples."""


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Some of the answer."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    """Some of the model's visible thinking."""

    text: str


class ToolCallPart(msgspec.Struct, frozen=True, tag="tool"):
    """A piece of a tool call. Parts with one `index` belong together; makers repair odd numberings."""

    index: int
    """Place of the call in this turn, from 0."""
    id: str = ""
    """The provider's call id, on the first part."""
    name: str = ""
    """The tool's name, on the first part."""
    arguments: str = ""
    """More of the JSON text of the arguments."""


class ProviderFields(msgspec.Struct, frozen=True, tag="provider"):
    """What the provider wants back untouched with this turn (thinking blocks, signatures)."""

    fields: dict[str, Any]


class Usage(msgspec.Struct, frozen=True, tag="usage", kw_only=True):
    """Token counts as the provider reports them; `input` includes what its prompt cache read."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """The provider's own word that the turn is complete. Without it the stream was cut."""

    reason: str
    """`stop`, `tool_calls`, `length` or `content_filter`."""


class Served(msgspec.Struct, frozen=True, tag="served", kw_only=True):
    """First delta of every call: where the answer comes from."""

    cached: bool
    """Whether the disk cache answers."""
    key: str = ""
    """Cache key, hexadecimal; empty when no cache is used."""
    recorded: float = 0.0
    """When the cached answer was recorded, seconds since the epoch; 0 for live calls."""


class Retrying(msgspec.Struct, frozen=True, tag="retrying", kw_only=True):
    """The call failed and will be tried again; nothing of the failed try counts."""

    attempt: int
    """Number of the try that comes next, from 2."""
    wait: float
    """Seconds until then."""
    kind: str
    """Kind of the error, one of `errors.MODEL_ERROR_KINDS`."""
    message: str
    """The error in words."""


Delta = Text | Reasoning | ToolCallPart | ProviderFields | Usage | Finish | Served | Retrying


class Model(Protocol):
    """Anything that answers requests."""

    @property
    def maker(self) -> str:
        """Which maker built it: `litellm`, `openai-http`, `guide`, `scripted`."""

    @property
    def name(self) -> str:
        """The model's name, as requests carry it and people read it."""

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer one request. Raises `errors.ModelError`; closing the iterator cancels the call."""

    async def aclose(self) -> None:
        """Give back connections and threads."""


class ToolCall(msgspec.Struct, frozen=True):
    """A complete tool call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON text, unparsed: it may be anything."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A complete answer, put together from deltas."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    provider_fields: dict[str, Any] = msgspec.field(default_factory=dict)
    usage: Usage | None = None
    finish: str = ""
    """Finish reason; empty when the stream ended without one."""

    def message(self) -> Message:
        """Return the assistant message to append to the conversation."""
        message: Message = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        if self.provider_fields:
            message["provider_fields"] = self.provider_fields
        return message


class Assembler:
    """Puts a turn together from its deltas; any chunking of the same bytes gives the same turn."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, tuple[list[str], list[str], list[str]]] = {}
        self._fields: dict[str, Any] = {}
        self._usage: Usage | None = None
        self._finish = ""

    def feed(self, delta: Delta) -> None:
        """Take the next delta; `Retrying` starts the turn anew."""
        match delta:
            case Text(text):
                self._text.append(text)
            case Reasoning(text):
                self._reasoning.append(text)
            case ToolCallPart(index, id, name, arguments):
                ids, names, parts = self._calls.setdefault(index, ([], [], []))
                ids += filter(None, (id,))
                names += filter(None, (name,))
                parts.append(arguments)  # joined once: adding up strings would take quadratic time
            case ProviderFields(fields):
                self._fields.update(fields)
            case Usage():
                self._usage = delta
            case Finish(reason):
                self._finish = reason
            case Retrying():
                self._reset()
            case Served():
                pass

    def turn(self) -> Turn:
        """Return what has come so far as a turn. Calls without an id get `call_N`."""
        ordered = [self._calls[index] for index in sorted(self._calls)]
        return Turn(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=tuple(
                ToolCall(ids[0] if ids else f"call_{number}", names[0] if names else "", "".join(parts) or "{}")
                for number, (ids, names, parts) in enumerate(ordered)
            ),
            provider_fields=self._fields,
            usage=self._usage,
            finish=self._finish,
        )


def is_json(text: str) -> bool:
    """Tell whether `text` is one complete JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
