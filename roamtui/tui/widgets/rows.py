"""Rows of styled pieces, laid out as lines of the terminal. What the conversation and the trace are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from roamtui.text import clip, display, one_line, width

Action = tuple[str, ...]
"""What a click or enter does: a verb and its words. Plain data, never run as code."""
ACTION = "roamtui"
"""Key of an action in a style's meta data."""
StyleOf = Callable[[str], Style]
"""Gives the style for a piece's style name."""


class Piece(NamedTuple):
    """Some text of one style."""

    text: str
    """Foreign text is taken as it comes; `lay_out` makes it visible."""
    style: str = "text"
    """Name of a component style."""
    action: Action | None = None
    """What a click on it does."""


class Row(NamedTuple):
    """One or more lines: pieces that wrap, with an indent and pieces at the right end of the first line."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0
    """Cells before the first line."""
    hang: int = 0
    """Cells before the lines after it."""
    right: tuple[Piece, ...] = ()
    """What stands at the right end of the first line, if there is room."""
    fold: bool = False
    """Whether to cut the row to one line instead of wrapping it."""


class Target(NamedTuple):
    """A place the cursor can stand on."""

    line: int
    action: Action


def row(*pieces: Piece | str, indent: int = 0, hang: int = 0, right: Sequence[Piece] = (), fold: bool = False) -> Row:
    """Return a row; plain strings become pieces of the style `text`."""
    made = tuple(Piece(item) if isinstance(item, str) else item for item in pieces)
    return Row(made, indent, hang, tuple(right), fold)


def lay_out(rows: Sequence[Row], cells: int, style_of: StyleOf, console: Console) -> tuple[list[Strip], list[Target]]:
    """Return the lines of rows for a width, and where their actions stand."""
    strips: list[Strip] = []
    targets: list[Target] = []
    for item in rows:
        lines = _lines(item, cells, style_of, console)
        seen: set[Action] = set()
        for line in lines:
            for segment in line:
                action = _action(segment)
                if action is not None and action not in seen:
                    seen.add(action)
                    targets.append(Target(len(strips), action))
            strips.append(Strip(line))
    return strips, targets


def action_at(strip: Strip, x: int) -> Action | None:
    """Return the action of the piece drawn at column `x`."""
    at = 0
    for segment in strip:
        at += segment.cell_length
        if x < at:
            return _action(segment)
    return None


def _action(segment: Segment) -> Action | None:
    found = segment.style.meta.get(ACTION) if segment.style is not None else None
    return found if isinstance(found, tuple) else None


def _styled(piece: Piece, style_of: StyleOf) -> Style:
    style = style_of(piece.style)
    return style + Style(meta={ACTION: piece.action}) if piece.action is not None else style


def _lines(item: Row, cells: int, style_of: StyleOf, console: Console) -> list[list[Segment]]:
    if not item.pieces and not item.right:
        return [[]]
    right = [Segment(one_line(piece.text), _styled(piece, style_of)) for piece in item.right]
    taken = sum(segment.cell_length for segment in right)
    room = max(4, cells - item.indent)
    if taken and taken > room // 2:
        right, taken = [], 0
    if item.fold:
        lines = [_one_line(item, room - (taken + 1 if taken else 0), style_of)]
    else:
        text = Text(end="")
        for piece in item.pieces:
            text.append(display(piece.text), _styled(piece, style_of))
        lines = _wrap(text, item, room, taken, console)
    if right:
        used = sum(segment.cell_length for segment in lines[0])
        lines[0] = [*lines[0], Segment(" " * max(1, cells - used - taken)), *right]
    return lines


def _one_line(item: Row, room: int, style_of: StyleOf) -> list[Segment]:
    line = [Segment(" " * item.indent)] if item.indent else []
    for piece in item.pieces:
        if room <= 0:
            break
        text = clip(_folded(piece.text), room)
        room -= width(text)
        line.append(Segment(text, _styled(piece, style_of)))
    return line


def _folded(text: str) -> str:
    """`one_line` that keeps the white space at both ends, which separates pieces."""
    inner = one_line(text)
    if not inner:
        return " " * len(text)
    return " " * (len(text) - len(text.lstrip(" "))) + inner + " " * (len(text) - len(text.rstrip(" ")))


def _wrap(text: Text, item: Row, room: int, taken: int, console: Console) -> list[list[Segment]]:
    """Wrap a text; the first line leaves room for what stands at its right."""
    first_room = max(4, room - (taken + 1 if taken else 0))
    rest_room = max(4, room + item.indent - max(item.hang, item.indent))
    wrapped = list(text.wrap(console, first_room, tab_size=4))
    if len(wrapped) > 1 and first_room != rest_room:
        rest = text[len(wrapped[0].plain) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        wrapped = [wrapped[0], *rest.wrap(console, rest_room, tab_size=4)]
    lines: list[list[Segment]] = []
    for number, line in enumerate(wrapped or [Text()]):
        line.rstrip()
        before = item.indent if number == 0 else max(item.hang, item.indent)
        line.end = ""
        lines.append([*([Segment(" " * before)] if before else []), *line.render(console)])
    return lines
