"""An answer as it streams in: Markdown of which only the last open block is drawn again, with citations as marks.

Blocks of CommonMark never change once another one has begun, so all but the last are drawn once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.agent.evidence import CITATION
from roamtui.agent.tools import ID
from roamtui.text import display
from roamtui.tui.widgets.rows import ACTION, Action

Render = Callable[[str, int], list[Strip]]
"""Draws Markdown for a width in cells."""

SHOWN = 100_000
"""Characters of an answer that are drawn; the trace shows the rest."""
SLICE = 0.012
"""Seconds of drawing after which the rest waits for the next frame."""
_OPEN_BLOCK = 6_000
"""Characters after which an unfinished block is taken as finished, so that drawing it stays cheap."""
_PENDING = 2_200
"""Characters of a citation that has begun and may still be completed."""
_GLYPHS = {"\ue000": "·", "\ue001": "✓", "\ue002": "✗"}
_STYLES = {"\ue000": "cite-pending", "\ue001": "cite-mark", "\ue002": "cite-broken-mark"}
_MARK = re.compile("([\ue000-\ue002])(\\d+)")
_OWN = re.compile("[\ue000-\ue002]")
_ID = re.compile(rf"\[{{0,2}}(?<![0-9A-Za-z])({ID.pattern})(?![0-9A-Za-z])\]{{0,2}}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def marked_text(
    answer: str, *, numbers: Sequence[int], holds: Sequence[bool], titles: Callable[[str], str], running: bool
) -> str:
    """Return an answer with each citation as one mark, and no id left in it.

    `numbers` and `holds` tell of the citations checked so far, in order; the others are pending. While
    `running`, a citation that has begun at the end is held back.
    """
    shown = answer[:SHOWN]
    if running:
        shown = _without_begun_citation(shown)
    shown = _OWN.sub("\ufffd", shown)
    pieces: list[str] = []
    at = 0
    for count, match in enumerate(CITATION.finditer(shown)):
        pieces.append(_without_ids(shown[at : match.start()], titles))
        known = count < len(numbers)
        kind = "\ue000" if not known else "\ue001" if holds[count] else "\ue002"
        pieces.append(f"{kind}{numbers[count] if known else count + 1}")
        at = match.end()
    pieces.append(_without_ids(shown[at:], titles))
    if len(answer) > SHOWN:
        pieces.append(f"\n\n… {len(answer) - SHOWN:,} more characters")
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
        blocks = split_blocks(text[self._closed :], self._fence)
        for number, block in enumerate(blocks):
            last = number == len(blocks) - 1
            drawn = self._drawn(self._fence + block)
            if last and len(block) <= _OPEN_BLOCK:
                self._open = drawn
                break
            if last:
                cut = block.rfind("\n", 0, len(block) - 1) + 1 or len(block)
                drawn = self._drawn(self._fence + block[:cut])
                self._fence = open_fence(self._fence + block[:cut])
                block = block[:cut]
            else:
                self._fence = ""
            self._done += drawn
            self._closed += len(block)
            self._open = []
            if time.monotonic() - started > SLICE or last:
                self._text = text[: self._closed]
                return self._closed == len(text)
        self._text = text
        return True

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


_BLOCKS = MarkdownIt("commonmark").enable("table")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
_BLOCKS.block.ruler.disable("reference")


def split_blocks(text: str, fence: str = "") -> list[str]:
    """Cut Markdown into its top-level blocks, each with the blank lines after it; joined they are `text`.

    `fence` is the opening line of a code block that `text` continues.
    """
    if not text:
        return []
    lines = (fence + text).split("\n")
    starts = [
        token.map[0] for token in _BLOCKS.parse(fence + text) if token.level == 0 and token.map and token.nesting >= 0
    ]
    starts = [0, *(start for start in starts[1:] if start > 0)]
    cut = ["\n".join(lines[a:b]) + "\n" for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    cut[-1] = cut[-1][:-1]
    cut[0] = cut[0][len(fence) :]
    return cut


def open_fence(text: str) -> str:
    """Return the opening line of a code block that is still open at the end of `text`, with its line end."""
    tokens = [token for token in _BLOCKS.parse(text) if token.level == 0]
    if not tokens or tokens[-1].type != "fence" or tokens[-1].map is None:
        return ""
    lines = text.split("\n")
    first, last = lines[tokens[-1].map[0]], text.rstrip("\n").split("\n")[-1]
    opening = _FENCE.match(first)
    if opening is None or (last is not first and last.strip().startswith(opening[1]) and not last.strip(" `~")):
        return ""
    return first + "\n"
