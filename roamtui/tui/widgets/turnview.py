"""One question with its run, drawn as lines and kept until something of it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console
from rich.style import Style
from textual.strip import Strip

from roamtui.trace.state import Question
from roamtui.tui.widgets.answer import MarkedText, Render, StreamedMarkdown
from roamtui.tui.widgets.rows import Piece, Row, Target, lay_out, row
from roamtui.tui.widgets.turns import Scene, citation_numbers, closing_rows, opening_rows

_BLANK = Strip([])


class TurnView:
    """Draws a question for a width; what did not change is not drawn again."""

    def __init__(
        self, question: Question, render: Render, style_of: Callable[[str], Style], titles: Callable[[str], str]
    ) -> None:
        self.question = question
        self.strips: list[Strip] = []
        """The lines."""
        self.targets: list[Target] = []
        """Where the cursor can stand."""
        self.answer_line = -1
        """Line at which the answer, or what stands in its place, begins; -1 while there is none."""
        self.scene: Scene | None = None
        """What it was drawn with last."""
        self._style_of = style_of
        self._answer = StreamedMarkdown(render, style_of)
        self._marked = MarkedText(titles)
        self._laid_out: dict[str, tuple[tuple[list[Row], int], tuple[list[Strip], list[Target]]]] = {}
        self._drawn: tuple[object, ...] = ()

    @property
    def blocks_drawn(self) -> int:
        """How many blocks of Markdown were drawn; a counter for tests."""
        return self._answer.blocks_drawn

    def forget(self) -> None:
        """Draw everything anew next time: the theme changed."""
        self._drawn = ()
        self._laid_out.clear()
        self._answer.reset()

    def draw(self, question: Question, scene: Scene, cells: int, console: Console) -> bool:
        """Draw `question` as it is now; False when some of the answer is left for the next frame."""
        key = (question, scene.unfolded, scene.sections, scene.waiting, len(scene.warnings), cells)
        if self._drawn and all(
            one is other or (type(one) is int and one == other) for one, other in zip(key, self._drawn, strict=True)
        ):
            return True
        self.question, self.scene = question, scene
        finished = self._draw_answer(question, scene, cells)
        opening, targets = self._lay_out("opening", opening_rows(question, scene), cells, console)
        closing, more = self._lay_out("closing", closing_rows(question, scene), cells, console)
        self.strips = opening
        self.targets = list(targets)
        self.answer_line = -1
        if self._answer.strips:
            style = "label" if question.outcome != "running" else "opening"
            self.answer_line = len(opening) + 1
            label, _ = self._lay_out("label", [row(), row(Piece("Answer", style))], cells, console)
            self.strips = [*self.strips, *label, *self._answer.strips]
        elif closing:
            self.answer_line = len(opening) + 1
            self.strips = [*self.strips, _BLANK]
        top = len(self.strips)
        self.strips = [*self.strips, *closing, _BLANK]
        self.targets += [Target(target.line + top, target.action) for target in more]
        self._drawn = key if finished else ()
        return finished

    def _lay_out(
        self, part: str, rows: Iterable[Row], cells: int, console: Console
    ) -> tuple[list[Strip], list[Target]]:
        """Lay rows out; the same rows give the same lines, so that what did not change is not drawn again."""
        wanted = (list(rows), cells)
        known = self._laid_out.get(part)
        if known is None or known[0] != wanted:
            known = self._laid_out[part] = (wanted, lay_out(wanted[0], cells, self._style_of, console))
        return known[1]

    def _draw_answer(self, question: Question, scene: Scene, cells: int) -> bool:
        numbers = citation_numbers(question.citations)
        checked = [(number, item.holds) for number, item in zip(numbers, question.citations, strict=True)]
        text = self._marked(question.answer, checked, running=question.outcome == "running")
        return self._answer.draw(text if text.strip() else "", cells, question.run)
