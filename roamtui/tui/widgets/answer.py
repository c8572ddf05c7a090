"""An answer as it streams in: Markdown of which only the last open block is drawn again, with citations as marks.

Blocks of CommonMark never change once another one has begun, so all but the last are drawn once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.agent.evidence import CITATION
from roamtui.agent.tools import ID
from roamtui.text import display
from roamtui.tui.rendering import render_markdown, render_verbatim
from roamtui.tui.widgets.rows import ACTION, Action
from roamtui.tui.wrapping import Row

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Render = Callable[[str, int], list[Strip]]
"""Draws Markdown for a width in cells."""

SHOWN = 50_000
"""Characters of an answer that are drawn; the trace shows the rest."""
SLICE = 0.012
"""Seconds of drawing after which the rest waits for the next frame."""
_OPEN_BLOCK = 3_000
"""Characters of a block that are drawn at once; a longer one is drawn in pieces, so that no frame takes long."""
_WINDOW = 7_000
"""Characters that are cut into blocks at a time."""
_PENDING = 2_200
"""Characters of a citation that has begun and may still be completed."""
_KINDS = {None: "\ue000", True: "\ue001", False: "\ue002"}
_GLYPHS = {"\ue000": "·", "\ue001": "✓", "\ue002": "✗"}
_STYLES = {"\ue000": "cite-pending", "\ue001": "cite-mark", "\ue002": "cite-broken-mark"}
_MARK = re.compile("([\ue000-\ue002])(\\d+)")
_OWN = re.compile("[\ue000-\ue002]")
_ID = re.compile(rf"\[{{0,2}}(?<![0-9A-Za-z])({ID.pattern})(?![0-9A-Za-z])\]{{0,2}}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class MarkedText:
    """An answer with each citation as one mark, and no id left in it. Reads again only what is new."""

    def __init__(self, titles: Callable[[str], str]) -> None:
        self._titles = titles
        self._checked: tuple[tuple[int, bool], ...] = ()
        self._read = 0
        self._count = 0
        self._done = ""

    def __call__(self, answer: str, checked: Sequence[tuple[int, bool]], *, running: bool) -> str:
        """Return the text to draw.

        `checked` tells of the citations known by now, in order: the number of each and whether it holds; the
        others are pending. While `running`, a citation that has begun at the end is held back.
        """
        if tuple(checked) != self._checked:
            self._checked, self._read, self._count, self._done = tuple(checked), 0, 0, ""
        shown = _OWN.sub("\ufffd", answer[self._read : SHOWN])
        if running and len(answer) <= SHOWN:
            shown = _without_begun_citation(shown)
        settled = shown.rfind("\n\n", 0, max(0, len(shown) - _PENDING)) + 1
        if settled and shown.rfind("[[", 0, settled) <= shown.rfind("]]", 0, settled):
            self._done += self._mark(shown[:settled])
            self._count += sum(1 for _ in CITATION.finditer(shown[:settled]))
            self._read += settled
            shown = shown[settled:]
        rest = f"\n\n… {len(answer) - SHOWN:,} more characters" if len(answer) > SHOWN else ""
        return self._done + self._mark(shown) + rest

    def _mark(self, text: str) -> str:
        pieces: list[str] = []
        at = 0
        for count, match in enumerate(CITATION.finditer(text), start=self._count):
            pieces.append(_without_ids(text[at : match.start()], self._titles))
            number, holds = self._checked[count] if count < len(self._checked) else (count + 1, None)
            pieces.append(f"{_KINDS[holds]}{number}")
            at = match.end()
        pieces.append(_without_ids(text[at:], self._titles))
        return display("".join(pieces))


def _without_begun_citation(text: str) -> str:
    at = text.rfind("[[")
    if at >= 0 and len(text) - at < _PENDING and "]]" not in text[at:]:
        return text[:at]
    return text.removesuffix("[")


def _without_ids(text: str, titles: Callable[[str], str]) -> str:
    """The net under the rule that answers hold no ids: a known one is shown as its title."""

    def title(match: re.Match[str]) -> str:
        found = titles(match[1])
        return f"“{found}”" if found else match[0]

    return _ID.sub(title, text) if text else text


def plain_answer(answer: str, places: Sequence[str], titles: Callable[[str], str]) -> str:
    """Return an answer as Markdown for pasting elsewhere: each citation as `(Title, L12–14)` from `places`."""
    pieces: list[str] = []
    at = 0
    for count, match in enumerate(CITATION.finditer(answer)):
        pieces.append(_without_ids(answer[at : match.start()], titles))
        pieces.append(f"({places[count]})" if count < len(places) else "")
        at = match.end()
    pieces.append(_without_ids(answer[at:], titles))
    return "".join(pieces)


def answer_rows(text: str, width: int) -> list[Row]:
    """Return Markdown as rows; what nests too deeply to be read as Markdown is shown as written."""
    rows = render_markdown(text, width)
    lost = text.strip() and not any(row.text.strip() for row in rows)
    return render_verbatim(text, width, "html") if lost else rows


class StreamedMarkdown:
    """Markdown that grows. `draw` does as much work as fits a frame."""

    def __init__(self, render: Render, style_of: Callable[[str], Style]) -> None:
        self._render = render
        self._style_of = style_of
        self._text = ""
        self._width = 0
        self._run = ""
        self._closed = 0
        self._fence = ""
        self._done: list[Strip] = []
        self._open: list[Strip] = []
        self.blocks_drawn = 0
        """How many blocks were drawn; a counter for tests."""

    @property
    def strips(self) -> list[Strip]:
        """The lines drawn so far."""
        return [*self._done, *self._open]

    def reset(self) -> None:
        """Draw everything anew: the theme changed."""
        self._closed, self._fence, self._done, self._open = 0, "", [], []
        self._text = ""

    def draw(self, text: str, width: int, run: str) -> bool:
        """Draw `text` for a width; False when more is left for the next frame. `run` goes into the actions."""
        if width != self._width or run != self._run or not text.startswith(self._text[: self._closed]):
            self.reset()
            self._width, self._run = width, run
        if text == self._text:
            return True
        started = time.monotonic()
        self._open = []
        while self._closed < len(text):
            window = text[self._closed : self._closed + _WINDOW]
            at_end = self._closed + len(window) == len(text)
            blocks = split_blocks(window, self._fence)
            if len(blocks) > 1:
                for block in blocks[:-1]:
                    self._close(block)
            elif len(window) > _OPEN_BLOCK:
                self._close(_head(window), cut=True)
            elif at_end:
                self._open = self._drawn(self._fence + window)
                break
            if time.monotonic() - started > SLICE:
                self._text = ""
                return False
        self._text = text
        return True

    def _close(self, block: str, *, cut: bool = False) -> None:
        """Draw a block that does not change any more; of one that is too long, as much as fits a frame."""
        for piece in _pieces(block):
            self._done += self._drawn(self._fence + piece)
            self._fence = open_fence(self._fence + piece) if cut or len(piece) < len(block) else ""
        self._closed += len(block)

    def _drawn(self, source: str) -> list[Strip]:
        if not source.strip():
            return []
        self.blocks_drawn += 1
        strips = [self._with_marks(strip) for strip in self._render(source, self._width)]
        while strips and not strips[-1].text.strip():
            strips.pop()
        while strips and not strips[0].text.strip():
            strips.pop(0)
        return [*strips, Strip([])]

    def _with_marks(self, strip: Strip) -> Strip:
        if _OWN.search(strip.text) is None:
            return strip
        segments: list[Segment] = []
        for segment in strip:
            at = 0
            for match in _MARK.finditer(segment.text):
                segments.append(Segment(segment.text[at : match.start()], segment.style))
                kind, number = match[1], match[2]
                action: Action = ("cite", self._run, number)
                style = (segment.style or Style()) + self._style_of(_STYLES[kind]) + Style(meta={ACTION: action})
                segments.append(Segment(_GLYPHS[kind] + number, style))
                at = match.end()
            segments.append(Segment(_OWN.sub("·", segment.text[at:]), segment.style))
        return Strip([segment for segment in segments if segment.text])


@lru_cache(maxsize=1)
def _blocks() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.disable("reference")
    return parser


def _head(text: str) -> str:
    """Return the beginning of a block that is too long: whole lines or words where there are any."""
    for mark in ("\n", " "):
        at = text.rfind(mark, 1, _OPEN_BLOCK)
        if at > 0:
            return text[: at + 1]
    return text[:_OPEN_BLOCK]


def _pieces(block: str) -> Iterator[str]:
    while len(block) > _OPEN_BLOCK:
        head = _head(block)
        yield head
        block = block[len(head) :]
    if block:
        yield block


def split_blocks(text: str, fence: str = "") -> list[str]:
    """Cut Markdown into its top-level blocks, each with the blank lines after it; joined they are `text`.

    `fence` is the opening line of a code block that `text` continues.
    """
    if not text:
        return []
    lines = (fence + text).split("\n")
    starts = [
        token.map[0] for token in _blocks().parse(fence + text) if token.level == 0 and token.map and token.nesting >= 0
    ]
    starts = [0, *(start for start in starts[1:] if start > 0)]
    cut = ["\n".join(lines[a:b]) + "\n" for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    cut[-1] = cut[-1][:-1]
    cut[0] = cut[0][len(fence) :]
    return cut


def open_fence(text: str) -> str:
    """Return what the rest of a block that is cut at the end of `text` has to begin with, to be read alike.

    That is the opening line of a code block that is still open, or the head of a table.
    """
    tokens = [token for token in _blocks().parse(text) if token.level == 0]
    if not tokens:
        return ""
    lines = text.split("\n")
    first = next((token.map[0] for token in reversed(tokens) if token.map), 0)
    if tokens[-1].type == "table_close":
        return "\n".join(lines[first : first + 2]) + "\n"
    if tokens[-1].type != "fence":
        return ""
    last = text.rstrip("\n").split("\n")[-1]
    opening = _FENCE.match(lines[first])
    if opening is None or (last is not lines[first] and last.strip().startswith(opening[1]) and not last.strip(" `~")):
        return ""
    return lines[first] + "\n"
