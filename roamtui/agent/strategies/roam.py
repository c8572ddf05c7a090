"""The roam strategy: read the outline, open sections, search, until the opened text supports an answer."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from roamtui import events as ev
from roamtui.agent import prompts
from roamtui.agent.answer import readable
from roamtui.agent.evidence import MOST_CITATIONS, check, citations_in
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
from roamtui.errors import BudgetError, ModelError
from roamtui.estimate import estimate_tokens
from roamtui.models import base
from roamtui.text import for_model, one_line

Limit = Literal["steps", "seconds", "tokens", "repeats", "window", "length"]

FORCED_SHARE = 1 / 6
"""Share of the time that is kept for the forced answer."""
LEAST_ROOM = 300
"""Tokens that must be free in the window for another step, or a reading tool, to make sense."""
LEAST_DELIVERY = 200
"""Tokens that must be left of the cap on delivered tokens for another opening to make sense."""
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
    """Work on one question; return the ending.

    Raises `ModelError` when the model cannot be reached, `BudgetError` when the question does not fit its window.
    """
    needed = estimate_tokens(question)
    if needed > exploration.window // 4:
        raise BudgetError(
            f"The question needs {needed:,} tokens; the model's window is {exploration.window:,}.",
            "Ask something shorter.",
        )
    run = _Roam(exploration)
    exploration.append({"role": "user", "content": question})
    return await run.work()


def _filtered() -> ModelError:
    return ModelError("refused", "The provider's content filter stopped the answer.", "Ask differently.")


class _Roam:
    def __init__(self, exploration: Exploration) -> None:
        self.x = exploration
        self.settings = exploration.settings
        self.reader = Reader(
            exploration.library,
            exploration.index,
            exploration.memory,
            call_tokens=min(self.settings.call_tokens, max(LEAST_ROOM, exploration.window // 4)),
            part_tokens=min(self.settings.part_tokens, max(LEAST_ROOM, exploration.window // 8)),
        )
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
                raise _filtered()
            if turn.tool_calls:
                ending = await self._act(turn)
            else:
                ending = await self._conclude(turn)
            if ending is not None:
                return ending
        return await self._force(limit)

    async def _call(self, *, tools: bool = True, forced: bool = False) -> base.Turn:
        """Call the model; when the prompt is too long for it, close the oldest sections and try once more."""
        self.progress.step += 1
        self.x.make_room(0, keep_from=self._latest_turn())
        try:
            return await self.x.call_model(self.progress.step, tools=tools, forced=forced)
        except ModelError as error:
            if error.kind != "context" or not self.x.memory.open:
                raise
            warning = "The prompt was too long for the model: older sections are closed."
            self.x.emit(ev.Warned(kind="context", message=warning))
            budget = self.x.budget()
            self.x.make_room(budget.free + budget.prompt // 3, keep_from=len(self.x.conversation.messages))
            self.progress.step += 1
            return await self.x.call_model(self.progress.step, tools=tools, forced=forced)

    def _latest_turn(self) -> int:
        """Number of the message from which on nothing was answered by the model yet."""
        messages = self.x.conversation.messages
        end = len(messages)
        while end > 1 and messages[end - 1]["role"] == "tool":
            end -= 1
        return max(1, end - 1)

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
        cap = self.settings.max_tokens
        if cap is not None and cap - self.progress.delivered < LEAST_DELIVERY:
            return "tokens"
        if self.progress.idle >= IDLE_STEPS:
            return "repeats"
        if self.progress.step and self.x.budget().free < LEAST_ROOM:
            self.x.make_room(LEAST_ROOM, keep_from=self._latest_turn())
            return "window" if self.x.budget().free < LEAST_ROOM else None
        return None

    async def _force(self, limit: Limit) -> ev.Event:
        """At a cap: one last call that has to answer from what is open."""
        self.x.append({"role": "user", "content": prompts.forced_answer(prompts.LIMIT_REASONS[limit])})
        self.x.make_room(0, keep_from=len(self.x.conversation.messages) - 1)
        text = ""
        try:
            async with asyncio.timeout(self._seconds_left(forced=True) if limit == "seconds" else self._grace()):
                turn = await self._call(forced=True)
                if turn.tool_calls and not turn.text.strip():
                    turn = await self._call(tools=False, forced=True)
                text = turn.text.strip()
                if turn.finish == "content_filter" and not text:
                    raise _filtered()
        except TimeoutError:
            text = self.x.partial.strip()
        except BudgetError:
            pass  # not even the request to answer fits; what is missing says so
        self.x.append({"role": "assistant", "content": text or prompts.BROKEN})
        missing = self.progress.missing or prompts.LIMIT_REASONS[limit]
        citations = await self._check(text)
        return ev.LimitReached(
            limit=limit, text=text, citations=citations, missing=self._readable(missing), steps=self.progress.step
        )

    def _grace(self) -> float:
        return max(self._seconds_left(forced=True), self.settings.max_seconds * FORCED_SHARE)

    # -- answers ----------------------------------------------------------------------------

    async def _conclude(self, turn: base.Turn) -> ev.Event | None:
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
        citations = await self._check(text)
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

    async def _check(self, text: str) -> tuple[ev.Citation, ...]:
        """Check the citations of an answer, off the loop's thread, and say what came of each."""
        checked = await asyncio.to_thread(self._checked, text)
        for number, citation in enumerate(checked, start=1):
            self.x.emit(ev.CitationChecked(number=number, citation=citation))
        return checked

    def _checked(self, text: str) -> tuple[ev.Citation, ...]:
        cited = islice(citations_in(text), MOST_CITATIONS)
        return tuple(check(item, self.x.library, self.x.memory) for item in cited)

    def _readable(self, text: str) -> str:
        """Return the model's words with titles in place of ids."""

        def title(ref: str) -> str | None:
            place = self.x.library.find(ref)
            return None if place is None else one_line(for_model(place.section.title)[0])

        return readable(text, title)

    # -- tools ------------------------------------------------------------------------------

    async def _act(self, turn: base.Turn) -> ev.Event | None:
        """Answer every call of a turn; give_up ends the run unless other calls came with it."""
        self.x.phase = "tool"
        self.progress.empty = 0
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
            text=self._readable(turn.text.strip()),
            tried=self._readable(given_up.tried),
            missing=self._readable(given_up.missing),
            suggestions=tuple(map(self._readable, given_up.suggestions)),
            steps=self.progress.step,
        )

    async def _run(self, parsed: object, call: base.ToolCall, turn_at: int, *, waiting: int) -> Result:
        step = self.progress.step
        reads = isinstance(parsed, Expand | Search | ListChildren)
        room = self._room(turn_at, waiting) if reads else 0
        match parsed:
            case Expand():
                for event in self.reader.judge(parsed.judged, step=step):
                    self.x.emit(event)
                    if isinstance(event, ev.SectionJudged) and event.missing:
                        self.progress.missing = event.missing
                if self.settings.max_tokens is not None:
                    room = min(room, self.settings.max_tokens - self.progress.delivered)
                result = self.reader.expand(parsed, step=step, call_id=call.id, room=room)
            case Search() | ListChildren() if room < LEAST_ROOM:
                message = f"! No room is left for this: {room} tokens. Answer from what is open."
                result = Result(message, error=True, news=False)
            case Search():
                result = await asyncio.to_thread(self.reader.search, parsed, step=step, call_id=call.id)
                result.news = self._is_new("search", " ".join(parsed.query.lower().split()))
            case ListChildren():
                result = self.reader.list_children(parsed, step=step, call_id=call.id, room=room)
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

    def _room(self, turn_at: int, waiting: int) -> int:
        """Tokens this call may use: earlier results are closed for it, later calls of the turn want some too."""
        self.x.make_room(self.reader.part_tokens + LEAST_ROOM, keep_from=turn_at)
        free = max(0, self.x.budget().free)
        return max(free // waiting, min(free, self.reader.part_tokens + LEAST_ROOM))

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
