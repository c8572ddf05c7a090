"""Lines about sections, as models read them: outline lines, header lines, previews."""

from __future__ import annotations

import re
from typing import Literal

from roamtui.document.model import Document, Library, Place, Section
from roamtui.text import clip, for_model

Marker = Literal["short", "full"]
"""How a section is marked in an outline: by its id in brackets, or by the comment of the Roaming RAG article."""

TITLE_CELLS = 100
"""Width at which the title of an outline line is cut."""
PATH_CELLS = 200
"""Width at which each title of a path is cut."""
PREVIEW_CELLS = 100
"""Width of a full preview (Roaming RAG article: about 100 characters)."""

_LOOKED_AT = 2_000
"""Bytes of a text that are looked at for a preview."""
_SILENT = re.compile(
    r"""<!--.*?-->|<[^<>]*>|!\[[^\]]*\]\([^)]*\)|\{[%:{][^}]*\}+|^\s*(?:```|~~~).*$|^(?:import|export) .*['"{;].*$"""
)
"""What a line may hold without saying a word to a reader: tags, pictures, template commands, fence marks."""
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]{0,200}>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WORD = re.compile(r"\w+")
_EMPTY_WORD = re.compile(
    r"art|artikel|article|section|sec|part|teil|chapter|kapitel|chap|page|seite|item|no|nr|appendix|anhang|figure|table"
    r"|untitled|clause|paragraph|abs|absatz|title|rule|step|note|notes|fixed|fields|overview|introduction|example|examples"
    r"|parameters|[ivxlcdm]{1,7}|\d+\w?|\w",
    re.IGNORECASE,
)


def section_line(library: Library, document: Document, section: Section, marker: Marker = "short") -> str:
    """Return a section's outline line: `[07f3277d] ## Title · 3 sub · 1.2k tok`.

    `sub` counts all sections below it, at any depth; `tok` is its whole subtree by the built-in estimator.
    """
    ref = library.ref(document, section)
    title = clip(plain(section.title), TITLE_CELLS)
    match section.kind:
        case "heading":
            title = f"{'#' * section.level} {title}"
        case "preamble":
            title = f"(preamble) {title}"
        case "root" | "part":
            pass
    below = section.last - section.index
    title += (f" · {below:,} sub" if below > 9_999 else f" · {below} sub") if below else ""
    title += f" · {short_count(document.tokens(section))} tok"
    if marker == "full":
        return f'{unmarked(title)} <!-- Section collapsed - expand with expand_section("{ref}") -->'
    return f"[{ref}] {title}"


def fold_line(count: int, ref: str, marker: Marker = "short") -> str:
    """Return the line that stands for sections without lines of their own."""
    if marker == "full":
        return f'<!-- {count} more sections - list with list_children("{ref}") -->'
    return f'[… {count} more: list_children("{ref}")]'


def path_line(place: Place) -> str:
    """Return a section's path for a header line; the document's name for its root."""
    titles = place.path or (place.document.name,)
    return " › ".join(clip(plain(title), PATH_CELLS) for title in titles)


def plain(text: str) -> str:
    """Return foreign text as one line without hidden characters."""
    return " ".join(for_model(text)[0].split())


def unmarked(text: str) -> str:
    """Return text in which nothing reads as the beginning of a comment."""
    return text.replace("<!--", "<! --")


def short_count(number: int) -> str:
    """Return a count as people write it: 310, 1.2k, 45k, 1.2M."""
    for unit, size in (("", 1), ("k", 1_000), ("M", 1_000_000)):
        if number < size * 999.5 or unit == "M":
            scaled = number / size
            return f"{scaled:.1f}{unit}" if unit and scaled < 9.95 else f"{scaled:.0f}{unit}"
    return str(number)


# -- previews ------------------------------------------------------------------------------------


def says_little(title: str) -> bool:
    """Tell whether a title holds no word of the subject: "Art 54", "Section. 1.", "Part 3"."""
    return len(title) < 40 and all(map(_EMPTY_WORD.fullmatch, _WORD.findall(title)))


def opening(document: Document, section: Section) -> str:
    """Return the opening words of a section, uncleaned: at most `_LOOKED_AT` bytes of them.

    The words are those of the first text below the heading, be it of a section further down: they are empty
    only where the sections nearest below have no text either.
    """
    items = (section, *document.subtree(section)[1:9]) if section.index >= 0 else document.sections[:9]
    for item in items:
        begin = document.metadata_end if item.body < document.metadata_end < item.own_end else item.body
        words = _speaking(document.slice(begin, min(item.own_end, begin + _LOOKED_AT)).rstrip("\ufffd"))
        if words:
            return words
    return ""


def _speaking(text: str) -> str:
    """Return the text's lines with words on, without link targets, tags and escapes."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = " ".join(line for line in lines if _WORD.search(_SILENT.sub("", line)))
    words = _ESCAPE.sub(r"\1", _TAG.sub(" ", _LINK_TARGET.sub("]", kept)))
    return words if words.strip() else text.strip()


def label(document: Document, section: Section, cells: int = 40) -> str:
    """Return a few words that name a section in a row of names: its title, or its opening where that says little."""
    title = plain(section.title)
    if says_little(title):
        words = plain(opening(document, section))
        title = f"{title}: {words}" if words and section.kind == "heading" else words or title
    return clip(title.replace(";", ","), cells)
