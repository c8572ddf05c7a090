"""Top-level headings in one linear pass over the bytes, equal to what the judge would find.

Most of a document is plain: a line at column 0 that looks like a heading, a fence or an HTML block is one,
unless a fence or an HTML block is open around it. Where that does not settle it (indented lines that may belong to
a list, underlines below anything but plain words, tables), the stretch between two clean points is
given to markdown-it-py. A clean point is a line at column 0 after a blank line: lists, quotes, tables and
paragraphs cannot reach across it, so what follows reads the same with or without what stands before.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator

from roamtui.document import html_blocks
from roamtui.document.judge import judge


class Marks:
    """Headings by byte offsets, in columns: a million of them are four arrays and not a million objects."""

    __slots__ = ("bodies", "levels", "starts", "underlines")

    def __init__(self) -> None:
        self.starts = array("q")
        """First byte of each heading's first line."""
        self.bodies = array("q")
        """First byte after each heading (after the underline, for a setext heading)."""
        self.levels = array("b")
        """1 to 6."""
        self.underlines = array("q")
        """First byte of a setext heading's underline; 0 for an ATX heading."""

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, body: int, level: int, underline: int) -> None:
        """Add a heading at the end."""
        self.starts.append(start)
        self.bodies.append(body)
        self.levels.append(level)
        self.underlines.append(underline)

    def add_preamble(self) -> None:
        """Put a row of level 0 before all headings, for the text that stands there."""
        for column in (self.starts, self.bodies, self.levels, self.underlines):
            column.insert(0, 0)


Tick = Callable[[int, int], None]
"""Called with the byte reached and the headings found so far."""

_STRETCH = 1 << 18
"""Bytes scanned between two calls of `Tick` where nothing is found: a few milliseconds."""

_STEPS = 4_096
"""Steps back, line by line, between two calls of `Tick`."""

_CANDIDATE = (
    rb"( {0,3})(?:(#{1,6})(?=[ \t\n]|\Z)|(`{3,}|~{3,})|(<)(?=[A-Za-z/!?])|(=+|-+)[ \t]*(?=\n|\Z))"  # may start a block
)
_HERE = re.compile(_CANDIDATE)
_NEXT = re.compile(rb"\n" + _CANDIDATE)
_ATX, _FENCE, _HTML, _UNDERLINE = 2, 3, 4, 5

_FENCE_END = re.compile(rb"\n {0,3}(`{3,}|~{3,})[ \t]*(?=\n|\Z)")
_BLANK = re.compile(rb"\n[ \t]*(?=\n|\Z)")
_CLEAN = re.compile(rb"\n[ \t]*\n(?=[^ \t\n])")
_DELIMITER_ROW = re.compile(rb" {0,3}[-:|][-:| \t]*(?=\n|\Z)")
_WORDS = re.compile(rb"(?:[A-Za-z\x80-\xff(\"'!$%&,./;?@\\\]^{}]|\*\*[A-Za-z\x80-\xff])[^|\n]*")
"""A line that can only be words of a paragraph, whatever stands around it."""
_ITEM = re.compile(rb"(?:[-+*]|(\d{1,9})[.)]) {1,4}(?![ \t\n*_-])")
"""The marker of a list item at column 0 that holds words: no rule, no empty item, no indented code."""
_CONTAINER = re.compile(rb" {0,3}(?:>|[-+*](?:[ \t\n]|\Z)|\d{1,9}[.)](?:[ \t\n]|\Z))")
_INDENT = re.compile(rb" *")
_LINE_FEED = re.compile(rb"\n")


def scan(source: bytes, start: int = 0, tick: Tick | None = None) -> Marks:
    """Return the top-level headings of `source[start:]`, in order. `start` is the start of a line."""
    return _Scanner(source, start, tick).run()


def line_feeds_only(source: bytes) -> bytes:
    """Return text of the same length whose lines end at LF alone; the same object where they do already."""
    if b"\r" not in source:
        return source
    # A blank before the line feed changes nothing of what is looked for here: offsets stay those of the source.
    return re.sub(rb"\r(?!\n)", b"\n", source).replace(b"\r\n", b" \n")


class _Scanner:
    """One pass. No step goes back behind `floor`, and what was judged lies before it: the work is linear.

    Handlers take a candidate and return where to go on: the line end after what they settled.
    """

    def __init__(self, original: bytes, start: int, tick: Tick | None) -> None:
        self.original = original
        self.source = source = line_feeds_only(original)
        self.size = len(source)
        self.start = start
        self.tick = tick
        self.marks = Marks()
        self.floor = start
        """Start of the last line known to be clean: nothing is open before it."""
        self.maybe_html = start
        """Lines before this one, back to the last candidate, may belong to an HTML block."""
        self.item_column = 0
        """Content column of the last list item looked at."""
        self.item_line = -1
        """Start of the last line known to lie inside that item."""
        self.steps_back = 0
        """Lines looked at a second time, to see what stands before a candidate."""

    def run(self) -> Marks:
        """Scan to the end."""
        source, size, search = self.source, self.size, _NEXT.search
        handlers = (None, None, self._atx, self._fence, self._html, self._underline)
        place = limit = self.start
        found = _HERE.match(source, place)
        while place < size:
            if found is None:
                if place >= limit:
                    limit = self._line_end(place + _STRETCH)
                    if self.tick is not None:
                        self.tick(place, len(self.marks))
                found = search(source, place, limit)
                if found is None:
                    place = limit
                    continue
            handler = handlers[found.lastindex or 0]
            assert handler is not None
            place = handler(found)
            found = None
        return self.marks

    def _line_end(self, place: int) -> int:
        end = self.source.find(b"\n", place)
        return self.size if end < 0 else end

    # -- candidates -------------------------------------------------------------------------

    def _atx(self, found: re.Match[bytes]) -> int:
        line = found.start()
        if self.source[line] == 0x0A:
            line += 1
        end = self._line_end(found.end())
        hashes = found.start(_ATX)
        if line < self.maybe_html or self._may_head_table(line, end):
            return self._judge(line)
        if hashes > line:
            inside = self._inside_item(line, hashes - line)
            if inside is not False:
                return end if inside else self._judge(line)
        self._add(line, min(end + 1, self.size), found.end(_ATX) - hashes, 0)
        return end

    def _fence(self, found: re.Match[bytes]) -> int:
        line = found.start(1)
        marks = found[_FENCE]
        end = self._line_end(found.end())
        if marks[0] == 0x60 and self.source.find(b"`", found.end(), end) >= 0:
            return end  # inline code: no backtick may stand in a backtick fence's info string
        if line < self.maybe_html or self._may_head_table(line, end):
            return self._judge(line)
        if found.end(1) > line:
            inside = self._inside_item(line, found.end(1) - line)
            if inside is not False:
                return end if inside else self._judge(line)
        return self._skip_fence(marks, end)

    def _html(self, found: re.Match[bytes]) -> int:
        line = found.start(1)
        end = self._line_end(found.end())
        kind = html_blocks.kind_of(self.source[found.start(_HTML) : end].decode("utf-8", "replace"))
        if kind is None:
            return end
        if self._may_head_table(line, end):
            return self._judge(line)
        if kind.closed_by is None:
            return self._html_to_blank(found, line, end, interrupts=kind.interrupts)
        if line < self.maybe_html:
            return self._judge(line)
        if found.end(1) > line:
            inside = self._inside_item(line, found.end(1) - line)
            if inside is not False:
                return end if inside else self._judge(line)
        return self._skip_html(kind.closed_by, line)

    def _html_to_blank(self, found: re.Match[bytes], line: int, end: int, *, interrupts: bool) -> int:
        """Pass over a block that ends at a blank line, if it is one; remember where it would end, if in doubt."""
        if line < self.maybe_html:
            return self.maybe_html if interrupts and found.end(1) == line else end
        blank = _BLANK.search(self.source, end)
        after = self.size if blank is None else blank.start()
        if found.end(1) == line and (interrupts or self._is_clean(line)):
            self.floor = min(after + 1, self.size)
            return after
        self.maybe_html = after
        return end

    def _underline(self, found: re.Match[bytes]) -> int:
        line = found.start(1)
        end = self._line_end(found.end())
        if line == self.floor or self._is_blank_before(line):
            return end  # a rule, an empty item or words: nothing to underline
        if line < self.maybe_html:
            return self._judge(line)
        if found.end(1) > line and self._inside_item(line, found.end(1) - line):
            return end
        first = self._paragraph_start(line)
        if first < 0:
            return self._judge(line)
        level = 1 if self.source[found.start(_UNDERLINE)] == 0x3D else 2
        self._add(first, min(end + 1, self.size), level, line)
        return end

    def _add(self, start: int, body: int, level: int, underline: int) -> None:
        self.marks.add(start, body, level, underline)
        self.floor = body
        if self.tick is not None and not len(self.marks) % 512:
            self.tick(body, len(self.marks))

    # -- blocks that reach over blank lines --------------------------------------------------

    def _skip_fence(self, marks: bytes, place: int) -> int:
        for closing in self._search_all(_FENCE_END, place):
            if closing[1][0] == marks[0] and len(closing[1]) >= len(marks):
                self.floor = min(closing.end() + 1, self.size)
                return closing.end()
        return self.size

    def _skip_html(self, closed_by: re.Pattern[bytes], place: int) -> int:
        for closing in self._search_all(closed_by, place):
            end = self._line_end(closing.end())
            self.floor = min(end + 1, self.size)
            return end
        return self.size

    def _search_all(self, pattern: re.Pattern[bytes], place: int) -> Iterator[re.Match[bytes]]:
        while place < self.size:
            limit = self._line_end(place + _STRETCH)
            yield from pattern.finditer(self.source, place, limit)
            place = limit
            if self.tick is not None:
                self.tick(place, len(self.marks))

    # -- what stands around a line -----------------------------------------------------------

    def _may_head_table(self, line: int, end: int) -> bool:
        """Tell whether a line could be the header of a table: tables come before all other blocks."""
        return self.source.find(b"|", line, end) >= 0 and _DELIMITER_ROW.match(self.source, end + 1) is not None

    def _previous(self, line: int) -> int:
        """Return the start of the line before."""
        self.steps_back += 1
        if not self.steps_back % _STEPS:
            self._report(line)
        return max(self.start, self.source.rfind(b"\n", self.start, line - 1) + 1)

    def _is_blank_before(self, line: int) -> bool:
        return not self.source[self._previous(line) : line].strip(b" \t\n")

    def _is_clean(self, line: int) -> bool:
        return line == self.floor or self._is_blank_before(line)

    def _paragraph_start(self, line: int) -> int:
        """Return where the paragraph of plain words before `line` starts; -1 where it may be more than that."""
        place = line
        while place > self.floor:
            before = self._previous(place)
            if _WORDS.fullmatch(self.source, before, place - 1) is None:
                return -1 if self.source[before:place].strip(b" \t\n") else place
            place = before
        return place

    def _inside_item(self, line: int, column: int) -> bool | None:
        """Tell whether an indented line lies inside a list item; None when only the judge can tell."""
        place, least, container = line, column, False
        while place > self.floor:
            if place == self.item_line and least >= self.item_column:
                self.item_line = line
                return True
            below, place = place, self._previous(place)
            indent = self._indent(place, below)
            if indent is None:
                continue
            if indent > 0:
                least = min(least, indent)
                container = container or _CONTAINER.match(self.source, place, below) is not None
                continue
            item = _ITEM.match(self.source, place)
            if item and place >= self.maybe_html and least >= (width := item.end() - place):
                number = item[1]
                if number is None or number == b"1" or self._is_clean(place):
                    self.item_column, self.item_line = width, line
                    return True
            if self._is_clean(place):
                return None if container or _CONTAINER.match(self.source, place, below) else False
            least, container = 0, container or _CONTAINER.match(self.source, place, below) is not None
        return None if container else False

    def _indent(self, line: int, end: int) -> int | None:
        """Return a line's indent in columns (4 or more for a tab), None for a blank line."""
        match = _INDENT.match(self.source, line, end)
        place = match.end() if match else line
        if place >= end or self.source[place] == 0x0A:
            return None
        if self.source[place] != 0x09:
            return place - line
        return None if not self.source[place:end].strip(b" \t\n") else max(4, place - line)

    # -- the judge ----------------------------------------------------------------------------

    def _judge(self, line: int) -> int:
        """Let markdown-it-py read from the clean point before `line` to the next one after it."""
        first = line
        while first > self.floor and not (self.source[first] not in b" \t\n" and self._is_blank_before(first)):
            first = self._previous(first)
        clean = _CLEAN.search(self.source, self._line_end(line))
        last = self.size if clean is None else clean.end()
        text = self.original[first:last].decode("utf-8", "replace")
        verdict = judge(text, (lambda: self._report(first)) if self.tick else None)
        starts = [first, *(match.end() for match in _LINE_FEED.finditer(self.source, first, last))]
        starts.append(last)
        for item in verdict.headings:
            underline = starts[item.end - 1] if item.setext else 0
            self._add(starts[item.line], starts[item.end], item.level, underline)
        self.floor = last
        if verdict.open_line >= 0:
            return self._go_on_inside(starts[verdict.open_line])
        return last - 1 if last < self.size else last

    def _report(self, reached: int) -> None:
        if self.tick is not None:
            self.tick(reached, len(self.marks))

    def _go_on_inside(self, line: int) -> int:
        """Pass over a fence or HTML block that the judge found open at the end of what it read."""
        found = _HERE.match(self.source, line)
        assert found is not None
        end = self._line_end(line)
        if found.lastindex == _FENCE:
            return self._skip_fence(found[_FENCE], self._line_end(found.end()))
        kind = html_blocks.kind_of(self.source[found.start(_HTML) : end].decode("utf-8", "replace"))
        if kind is None or kind.closed_by is None:
            return self.size  # reaches the end of the text
        return self._skip_html(kind.closed_by, line)
