"""One conversation over one library: what stays from question to question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from roamtui import events as ev
from roamtui.agent.budget import Budget
from roamtui.agent.conversation import Conversation, message_hash
from roamtui.agent.memory import Memory
from roamtui.agent.settings import RunSettings
from roamtui.agent.tools import TOOLS, AskUser
from roamtui.document.model import Library
from roamtui.estimate import estimate_tokens
from roamtui.models import base
from roamtui.search.index import Index

Phase = Literal["request", "answer", "tool", "input"]
TOOL_TOKENS = estimate_tokens(str(TOOLS))
TOOLS_HASH = message_hash({"tools": list(TOOLS)})
RECEIPT = "(Closed to make room: {}. Open again if needed.)"


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
        """Close what the oldest tool results delivered until `tokens` are free; later messages than
        number `keep_from` stay.
        """
        conversation = self.conversation
        for index, message in enumerate(conversation.messages[:keep_from]):
            if self.budget().free >= tokens:
                return
            call = message.get("tool_call_id", "")
            gone = self.memory.close_call(call) if message["role"] == "tool" else []
            if not gone:
                continue
            places = [(ref, self.library.find(ref)) for ref in gone]
            titles = "; ".join(f"[{ref}] {place.section.title}" for ref, place in places if place)
            receipt = {**message, "content": RECEIPT.format(titles)}
            self.record(conversation.rewrite(index, receipt), receipt)
            for ref in gone:
                self.emit(ev.SectionClosed(id=ref, by="budget", reason="to make room in the window"))

    # -- one model call ---------------------------------------------------------------------

    async def call_model(self, step: int, *, tools: bool = True, forced: bool = False) -> base.Turn:
        """Send the conversation, pass the deltas on as events, return the turn. Raises `ModelError`."""
        self.budget().require()
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
        first = 0.0
        async with aclosing(self.model.stream(request)) as deltas:
            async for delta in deltas:
                assembler.feed(delta)
                match delta:
                    case base.Served():
                        served = delta
                    case base.Text(text):
                        first = first or time.monotonic()
                        self.phase = "answer"
                        self.emit(ev.TextDelta(step=step, text=text))
                    case base.Reasoning(text):
                        first = first or time.monotonic()
                        self.emit(ev.ReasoningDelta(step=step, text=text))
                    case base.ToolCallPart():
                        first = first or time.monotonic()
                    case base.Retrying(attempt=attempt, wait=wait, kind=kind, message=message):
                        self.emit(ev.RetryScheduled(step=step, attempt=attempt, wait=wait, kind=kind, message=message))
                    case _:
                        pass
                await asyncio.sleep(0)  # a model that never waits must not keep the screen from drawing
        turn = self._with_unique_calls(assembler.turn())
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

    def _with_unique_calls(self, turn: base.Turn) -> base.Turn:
        """Give repeated call ids a suffix: each must be answered once, and is known by its id."""
        taken = {call["id"] for message in self.conversation.messages for call in message.get("tool_calls", ())}
        calls: list[base.ToolCall] = []
        for call in turn.tool_calls:
            found, number = call.id, 2
            while found in taken:
                found, number = f"{call.id}-{number}", number + 1
            taken.add(found)
            calls.append(base.ToolCall(found, call.name, call.arguments))
        return base.Turn(
            text=turn.text,
            reasoning=turn.reasoning,
            tool_calls=tuple(calls),
            provider_fields=turn.provider_fields,
            usage=turn.usage,
            finish=turn.finish,
        )
