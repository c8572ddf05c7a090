"""Find in a document: a literal text or a regular expression, as byte spans, within a time limit."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import regex

from roamtui.document.model import Document

Mode = Literal["literal", "regex"]

LONGEST_REGEX = 1_000
"""Longest regular expression that is compiled; compiling is not covered by the time limit."""
_LONGEST_FOLDED = 2_000
"""Longest literal searched without regard to case when it is not ASCII."""
_CHUNK = 1 << 20
"""Bytes a regular expression is run over at a time; chunks end at line ends."""
_MOST_STATES = 20_000
"""Largest regular expression, counted with its repeats written out: compiling a larger one may take all memory."""
_ATOM = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\()|(?P<close>\))|\{\s*(?P<low>\d*)\s*,?\s*(?P<high>\d*)\s*\}|.",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found."""

    spans: list[tuple[int, int]]
    """Byte ranges of `Document.source`, in order, not overlapping."""
    complete: bool
    """False when the limit, the time or the pattern cut it short."""
    error: str = ""
    """Why the pattern cannot be used, in one sentence; empty otherwise."""


def has_upper(pattern: str) -> bool:
    """Tell whether a pattern holds a capital: smart case then minds case."""
    return any(char.isupper() for char in pattern)


def find_all(
    document: Document,
    pattern: str,
    *,
    mode: Mode = "literal",
    case: bool = False,
    limit: int = 10_000,
    timeout: float = 0.2,
) -> Matches:
    """Find every match of `pattern`, at most `limit`, within about `timeout` seconds in all.

    `case` minds case. A regular expression is run over about a megabyte of whole lines at a time and `^`, `$` mean
    line starts and ends; empty matches are left out. Never raises for what the pattern holds.
    """
    if not pattern or limit < 1:
        return Matches([], complete=True)
    deadline = time.monotonic() + timeout
    if mode == "literal":
        return _literal(document.source, pattern, case=case, limit=limit, deadline=deadline)
    return _regex(document.source, pattern, case=case, limit=limit, deadline=deadline)


# -- literal ------------------------------------------------------------------------------------


def _literal(source: bytes, pattern: str, *, case: bool, limit: int, deadline: float) -> Matches:
    needle = pattern.encode("utf-8", "replace")
    if len(needle) > len(source) * 4:
        return Matches([], complete=True)
    if case:
        return _taken(_occurrences(source, needle), limit, deadline)
    if pattern.isascii():
        return _taken(_occurrences(source.lower(), needle.lower()), limit, deadline)
    if len(pattern) > _LONGEST_FOLDED:
        return Matches(
            [], complete=False, error=f"Without regard to case, {_LONGEST_FOLDED:,} characters are the most."
        )
    if not _has_case(pattern):
        return _taken(_occurrences(source, needle), limit, deadline)
    return _taken(_either_case(source, pattern), limit, deadline)


def _occurrences(source: bytes, needle: bytes) -> Iterator[tuple[int, int]]:
    at = source.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = source.find(needle, at + len(needle))


def _has_case(text: str) -> bool:
    return any(char.lower() != char or char.upper() != char for char in text)


def _either_case(source: bytes, pattern: str) -> Iterator[tuple[int, int]]:
    """Match each letter in the cases it has, as bytes, so that no text has to be decoded."""
    pieces = []
    for char in pattern:
        forms = dict.fromkeys((char, char.lower(), char.upper(), char.title()))
        coded = [re.escape(form.encode("utf-8", "replace")) for form in forms]
        pieces.append(coded[0] if len(coded) == 1 else b"(?:" + b"|".join(coded) + b")")
    for match in re.finditer(b"".join(pieces), source):
        yield match.span()


def _taken(found: Iterator[tuple[int, int]], limit: int, deadline: float) -> Matches:
    spans: list[tuple[int, int]] = []
    while True:
        batch = list(islice(found, min(1_000, limit + 1 - len(spans))))
        spans.extend(batch)
        if len(spans) > limit:
            return Matches(spans[:limit], complete=False)
        if not batch:
            return Matches(spans, complete=True)
        if time.monotonic() > deadline:
            return Matches(spans, complete=False)


# -- regular expressions ------------------------------------------------------------------------


def _regex(source: bytes, pattern: str, *, case: bool, limit: int, deadline: float) -> Matches:
    if len(pattern) > LONGEST_REGEX:
        return Matches([], complete=False, error=f"A regular expression may have {LONGEST_REGEX:,} characters.")
    if _states(pattern) > _MOST_STATES:
        return Matches([], complete=False, error="The repeat counts of the regular expression are too large.")
    flags = regex.MULTILINE | (0 if case else regex.IGNORECASE)
    try:
        compiled = regex.compile(pattern, flags)
    except (regex.error, OverflowError, RecursionError, MemoryError, ValueError) as error:
        return Matches([], complete=False, error=f"Not a regular expression: {str(error) or type(error).__name__}.")
    spans: list[tuple[int, int]] = []
    for start, end in _chunks(source):
        left = deadline - time.monotonic()
        if left <= 0:
            return Matches(spans, complete=False)
        text = source[start:end].decode("utf-8", "replace")
        offsets = _Offsets(source, start, text)
        try:
            for match in compiled.finditer(text, timeout=left):
                if match.end() > match.start():
                    spans.append(offsets.span(match.start(), match.end()))
                    if len(spans) > limit:
                        return Matches(spans[:limit], complete=False)
        except TimeoutError:
            return Matches(spans, complete=False)
        except MemoryError:
            return Matches(spans, complete=False, error="The regular expression needs too much memory.")
    return Matches(spans, complete=True)


def _states(pattern: str) -> int:
    """Return about how long a pattern is with its repeats written out."""
    sums = [0]
    last = 0
    for match in _ATOM.finditer(pattern):
        if match["open"]:
            sums.append(0)
            last = 0
        elif match["close"] and len(sums) > 1:
            last = sums.pop()
            sums[-1] += last
        elif match["low"] or match["high"]:
            more = last * (max(int(match["low"] or 0), int(match["high"] or 0)) - 1)
            sums[-1] += max(0, more)
            last += max(0, more)
        else:
            last = 1
            sums[-1] += 1
    return sum(sums)


def _chunks(source: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(source):
        end = min(len(source), start + _CHUNK)
        if end < len(source):
            line = source.rfind(b"\n", start, end) + 1
            if line > start:
                end = line
            else:
                while source[end] & 0xC0 == 0x80:
                    end -= 1
        yield start, end
        start = end


class _Offsets:
    """Turns ascending character offsets of a decoded chunk into byte offsets of the source."""

    def __init__(self, source: bytes, start: int, text: str) -> None:
        self._text = text
        self._base = start
        self._plain = text.isascii()
        self._broken = "\ufffd" in text
        self._chars = 0
        self._bytes = start
        self._source = source

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the byte range of a character range."""
        if self._plain:
            return self._base + first, self._base + last
        return self._to(first), self._to(last)

    def _to(self, char: int) -> int:
        step = self._text[self._chars : char]
        self._bytes += self._length(step)
        self._chars = char
        return self._bytes

    def _length(self, step: str) -> int:
        if not self._broken or "\ufffd" not in step:
            return len(step.encode())
        total = 0
        for char in step:  # a replacement stands for itself or for a run of invalid bytes
            at = self._bytes + total
            total += self._replaced(at) if char == "\ufffd" else len(char.encode())
        return total

    def _replaced(self, at: int) -> int:
        for size in (3, 2, 1):
            if self._source[at : at + size].decode("utf-8", "replace") == "\ufffd":
                return size
        return 1
