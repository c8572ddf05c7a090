"""Markdown as rows of styled pieces, each knowing where in the text it came from.

Everything of the text stays visible and inert: HTML and link definitions are shown as they are written,
a link as its words and its address, an image as its words. Parsing is markdown-it-py's; drawing is our
own because Rich's Markdown drops HTML, fails on `a</kbd>` and costs five times as much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from roamtui.text import display
from roamtui.tui.references import DEFINITION
from roamtui.tui.tables import Cell, lay_out
from roamtui.tui.wrapping import Piece, Row, wrap, wrap_exactly

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

References = Mapping[str, Mapping[str, str]]
"""Link definitions by normalised label, as markdown-it keeps them."""

_NEARBY = 600
"""Characters within which a word of the rendered text is looked for in its source; addresses lie between."""
_WORD = re.compile(r"\S+")
_TAB = 4


def render_markdown(text: str, width: int, references: References | None = None) -> list[Row]:
    """Render Markdown to rows of `width` cells. `text` has LF line ends."""
    return _Renderer(text, references or {}).rows(width)


def render_verbatim(text: str, width: int, style: str) -> list[Row]:
    """Render text as it is written, in one style, long lines continued on the next row."""
    rows: list[Row] = []
    place = 0
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        for pieces in wrap_exactly([written(line, style, place)], width):
            rows.append(Row(pieces, number))
        place += len(line) + 1
    return rows


def written(line: str, style: str, at: int, link: str = "") -> Piece:
    """Return a line as one piece; its place is kept only if showing it changes no character."""
    if "\t" in line:
        line = line.expandtabs(_TAB)
        at = -1
    shown = display(line, newlines=False)
    return Piece(shown, style, at if len(shown) == len(line) else -1, link)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # the first paint needs none

    # Definitions are collected beforehand and shown like any text; the rule would hide them, and it is quadratic.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("reference")


class _Renderer:
    """Walks the tokens of one text."""

    def __init__(self, text: str, references: References) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens = _parser().parse(text, {"references": {key: dict(value) for key, value in references.items()}})
        self._cursor = 0
        """Where in the text the next word is looked for."""

    def rows(self, width: int) -> list[Row]:
        """Return all rows."""
        return list(self._blocks(0, len(self._tokens), width))

    # -- blocks -----------------------------------------------------------------------------

    def _blocks(self, index: int, end: int, width: int, *, tight: bool = False) -> Iterator[Row]:
        """Yield the rows of the tokens `index` to `end`, blank rows between blocks unless they are tight."""
        first = True
        while index < end:
            token = self._tokens[index]
            close = _closing(self._tokens, index)
            line = token.map[0] if token.map else 0
            if not first and not tight:
                yield Row((), line)
            first = False
            yield from self._block(token, index, close, width, line)
            index = close + 1

    def _block(self, token: Token, index: int, close: int, width: int, line: int) -> Iterator[Row]:
        if token.map:
            self._cursor = max(self._cursor, self._starts[token.map[0]])
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                yield from self._list(token, index, close, width)
            case "blockquote_open":
                yield from _prefixed(self._blocks(index + 1, close, max(1, width - 2)), "▌ ", "▌ ", "quote")
            case "table_open":
                yield from self._table(index, close, width, line)
            case "fence" | "code_block":
                yield from self._code(token, width, line)
            case "html_block":
                yield from self._written_lines(token, width, "html")
            case "hr":
                yield Row((Piece("─" * width, "rule"),), line)
            case _:
                yield from self._leaf(token, index, width, line)

    def _leaf(self, token: Token, index: int, width: int, line: int) -> Iterator[Row]:
        """Yield a paragraph or a heading; lines that only define links stay lines."""
        inline = self._tokens[index + 1] if token.nesting == 1 else token
        if token.type == "paragraph_open" and DEFINITION.match(inline.content) and token.map:
            yield from self._written_lines(token, width, "definition")
            return
        style = token.tag if token.type == "heading_open" else ""
        for pieces in wrap(self._inline(inline, style), width):
            yield Row(pieces, self._line_of(pieces, line))

    def _list(self, token: Token, index: int, close: int, width: int) -> Iterator[Row]:
        number = int(token.attrGet("start") or 1) if token.type == "ordered_list_open" else None
        tight = _is_tight(self._tokens, index, close)
        item = index + 1
        while item < close:
            end = _closing(self._tokens, item)
            line_map = self._tokens[item].map
            if item > index + 1 and not tight:
                yield Row((), line_map[0] if line_map else 0)
            bullet = "• " if number is None else f"{number}. "
            inner = max(1, width - len(bullet))
            rows = self._blocks(item + 1, end, inner, tight=tight)
            yield from _prefixed(rows, bullet, " " * len(bullet), "bullet", line_map[0] if line_map else 0)
            number = None if number is None else number + 1
            item = end + 1

    def _code(self, token: Token, width: int, line: int) -> Iterator[Row]:
        """Yield the lines of a code block, the words after the fence above them."""
        first = line
        if token.type == "fence":
            first += 1
            if token.info.strip():
                yield Row((Piece(display(token.info.strip(), newlines=False), "info"),), line)
        for number, content in enumerate(token.content.removesuffix("\n").split("\n") if token.content else (), first):
            at = self._find(content) if content else -1
            for pieces in wrap_exactly([written(content, "code", at)], max(1, width - 2)):
                yield Row((Piece("  ", "code"), *pieces), number)

    def _written_lines(self, token: Token, width: int, style: str) -> Iterator[Row]:
        first, last = token.map or [0, 0]
        for number in range(first, last):
            start = self._starts[number]
            end = self._starts[number + 1] - 1 if number + 1 < len(self._starts) else len(self._text)
            line = self._text[start:end]
            if line.strip():
                for pieces in wrap_exactly([written(line, style, start)], width):
                    yield Row(pieces, number)

    def _table(self, index: int, close: int, width: int, line: int) -> Iterator[Row]:
        table: list[list[Cell]] = []
        lines: list[int] = []
        for place in range(index, close):
            token = self._tokens[place]
            if token.type == "tr_open":
                table.append([])
                lines.append(token.map[0] if token.map else line + len(lines))
            elif token.type in ("th_open", "td_open"):
                align = str(token.attrGet("style") or "").removeprefix("text-align:")
                style = "strong" if token.type == "th_open" else ""
                table[-1].append(Cell(self._inline(self._tokens[place + 1], style), align))
        for number, pieces in lay_out(table, width):
            yield Row(pieces, lines[number])

    # -- inline -----------------------------------------------------------------------------

    def _inline(self, token: Token, style: str) -> list[Piece]:
        pieces: list[Piece] = []
        styles = [style] if style else []
        links: list[tuple[str, int]] = []
        for child in token.children or ():
            now = " ".join(styles)
            link = links[-1][0] if links else ""
            match child.type:
                case "text":
                    pieces += self._located(child.content, now, link)
                case "softbreak":
                    pieces.append(Piece(" ", now, -1, link))
                case "hardbreak":
                    pieces.append(Piece("\n", now))
                case "code_inline":
                    pieces += self._located(child.content, f"{now} code".strip(), link)
                case "html_inline":
                    pieces += self._located(child.content, f"{now} html".strip(), link)
                case "image":
                    pieces += self._image(child, now, link)
                case "link_open":
                    links.append((str(child.attrGet("href") or ""), len(pieces)))
                    styles.append("link")
                case "link_close":
                    styles.pop()
                    pieces += self._address(*links.pop(), pieces)
                case "em_open" | "strong_open" | "s_open":
                    styles.append({"e": "em", "s": child.tag}[child.type[0]])
                case "em_close" | "strong_close" | "s_close":
                    styles.pop()
                case _:
                    pieces += self._located(child.content, now, link)
        return pieces

    def _image(self, token: Token, style: str, link: str) -> list[Piece]:
        words = f"{style} image".strip()
        source = display(str(token.attrGet("src") or ""), newlines=False)
        told = "".join(child.content for child in token.children or ())
        alt = self._located(told, words, link) or [Piece("image", words)]
        return [Piece("▣ ", words), *alt, Piece(f" ({source})", f"{style} address".strip(), -1, link)]

    def _address(self, href: str, first: int, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the address of a link, unless its words are the address."""
        words = "".join(piece.text for piece in pieces[first:])
        shown = display(href, newlines=False)
        if not shown or shown.removeprefix("mailto:") == words:
            return []
        at = self._text.find(href, self._cursor, self._cursor + _NEARBY)
        if at < 0:
            return [Piece(f" ({shown})", "address", -1, href)]
        return [Piece(" (", "address"), Piece(shown, "address", at, href), Piece(")", "address")]

    # -- places -----------------------------------------------------------------------------

    def _find(self, text: str) -> int:
        """Return where `text` stands next in the source, or -1; what follows is looked for behind it."""
        at = self._text.find(text, self._cursor, self._cursor + len(text) + _NEARBY)
        if at >= 0:
            self._cursor = at + len(text)
        return at

    def _located(self, text: str, style: str, link: str) -> list[Piece]:
        """Return text as pieces with their places: as a whole where it stands as is, else word by word."""
        if not text:
            return []
        at = self._find(text)
        if at >= 0:
            return [written(text.replace("\n", " "), style, at, link)]
        pieces: list[Piece] = []
        end = 0
        for match in _WORD.finditer(text):
            if match.start() > end:
                pieces.append(Piece(" ", style, -1, link))
            pieces.append(written(match.group(), style, self._find(match.group()), link))
            end = match.end()
        return [*pieces, Piece(" ", style, -1, link)] if end < len(text) else pieces

    def _line_of(self, pieces: Sequence[Piece], line: int) -> int:
        at = next((piece.at for piece in pieces if piece.at >= 0), -1)
        return self._text.count("\n", 0, at) if at >= 0 else line


def _closing(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token that closes the one at `index`; itself for one that does not nest."""
    if tokens[index].nesting != 1:
        return index
    depth = 0
    for place in range(index, len(tokens)):
        depth += tokens[place].nesting
        if depth == 0:
            return place
    return len(tokens) - 1


def _is_tight(tokens: Sequence[Token], index: int, close: int) -> bool:
    """Tell whether the items of a list stand without blank lines: markdown-it hides their paragraphs."""
    level = tokens[index].level + 2
    return all(token.hidden for token in tokens[index:close] if token.type == "paragraph_open" and token.level == level)


def _prefixed(rows: Iterator[Row], first: str, rest: str, style: str, line: int = 0) -> Iterator[Row]:
    """Put a bullet or a bar before rows; an empty item still gets its bullet."""
    prefix = first
    for row in rows:
        yield Row((Piece(prefix, style), *row.pieces), row.line)
        prefix = rest
    if prefix is first and first != rest:
        yield Row((Piece(first, style),), line)
