"""A section's text cut into slices small enough to be parsed and drawn one by one.

Cuts fall where Markdown means the same on both sides: after a blank line before text that is not
indented, or before an item of a top-level list. What has no such place (a long fence, one endless
paragraph) is cut at lines and shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SliceKind = Literal["markdown", "code", "plain", "verbatim"]

SLICE_SIZE = 1_500
"""Bytes after which the next good place is taken for a cut: about half a screen."""
BLOCK_LIMIT = 8_000
"""Bytes without a good place after which text is cut at any line and no longer read as Markdown."""
_LINE_LIMIT = 4_000
"""Bytes after which even a line is cut."""

_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)")
_FENCE = re.compile(rb"( *)(`{3,}(?=[^`\r\n]*[\r\n])|~{3,})")
_ITEM = re.compile(rb"(?:[-*+]|[0-9]{1,9}[.)])[ \t]")


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of a source that is rendered on its own. Offsets are bytes."""

    start: int
    """First byte."""
    end: int
    """Byte after the last."""
    kind: SliceKind
    """markdown is parsed; code and plain (what was too long to parse) and verbatim are shown as written."""
    gap: bool
    """Whether a blank row separates it from the slice before."""
    continued: bool = False
    """Whether the block it belongs to began in the slice before."""


def verbatim_slices(source: bytes, start: int, end: int) -> Iterator[Slice]:
    """Yield slices of text that is to be shown exactly as it is written."""
    return _cut_at_lines(source, start, end, "verbatim", gap=False)


def markdown_slices(source: bytes, start: int, end: int) -> Iterator[Slice]:
    """Yield the slices of a range of Markdown that begins at a line start, in order, without gaps."""
    scan = _Scan(source, start)
    for match in _LINE.finditer(source, start, end):
        if match.start() == match.end():
            break
        yield from scan.line(match.start(), match.end())
    yield from scan.rest(end)


class _Scan:
    """Reads lines and finds the places to cut."""

    def __init__(self, source: bytes, start: int) -> None:
        self._source = source
        self._start = start
        """First byte not yet in a slice."""
        self._blank = False
        """Whether the line before was blank."""
        self._gap = False
        """Whether a blank line stands before `_start`."""
        self._in_list = False
        self._fence: tuple[bytes, int] | None = None
        """Mark and indentation of the open fence."""
        self._fence_start = 0
        self._in_comment = False
        self._overlong: SliceKind | None = None
        """Kind of the block that is being cut at lines, or None."""
        self._continued = False

    def line(self, start: int, end: int) -> Iterator[Slice]:
        """Take the line `start` to `end`; yield the slices that are complete before it."""
        text = self._source[start : min(end, start + 200)]
        blank = not text.strip()
        flush = not blank and text[:1] not in (b" ", b"\t")
        if self._fence is None and not self._in_comment and flush:
            item = _ITEM.match(text) is not None
            if self._blank or self._start == start:
                if self._overlong or start - self._start >= SLICE_SIZE:
                    yield from self._cut(start)
                    self._gap = self._blank
                self._in_list = item
            elif item and self._in_list and start - self._start >= SLICE_SIZE:
                yield from self._cut(start)
        if start - self._start > (SLICE_SIZE if self._overlong else BLOCK_LIMIT):
            yield from self._cut_anywhere(start)
        self._follow(text, start, end, blank=blank, flush=flush)
        if end - self._start > BLOCK_LIMIT + _LINE_LIMIT:
            self._overlong = self._overlong or ("code" if self._fence else "plain")
            yield from self._cut_anywhere(end)
        self._blank = blank

    def rest(self, end: int) -> Iterator[Slice]:
        """Yield what is left."""
        if self._start < end:
            yield from self._cut(end)

    def _follow(self, text: bytes, start: int, end: int, *, blank: bool, flush: bool) -> None:
        """Keep track of fences and comments, in which a blank line ends nothing."""
        if self._fence is not None:
            mark, indent = self._fence
            closes = text.strip().startswith(mark) and not text.strip().strip(mark[:1])
            if closes or (indent > 3 and flush):
                self._fence = None
            return
        if self._in_comment:
            self._in_comment = self._source.find(b"-->", start, end) < 0
            return
        if blank:
            return
        opening = _FENCE.match(text)
        if opening is not None:
            self._fence = (opening.group(2), len(opening.group(1)))
            self._fence_start = start
        else:
            comment = self._source.rfind(b"<!--", start, end)
            self._in_comment = comment >= 0 and self._source.find(b"-->", comment, end) < 0

    def _cut_anywhere(self, end: int) -> Iterator[Slice]:
        """Cut a block that is too long; a fence keeps what stands before it as Markdown."""
        if self._overlong is None:
            if self._fence is not None and self._fence[1] <= 3:
                if self._fence_start > self._start:
                    yield from self._cut(self._fence_start)
                self._overlong = "code"
            else:
                self._overlong = "plain"
        yield from self._cut(end, keep=True)

    def _cut(self, end: int, *, keep: bool = False) -> Iterator[Slice]:
        """Yield `_start` to `end`; `keep` says that the overlong block goes on."""
        kind: SliceKind = self._overlong or "markdown"
        if kind == "markdown":
            yield Slice(self._start, end, kind, self._gap)
        else:
            for piece in _cut_at_lines(self._source, self._start, end, kind, gap=self._gap):
                yield Slice(piece.start, piece.end, kind, piece.gap, self._continued or piece.continued)
        self._continued = keep
        if not keep:
            self._overlong = None
        self._start = end
        self._gap = False


def _cut_at_lines(source: bytes, start: int, end: int, kind: SliceKind, *, gap: bool) -> Iterator[Slice]:
    first = start
    while start < end:
        stop = _line_end(source, min(start + SLICE_SIZE, end), end)
        yield Slice(start, stop, kind, gap and start == first, start != first)
        start = stop


def _line_end(source: bytes, place: int, end: int) -> int:
    """Return the end of the line that holds byte `place`; in an endless line a place between characters."""
    if place >= end:
        return end
    match = _LINE.match(source, place, min(end, place + _LINE_LIMIT))
    stop = match.end() if match is not None else end
    if source[stop - 1 : stop] in (b"\n", b"\r") or stop >= end:
        return stop
    while stop > place and source[stop] & 0xC0 == 0x80:
        stop -= 1
    return stop
