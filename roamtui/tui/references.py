"""Link definitions of Markdown (`[label]: address`), found without parsing the text around them."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

DEFINITION = re.compile(r" {0,3}\[((?:[^\[\]\\\n]|\\.){1,300})\]:[ \t]*(?:\n[ \t]*)?(<[^<>\n]*>|[^\s<]\S*)")
"""A definition at the start of a line: label and address."""
_CANDIDATES = 5_000
"""Definitions looked at in one source; a document with more has them machine-made."""
_LONGEST = 1_200
"""Bytes of a definition."""


def source_definitions(source: bytes) -> dict[str, dict[str, str]]:
    """Return the link definitions of a source, the first of each label, as markdown-it keeps them.

    Costs a search for `]:`, not a scan by lines: a source without definitions takes no time.
    """
    found: dict[str, dict[str, str]] = {}
    parser = MarkdownIt("commonmark")
    place = source.find(b"]:")
    for _ in range(_CANDIDATES):
        if place < 0:
            break
        start = max(
            source.rfind(b"\n", max(0, place - _LONGEST), place), source.rfind(b"\r", max(0, place - 320), place)
        )
        line = source[start + 1 : place + _LONGEST].decode("utf-8", "replace").replace("\r\n", "\n")
        match = DEFINITION.match(line)
        if match is not None:
            address = match.group(2).removeprefix("<").removesuffix(">")
            if parser.validateLink(address):
                label = normalizeReference(match.group(1))
                found.setdefault(label, {"href": parser.normalizeLink(address), "title": ""})
        place = source.find(b"]:", place + 2)
    return found
