"""The trace, step by step: exactly what was sent, exactly what came back, and what it took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from roamtui.estimate import estimate_tokens
from roamtui.text import clip, display, one_line
from roamtui.trace.state import Question, Step, TraceState
from roamtui.tui import safe
from roamtui.tui.blocks import Block
from roamtui.tui.counts import short_count
from roamtui.tui.widgets.flow import FlowView
from roamtui.tui.widgets.keybar import KeyBar
from roamtui.tui.widgets.tracestrip import items_of
from roamtui.tui.widgets.turns import money, seconds
from roamtui.tui.wrapping import Piece, Row, wrap

_COUNTED = 200_000
"""Characters of a message whose tokens are estimated; beyond, the estimate goes by length."""
_KEYS = (
    ("leave", "esc", "back"),
    ("previous", "[", "step before"),
    ("next", "]", "step after"),
    ("news", "d", "all that was sent, or only what is new"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the list at the left."""

    run: str
    step: int
    """Number of the model call; 0 is what the model knew before."""
    label: str


def pages_of(state: TraceState) -> list[Page]:
    """Return the entries of all questions: what was known, then each step."""
    pages: list[Page] = []
    for number, question in enumerate(state.questions, 1):
        context = state.context
        items = items_of(question, context.outline_tokens if context else 0, whole=bool(context and context.whole))
        many = f"{number}." if len(state.questions) > 1 else ""
        pages += [Page(question.run, item.step, f"{many}{at} {item.text}") for at, item in enumerate(items, 1)]
    return pages


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a page: a title and text shown as it is."""

    title: str
    text: str
    note: str = ""
    new: bool = False
    """Whether it is a message that the step before did not send, or came of this step."""
    known: bool = False
    """Whether the step before sent it too."""


def parts_of(state: TraceState, page: Page) -> Iterator[Part]:
    """Yield everything known of a step, in the order in which it happened."""
    question = next((item for item in state.questions if item.run == page.run), None)
    if question is None:
        return
    if page.step == 0:
        yield from _known_before(state, question)
        return
    step = next((item for item in question.steps if item.number == page.step), None)
    if step is not None:
        yield Part("Figures", "\n".join(_figures(step)))
        yield from _sent(state, question, step)
        yield from _came_back(state, step)


def _known_before(state: TraceState, question: Question) -> Iterator[Part]:
    yield Part("Question", question.text)
    if question.steps:
        first = state.messages.get(question.steps[0].request.messages[0] if question.steps[0].request.messages else "")
        if first is not None:
            yield Part("System message and outline, as the model sees them", *_text_and_size(first))
        tools = state.messages.get(question.steps[0].request.tools)
        if tools is not None:
            yield Part("Tools the model is offered", _json(tools.get("tools", tools)))


def _figures(step: Step) -> Iterator[str]:
    request, answered = step.request, step.answered
    yield f"model      {request.model} ({request.maker})"
    if request.params:
        yield f"parameters {json.dumps(request.params, ensure_ascii=False)}"
    yield f"prompt     about {request.tokens:,} tokens in {len(request.messages)} messages"
    for retry in step.retries:
        yield f"retry      try {retry.attempt} after {retry.wait:.1f} s: {retry.kind}: {one_line(retry.message)}"
    if answered is None:
        yield "answer     none yet"
        return
    usage = answered.usage
    if usage is not None:
        detail = [f"{usage.input:,} in", f"{usage.output:,} out"]
        detail += [f"{usage.cache_read:,} read from the provider's cache"] if usage.cache_read else []
        detail += [f"{usage.cache_write:,} written to it"] if usage.cache_write else []
        detail += [f"{usage.reasoning:,} of reasoning"] if usage.reasoning else []
        yield "usage      " + ", ".join(detail)
    else:
        yield "usage      not said by the provider"
    yield "cost       " + ("unknown" if answered.cost is None else money(answered.cost) if answered.cost else "none")
    yield f"time       {seconds(answered.ms)}, first word after {seconds(answered.ttft)}"
    if answered.key:
        yield f"cache      {'hit' if answered.cached else 'miss'}, key {answered.key}"
    else:
        yield "cache      not used"
    yield f"finish     {answered.finish or 'none: the stream was cut'}"


def _sent(state: TraceState, question: Question, step: Step) -> Iterator[Part]:
    before = next((item for item in reversed(question.steps) if item.number < step.number), None)
    if before is None:
        place = state.questions.index(question)
        earlier = [item for other in state.questions[:place] for item in other.steps]
        before = earlier[-1] if earlier else None
    known = set(before.request.messages) if before is not None else set()
    count = len(step.request.messages)
    for number, digest in enumerate(step.request.messages, 1):
        message = state.messages.get(digest)
        new = digest not in known
        if message is None:
            yield Part(f"Sent {number}/{count}", "(not recorded)", new=new, known=not new)
            continue
        text, note = _text_and_size(message)
        yield Part(f"Sent {number}/{count} · {one_line(str(message.get('role', '?')))}", text, note, new, not new)


def _came_back(state: TraceState, step: Step) -> Iterator[Part]:
    if step.reasoning:
        yield Part("Came back · reasoning", step.reasoning, new=True)
    message = state.messages.get(step.answered.message) if step.answered is not None else None
    if message is not None:
        yield Part("Came back", *_text_and_size(message), new=True)
    elif step.text:
        yield Part("Came back so far", step.text, new=True)
    for tool in step.tools:
        yield Part(f"Tool call · {one_line(tool.name)} · raw arguments", tool.arguments, new=True)
        result = state.messages.get(tool.message)
        if result is not None:
            text, note = _text_and_size(result)
            failed = ", an error" if tool.error else ""
            yield Part(f"Result of {one_line(tool.name)}", text, f"{note} · {seconds(tool.ms)}{failed}", new=True)


def _text_and_size(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return a message as the model saw it, and its size; what is not plain text follows as JSON."""
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else _json(content)
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    if rest:
        text = (text + "\n" if text else "") + _json(rest)
    known = text[:_COUNTED]
    tokens = estimate_tokens(known) * (len(text) / len(known)) if known else 0
    return text, f"{short_count(round(tokens))} tok, {len(text):,} characters"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _block(page: Page, number: int, part: Part) -> Block:
    source = part.text.encode("utf-8", "replace")

    def header(width: int) -> list[Row]:
        mark = Piece("+ ", "open") if part.new else Piece("  ", "meta")
        note = Piece(f"  {part.note}", "meta")
        title = Piece(clip(display(part.title, newlines=False), max(1, width - 2)), "path")
        rows = [Row((), 0)] if number else []
        return [*rows, *(Row(pieces, 0) for pieces in wrap([mark, title, note], width))]

    key = f"{page.run}/{page.step}/{number}/{part.title}"
    return Block(key=key, source=source, start=0, end=len(source), line=1, header=header, verbatim=True)


def _only_new(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts that the step before did not send; one line stands for the others."""
    known = [part for part in parts if part.known]
    for part in parts:
        if not part.known:
            yield part
        elif part is known[0]:
            count = f"{len(known)} message{'' if len(known) == 1 else 's'}"
            yield Part(f"Sent as in the step before: {count}", "", "d shows them")


class Inspector(Screen[None]):
    """Lists all steps at the left; shows the chosen one in full."""

    DEFAULT_CSS = """
    Inspector {
        layout: vertical;
        & > Horizontal { height: 1fr; }
        & #pages {
            width: 34;
            height: 1fr;
            border: none;
            border-right: solid $border-blurred;
            background: $background;
            padding: 0;
        }
        & #pages:focus { border: none; border-right: solid $border; }
        & #page { width: 1fr; height: 1fr; padding: 0 1; }
        &.-narrow > Horizontal { layout: vertical; }
        &.-narrow #pages { width: 1fr; height: 8; border-right: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f2,q", "leave", "Back", show=False),
        Binding("left_square_bracket", "move(-1)", "Step before", show=False),
        Binding("right_square_bracket", "move(1)", "Step after", show=False),
        Binding("d", "news", "Only what is new", show=False),
    ]

    def __init__(self, state: TraceState, chosen: tuple[str, int] | None = None) -> None:
        """`chosen`: run and step to begin with; the last one otherwise."""
        super().__init__()
        self._state = state
        self._pages = pages_of(state)
        places = [at for at, page in enumerate(self._pages) if (page.run, page.step) == chosen]
        self._at = places[0] if places else len(self._pages) - 1
        self._only_new = True

    def compose(self) -> ComposeResult:
        """Lay out the list, the page and the keys."""
        with Horizontal():
            yield OptionList(
                *(Option(safe.line(clip(one_line(page.label), 31))) for page in self._pages), id="pages", markup=False
            )
            yield FlowView(empty="Nothing was asked yet.", id="page")
        yield KeyBar(id="inspector-keys")

    def on_mount(self) -> None:
        """Show the chosen step."""
        self.query_one(KeyBar).show(_KEYS)
        listed = self.query_one(OptionList)
        if self._pages:
            listed.highlighted = self._at
        listed.focus()

    @on(OptionList.OptionHighlighted, "#pages")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._at = event.option_index
        self._show()

    @on(OptionList.OptionSelected, "#pages")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one(FlowView).focus()

    @on(KeyBar.Clicked)
    def _clicked(self, event: KeyBar.Clicked) -> None:
        event.stop()
        {"previous": lambda: self.action_move(-1), "next": lambda: self.action_move(1), "news": self.action_news}.get(
            event.command, self.action_leave
        )()

    def _show(self) -> None:
        parts = list(parts_of(self._state, self._pages[self._at]))
        shown = list(_only_new(parts)) if self._only_new else parts
        view = self.query_one(FlowView)
        view.show_blocks([_block(self._pages[self._at], number, part) for number, part in enumerate(shown)])
        view.scroll_to(y=0, animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Go to a neighbouring step."""
        if self._pages:
            self.query_one(OptionList).highlighted = max(0, min(len(self._pages) - 1, self._at + by))

    def action_news(self) -> None:
        """Leave out what the step before sent already, or show it again."""
        self._only_new = not self._only_new
        if self._pages:
            self._show()

    def action_leave(self) -> None:
        """Go back to the document."""
        self.dismiss(None)
