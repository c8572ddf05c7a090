"""Chunks of an OpenAI-compatible chat stream, read into deltas whatever their quirks."""

from __future__ import annotations

from typing import Any

from roamtui.errors import ModelError
from roamtui.models.base import Delta, Finish, ProviderFields, Reasoning, Text, Usage
from roamtui.models.json_reply import SurrogateMender, count_of, field, mend, text_of
from roamtui.models.provider_errors import error_from_reply
from roamtui.models.toolparts import ToolParts

_FINISH_REASONS = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "refusal": "content_filter",
}
"""What servers call the end of a turn, in our four words."""


def finish_of(reason: str, *, has_calls: bool) -> Finish:
    """Return the end a provider's word means. Raises `ModelError` (`truncated`) for a word that is no proper end."""
    known = _FINISH_REASONS.get(reason.lower())
    if known is None:
        raise ModelError("truncated", f"The server ended the answer with “{mend(reason)[:40]}”.")
    if known in ("stop", "tool_calls"):
        known = "tool_calls" if has_calls else "stop"
    return Finish(known)


def usage_of(value: object) -> Usage | None:
    """Return token counts in OpenAI's shape as ours, None when there are none; odd numbers count as 0."""
    if not isinstance(value, dict):
        return None
    prompt, completion = field(value, "prompt_tokens_details"), field(value, "completion_tokens_details")
    cache_read = count_of(field(prompt, "cached_tokens")) or count_of(field(value, "prompt_cache_hit_tokens"))
    return Usage(
        input=count_of(field(value, "prompt_tokens")),
        output=count_of(field(value, "completion_tokens")),
        cache_read=cache_read or count_of(field(value, "cache_read_input_tokens")),
        cache_write=count_of(field(value, "cache_creation_input_tokens")),
        reasoning=count_of(field(completion, "reasoning_tokens")),
    )


class ChatChunks:
    """Reads the chunks of one turn; `finish_reason` says whether the server called it complete."""

    def __init__(self, *, id_prefix: str, where: str) -> None:
        """Name calls without an id `id_prefix` + number; `where` is the host as errors name it."""
        self.finish_reason = ""
        """The last reason the server gave, in its own words; empty so far."""
        self._where = where
        self._tools = ToolParts(id_prefix)
        self._text = SurrogateMender()
        self._reasoning = SurrogateMender()
        self._usage: Usage | None = None
        self._details: list[Any] = []
        self._extras: dict[str, Any] = {}

    def feed(self, chunk: object) -> list[Delta]:
        """Return the deltas of one chunk. Raises `ModelError` for an error object or what is no chunk at all."""
        if not isinstance(chunk, dict):
            raise ModelError("bad_reply", f"{self._where} sent JSON that is not a chat chunk.")
        if chunk.get("error"):
            raise self._error(chunk["error"])
        self._usage = usage_of(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return []
        choice = choices[0]
        reason = field(choice, "finish_reason")
        if isinstance(reason, str) and reason:
            self.finish_reason = reason
        delta = field(choice, "delta")
        return self._deltas(delta if isinstance(delta, dict) else field(choice, "message"))

    def _deltas(self, delta: object) -> list[Delta]:
        if not isinstance(delta, dict):
            return []
        deltas: list[Delta] = []
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and (thought := self._reasoning.feed(thought)):
            deltas.append(Reasoning(thought))
        said = text_of(delta.get("content")) or text_of(delta.get("refusal"))
        if said and (said := self._text.feed(said)):
            deltas.append(Text(said))
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            self._details += details
        calls = delta.get("tool_calls")
        if isinstance(calls, dict):
            calls = [calls]
        if isinstance(calls, list):
            for call in calls:
                deltas += self._call(call, field(call, "function"))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            deltas += self._call({}, legacy)
        return deltas

    def _call(self, call: object, function: object) -> list[Delta]:
        call_id, name, arguments = (
            mend(value) if isinstance(value, str) else value
            for value in (field(call, "id"), field(function, "name"), field(function, "arguments"))
        )
        parts = self._tools.feed(field(call, "index"), call_id, name, arguments)
        extra = field(call, "extra_content")
        if extra is not None and parts and parts[0].id:
            self._extras[parts[0].id] = extra
        return list(parts)

    def _error(self, error: object) -> ModelError:
        message, code = field(error, "message"), field(error, "code") or field(error, "type")
        words = error if isinstance(error, str) else message if isinstance(message, str) else ""
        status = code if type(code) is int and 400 <= code < 600 else None
        return error_from_reply(status, mend(words), where=self._where, code=str(code or ""))

    def close(self) -> list[Delta]:
        """Return the last deltas, `Finish` at the end. Raises `ModelError` (`truncated`) without a finish reason."""
        deltas: list[Delta] = []
        if rest := self._reasoning.close():
            deltas.append(Reasoning(rest))
        if rest := self._text.close():
            deltas.append(Text(rest))
        if self._usage is not None:
            deltas.append(self._usage)
        fields: dict[str, Any] = {}
        if self._details:
            fields["reasoning_details"] = self._details
        if self._extras:
            fields["extra_content"] = self._extras
        if fields:
            deltas.append(ProviderFields(fields))
        if not self.finish_reason:
            raise ModelError("truncated", f"{self._where} ended the stream before the answer was complete.")
        return [*deltas, finish_of(self.finish_reason, has_calls=bool(self._tools))]
