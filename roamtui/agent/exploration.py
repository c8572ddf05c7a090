"""One conversation over one library: what stays from question to question."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec.structs import replace

from roamtui import events as ev
from roamtui.agent.budget import Budget
from roamtui.agent.conversation import Conversation, message_hash
from roamtui.agent.memory import Memory
from roamtui.agent.settings import RunSettings
from roamtui.agent.tools import MAX_ARGUMENTS, TOOLS, AskUser
from roamtui.document.model import Library
from roamtui.errors import ModelError
from roamtui.estimate import estimate_tokens
from roamtui.models import base
from roamtui.search.index import Index
from roamtui.text import clip, for_model, one_line

Phase = Literal["request", "answer", "tool", "input"]
TOOL_TOKENS = estimate_tokens(str(TOOLS))
TOOLS_HASH = message_hash({"tools": list(TOOLS)})
RECEIPT = "(Closed to make room: {}. Open again if needed.)"
RECEIPT_PLAIN = "(Dropped to make room.)"
RECEIPT_TOKENS = 80
"""Results up to this size are not worth a receipt."""
RECEIPT_CELLS = 160
SHORTENED = 400
"""Characters kept of a long earlier question or answer when room is needed."""
MOST_CHARACTERS = 200_000
"""Characters of one answer, or of its reasoning, that are taken."""
MOST_NAME = 64
"""Characters kept of a tool's name."""
MOST_ID = 20_000
"""Characters kept of a call's id; some providers hide a signature in it and want it back as it was."""


@dataclass(slots=True)
class Exploration:
    """Everything a run works with. The strategy drives it; the session owns it."""

    library: Library
    index: Index
    model: base.Model
    settings: RunSettings
    conversation: Conversation
    memory: Memory
    window: int
    """The model's context window, tokens."""
    price: Callable[[base.Usage], float | None]
    """US dollars of a call, None when unknown."""
    emit: Callable[[ev.Event], object]
    ask: Callable[[AskUser, int, str], Awaitable[ev.InputGiven]]
    """Ask the user: question, step, call id."""
    recorded: set[str] = field(default_factory=set)
    """Hashes of messages already written as events."""
    phase: Phase = "request"
    """What is going on, for the Cancelled event."""
    partial: str = ""
    """Text of the current call so far."""

    def record(self, found: str, message: dict[str, Any]) -> None:
        """Emit a message the first time it is seen."""
        if found not in self.recorded:
            self.recorded.add(found)
            self.emit(ev.MessageRecorded(hash=found, message=message))

    def append(self, message: base.Message) -> str:
        """Add a message to the conversation and record it."""
        found = self.conversation.append(message)
        self.record(found, message)
        return found

    # -- budget -----------------------------------------------------------------------------

    def budget(self) -> Budget:
        """Return the budget of the next request."""
        outline, sections, history = self.conversation.sizes()
        return Budget(self.window, outline, TOOL_TOKENS, sections, history)

    def show_budget(self) -> None:
        """Emit the budget of the next request."""
        budget = self.budget()
        self.emit(
            ev.BudgetChanged(
                window=budget.window,
                outline=budget.outline,
                sections=budget.sections,
                history=budget.history + budget.tools,
                reserve=budget.reserve,
                counted_by="estimate",
            )
        )

    def make_room(self, tokens: int, *, keep_from: int) -> None:
        """Rewrite what is oldest until `tokens` are free: results become receipts, then long turns are shortened.

        Messages from number `keep_from` on stay as they are.
        """
        for rewrite in (self._close_result, self._shorten):
            for index in range(1, min(keep_from, len(self.conversation.messages))):
                if self.budget().free >= tokens:
                    return
                rewrite(index)

    def _close_result(self, index: int) -> None:
        message = self.conversation.messages[index]
        if message["role"] != "tool" or self.conversation.tokens[index] <= RECEIPT_TOKENS:
            return
        gone = self.memory.close_call(message["tool_call_id"])
        places = [(ref, self.library.find(ref)) for ref in gone]
        titles = "; ".join(f"[{ref}] {one_line(for_model(place.section.title)[0])}" for ref, place in places if place)
        content = RECEIPT.format(clip(titles, RECEIPT_CELLS)) if titles else RECEIPT_PLAIN
        receipt = {**message, "content": content}
        self.record(self.conversation.rewrite(index, receipt), receipt)
        for ref in gone:
            if ref not in self.memory.open:
                self.emit(ev.SectionClosed(id=ref, by="budget", reason="to make room in the window"))

    def _shorten(self, index: int) -> None:
        message = self.conversation.messages[index]
        content = message.get("content") or ""
        if message["role"] == "tool" or message.get("tool_calls") or len(content) <= 2 * SHORTENED:
            return
        shorter = {**message, "content": f"{content[:SHORTENED]} … (shortened)"}
        self.record(self.conversation.rewrite(index, shorter), shorter)

    # -- one model call ---------------------------------------------------------------------

    async def call_model(self, step: int, *, tools: bool = True, forced: bool = False) -> base.Turn:
        """Send the conversation, pass the deltas on as events, return the turn. Raises `ModelError`."""
        self.partial = ""
        self.budget().require()
        for found, message in zip(self.conversation.hashes, self.conversation.messages, strict=True):
            self.record(found, message)
        params: dict[str, Any] = {}
        if self.settings.temperature is not None:
            params["temperature"] = self.settings.temperature
        if self.settings.seed is not None:
            params["seed"] = self.settings.seed
        if forced and tools:
            params["tool_choice"] = "none"
        if tools:
            self.record(TOOLS_HASH, {"tools": list(TOOLS)})
        request = base.Request(
            model=self.model.name,
            messages=tuple(self.conversation.messages),
            tools=TOOLS if tools else (),
            params=params,
            sample=self.settings.sample,
        )
        self.show_budget()
        self.emit(
            ev.ModelRequested(
                step=step,
                model=self.model.name,
                maker=self.model.maker,
                messages=tuple(self.conversation.hashes),
                tools=TOOLS_HASH if tools else "",
                params=params,
                tokens=self.budget().prompt,
            )
        )
        return await self._stream(step, request)

    async def _stream(self, step: int, request: base.Request) -> base.Turn:
        self.phase = "request"
        assembler = base.Assembler()
        served = base.Served(cached=False)
        started = time.monotonic()
        first, reasoned = 0.0, ""
        async with aclosing(self.model.stream(request)) as deltas:
            async for delta in deltas:
                assembler.feed(delta)
                match delta:
                    case base.Served():
                        served = delta
                    case base.Text(text):
                        first = first or time.monotonic()
                        self.phase = "answer"
                        self.partial += text
                        _check_size(self.partial)
                        self.emit(ev.TextDelta(step=step, text=text))
                    case base.Reasoning(text):
                        first = first or time.monotonic()
                        reasoned += text
                        _check_size(reasoned)
                        self.emit(ev.ReasoningDelta(step=step, text=text))
                    case base.ToolCallPart():
                        first = first or time.monotonic()
                    case base.Retrying(attempt=attempt, wait=wait, kind=kind, message=message):
                        self.partial, reasoned = "", ""
                        self.emit(ev.RetryScheduled(step=step, attempt=attempt, wait=wait, kind=kind, message=message))
                    case _:
                        pass
                await asyncio.sleep(0)  # a model that never waits must not keep the screen from drawing
        turn = self._with_proper_calls(assembler.turn())
        ended = time.monotonic()
        self._answered(
            step, turn, served, ms=int((ended - started) * 1000), ttft=int(((first or ended) - started) * 1000)
        )
        return turn

    def _answered(self, step: int, turn: base.Turn, served: base.Served, *, ms: int, ttft: int) -> None:
        message = turn.message()
        found = message_hash(message)
        self.record(found, message)
        usage = turn.usage
        self.emit(
            ev.ModelAnswered(
                step=step,
                message=found,
                finish=turn.finish,
                usage=ev.TokenUsage(
                    input=usage.input,
                    output=usage.output,
                    cache_read=usage.cache_read,
                    cache_write=usage.cache_write,
                    reasoning=usage.reasoning,
                )
                if usage
                else None,
                cost=0.0 if served.cached else self.price(usage or base.Usage()),
                ms=ms,
                ttft=ttft,
                cached=served.cached,
                key=served.key,
            )
        )

    def _with_proper_calls(self, turn: base.Turn) -> base.Turn:
        """Give repeated call ids a suffix, for each is answered once and known by its id; drop oversize arguments."""
        taken = {call["id"] for message in self.conversation.messages for call in message.get("tool_calls", ())}
        calls: list[base.ToolCall] = []
        for call in turn.tool_calls:
            found, number = call.id[:MOST_ID], 2
            while found in taken:
                found, number = f"{call.id[:MOST_ID]}-{number}", number + 1
            taken.add(found)
            fits = len(call.arguments) <= MAX_ARGUMENTS
            arguments = call.arguments if fits else json.dumps({"dropped": f"{len(call.arguments)} characters"})
            calls.append(base.ToolCall(found, call.name[:MOST_NAME], arguments))
        return replace(turn, tool_calls=tuple(calls))


def _check_size(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise ModelError(
            "too_large", f"The model wrote more than {MOST_CHARACTERS:,} characters.", "Ask for something shorter."
        )
