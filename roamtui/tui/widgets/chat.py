"""The conversation: one widget that draws lines, however long it gets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from roamtui.trace.state import MARKS, Question, TraceState
from roamtui.tui.styles import component_style
from roamtui.tui.widgets.answer import answer_rows
from roamtui.tui.widgets.chatstyle import CHAT_CSS, MARKDOWN, STYLES
from roamtui.tui.widgets.rows import Action, Row, Target, action_at, lay_out
from roamtui.tui.widgets.turns import Scene
from roamtui.tui.widgets.turnview import TurnView

_BLANK = Strip([])
_MORE = 0.02
"""Seconds until the next slice of a long answer is drawn."""


class ChatLog(ScrollView, can_focus=True):
    """Questions, steps and answers. The cursor goes from one thing that can be activated to the next."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"chat--{name}" for name in (*STYLES, *MARKDOWN)),
        *(f"chat--{mark}" for mark in MARKS),
    }

    DEFAULT_CSS = CHAT_CSS

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="chat.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="chat.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="chat.page-up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="chat.page-down"),
        Binding("home", "scroll_home", "Top", show=False, id="chat.top"),
        Binding("end,G", "scroll_end", "Bottom", show=False, id="chat.bottom"),
        Binding("enter,space", "activate", "Open", show=False, id="chat.activate"),
    ]

    class Activated(Message):
        """Something in the conversation was clicked or entered."""

        def __init__(self, log: ChatLog, action: Action) -> None:
            super().__init__()
            self.log = log
            self.action = action

        @property
        def control(self) -> ChatLog:
            """The conversation."""
            return self.log

    def __init__(self, titles: Callable[[str], str], *, id: str | None = None) -> None:
        """`titles` gives the title of a section id, empty when there is none."""
        super().__init__(id=id)
        self._titles = titles
        self._state = TraceState()
        self._waiting = 0
        self._intro: Sequence[Row] = ()
        self._intro_drawn: tuple[object, ...] = ()
        self._intro_lines: tuple[list[Strip], list[Target]] = ([], [])
        self._turns: list[TurnView] = []
        self._tops: list[int] = [0]
        self.targets: list[Target] = []
        """Where the cursor can stand, from top to bottom."""
        self._unfolded: frozenset[str] = frozenset()
        self._cursor: int | None = None
        self._styles: dict[str, Style] = {}
        self._rest: Timer | None = None
        self._followed = 0
        """Line that was scrolled to last on following; whoever scrolls away is left alone."""

    # -- what is shown ------------------------------------------------------------------------

    def show_intro(self, rows: Sequence[Row]) -> None:
        """Show rows above the first question."""
        self._intro = rows
        self._redraw()

    def show_state(self, state: TraceState, waiting: int = 0) -> None:
        """Show a session; `waiting` is the whole seconds since its last request went out."""
        if state is self._state and waiting == self._waiting:
            return
        asked = len(state.questions) > len(self._state.questions)
        self._state, self._waiting = state, waiting
        self._redraw(to_end=asked)

    def toggle(self, key: str) -> None:
        """Fold or unfold a tool call."""
        self._unfolded = self._unfolded ^ {key}
        self._redraw()

    def _redraw(self, *, to_end: bool = False) -> None:
        cells = self.scrollable_content_region.width - 1  # a blank column before the scroll bar
        if cells <= 0:
            return
        following = to_end or self.scroll_offset.y in (self._followed, self.max_scroll_y)
        console = self.app.console
        seen = self._visible()
        if self._intro_drawn != (self._intro, cells):
            self._intro_drawn = (self._intro, cells)
            self._intro_lines = lay_out(self._intro, cells, self._style, console)
        questions = self._state.questions
        del self._turns[len(questions) :]
        finished = True
        for number, question in enumerate(questions):
            if number >= len(self._turns):
                self._turns.append(TurnView(question, self._markdown, self._style, self._titles))
            last = number == len(questions) - 1
            turn = self._turns[number]
            finished = turn.draw(question, self._scene(turn, question, last=last), cells, console) and finished
        heights = [len(self._intro_lines[0]), *(len(turn.strips) for turn in self._turns)]
        self._tops = [0, *accumulate(heights)]
        self.targets = list(self._intro_lines[1])
        for turn, top in zip(self._turns, self._tops[1:], strict=False):
            self.targets += [Target(target.line + top, target.action) for target in turn.targets]
        self._set_height(cells, self._tops[-1])
        if following:
            self._follow()
        self._refresh_changed(seen)
        if not finished and self._rest is None:
            self._rest = self.set_timer(_MORE, self._draw_rest)

    def _set_height(self, cells: int, lines: int) -> None:
        """Take a height without the layout of the whole screen that setting `virtual_size` brings."""
        size = Size(cells, lines)
        if size != self.virtual_size:
            self.set_reactive(ChatLog.virtual_size, size)
            self._scroll_update(size)

    def _visible(self) -> tuple[int, list[Strip]]:
        top = self.scroll_offset.y
        return top, [self._strip(line) for line in range(top, top + self.scrollable_content_region.height)]

    def _refresh_changed(self, seen: tuple[int, list[Strip]]) -> None:
        """Have the lines drawn that are not what was seen before."""
        top, before = seen
        now_top, now = self._visible()
        if top != now_top or len(before) != len(now):
            self.refresh()
            return
        changed = [line for line, (old, new) in enumerate(zip(before, now, strict=True)) if old is not new]
        if changed:
            self.refresh(Region(0, changed[0], self.size.width, changed[-1] - changed[0] + 1))

    def _follow(self) -> None:
        """Show the end; of a long answer its beginning, so that it is read from there."""
        last = max(0, self._tops[-1] - self.scrollable_content_region.height)
        answer = self._turns[-1].answer_line if self._turns else -1
        if answer >= 0:
            last = min(last, self._tops[-2] + answer)
        self._followed = last
        self.scroll_to(y=last, animate=False, force=True)

    def _draw_rest(self) -> None:
        self._rest = None
        self._redraw()

    def _scene(self, turn: TurnView, question: Question, *, last: bool) -> Scene:
        """What a question is drawn with; judgements of later questions do not redraw earlier ones."""
        drawn = turn.scene
        if not last and drawn is not None and turn.question is question and drawn.unfolded == self._unfolded:
            return drawn
        return Scene(
            sections=self._state.sections,
            warnings=tuple(item for item in self._state.warnings if item.run == question.run),
            unfolded=self._unfolded,
            waiting=self._waiting if last else 0,
            titles=self._titles,
        )

    # -- the cursor ---------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Go to the next thing that can be activated; scroll where none is near."""
        targets = self.targets
        height = max(1, self.scrollable_content_region.height)
        top = self.scroll_offset.y
        at = self._cursor
        if at is None or at >= len(targets) or not top <= targets[at].line < top + height:
            inside = [number for number, target in enumerate(targets) if top <= target.line < top + height]
            chosen = (inside[0] if by > 0 else inside[-1]) if inside else None
        else:
            chosen = at + by if 0 <= at + by < len(targets) else None
            if chosen is not None and not top - 2 <= targets[chosen].line < top + height + 2:
                chosen = None
        if chosen is None:
            self.scroll_relative(y=by, animate=False, force=True)
            return
        self._cursor = chosen
        line = targets[chosen].line
        if not top <= line < top + height:
            self.scroll_to(y=line if line < top else line - height + 1, animate=False, force=True)
        self.refresh()

    @property
    def chosen(self) -> Action | None:
        """What stands under the cursor."""
        targets = self.targets
        return targets[self._cursor].action if self._cursor is not None and self._cursor < len(targets) else None

    def action_activate(self) -> None:
        """Do what stands under the cursor."""
        if self.chosen is not None:
            self._activate(self.chosen)

    def _activate(self, action: Action) -> None:
        if action[0] == "fold":
            self.toggle(action[1])
        else:
            self.post_message(self.Activated(self, action))

    def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + self.scroll_offset.y
        action = action_at(self._strip(line), offset.x)
        if action is not None:
            found = [number for number, target in enumerate(self.targets) if target == Target(line, action)]
            self._cursor = found[0] if found else self._cursor
            self._activate(action)

    # -- drawing ------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Draw everything in the colours of the new theme."""
        super().notify_style_update()
        self._styles.clear()
        self._intro_drawn = ()
        for turn in self._turns:
            turn.forget()
        if self.is_mounted:
            self.call_after_refresh(self._redraw)

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = component_style(self, f"chat--{name}")
        return style

    def _markdown(self, text: str, cells: int) -> list[Strip]:
        return [
            Strip([Segment(piece.text, self._markdown_style(piece.style)) for piece in drawn.pieces])
            for drawn in answer_rows(text, cells)
        ]

    def _markdown_style(self, names: str) -> Style:
        style = Style()
        for name in names.split():
            style += self._style(name if name in MARKDOWN else "text")
        return style

    def _on_resize(self, event: events.Resize) -> None:
        self._redraw()

    def _strip(self, line: int) -> Strip:
        if not 0 <= line < self._tops[-1]:
            return _BLANK
        part = bisect_right(self._tops, line) - 1
        strips = self._intro_lines[0] if part == 0 else self._turns[part - 1].strips
        return strips[line - self._tops[part]]

    def render_line(self, y: int) -> Strip:
        """Draw one line of the conversation."""
        cells = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        base = self._styles.get(" base")
        if base is None:  # working it out takes longer than drawing a line
            base = self._styles[" base"] = self.rich_style
        strip = self._strip(line)
        if self.has_focus and self._cursor is not None:
            strip = self._with_cursor(strip, line)
        strip = strip.adjust_cell_length(cells, base).apply_style(base)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(line)) is not None:
            strip = self._with_selection(strip, *span)
        return strip.apply_offsets(0, line)

    def _with_cursor(self, strip: Strip, line: int) -> Strip:
        targets = self.targets
        if self._cursor is None or self._cursor >= len(targets) or targets[self._cursor].line != line:
            return strip
        action, style = targets[self._cursor].action, self._style("cursor")
        at = 0
        segments: list[Segment] = []
        for segment in strip:
            here = action_at(strip, at) == action
            segments.append(Segment(segment.text, (segment.style or Style()) + style) if here else segment)
            at += segment.cell_length
        return Strip(segments)

    def _with_selection(self, strip: Strip, start: int, end: int) -> Strip:
        cells = strip.cell_length
        end = cells if end == -1 else min(end, cells)
        if start >= end:
            return strip
        style = self.screen.get_component_rich_style("screen--selection")
        before, inside, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end, cells)
        marked = Strip([Segment(item.text, (item.style or Style()) + style) for item in inside])
        return Strip.join([before, marked, after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text."""
        return selection.extract("\n".join(self.lines())), "\n"

    def lines(self) -> list[str]:
        """Return the whole conversation as text, as it is laid out."""
        return [self._strip(line).text.rstrip() for line in range(self._tops[-1])]

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()
