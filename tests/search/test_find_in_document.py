"""Finding in a document: exact spans, cases, regular expressions that are kept in bounds."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.model import Document
from roamtui.search.find import Mode, find_all, has_upper
from tests.support.documents import document

TEXT = "# Straße\n\nDas Haus. DAS HAUS! das haus?\nÄpfel und äpfel; ΑΘΗΝΑ, Αθήνα, αθηνα.\n日本語の文書、文書。\n"


def texts(of: Document, pattern: str, mode: Mode = "literal", *, case: bool = False) -> list[str]:
    return [of.slice(*span) for span in find_all(of, pattern, mode=mode, case=case, limit=100, timeout=5).spans]


@pytest.mark.parametrize(
    ("pattern", "case", "expected"),
    [
        ("das haus", False, ["Das Haus", "DAS HAUS", "das haus"]),
        ("DAS HAUS", True, ["DAS HAUS"]),
        ("äpfel", False, ["Äpfel", "äpfel"]),
        ("äpfel", True, ["äpfel"]),
        ("αθηνα", False, ["ΑΘΗΝΑ", "αθηνα"]),
        ("文書", False, ["文書", "文書"]),
        ("straße", False, ["Straße"]),
        (".", False, [".", "."]),
        ("", False, []),
        ("nowhere", False, []),
    ],
)
def test_literal(pattern: str, case: bool, expected: list[str]) -> None:
    assert texts(document(TEXT), pattern, case=case) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\bh\w+", ["Haus", "HAUS", "haus"]),
        (r"^das\b.*$", ["Das Haus. DAS HAUS! das haus?"]),
        (r"文書|Äpfel", ["Äpfel", "äpfel", "文書", "文書"]),
        (r"x*", []),
    ],
)
def test_regular_expressions(pattern: str, expected: list[str]) -> None:
    assert texts(document(TEXT), pattern, "regex") == expected


def test_smart_case_is_told_by_capitals() -> None:
    assert has_upper("Haus")
    assert not has_upper("haus 文書 1")


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "*", "(?P<a>x)(?P<a", "\\", "a{2,1}", "(" * 900, "((a{900}){900}){900}"]
)
def test_a_wrong_pattern_is_explained(pattern: str) -> None:
    found = find_all(document(TEXT), pattern, mode="regex", case=False, limit=10, timeout=0.2)
    assert found.spans == []
    assert not found.complete
    assert found.error.endswith(".")


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(\w*)*\d{9}x", r"(.*)(.*)(.*)(.*)x\1\2", r"(a|aa)+$", r"(?:a?){30}a{30}"]
)
def test_a_catastrophic_pattern_ends_in_time(pattern: str) -> None:
    of = document("# A\n\n" + "a" * 3000 + "!\n" + "ab cd " * 50_000)
    begun = time.perf_counter()
    found = find_all(of, pattern, mode="regex", case=False, limit=1000, timeout=0.2)
    assert time.perf_counter() - begun < 1.5
    assert found.error == "" or found.error.endswith(".")


def test_patterns_of_a_megabyte_are_bounded() -> None:
    of = document("# A\n\n" + "abc " * 50_000)
    begun = time.perf_counter()
    assert find_all(of, "abc " * 250_000, mode="literal", case=False, limit=10, timeout=0.2).spans == []
    assert find_all(of, "ä" * 5_000, mode="literal", case=False, limit=10, timeout=0.2).error
    assert find_all(of, "a" * 1_000_000, mode="regex", case=False, limit=10, timeout=0.2).error
    assert time.perf_counter() - begun < 1.5


def test_the_number_of_results_is_bounded_and_said() -> None:
    found = find_all(document("a" * 500), "a", mode="literal", case=False, limit=100, timeout=1)
    assert len(found.spans) == 100
    assert not found.complete


def test_spans_are_right_after_invalid_bytes() -> None:
    of = document(b"caf\xe9 and \xff\xfe needle, \xe2\x82 needle \xf0\x9f\x99\x82 needle\n")
    expected = [match.span() for match in re.finditer(b"needle", of.source)]
    assert find_all(of, "needle", mode="literal", case=False, limit=9, timeout=1).spans == expected
    assert find_all(of, "ne+dle", mode="regex", case=False, limit=9, timeout=1).spans == expected


@given(st.text(alphabet="aAbß\n.🙂é文 ", max_size=40), st.text(alphabet="aAbßé文.", min_size=1, max_size=4))
def test_literal_minding_case_agrees_with_str_find(text: str, pattern: str) -> None:
    of = document(text)
    found = find_all(of, pattern, mode="literal", case=True, limit=1000, timeout=5)
    assert [of.slice(*span) for span in found.spans] == [pattern] * text.count(pattern)


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["literal", "regex"]), st.booleans())
def test_nothing_typed_ever_raises(text: str, pattern: str, mode: Mode, case: bool) -> None:
    of = document(text.encode("utf-8", "surrogatepass"))
    found = find_all(of, pattern, mode=mode, case=case, limit=20, timeout=0.1)
    assert all(0 <= start < end <= len(of.source) for start, end in found.spans)
    assert [start for start, _ in found.spans] == sorted(start for start, _ in found.spans)
