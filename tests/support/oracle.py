"""The oracle of headings: markdown-it-py's full block parse of everything after the front matter."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark").enable("table")
_BLOCKS_ONLY = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
_FRONT_MATTER = re.compile(rb"\A---[ \t]*\n(?![ \t]*\n)(?:.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE_END = re.compile(rb"\r\n|\r|\n")


def headings(source: bytes) -> list[tuple[int, int, int]]:
    """Return (first byte, byte after the heading, level) of every top-level heading."""
    front = _FRONT_MATTER.match(_LINE_END.sub(b"\n", source))
    skipped = front[0].count(b"\n") if front else 0
    if front and not front[0].endswith(b"\n"):
        return []
    starts = [0, *(match.end() for match in _LINE_END.finditer(source)), len(source)]
    begin = starts[skipped]
    tokens = _BLOCKS_ONLY.parse(source[begin:].decode("utf-8", "replace"))
    return [
        (starts[token.map[0] + skipped], min(starts[token.map[1] + skipped], len(source)), int(token.tag[1]))
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def full_parse(text: str) -> int:
    """Parse a text as Markdown, inlines included, and return the number of its tokens."""
    return len(_PARSER.parse(text))
