"""Themes: those shipped are whole, a broken one is refused with its reason and breaks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from roamtui.trace.state import GLYPHS, MARKS
from roamtui.tui.themes import (
    DARK_THEME,
    HIGHLIGHT_VARIABLES,
    LIGHT_THEME,
    MARK_VARIABLES,
    ThemeProblem,
    load_themes,
    read_theme,
    register_themes,
)
from tests.support.documents import library
from tests.support.panes import THEMES, Panes

SHIPPED = load_themes([THEMES]).usable
GOOD = 'name = "good"\nprimary = "#112233"\n'


def test_what_ships_is_whole() -> None:
    assert {DARK_THEME, LIGHT_THEME, "high-contrast", "terminal"} <= {theme.name for theme in SHIPPED}
    assert load_themes([THEMES]).refused == ()
    for theme in SHIPPED:
        assert {*MARK_VARIABLES, *HIGHLIGHT_VARIABLES} <= set(theme.variables), theme.name


@pytest.mark.parametrize("theme", [theme for theme in SHIPPED if not theme.ansi], ids=lambda theme: theme.name)
def test_marks_and_highlights_can_be_read(theme: object) -> None:
    """At least 3:1 for marks, 4.5:1 for words on a highlight (WCAG 2.1, 1.4.3 and 1.4.11)."""
    (found,) = (item for item in SHIPPED if item is theme)
    background = Color.parse(found.background or "black")
    for name in MARK_VARIABLES:
        assert contrast(Color.parse(found.variables[name]), background) >= 3, name
    for kind in ("hit", "current"):
        ink, paper = (Color.parse(found.variables[f"{kind}-{part}"]) for part in ("foreground", "background"))
        assert contrast(ink, paper) >= 4.5, kind
    assert contrast(Color.parse(found.foreground or "white"), Color.parse(found.variables["quote-background"])) >= 4.5


def contrast(one: Color, other: Color) -> float:
    def light(color: Color) -> float:
        parts = [part / 255 for part in color.rgb]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs a name"),
        ('name = "x"', "needs a primary colour"),
        (GOOD + 'acent = "red"', "unknown key 'acent'"),
        (GOOD + 'accent = "no colour"', "accent = 'no colour' is not a colour"),
        (GOOD + 'accent = "#12345"', "is not a colour"),
        (GOOD + 'accent = "red 300%"', "is not a colour"),
        (GOOD + "accent = 7", "accent must be a text"),
        (GOOD + 'dark = "yes"', "dark must be true or false"),
        (GOOD + "dark = 1", "dark must be true or false"),
        (GOOD + "[variables]\nmark-open = 3", "must be a text"),
        (GOOD + '[variables]\nsecret = "red"', "unknown variable 'secret'"),
        (GOOD + '[variables]\nlink-style = "loud"', "is not a text style"),
        (GOOD + '[variables]\nborder = "$primary; } * { color: red"', "is not a colour"),
        ('name = "a,b"\nprimary = "red"', "needs a name"),
        ("name = [[[[", "is not TOML"),
        ("x" * 70_000, "is larger than"),
        ("\udcff", "is not TOML"),
    ],
)
def test_a_broken_theme_is_refused_with_its_reason(tmp_path: Path, text: str, reason: str) -> None:
    """F-C22: Textual would take it and die of it at the next repaint."""
    path = tmp_path / "x.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ThemeProblem, match=reason.replace("(", "\\(")):
        read_theme(path)


async def test_one_notice_tells_about_all_broken_themes_and_the_others_work(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD + 'accent = "[/]"')
    (tmp_path / "b.toml").write_bytes(b"\xff\x00")
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "mine.toml").write_text(GOOD.replace('"good"', f'"{DARK_THEME}"'))
    app = Panes(library())
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        register_themes(app, [THEMES, tmp_path, tmp_path / "missing"])
        app.theme = "good"
        await pilot.pause()
        assert "a.toml" in app.text and "b.toml" in app.text and "[/]" in app.text
        assert app.current_theme.primary == "#112233"
        app.theme = DARK_THEME
        assert app.current_theme.primary == "#112233", "the user's folder wins"


@pytest.mark.parametrize("name", [*(theme.name for theme in SHIPPED), "nord", "ansi-light"])
async def test_every_theme_shows_every_mark(name: str) -> None:
    """Also those of Textual, which know nothing of marks."""
    app = Panes(library(), theme=name)
    async with app.run_test(size=(100, 20)) as pilot:
        section = app.library.documents[0].sections[1].id
        app.mark(section, open_agent=True, cited=True)
        await pilot.pause()
        assert GLYPHS["helpful"] in app.text


async def test_without_colour_every_state_is_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Panes(library())
    changes: list[dict[str, object]] = [
        {},
        {"was_open": True},
        {"found": 1},
        {"open_agent": True},
        {"open_user": True},
        {"helpful": "no"},
        {"helpful": "yes"},
        {"opening": True},
    ]
    async with app.run_test(size=(100, 20)) as pilot:
        section = app.library.documents[0].sections[1]
        seen = set()
        for change in changes:
            app.state = type(app.state)()
            app.mark(section.id, **change)
            await pilot.pause()
            seen.add(next(line for line in app.lines if section.title in line)[:20])
        assert len(seen) == len(MARKS)
        colours = {
            style.color
            for strip in app.screen._compositor.render_strips()
            for _, style, _ in strip
            if style is not None and style.color is not None and style.color.triplet is not None
            if len(set(style.color.triplet)) > 1
        }
        assert not colours
