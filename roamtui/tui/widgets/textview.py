"""Rows of styled pieces painted as lines of the terminal: styles, highlights, selection."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from roamtui.trace.state import MARKS
from roamtui.tui.styles import component_style, mark_css
from roamtui.tui.wrapping import Piece, Row

_TEXT_STYLES = (
    *("h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "link", "address", "image", "html"),
    *("quote", "bullet", "rule", "definition", "info", "plain", "verbatim", "note", "path", "meta", "close"),
    *("pin", "hit", "current", "cited", "flash", *MARKS),
)
"""Names a piece's style may be made of; `text--NAME` is the component class."""


_BASE = " base"
"""Key of the view's own style among those that are kept."""


class TextView(ScrollView):
    """A view that paints rows; what the rows are is its subclass's business."""

    ALLOW_SELECT = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"text--{name}" for name in _TEXT_STYLES}
    DEFAULT_CSS = (
        """
    TextView {
        & > .text--h1, & > .text--h2, & > .text--h3 { text-style: bold underline; }
        & > .text--h4, & > .text--h5, & > .text--h6 { text-style: bold; }
        & > .text--strong { text-style: bold; }
        & > .text--em { text-style: italic; }
        & > .text--s { text-style: strike; }
        & > .text--code { color: $text-accent; }
        & > .text--link { text-style: underline; }
        & > .text--address { color: $text-muted; }
        & > .text--quote { color: $text-muted; }
        & > .text--bullet { color: $text-muted; text-style: bold; }
        & > .text--rule { color: $text-muted; }
        & > .text--html { color: $text-muted; }
        & > .text--definition { color: $text-muted; }
        & > .text--image { text-style: italic; }
        & > .text--info { color: $text-muted; text-style: italic; }
        & > .text--note { color: $text-warning; text-style: italic; }
        & > .text--path { text-style: bold; background: $panel; }
        & > .text--meta { color: $text-muted; }
        & > .text--close { color: $text-muted; background: $panel; }
        & > .text--pin { color: $mark-pin; text-style: bold; }
        & > .text--hit { background: $hit-background; color: $hit-foreground; text-style: underline; }
        & > .text--current { background: $current-background; color: $current-foreground; text-style: bold reverse; }
        & > .text--cited { background: $quote-background; text-style: bold; }
        & > .text--flash { text-style: bold reverse; }
        """
        + mark_css("text")
        + "}"
    )

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._styles: dict[str, Style] = {}
        self._base = Style()
        """Style of the view itself, below all others."""
        self._chosen: Selection | None = None

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        super().notify_style_update()
        self._styles.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows; what is the same for all of them is looked up once."""
        base = self.rich_style
        if base != self._base:
            self._styles.clear()
            self._base = base
        self._chosen = self.text_selection
        return super().render_lines(crop)

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    @property
    def base_style(self) -> Style:
        """The view's own style; kept, because working it out takes longer than drawing a row."""
        style = self._styles.get(_BASE)
        if style is None:
            style = self._styles[_BASE] = self.rich_style
        return style

    def style_of(self, names: str) -> Style:
        """Return the style of a piece on this view: the names it is made of, later ones over earlier ones."""
        style = self._styles.get(names)
        if style is None:
            style = self._base
            for name in names.split():
                style += component_style(self, f"text--{name}")
            self._styles[names] = style
        return style

    def paint(self, row: Row, cells: int, marks: Sequence[tuple[int, int, str]] = (), place: int = -1) -> Strip:
        """Return a row as a line of `cells` cells, with marks (first character, character after, style name).

        A row with a place, its number in all of the text, can be selected.
        """
        styled = [(start, end, component_style(self, f"text--{name}")) for start, end, name in marks]
        span = None if self._chosen is None or place < 0 else self._chosen.get_span(place)
        if span is not None:
            chosen = self.screen.get_component_rich_style("screen--selection")
            styled.append((span[0], len(row.text) if span[1] == -1 else span[1], chosen))
        segments: list[Segment] = []
        at = used = 0
        for piece in row.pieces:
            segments += _split(piece.text, self.style_of(piece.style), at, styled)
            at += len(piece.text)
            used += cell_len(piece.text)
        if used < cells:
            segments.append(Segment(" " * (cells - used), self._base))
        strip = Strip(segments, max(used, cells))
        strip = strip if used <= cells else strip.crop(0, cells)
        return strip if place < 0 else strip.apply_offsets(0, place)


def piece_at(row: Row, cell: int) -> Piece | None:
    """Return the piece that covers a cell of a row."""
    end = 0
    for piece in row.pieces:
        end += cell_len(piece.text)
        if cell < end:
            return piece
    return None


def _split(text: str, style: Style, place: int, marks: Sequence[tuple[int, int, Style]]) -> list[Segment]:
    """Cut a text that stands at `place` of its row where marks begin and end."""
    end = place + len(text)
    touching = [mark for mark in marks if mark[0] < end and mark[1] > place]
    if not touching:
        return [Segment(text, style)]
    cuts = sorted({place, end, *(max(place, mark[0]) for mark in touching), *(min(end, mark[1]) for mark in touching)})
    segments: list[Segment] = []
    for start, stop in pairwise(cuts):
        shown = style
        for mark in touching:
            if mark[0] <= start and mark[1] >= stop:
                shown += mark[2]
        segments.append(Segment(text[start - place : stop - place], shown))
    return segments
