"""Headings as plain text: markup taken off, code and alternative texts kept, entities decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from roamtui.document.model import plain_title

_MARKUP = re.compile(r"[\\`*_\[\]<&!]")


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def heading_title(content: str) -> str:
    """Return the title of a heading from its inline source.

    Only the heading itself is read: a reference link keeps its brackets, since the definition lies in some
    section's own text, and own text must not change an id.
    """
    if _MARKUP.search(content) is None:
        return plain_title(content)
    tokens = _inline_parser().parseInline(content)
    return plain_title("".join(_plain(tokens[0].children or ())) if tokens else "")


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
