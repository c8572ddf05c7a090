"""The first line: document, model, how full the context window is, tokens, cost, cache, progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from roamtui.text import clip, one_line, width
from roamtui.trace.state import Question, TraceState
from roamtui.tui.counts import short_count
from roamtui.tui.styles import component_style
from roamtui.tui.widgets.turns import money

BUILT_IN = ("guide", "scripted")
"""Makers that run inside the program: no price, no cache."""
_GAUGE = 8


@dataclass(frozen=True, slots=True)
class Facts:
    """What the line says besides the session's state."""

    document: str = ""
    """Name of the document; of the first and the number of others, with several."""
    sections: int = 0
    tokens: int = 0
    """Estimated tokens of all documents; 0 while unknown."""
    work: str = ""
    """What goes on behind: reading, indexing, with a count; empty when nothing does."""
    model: str = ""
    """Name of the model that would answer now."""
    maker: str = ""
    max_steps: int = 0
    seconds: int = 0
    """Whole seconds since the running question was asked."""


class HeaderLine(Widget):
    """One line about everything; what does not fit leaves by importance."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"header--{name}" for name in ("brand", "name", "muted", "model", "gauge", "full", "work", "running")),
    }
    DEFAULT_CSS = """
    HeaderLine {
        height: 1;
        width: 1fr;
        background: $panel;
        & > .header--brand { background: $primary; color: $background; text-style: bold; }
        & > .header--name { text-style: bold; }
        & > .header--muted { color: $text-muted; }
        & > .header--model { color: $accent; text-style: bold; }
        & > .header--gauge { color: $success; }
        & > .header--full { color: $text-warning; text-style: bold; }
        & > .header--work { color: $text-warning; }
        & > .header--running { color: $mark-opening; text-style: bold; }
    }
    """

    class ModelClicked(Message):
        """The model's name was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]] = ([], [])
        self._model_cells = range(0)

    def show(self, state: TraceState, facts: Facts) -> None:
        """Show a session and what is known besides."""
        items = (left_items(facts), right_items(state, facts))
        if items != self._items:  # drawing one line makes the compositor draw all lines between it and others
            self._items = items
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        cells = self.size.width
        left, right = fitting(*self._items, cells)
        gap = max(1, cells - _cells(left) - _cells(right))
        segments: list[Segment] = []
        at = 0
        self._model_cells = range(0)
        for text, style, _ in [*left, (" " * gap, "", 0), *right]:
            look = component_style(self, f"header--{style}") if style else None
            segments.append(Segment(text, look))
            if style == "model":
                self._model_cells = range(at, at + width(text))
            at += width(text)
        return Strip(segments).adjust_cell_length(cells, self.rich_style).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Offer another model when its name is clicked."""
        if event.x in self._model_cells:
            self.post_message(self.ModelClicked())


def model_name(name: str, maker: str) -> str:
    """Return what the screen calls a model: the guide never passes for one."""
    return "guide (no model)" if maker == "guide" or name == "guide" else one_line(name)


def left_items(facts: Facts) -> list[tuple[str, str, int]]:
    """Return what stands at the left: program, document, its size."""
    items = [(" roamtui ", "brand", 5), (f" {one_line(facts.document)}", "name", 1)]
    if facts.sections:
        items.append((f" · {facts.sections:,} section{'' if facts.sections == 1 else 's'}", "muted", 6))
    if facts.tokens:
        items.append((f" · {short_count(facts.tokens)} tokens", "muted", 7))
    if facts.work:
        items.append((f" · {facts.work}", "work", 3))
    return items


def right_items(state: TraceState, facts: Facts) -> list[tuple[str, str, int]]:
    """Return what stands at the right: progress, model, context, tokens, cost, cache."""
    items: list[tuple[str, str, int]] = []
    question = state.questions[-1] if state.questions else None
    if state.running and question is not None:
        items.append((f"{progress(question, facts)}  ", "running", 2))
    items.append((f"{model_name(facts.model, facts.maker)} ", "model", 0))
    budget = state.budget
    if budget is not None and budget.window:
        share = budget.used / budget.window
        filled = min(_GAUGE, round(share * _GAUGE)) if share < 1 else _GAUGE
        style = "full" if share > 0.8 else "gauge"
        items.append((" ctx ", "muted", 4))
        items.append(("▓" * filled + "░" * (_GAUGE - filled), style, 8))
        items.append((f" {share:.0%} ", style, 4))
    totals = state.totals
    if totals.input or totals.output:
        items.append((f" {short_count(totals.input + totals.output)} tok ", "muted", 6))
    if facts.maker not in BUILT_IN and totals.calls:
        if totals.cost or not totals.unpriced:
            items.append((f" {money(totals.cost)}{'+' if totals.unpriced else ''} ", "muted", 5))
        items.append((f" cache {totals.cached_calls}/{totals.calls} ", "muted", 7))
    return items


def progress(question: Question, facts: Facts) -> str:
    """Return how far a running question is."""
    step = len(question.steps)
    return (
        f"step {step}/{facts.max_steps} · {facts.seconds} s" if facts.max_steps else f"step {step} · {facts.seconds} s"
    )


def _cells(items: Sequence[tuple[str, str, int]]) -> int:
    return sum(width(text) for text, _, _ in items)


def fitting(
    left: list[tuple[str, str, int]], right: list[tuple[str, str, int]], cells: int
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Return what fits `cells`: items leave by rank, then the document's name is cut."""
    left, right = list(left), list(right)
    while _cells(left) + _cells(right) + 1 > cells:
        highest = max((item[2] for item in [*left, *right]), default=0)
        if highest <= 1:
            break
        left = [item for item in left if item[2] != highest]
        right = [item for item in right if item[2] != highest]
    over = _cells(left) + _cells(right) + 1 - cells
    if over > 0:
        left = [
            (clip(text, max(4, width(text) - over)), style, rank) if rank == 1 else (text, style, rank)
            for text, style, rank in left
        ]
    return left, right
