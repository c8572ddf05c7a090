"""The doors for foreign text: nothing unsafe passes, nothing is lost, nothing changes twice."""

from __future__ import annotations

import base64
import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.text import (
    REDACTED,
    Redactor,
    char_width,
    clip,
    display,
    for_model,
    hidden_count,
    is_displayable,
    one_line,
    preview,
    width,
)

_ANY = st.text(st.characters(), max_size=60)
_NASTY = st.text(
    st.sampled_from("ab \t\n\r\x00\x07\x1b\x7f\x9b\u200b\u200d\ufe0f\u202e\u2066\u2028\U000e0041\ud800é漢👨👩"),
    max_size=40,
)
_UNSAFE = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE1000)}


def safe(text: str) -> bool:
    """Tell by Unicode's own categories whether a terminal may print a text."""
    return all(
        char == "\n" or (unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") and ord(char) not in _UNSAFE)
        for char in text
    )


@given(st.one_of(_ANY, _NASTY))
def test_display_leaves_nothing_unsafe_and_is_idempotent(text: str) -> None:
    shown = display(text)
    assert safe(shown)
    assert is_displayable(shown)
    assert display(shown) == shown
    assert len(shown) >= len(text.replace("\r\n", "\n"))  # every control leaves something to see


@given(_ANY)
def test_display_keeps_what_is_safe(text: str) -> None:
    if is_displayable(text):
        assert display(text) == text


@given(st.one_of(_ANY, _NASTY))
def test_one_line_is_one_line(text: str) -> None:
    shown = one_line(text)
    assert safe(shown)
    assert "\n" not in shown
    assert one_line(shown) == shown


def test_controls_are_shown_by_their_pictures_and_others_by_their_numbers() -> None:
    assert display("a\x1b]52;\x07\x00\x7f\x9b\u202e\tb") == "a␛]52;␇␀␡‹U+009B›‹U+202E›    b"
    assert display("a\r\nb\rc\n", newlines=False) == "a⏎b⏎c⏎"


@pytest.mark.parametrize("text", ["👨‍👩‍👧", "می‌خواهم", "❤️", "Ünï\u0308", "漢字", "[b]x[/b] :bomb:"])
def test_scripts_and_emoji_pass_unchanged(text: str) -> None:
    assert display(text) == text
    assert for_model(text) == (text, 0)


@given(st.one_of(_ANY, _NASTY))
def test_models_get_text_without_hidden_characters(text: str) -> None:
    cleaned, hidden = for_model(text)
    assert hidden == hidden_count(text) == len(text) - len(cleaned)
    assert for_model(cleaned) == (cleaned, 0)
    cleaned.encode("utf-8")


@given(st.one_of(_ANY, _NASTY), st.integers(0, 30))
def test_clipped_text_is_as_wide_as_asked_at_most(text: str, cells: int) -> None:
    clipped = clip(text, cells)
    assert width(clipped) <= cells
    assert clipped == text or width(text) > cells


@given(st.one_of(_ANY, _NASTY), st.integers(1, 30))
def test_previews_are_as_wide_as_asked_at_most_and_one_line(text: str, cells: int) -> None:
    shown = preview(text, cells)
    assert width(shown) <= cells
    assert shown.split() == [] or "\n" not in shown
    folded = " ".join(text.split())
    assert shown == folded or (shown.endswith("…") and folded.startswith(shown[:-1]))


def test_previews_end_at_words_where_there_are_words() -> None:
    assert preview("one two three four", 11) == "one two…"
    assert preview("one two three four", 14) == "one two three…"
    assert preview("one two", 7) == "one two"
    assert preview("漢字漢字漢字", 7) == "漢字漢…"
    assert preview("abcdefghijklmnop", 8) == "abcdefg…"


def test_widths_count_cells() -> None:
    assert [char_width(char) for char in "a漢é\u0301\u200d"] == [1, 2, 1, 0, 0]
    assert width("漢字ab") == 6


def test_a_joined_emoji_is_never_cut_in_half() -> None:
    family = "👨\u200d👩\u200d👧"
    for cells in range(1, 8):
        assert clip("x" + family + "yz", cells).count("\u200d") in (0, 2)


SECRET = "canary-4711-a.b+c/d"


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_secret_never_survives_in_any_of_its_forms(before: str, after: str) -> None:
    redact = Redactor([SECRET])
    coded = base64.b64encode(f"{before}{SECRET}{after}".encode()).decode()
    for text in (SECRET, quote(SECRET, safe=""), coded):
        assert SECRET not in redact(f"{before}{text}{after}")
        assert quote(SECRET, safe="") not in redact(text)
    inner = base64.b64encode(SECRET.encode()).decode().rstrip("=")[:-2]
    assert inner not in redact(coded)


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-" + "REDACTED",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "ghp_" + "abcdefghijklmnop1234",
        "AIza" + "SyA1234567890abcdefghij",
        "Bearer abcdefgh.ijkl",
    ],
)
def test_shapes_of_keys_are_taken_out(key: str) -> None:
    redacted = Redactor()(f"key={key} end")
    assert REDACTED in redacted
    assert key.removeprefix("Bearer ") not in redacted
    assert redacted.endswith(" end")


def test_short_values_and_plain_text_stay() -> None:
    redact = Redactor(["abc", "  "])
    assert redact("abc is a word, sk-lift and task-force too") == "abc is a word, sk-lift and task-force too"
