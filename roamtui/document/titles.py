"""Headings as plain text: markup taken off, code and alternative texts kept, entities decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from roamtui.document.ids import plain_title

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LONGEST = 4_000
"""Characters of a heading whose markup is taken off: no heading of a reader's document is longer."""
_CLOSING = re.compile(r"(?:^|(?<=[ \t]))#+$")
_SPECIAL = re.compile(r"[\\`*_\[\]<&!]")
_SIMPLE = re.compile(
    r"""([^\\`*_\[\]<&!]+|(?<=[A-Za-z0-9])_+(?=[A-Za-z0-9])|!(?!\[))  # words; marks that cannot be markup here
    |\\([!-/:-@\[-`{-~])                                            # an escaped mark
    |(?<!`)`([^`\s](?:[^`\n]*[^`\s])?)`(?!`)                        # code
    |<a\ (?:name|id)="[\w.:-]*">|</a>                               # an anchor
    """,
    re.VERBOSE | re.ASCII,
)


def atx_title(line: str, level: int) -> str:
    """Return the title of an ATX heading from its line."""
    content = line.strip(" \t\r\n")[level:].strip(" \t")
    if content.endswith("#"):
        content = _CLOSING.sub("", content)
    return heading_title(content)


def heading_title(content: str) -> str:
    """Return the title of a heading from its inline source.

    Only the heading itself is read: a reference link keeps its brackets, since its definition lies in some
    section's own text, and own text must not change an id.
    """
    if len(content) > _LONGEST or _SPECIAL.search(content) is None:
        return plain_title(content)
    simple = _simple(content)
    if simple is not None:
        return plain_title(simple)
    tokens = _inline_parser().parseInline(content)
    return plain_title("".join(_plain(tokens[0].children or ())) if tokens else "")


def _simple(content: str) -> str | None:
    """Return the text of a heading whose markup needs no parser; None where it does."""
    parts: list[str] = []
    place = 0
    for match in _SIMPLE.finditer(content):
        if match.start() != place:
            return None
        place = match.end()
        parts.append(match[1] or match[2] or match[3] or "")
    return "".join(parts) if place == len(content) else None


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _plain(tokens: Sequence[Token]) -> list[str]:
    parts: list[str] = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type == "image":
            parts.extend(_plain(token.children or ()))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return parts
