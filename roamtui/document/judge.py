"""The judge of headings: markdown-it-py, CommonMark with tables, headings at the top level only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

_REFERENCE_BYTES = 4_096
"""Longest link reference definition that is read: the rule takes quadratic time (markdown-it-py#367)."""


class Judged(NamedTuple):
    """A heading by lines, counted from 0 in the text that was judged."""

    line: int
    """The heading's first line."""
    end: int
    """The line after the heading (after the underline, for a setext heading)."""
    level: int
    """1 to 6."""
    setext: bool
    """Whether its last line is an underline."""


class Verdict(NamedTuple):
    """What the judge found."""

    headings: Sequence[Judged]
    """The top-level headings, in order."""
    open_line: int
    """First line of a top-level fence or HTML block that reaches the end of the text; -1 for none."""


def judge(text: str, tick: Callable[[], None] | None = None) -> Verdict:
    """Judge a Markdown text without front matter. `tick` is called at every block."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    tokens = _block_parser().parse(text, {"tick": tick})
    headings = [
        Judged(token.map[0], token.map[1], int(token.tag[1]), token.markup[0] in "=-")
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]
    open_line = -1
    if tokens and tokens[-1].type in ("fence", "html_block") and tokens[-1].map is not None:
        first, last = tokens[-1].map
        if last >= text.count("\n") + (not text.endswith("\n")):
            open_line = first
    return Verdict(headings, open_line)


@cache
def _block_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    def report(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        tick = state.env.get("tick")
        if tick is not None:
            tick()
        return False

    def bounded_reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if state.src[state.bMarks[start] + state.tShift[start]] != "[":
            return False
        line_max, line = state.lineMax, start
        while line < line_max and state.bMarks[line] - state.bMarks[start] < _REFERENCE_BYTES:
            line += 1
        state.lineMax = line
        try:
            return reference(state, start, end, silent)
        finally:
            state.lineMax = line_max

    # Headings are found by block rules alone; leaving inline parsing out halves the cost.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    parser.block.ruler.before("table", "report", report, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    parser.block.ruler.at("reference", bounded_reference)
    return parser
