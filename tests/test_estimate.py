"""The built-in estimator: the rules it states, whole numbers, and sums that do not depend on where text is cut."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.estimate import estimate_tokens, token_units, tokens_of

_TEXT = st.text(
    st.one_of(st.sampled_from("abcXYZ 019.,|_\n\t\x1c\u00a0\u3000é漢字ñ中й😀\ud800"), st.characters()), max_size=60
)
_CJK = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x10FFFF))


def by_the_rules(text: str) -> int:
    """Estimate a text run by run, as the module's first paragraph says."""
    total = Fraction(0)
    for run in re.findall(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]", text):
        if run[0].isascii() and run[0].isalpha():
            total += 1 if len(run) <= 6 else Fraction(len(run) * 10, 46)
        elif run[0].isascii():
            total += 1 if run[0].isdigit() else Fraction(7, 10)
        else:
            total += 1 if any(low <= ord(run) <= high for low, high in _CJK) else Fraction(42, 100)
    return max(1, math.ceil(total * Fraction(6, 5))) if text else 0


@given(_TEXT)
def test_the_estimate_follows_its_rules(text: str) -> None:
    assert estimate_tokens(text) == by_the_rules(text)


@given(st.lists(_TEXT, max_size=6))
def test_units_of_lines_add_up(lines: list[str]) -> None:
    assert token_units("\n".join(lines)) == sum(map(token_units, lines))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" ", 1),
        ("word", 2),
        ("hello world " * 100, 240),
        ("日本語" * 100, 360),
        ("07f3277d", 6),
        ("привет", 4),
    ],
)
def test_some_estimates(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_special_tokens_are_text() -> None:
    assert estimate_tokens("<|endoftext|>") == tokens_of(token_units("<|endoftext|>")) > 3
