"""The judge of headings: markdown-it-py, CommonMark with tables, headings at the top level only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt


class Judged(NamedTuple):
    """A heading by lines, counted from 0 in the text that was judged."""

    line: int
    """The heading's first line."""
    end: int
    """The line after the heading (after the underline, for a setext heading)."""
    level: int
    """1 to 6."""
    content: str
    """The heading's inline source: no marks, lines joined by line feeds."""


@cache
def _block_parser() -> MarkdownIt:
    # Headings are found by block rules alone; leaving inline parsing out halves the cost.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


def judge(text: str) -> Iterator[Judged]:
    """Yield the top-level headings of a Markdown text, front matter already set apart."""
    tokens = _block_parser().parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            first, last = token.map
            yield Judged(first, last, int(token.tag[1]), tokens[place + 1].content)
