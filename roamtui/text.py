"""The doors for foreign text: to people, to models, to files; and widths of text.

Nothing is ever cleaned out of a document. A string that came from outside is passed
through `display()` before a person sees it, `for_model()` before a model reads it and
`redact()` before it is written to a file.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff\t]"
)
"""Code points a terminal may act on or that hide text. ZWNJ, ZWJ and variation selectors stay:
emoji and Persian need them. TAB is unsafe too: it is expanded or shown as a space."""

_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""Characters that carry text past a human reader's eye; models read them (ASCII smuggling)."""


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char == "\t":
        return "    "
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"‹U+{code:04X}›"


def display(text: str, *, newlines: bool = True) -> str:
    """Return `text` with every unsafe code point made visible; safe text comes back unchanged.

    `newlines=False` also shows line ends, for places that are one line by nature. CRLF and CR count as
    one line end. The result is idempotent under `display`.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not newlines and "\n" in text:
        text = text.replace("\n", "⏎")
    return _UNSAFE.sub(_visible, text)


def is_displayable(text: str) -> bool:
    """Tell whether `text` holds no code point that `display` would change, line feeds apart."""
    return _UNSAFE.search(text) is None


def one_line(text: str) -> str:
    """Return `text` for a one-line place: white space folded, unsafe code points visible."""
    return display(" ".join(text.split()), newlines=False)


def for_model(text: str) -> tuple[str, int]:
    """Return `text` without hidden characters, and how many were taken out."""
    return _HIDDEN.subn("", text)


def hidden_count(text: str) -> int:
    """Count the hidden characters `for_model` would take out."""
    return len(_HIDDEN.findall(text))


# -- secrets ------------------------------------------------------------------------------------

_KEY_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_\-]{8,}|sk_(?:live|test)_[A-Za-z0-9]{8,}|xox[abprs]-[A-Za-z0-9\-]{8,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_\-]{20,}|AKIA[A-Z0-9]{12,}|gsk_[A-Za-z0-9]{16,})"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*)"
)
REDACTED = "‹redacted›"


class Redactor:
    """Takes secrets out of text that is about to be written.

    Knows the shapes of common keys, and the exact values it was given, also base64 and URL encoded.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Remember one secret; values under 6 characters are too common to take out."""
        value = value.strip()
        if len(value) < 6:
            return
        raw = value.encode("utf-8", "surrogateescape")
        forms = {value, quote(value, safe=""), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        for shift in range(3):  # a value inside longer base64 text starts at any of three phases
            coded = base64.b64encode(b"\0" * shift + raw).decode("ascii").rstrip("=")
            forms.add(coded[(0, 2, 3)[shift] : len(coded) - (1 if (len(raw) + shift) % 3 else 0)])
        self._values |= forms
        ordered = sorted(self._values, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(item) for item in ordered))

    def __call__(self, text: str) -> str:
        """Return `text` with every known secret replaced by `REDACTED`."""
        if self._pattern is not None:
            text = self._pattern.sub(REDACTED, text)
        return _KEY_SHAPES.sub(REDACTED, text)


redact = Redactor()
"""The program's redactor; `config` adds the values of key variables to it."""


# -- widths -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def char_width(char: str) -> int:
    """Return how many terminal cells a character takes: 0, 1 or 2 (Unicode East Asian Width)."""
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def clip(text: str, cells: int, ellipsis: str = "…") -> str:
    """Return `text` cut to `cells` cells, ending in `ellipsis` only if it was cut."""
    if width(text) <= cells:
        return text
    room = max(0, cells - width(ellipsis))
    return _head(text, room).rstrip() + ellipsis if cells >= width(ellipsis) else _head(text, cells)


def _head(text: str, cells: int) -> str:
    if text.isascii():
        return text[:cells]
    used = 0
    for index, char in enumerate(text):
        used += char_width(char)
        if used > cells:
            while index > 0 and (text[index - 1] == "\u200d" or text[index] == "\u200d"):
                index -= 1  # never leave half of a joined emoji
            return text[:index]
    return text


def preview(text: str, cells: int) -> str:
    """Return the opening words of `text`: white space folded, ended at a word where there are words.

    The ellipsis counts as part of `cells` and stands only where something was cut.
    """
    folded = " ".join(text.split())
    if width(folded) <= cells:
        return folded
    head = _head(folded, max(0, cells - 1))
    space = head.rfind(" ")
    if space >= len(head) * 2 // 3 and not folded[len(head) : len(head) + 1].isspace():
        head = head[:space]
    return head.rstrip() + "…"
