"""Session: where the engine ends. Verbs in (`run`, `tell`, `reply`, `cancel`), events out."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from roamtui import __version__
from roamtui import events as ev
from roamtui.agent import prompts
from roamtui.agent.context import Context, build_context
from roamtui.agent.conversation import Conversation
from roamtui.agent.exploration import Exploration
from roamtui.agent.memory import Memory
from roamtui.agent.settings import RunSettings
from roamtui.agent.strategies.roam import roam
from roamtui.agent.tools import AskUser
from roamtui.agent.user import Action, CloseSection, OpenSection, PinSection, UserSearched
from roamtui.document.excerpt import Excerpt
from roamtui.document.model import Library
from roamtui.document.outline import Outline
from roamtui.errors import BudgetError, ModelError, RoamError
from roamtui.models import base
from roamtui.search.index import Index
from roamtui.trace.read import Trace
from roamtui.trace.record import TraceWriter
from roamtui.trace.reducer import apply
from roamtui.trace.resume import restore
from roamtui.trace.state import TraceState

__all__ = ["CloseSection", "OpenSection", "PinSection", "Session", "UserSearched"]

UNKNOWN_WINDOW = 32_768
"""Context window taken for models that no table knows, tokens."""


class Session:
    """One conversation over one library. Not thread-safe: use it from one event loop."""

    def __init__(
        self,
        library: Library,
        model: base.Model,
        *,
        index: Index,
        settings: RunSettings | None = None,
        window: int | None = None,
        price: Callable[[base.Usage], float | None] = lambda usage: None,
        trace: TraceWriter | None = None,
        interactive: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.library = library
        self.model = model
        self.settings = settings or RunSettings()
        self.state = TraceState()
        """Everything that happened, reduced."""
        self.trace = trace
        self._index = index
        self._window = self.settings.window or window or UNKNOWN_WINDOW
        self._price = price
        self._interactive = interactive
        self._clock = clock
        self._memory = Memory()
        self._recorded: set[str] = set()
        self._conversation: Conversation | None = None
        self._exploration: Exploration | None = None
        self._context: Context | None = None
        self._prepare_lock = threading.Lock()
        self._queue: asyncio.Queue[ev.Event | None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._replies: dict[str, asyncio.Future[ev.InputGiven]] = {}
        self._run = ""
        self._trace_warned = False
        self._begun = False
        self._cancel_wanted = False

    # -- what the model knows before it starts -------------------------------------------------

    @property
    def context(self) -> Context:
        """What the model knows before its first step; built on first use, from any thread."""
        with self._prepare_lock:
            if self._context is None:
                self._context = build_context(self.library, self.settings, self._window)
            return self._context

    @property
    def outline(self) -> Outline:
        """The outline exactly as the model sees it."""
        return self.context.outline

    def _start_conversation(self) -> Conversation:
        if self._conversation is None:
            self._conversation = Conversation(self.context.system)
        return self._conversation

    # -- verbs ---------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether a question is being worked on."""
        return self._task is not None and not self._task.done()

    async def run(self, question: str) -> AsyncGenerator[ev.Event, None]:
        """Work on a question and yield its events; the last one is the ending.

        Closing the iterator cancels the run. Raises `RuntimeError` when a run is going on.
        """
        if self.running:
            raise RuntimeError("a question is being worked on")
        queue: asyncio.Queue[ev.Event | None] = asyncio.Queue()
        self._queue = queue
        self._begun = self._cancel_wanted = False
        question = question.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
        task = self._task = asyncio.create_task(self._work(question))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            self._queue = None
            if not task.done():
                self.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def cancel(self) -> None:
        """Stop the run; its iterator ends with `Cancelled`."""
        self._cancel_wanted = True
        if self._task is not None and self._begun and not self._task.done():
            self._task.cancel()

    def tell(self, action: Action) -> tuple[ev.Event, ...]:
        """Take note of what the user did; return the events it made."""
        found: list[ev.Event] = []
        match action:
            case OpenSection(ref):
                place = self.library.find(ref)
                if place is None:
                    return ()
                first, last = place.document.lines(place.section)
                found.append(
                    ev.SectionOpened(id=ref, path=place.path, first_line=first, last_line=last, tokens=0, by="user")
                )
            case CloseSection(ref):
                found.append(ev.SectionClosed(id=ref, by="user"))
            case PinSection(ref, pinned):
                found.append(ev.SectionPinned(id=ref, pinned=pinned))
            case UserSearched(query, hits):
                found.append(ev.Searched(query=query, hits=hits, by="user"))
        return tuple(self._emit(event) for event in found)

    def reply(self, request: str, answer: str, *, refused: str = "") -> None:
        """Answer an `InputRequested`; `refused` says why there is no answer."""
        waiting = self._replies.get(request)
        if waiting is not None and not waiting.done():
            waiting.set_result(ev.InputGiven(request=request, answer=answer, refused=refused))

    def use(self, model: base.Model, *, window: int | None, price: Callable[[base.Usage], float | None]) -> None:
        """Answer the next questions with another model; the conversation goes on."""
        self.model = model
        self._price = price
        self._window = self.settings.window or window or UNKNOWN_WINDOW
        self._exploration = None

    async def aclose(self) -> None:
        """Stop what runs, close model and trace."""
        self.cancel()
        try:
            if self._task is not None:
                await asyncio.wait([self._task])  # what went wrong in it was said by `run`
        finally:
            await self.model.aclose()
            if self.trace is not None:
                self.trace.close()

    # -- one run -------------------------------------------------------------------------------

    async def _work(self, question: str) -> None:
        self._begun = True
        self._run = secrets.token_hex(4)
        started = time.monotonic()
        ended = False
        steps_before = len(self.state.questions)
        said_before = len(self._conversation.messages) if self._conversation else 1
        try:
            try:
                self._announce(question)
                if self._cancel_wanted:
                    raise asyncio.CancelledError
                exploration = await self._explore()
                ending = await roam(exploration, question)
            except asyncio.CancelledError:
                self._tidy(prompts.STOPPED)
                phase = self._exploration.phase if self._exploration else "request"
                ending = ev.Cancelled(during=phase, text=self._partial(steps_before), steps=self._steps(steps_before))
            except RoamError as error:
                if isinstance(error, BudgetError):
                    self._drop(said_before)  # what did not fit must not stand in the way of the next question
                self._tidy(prompts.BROKEN)
                kind = error.kind if isinstance(error, ModelError) else type(error).__name__
                ending = ev.Failed(
                    kind=kind,
                    message=error.message,
                    hint=error.hint,
                    text=self._partial(steps_before),
                    steps=self._steps(steps_before),
                )
            ended = True
            self._emit(replace(ending, ms=int((time.monotonic() - started) * 1000)))
        finally:
            if not ended:
                self._tidy(prompts.BROKEN)
                self._emit(ev.Failed(kind="internal", message="The program itself failed while answering."))
            self._run = ""

    def _announce(self, question: str) -> None:
        settings = msgspec.to_builtins(self.settings)
        documents = tuple(
            ev.DocumentInfo(
                name=item.name,
                address=item.origin.address,
                sha256=item.sha256,
                sections=len(item.sections),
                size=len(item.source),
            )
            for item in self.library.documents
        )
        self._emit(
            ev.RunStarted(
                version=__version__,
                model=self.model.name,
                maker=self.model.maker,
                strategy=self.settings.strategy,
                documents=documents,
                settings=settings,
            )
        )
        self._emit(ev.QuestionAsked(text=question))

    async def _explore(self) -> Exploration:
        """Prepare what the run works with; the outline and the index are built off the loop's thread."""
        context = await asyncio.to_thread(lambda: self.context)
        if not self._index.ready:
            await asyncio.to_thread(self._index.build)
        conversation = self._start_conversation()
        if self._exploration is None:
            self._exploration = Exploration(
                library=self.library,
                index=self._index,
                model=self.model,
                settings=self.settings,
                conversation=conversation,
                memory=self._memory,
                window=self._window,
                price=self._price,
                emit=self._emit,
                ask=self._ask,
                recorded=self._recorded,
            )
        exploration = self._exploration
        self._emit(context.event(tuple(self._memory.open)))
        if context.whole is not None and not self._memory.open:
            self._open_whole(context.whole)
        exploration.record(conversation.hashes[0], conversation.messages[0])
        return exploration

    def _open_whole(self, whole: Excerpt) -> None:
        for item in whole.delivered:
            place = self.library.find(item.ref)
            if place is None:
                continue
            event = ev.SectionOpened(
                id=item.ref,
                path=place.path,
                first_line=item.first_line,
                last_line=item.last_line,
                tokens=item.tokens,
                reason="the document is small and was sent whole",
            )
            self._memory.take(event)
            self._emit(event)

    async def _ask(self, asked: AskUser, step: int, call: str) -> ev.InputGiven:
        request = f"{call}?"
        self._emit(
            ev.InputRequested(step=step, call=call, request=request, question=asked.question, options=asked.options)
        )
        if self._interactive:
            waiting: asyncio.Future[ev.InputGiven] = asyncio.get_running_loop().create_future()
            self._replies[request] = waiting
            try:
                given = await waiting
            finally:
                del self._replies[request]
        else:
            given = ev.InputGiven(
                request=request, answer="", refused="There is nobody to ask: answer with what the document says."
            )
        self._emit(given)
        return given

    def _tidy(self, note: str) -> None:
        """After a break: cut the conversation back to where every call has its result, and say so."""
        conversation = self._conversation
        if conversation is None:
            return
        self._drop(conversation.answered_length)
        if conversation.messages[-1]["role"] not in ("assistant", "system"):
            conversation.append({"role": "assistant", "content": note})

    def _drop(self, length: int) -> None:
        """Cut the conversation, and take out of memory what only the messages cut off had delivered."""
        if self._conversation is None:
            return
        dropped = self._conversation.messages[length:]
        self._conversation.truncate(length)
        for call in (call for message in dropped for call in message.get("tool_calls", ())):
            for ref in self._memory.forget_call(call["id"]):
                self._emit(ev.SectionClosed(id=ref, by="budget", reason="the model did not get to read it"))

    def _partial(self, question: int) -> str:
        found = self.state.questions[question:]
        return found[-1].answer if found else ""

    def _steps(self, question: int) -> int:
        found = self.state.questions[question:]
        return len(found[-1].steps) if found else 0

    # -- events --------------------------------------------------------------------------------

    def _emit(self, event: ev.Event) -> ev.Event:
        stamped = replace(event, run=self._run, seq=self.state.seq + 1, t=self._clock())
        self.state = apply(self.state, stamped)
        if self._queue is not None:
            self._queue.put_nowait(stamped)
        if self.trace is not None:
            self.trace.write(stamped)
            if self.trace.error and not self._trace_warned:
                self._trace_warned = True
                self._emit(ev.Warned(kind="trace", message=self.trace.error))
        return stamped

    # -- going on from a trace -----------------------------------------------------------------

    def resume(self, trace: Trace) -> None:
        """Take over the state and the conversation of a recorded session. Only before the first run."""
        if self.state.questions:
            raise RuntimeError("the session has begun")
        conversation = self._start_conversation()
        past = restore(trace)
        self.state = past.state
        for event in trace.events:
            if self.trace is not None:
                self.trace.write(event)
        self._recorded |= past.state.messages.keys()
        for message in past.messages:
            conversation.append(message)
        own = {item.sha256 for item in self.library.documents}
        changed = any(item.sha256 not in own for item in self.state.documents)
        for delivery in () if changed else past.deliveries:
            self._memory.take(delivery)
        self._tidy(prompts.STOPPED)
        if self.state.running:  # the program was killed while it worked on this question
            self._run = self.state.questions[-1].run
            self._emit(ev.Cancelled(during="request", text=self.state.questions[-1].answer))
            self._run = ""
        if changed:
            self._emit(ev.Warned(kind="changed", message="The document is not the one the trace was recorded with."))
