"""Colour themes from TOML files, checked before Textual sees them.

Textual takes a theme with a wrong colour without a word and dies of it at the next repaint. So each
file is checked here as a whole: known keys, colours that parse, text styles that exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from textual.app import App
from textual.color import Color, ColorParseError
from textual.css.constants import VALID_STYLE_FLAGS
from textual.theme import Theme

from roamtui.tui.safe import toast

DARK_THEME = "roamtui-dark"
"""The theme a new user gets."""
LIGHT_THEME = "roamtui-light"
"""Its counterpart."""
FILE_LIMIT = 64_000
"""Bytes of a theme file beyond which it is not read."""

COLOR_KEYS = (
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "boost",
)
"""The colours of a theme; `primary` is required, Textual derives those that are missing."""
_SCALARS: Mapping[str, type] = {"name": str, "dark": bool, "ansi": bool, "variables": dict}

MARK_VARIABLES = (
    "mark-closed",
    "mark-found",
    "mark-open",
    "mark-yours",
    "mark-unhelpful",
    "mark-helpful",
    "mark-opening",
    "mark-pin",
)
"""Colours of the marks of a section."""
HIGHLIGHT_VARIABLES = (
    "hit-background",
    "hit-foreground",
    "current-background",
    "current-foreground",
    "quote-background",
)
"""Colours of found words, of the hit one stands on, and of words an answer quotes."""
_COLOR_VARIABLES = frozenset(
    {
        *MARK_VARIABLES,
        *HIGHLIGHT_VARIABLES,
        "block-cursor-background",
        "block-cursor-foreground",
        "block-cursor-blurred-background",
        "block-cursor-blurred-foreground",
        "block-hover-background",
        "border",
        "border-blurred",
        "button-color-foreground",
        "button-foreground",
        "footer-background",
        "footer-description-background",
        "footer-description-foreground",
        "footer-foreground",
        "footer-item-background",
        "footer-key-background",
        "footer-key-foreground",
        "input-cursor-background",
        "input-cursor-foreground",
        "input-selection-background",
        "link-background",
        "link-background-hover",
        "link-color",
        "link-color-hover",
        "screen-selection-background",
        "screen-selection-foreground",
        "scrollbar",
        "scrollbar-active",
        "scrollbar-background",
        "scrollbar-background-active",
        "scrollbar-background-hover",
        "scrollbar-corner-color",
        "scrollbar-hover",
        "text-muted",
        "text-disabled",
    }
)
_STYLE_VARIABLES = frozenset(
    {
        "block-cursor-blurred-text-style",
        "block-cursor-text-style",
        "button-focus-text-style",
        "input-cursor-text-style",
        "link-style",
        "link-style-hover",
    }
)


class ThemeProblem(ValueError):
    """A theme that cannot be used; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Themes:
    """What the theme folders hold."""

    usable: tuple[Theme, ...]
    """Checked themes; of two with one name the later folder's."""
    refused: tuple[tuple[Path, str], ...]
    """Files that were left out, each with the reason."""


def load_themes(folders: Iterable[Path]) -> Themes:
    """Read every `*.toml` of the folders, in order; folders that do not exist hold nothing."""
    usable: dict[str, Theme] = {}
    refused: list[tuple[Path, str]] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                theme = read_theme(path)
            except ThemeProblem as problem:
                refused.append((path, str(problem)))
            else:
                usable[theme.name] = theme
    return Themes(tuple(usable.values()), tuple(refused))


def register_themes(app: App[int], folders: Iterable[Path]) -> Themes:
    """Give the app every usable theme of the folders; one notice tells about all the others."""
    themes = load_themes(folders)
    for theme in themes.usable:
        app.register_theme(theme)
    if themes.refused:
        reasons = "\n".join(f"{path.name}: {reason}" for path, reason in themes.refused)
        toast(app, reasons, title="Themes left out", severity="warning", timeout=12)
    return themes


def read_theme(path: Path) -> Theme:
    """Read and check one theme file. Raises ThemeProblem with the reason."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
    except OSError as problem:
        raise ThemeProblem(f"cannot be read ({problem.strerror})") from problem
    if len(data) > FILE_LIMIT:
        raise ThemeProblem(f"is larger than {FILE_LIMIT:,} bytes")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ThemeProblem(f"is not TOML ({problem})") from problem
    return check_theme(table)


def check_theme(table: Mapping[str, object]) -> Theme:
    """Return the theme a table describes. Raises ThemeProblem with the reason."""
    for key, value in table.items():
        expected = _SCALARS.get(key, str if key in COLOR_KEYS else None)
        if expected is None:
            raise ThemeProblem(f"unknown key {key!r}")
        if type(value) is not expected:
            raise ThemeProblem(f"{key} must be {_WORDS[expected]}")
    name = table.get("name")
    if not isinstance(name, str) or not name.strip() or "," in name or not name.isprintable():
        raise ThemeProblem("needs a name")
    colors = {key: _color(key, str(table[key])) for key in COLOR_KEYS if key in table}
    if "primary" not in colors:
        raise ThemeProblem("needs a primary colour")
    variables = table.get("variables", {})
    theme = Theme(
        name=name,
        primary=colors["primary"],
        dark=table.get("dark", True) is True,
        ansi=table.get("ansi") is True,
        variables=_variables(variables if isinstance(variables, dict) else {}),
    )
    for key, color in colors.items():
        setattr(theme, key, color)
    return theme


_WORDS: Mapping[type, str] = {str: "a text", bool: "true or false", dict: "a table"}


def _variables(table: Mapping[str, object]) -> dict[str, str]:
    checked: dict[str, str] = {}
    for key, value in table.items():
        if not isinstance(value, str):
            raise ThemeProblem(f"variable {key!r} must be a text")
        if key in _COLOR_VARIABLES:
            checked[key] = _color(key, value)
        elif key in _STYLE_VARIABLES:
            checked[key] = _text_style(key, value)
        else:
            raise ThemeProblem(f"unknown variable {key!r}")
    return checked


def _color(key: str, value: str) -> str:
    color, space, share = value.strip().partition(" ")
    if space and not (share.endswith("%") and share[:-1].isdecimal() and share.isascii() and int(share[:-1]) <= 100):
        raise ThemeProblem(f"{key} = {value!r} is not a colour")
    try:
        Color.parse(color)
    except (ColorParseError, ValueError, OverflowError) as problem:
        raise ThemeProblem(f"{key} = {value!r} is not a colour") from problem
    return value.strip()


def _text_style(key: str, value: str) -> str:
    if not value.split() or not set(value.split()) <= set(VALID_STYLE_FLAGS):
        raise ThemeProblem(f"{key} = {value!r} is not a text style")
    return value.strip()


def default_variables(theme: Theme) -> dict[str, str]:
    """Return the colours of marks and highlights that a theme leaves open, from its own palette.

    And two that Textual's own rules use but its ANSI themes must bring along.
    """
    warning, error = theme.warning or theme.primary, theme.error or theme.secondary or theme.primary
    success, accent = theme.success or theme.secondary or theme.primary, theme.accent or theme.primary
    default = "ansi_default" if theme.ansi else ("#a0a0a0" if theme.dark else "#606060")
    ink = "ansi_black" if theme.ansi else "#101010"
    return {
        "ansi-background": "ansi_black" if theme.dark else "ansi_white",
        "ansi-foreground": "ansi_white" if theme.dark else "ansi_black",
        "mark-closed": default,
        "mark-found": accent,
        "mark-open": theme.primary,
        "mark-yours": theme.secondary or theme.primary,
        "mark-unhelpful": error,
        "mark-helpful": success,
        "mark-opening": warning,
        "mark-pin": accent,
        "hit-background": warning,
        "hit-foreground": ink,
        "current-background": accent if accent != warning else success,
        "current-foreground": ink,
        "quote-background": success,
    }
