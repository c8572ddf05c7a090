"""The strip below the panes: what the agent did, one item per step, to step through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from roamtui.text import clip, one_line, width
from roamtui.trace.state import Question, Step, ToolUse, TraceState
from roamtui.tui.counts import short_count
from roamtui.tui.styles import component_style
from roamtui.tui.widgets.turns import seconds

_SHORT = {
    "expand_section": "expand",
    "search_sections": "search",
    "list_children": "list",
    "give_up": "not found",
    "ask_user": "ask you",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the strip."""

    text: str
    short: str
    """The same without particulars, for when room is short."""
    style: str
    """Component style: item, running, good, bad."""
    step: int
    """Number of the model call; 0 is what the model knew before."""


def items_of(question: Question, outline_tokens: int, *, whole: bool) -> list[Item]:
    """Return the items of a question: the outline first, then each step."""
    what = "document" if whole else "outline"
    items = [Item(f"{what} {short_count(outline_tokens)}" if outline_tokens else what, what, "item", 0)]
    items += [_step_item(question, step, last=step is question.steps[-1]) for step in question.steps]
    return items


def _step_item(question: Question, step: Step, *, last: bool) -> Item:
    time = "" if step.answered is None else " cached" if step.answered.cached else f" {seconds(step.answered.ms)}"
    if step.tools:
        failed = all(tool.error for tool in step.tools)
        style = "running" if not all(tool.done for tool in step.tools) else "bad" if failed else "item"
        words = [_tool_words(tool) for tool in step.tools[:3]]
        return Item(" + ".join(words) + time, _SHORT.get(step.tools[0].name, words[0]), style, step.number)
    if not last or question.outcome == "running":
        words_only = "…" if step.answered is None else "words"
        return Item(words_only + time, words_only, "running" if last else "item", step.number)
    text, style = _ending(question)
    return Item(text, text, style, step.number)


def _ending(question: Question) -> tuple[str, str]:
    good = sum(item.holds for item in question.citations)
    bad = len(question.citations) - good
    match question.outcome:
        case "answered":
            return f"answer ✓{good} ✗{bad}", "bad" if bad else "good"
        case "limit":
            return f"limit ({question.limit}) ✓{good} ✗{bad}", "bad"
        case "failed":
            return "failed", "bad"
        case "cancelled":
            return "stopped", "bad"
        case _:
            return "not found", "bad"


def _tool_words(tool: ToolUse) -> str:
    if tool.name == "expand_section":
        return f"expand ×{len(tool.opened)}" if tool.done else "expand"
    if tool.name == "search_sections":
        return f"search “{clip(one_line(tool.query), 16)}” {len(tool.hits)} hit{'' if len(tool.hits) == 1 else 's'}"
    words = {"list_children": f"list {tool.listed}", "give_up": "not found", "ask_user": "ask you"}
    return words.get(tool.name, clip(one_line(tool.name), 20))


class TraceStrip(Widget):
    """One line; the chosen step is marked, and `◀ step 3/4 ▶` leads through them."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"strip--{name}" for name in ("label", "number", "item", "running", "good", "bad", "chosen", "arrows")),
    }
    DEFAULT_CSS = """
    TraceStrip {
        height: 1;
        width: 1fr;
        background: $panel;
        & > .strip--label { color: $primary; text-style: bold; }
        & > .strip--number { color: $text-muted; }
        & > .strip--item { color: $foreground; }
        & > .strip--running { color: $mark-opening; text-style: bold; }
        & > .strip--good { color: $mark-helpful; text-style: bold; }
        & > .strip--bad { color: $text-warning; text-style: bold; }
        & > .strip--chosen { background: $block-cursor-blurred-background; text-style: bold; }
        & > .strip--arrows { color: $primary; text-style: bold; }
    }
    """

    class Chosen(Message):
        """A step was chosen."""

        def __init__(self, run: str, step: int) -> None:
            super().__init__()
            self.run = run
            """Run of its question."""
            self.step = step
            """Number of the model call; 0 is what the model knew before."""

    class Opened(Chosen):
        """The chosen step is to be looked at in full."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._state = TraceState()
        self._question: int | None = None
        self._item: int | None = None
        self._spans: list[tuple[range, int | str]] = []
        self._shown: tuple[int, list[Item]] = (0, [])

    def show_state(self, state: TraceState) -> None:
        """Show a session; a new question is followed until a step is chosen."""
        if state is self._state:
            return
        if len(state.questions) != len(self._state.questions):
            self._question = self._item = None
        self._state = state
        shown = (len(state.questions), self._items())
        if shown != self._shown:  # see HeaderLine.show
            self._shown = shown
            self.refresh()

    @property
    def question(self) -> Question | None:
        """The question shown."""
        questions = self._state.questions
        if not questions:
            return None
        return questions[-1 if self._question is None else min(self._question, len(questions) - 1)]

    def _items(self) -> list[Item]:
        question, context = self.question, self._state.context
        if question is None:
            return []
        return items_of(question, context.outline_tokens if context else 0, whole=bool(context and context.whole))

    @property
    def chosen(self) -> tuple[str, int] | None:
        """Run and step of the item the strip stands on: the chosen one, else the last."""
        question, items = self.question, self._items()
        if question is None or not items:
            return None
        at = len(items) - 1 if self._item is None else min(self._item, len(items) - 1)
        return question.run, items[at].step

    def move(self, by: int) -> None:
        """Choose the item before or after; beyond the ends go on in the neighbouring question."""
        items, questions = self._items(), self._state.questions
        if not items:
            return
        number = len(questions) - 1 if self._question is None else self._question
        at = (len(items) - 1 if self._item is None else self._item) + by
        if at < 0 and number > 0:
            self._question, self._item = number - 1, None
        elif at >= len(items) and number < len(questions) - 1:
            self._question, self._item = number + 1, 0
        else:
            self._question, self._item = number, max(0, min(at, len(items) - 1))
        self.refresh()
        if (chosen := self.chosen) is not None:
            self.post_message(self.Chosen(*chosen))

    def on_click(self, event: events.Click) -> None:
        """Choose the item under the mouse, or step by the arrows; a second click opens it."""
        for cells, what in self._spans:
            if event.x in cells:
                if isinstance(what, str):
                    self.move(-1 if what == "back" else 1)
                    return
                self._item = what
                self.move(0)
                if event.chain == 2 and (chosen := self.chosen) is not None:
                    self.post_message(self.Opened(*chosen))
                return

    # -- drawing ------------------------------------------------------------------------------

    def _look(self, name: str) -> Style:
        return component_style(self, f"strip--{name}")

    def render_line(self, y: int) -> Strip:
        """Draw the strip; when it is too long, the items around the chosen one."""
        cells = self.size.width
        items = self._items()
        segments = [Segment(" Trace  ", self._look("label"))]
        self._spans = []
        if not items:
            segments.append(Segment("nothing asked yet", self._look("number")))
            return Strip(segments).adjust_cell_length(cells, self.rich_style).apply_style(self.rich_style)
        at = len(items) - 1 if self._item is None else min(self._item, len(items) - 1)
        number = len(self._state.questions) if self._question is None else self._question + 1
        which = f"Q{number}  " if len(self._state.questions) > 1 else ""
        arrows = f"  {which}◀ step {at + 1}/{len(items)} ▶ "
        room = cells - 8 - width(arrows)
        used = 8
        for index, text in shown_items(items, at, room):
            style = self._look(items[index].style)
            if index == at:
                style += self._look("chosen")
            label = f"{index + 1} "
            segments += [Segment(label, self._look("number")), Segment(text, style), Segment("  ")]
            end = used + width(label) + width(text)
            self._spans.append((range(used, end), index))
            used = end + 2
        segments.append(Segment(" " * max(0, cells - used - width(arrows))))
        back = max(used, cells - width(arrows)) + width(f"  {which}")
        self._spans += [(range(back, back + 2), "back"), (range(cells - 3, cells), "on")]
        segments.append(Segment(arrows, self._look("arrows")))
        return Strip(segments).adjust_cell_length(cells, self.rich_style).apply_style(self.rich_style)


def shown_items(items: list[Item], at: int, room: int) -> list[tuple[int, str]]:
    """Return numbers and texts of the items that fit `room`: in full near `at`, shortened, then left out."""
    texts = [item.text for item in items]

    def cells(index: int) -> int:
        return width(f"{index + 1} {texts[index]}") + 2

    order = sorted(range(len(items)), key=lambda index: -abs(index - at))
    used = sum(cells(index) for index in range(len(items)))
    for index in order[:-1]:
        if used > room:
            used -= cells(index)
            texts[index] = items[index].short
            used += cells(index)
    kept = set(order)
    for index in order[:-1]:
        if used > room:
            used -= cells(index)
            kept.discard(index)
    if used > room:
        texts[at] = clip(texts[at], max(1, room - width(f"{at + 1} ") - 2))
    return [(index, texts[index]) for index in sorted(kept)]
