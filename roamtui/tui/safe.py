"""The only doors by which strings reach widgets.

A widget that is given a `str` reads it as markup: document text would crash it or become a click
target. Everything shown passes one of these functions; `tests/tui/test_untrusted.py` walks the
syntax trees of this package for anything else.
"""

from __future__ import annotations

import re
from typing import Literal

from rich.text import Text
from textual.app import App
from textual.content import Content
from textual.style import Style

from roamtui import text as doors

Severity = Literal["information", "warning", "error"]

_WEB_ADDRESS = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_TOAST_LENGTH = 600
"""Characters of a toast; a longer one would cover the screen it reports on."""


def plain(text: str, style: Style | str = "") -> Content:
    """Return foreign text of any number of lines as content without markup."""
    return Content.styled(doors.display(text), style) if style else Content(doors.display(text))


def line(text: str, style: Style | str = "") -> Content:
    """Return foreign text as content of one line: white space folded, no markup."""
    return Content.styled(doors.one_line(text), style) if style else Content(doors.one_line(text))


def assemble(*parts: str | tuple[str, Style | str]) -> Content:
    """Join pieces of foreign text, each plain or with a style of ours, into one content."""
    pieces: list[Content] = []
    for part in parts:
        pieces.append(plain(part) if isinstance(part, str) else plain(*part))
    return Content("").join(pieces)


def rich_text(text: str, style: str = "") -> Text:
    """Return foreign text as Rich text without markup, for widgets that read `str` as Rich markup."""
    return Text(doors.display(text), style=style)


def tree_label(text: str, style: str = "") -> Text:
    """Return foreign text as a label of one line."""
    return Text(doors.one_line(text), style=style, no_wrap=True, overflow="ellipsis")


def toast(
    app: App[object] | App[int],
    message: str,
    *,
    title: str = "",
    severity: Severity = "information",
    timeout: float | None = None,
) -> None:
    """Show a notice that goes away by itself; markup in it stays text."""
    shown = doors.display(message)
    if len(shown) > _TOAST_LENGTH:
        shown = shown[: _TOAST_LENGTH - 1] + "…"
    app.notify(shown, title=doors.one_line(title), severity=severity, timeout=timeout, markup=False)


def web_address(url: str) -> str | None:
    """Return `url` if it is an http(s) address of printable ASCII, else None; nothing else may be opened."""
    return url if _WEB_ADDRESS.fullmatch(url) else None
