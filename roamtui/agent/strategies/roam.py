"""The roam strategy: read the outline, open sections, search, until the opened text supports an answer."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Literal

from roamtui import events as ev
from roamtui.agent import prompts
from roamtui.agent.evidence import check, citations_in
from roamtui.agent.exploration import Exploration
from roamtui.agent.reading import Reader, Result
from roamtui.agent.tools import (
    MAX_CALLS,
    AskUser,
    BadCall,
    Expand,
    GiveUp,
    ListChildren,
    Search,
    looks_like_call,
    parse_call,
)
from roamtui.errors import ModelError
from roamtui.estimate import estimate_tokens
from roamtui.models import base

Limit = Literal["steps", "seconds", "tokens", "repeats", "window", "length"]

FORCED_SHARE = 1 / 6
"""Share of the time that is kept for the forced answer."""
IDLE_STEPS = 3
"""Steps in a row that bring nothing new before the answer is forced."""


@dataclass(slots=True)
class _Progress:
    """What the caps and the repeat detector count, for one question."""

    started: float
    step: int = 0
    delivered: int = 0
    idle: int = 0
    seen: set[tuple[str, str]] = field(default_factory=set)
    missing: str = ""
    empty: int = 0
    rejected_text: int = 0


async def roam(exploration: Exploration, question: str) -> ev.Event:
    """Work on one question; return the ending. Raises `ModelError` when the model cannot be reached."""
    run = _Roam(exploration)
    exploration.append({"role": "user", "content": question})
    return await run.work()


class _Roam:
    def __init__(self, exploration: Exploration) -> None:
        self.x = exploration
        self.settings = exploration.settings
        self.reader = Reader(exploration.library, exploration.index, exploration.settings, exploration.memory)
        self.progress = _Progress(time.monotonic())

    async def work(self) -> ev.Event:
        """Take steps until the model answers, gives up, or a cap is reached."""
        while (limit := self._limit()) is None:
            try:
                async with asyncio.timeout(self._seconds_left(forced=False)):
                    turn = await self._call()
            except TimeoutError:
                return await self._force("seconds")
            if turn.finish == "content_filter":
                raise ModelError("refused", "The provider's content filter stopped the answer.", "Ask differently.")
            if turn.tool_calls:
                ending = await self._act(turn)
            else:
                ending = self._conclude(turn)
            if ending is not None:
                return ending
        return await self._force(limit)

    async def _call(self, *, tools: bool = True, forced: bool = False) -> base.Turn:
        """Call the model; when the prompt is too long for it, close the oldest sections and try once more."""
        self.progress.step += 1
        if self.x.budget().free < 0:
            self.x.make_room(0, keep_from=len(self.x.conversation.messages))
        try:
            return await self.x.call_model(self.progress.step, tools=tools, forced=forced)
        except ModelError as error:
            if error.kind != "context" or not self.x.memory.open:
                raise
            self.x.emit(
                ev.Warned(kind="context", message="The prompt was too long for the model: older sections are closed.")
            )
            self.x.make_room(
                self.x.budget().free + self.x.budget().prompt // 3, keep_from=len(self.x.conversation.messages)
            )
            self.progress.step += 1
            return await self.x.call_model(self.progress.step, tools=tools, forced=forced)

    # -- caps -------------------------------------------------------------------------------

    def _seconds_left(self, *, forced: bool) -> float:
        whole = self.settings.max_seconds
        share = whole if forced else whole * (1 - FORCED_SHARE)
        return max(0.0, share - (time.monotonic() - self.progress.started))

    def _limit(self) -> Limit | None:
        if self.progress.step >= self.settings.max_steps:
            return "steps"
        if self._seconds_left(forced=False) <= 0:
            return "seconds"
        if self.settings.max_tokens is not None and self.progress.delivered >= self.settings.max_tokens:
            return "tokens"
        return "repeats" if self.progress.idle >= IDLE_STEPS else None

    async def _force(self, limit: Limit) -> ev.Event:
        """At a cap: one last call that has to answer from what is open."""
        self.x.append({"role": "user", "content": prompts.forced_answer(prompts.LIMIT_REASONS[limit])})
        text = ""
        try:
            async with asyncio.timeout(self._seconds_left(forced=True) if limit == "seconds" else self._grace()):
                turn = await self._call(forced=True)
                if turn.tool_calls and not turn.text.strip():
                    turn = await self._call(tools=False, forced=True)
                text = turn.text.strip()
        except TimeoutError:
            pass
        self.x.append({"role": "assistant", "content": text or prompts.BROKEN})
        missing = self.progress.missing or prompts.LIMIT_REASONS[limit]
        return ev.LimitReached(
            limit=limit, text=text, citations=self._check(text), missing=missing, steps=self.progress.step
        )

    def _grace(self) -> float:
        return max(self._seconds_left(forced=True), self.settings.max_seconds * FORCED_SHARE)

    # -- answers ----------------------------------------------------------------------------

    def _conclude(self, turn: base.Turn) -> ev.Event | None:
        text = turn.text.strip()
        if not text:
            self.progress.empty += 1
            if self.progress.empty > 1:
                raise ModelError("bad_reply", "The model gave an empty answer twice.", "Try again, or another model.")
            self.x.append({"role": "user", "content": prompts.EMPTY_ANSWER})
            return None
        if looks_like_call(text) and not self.progress.rejected_text:
            self.progress.rejected_text += 1
            self.x.append(turn.message())
            self.x.append({"role": "user", "content": prompts.CALL_AS_TEXT})
            return None
        self.x.append(turn.message())
        citations = self._check(text)
        if turn.finish == "length":
            return ev.LimitReached(
                limit="length",
                text=text,
                citations=citations,
                missing="The provider cut the answer at its output limit.",
                steps=self.progress.step,
            )
        if not any(item.holds for item in citations):
            self.x.emit(
                ev.Warned(kind="no_evidence", message="Nothing in this answer is backed by a citation that holds.")
            )
        return ev.Answered(text=text, citations=citations, steps=self.progress.step)

    def _check(self, text: str) -> tuple[ev.Citation, ...]:
        checked = tuple(
            check(cited, self.x.library, lambda ref: ref in self.x.memory.open) for cited in citations_in(text)
        )
        for number, citation in enumerate(checked, start=1):
            self.x.emit(ev.CitationChecked(number=number, citation=citation))
        return checked

    # -- tools ------------------------------------------------------------------------------

    async def _act(self, turn: base.Turn) -> ev.Event | None:
        """Answer every call of a turn; give_up ends the run unless other calls came with it."""
        self.x.phase = "tool"
        turn_at = len(self.x.conversation.messages)
        self.x.append(turn.message())
        given_up: GiveUp | None = None
        news = False
        for number, call in enumerate(turn.tool_calls):
            self.x.emit(ev.ToolCalled(step=self.progress.step, call=call.id, name=call.name, arguments=call.arguments))
            started = time.monotonic()
            if number >= MAX_CALLS:
                result = Result(f"! Not run: at most {MAX_CALLS} calls in one turn.", error=True, news=False)
            else:
                parsed = parse_call(call)
                if isinstance(parsed, GiveUp) and len(turn.tool_calls) == 1:
                    given_up = parsed
                result = await self._run(parsed, call, turn_at, waiting=len(turn.tool_calls) - number)
            news = news or result.news
            self._return(call, result, ms=int((time.monotonic() - started) * 1000))
            await asyncio.sleep(0)  # the screen draws between calls
        self.progress.idle = 0 if news else self.progress.idle + 1
        if given_up is None:
            return None
        self.x.append({"role": "assistant", "content": turn.text.strip() or given_up.missing or "(not found)"})
        return ev.NotFound(
            text=turn.text.strip(),
            tried=given_up.tried,
            missing=given_up.missing,
            suggestions=given_up.suggestions,
            steps=self.progress.step,
        )

    async def _run(self, parsed: object, call: base.ToolCall, turn_at: int, *, waiting: int) -> Result:
        step = self.progress.step
        match parsed:
            case Expand():
                for event in self.reader.judge(parsed.judged, step=step):
                    self.x.emit(event)
                    if isinstance(event, ev.SectionJudged) and event.missing:
                        self.progress.missing = event.missing
                self.x.make_room(min(self.settings.call_tokens, self.x.window // 8), keep_from=turn_at)
                room = max(0, self.x.budget().free) // waiting
                result = self.reader.expand(parsed, step=step, call_id=call.id, room=room)
            case Search():
                result = await asyncio.to_thread(self.reader.search, parsed, step=step, call_id=call.id)
                result.news = self._is_new("search", " ".join(parsed.query.lower().split()))
            case ListChildren():
                result = self.reader.list_children(parsed, step=step, call_id=call.id)
                result.news = result.news and self._is_new("list", parsed.id)
            case AskUser():
                result = await self._ask(parsed, call.id)
            case GiveUp():
                result = Result("Noted.") if waiting == 1 else Result("! Read the other results first.", error=True)
            case BadCall():
                result = Result(f"! {parsed.message}", error=True, news=False)
            case _:
                raise TypeError(type(parsed).__name__)
        for event in result.events:
            if isinstance(event, ev.SectionOpened):
                self.progress.delivered += event.tokens
            self.x.emit(event)
        return result

    def _is_new(self, kind: str, what: str) -> bool:
        before = len(self.progress.seen)
        self.progress.seen.add((kind, what))
        return len(self.progress.seen) > before

    async def _ask(self, parsed: AskUser, call_id: str) -> Result:
        self.x.phase = "input"
        waited = time.monotonic()
        given = await self.x.ask(parsed, self.progress.step, call_id)
        self.progress.started += time.monotonic() - waited  # the user's time does not count
        self.x.phase = "tool"
        if given.refused:
            return Result(f"! {given.refused}", error=True, news=False)
        return Result(f"The user says: {given.answer}")

    def _return(self, call: base.ToolCall, result: Result, *, ms: int) -> None:
        message = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result.text}
        self.x.emit(
            ev.ToolReturned(
                step=self.progress.step,
                call=call.id,
                name=call.name,
                message=self.x.append(message),
                tokens=estimate_tokens(result.text),
                error=result.error,
                ms=ms,
            )
        )
