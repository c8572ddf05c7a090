"""Going to a section by what is typed: title, id, line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.model import Library
from roamtui.search.titles import match_titles
from tests.support.documents import library, ref

PLACES = library(
    "# Guide\n\n## Installing\n\nx\n\n## Settings\n\n### Network settings\n\nx\n\n### Über uns\n\nx\n\n"
    "## Install\n\nx\n\n## Troubleshooting\n\nx\n\n## 2024\n\nx\n"
)


def titles(of: Library, query: str, limit: int = 50) -> list[str]:
    places = [of.find(found) for found in match_titles(of, query, limit)]
    return [place.section.title for place in places if place is not None]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("install", ["Install", "Installing"]),
        ("INSTALL", ["Install", "Installing"]),
        ("set net", ["Network settings"]),
        ("uber", ["Über uns"]),
        ("über u", ["Über uns"]),
        ("line 5", ["Installing"]),
        ("", []),
        ("   ", []),
        ("qqqq", []),
    ],
)
def test_titles(query: str, expected: list[str]) -> None:
    assert titles(PLACES, query) == expected


def test_a_misspelt_title_comes_first() -> None:
    assert titles(PLACES, "trubleshoting")[0] == "Troubleshooting"


def test_a_number_is_a_line_and_a_title() -> None:
    assert titles(PLACES, "2024") == ["2024"]
    assert titles(PLACES, "3")[0] == "Installing"


def test_an_id_or_its_beginning_finds_its_section() -> None:
    found = ref(PLACES, "Guide", "Settings")
    assert match_titles(PLACES, found) == [found]
    assert found in match_titles(PLACES, found[:5])


def test_sections_of_other_documents_are_found_too() -> None:
    both = library("# One\n\n## Apples\n", "# Two\n\n## Pears\n")
    assert titles(both, "pears") == ["Pears"]


def test_the_limit_holds() -> None:
    many = library("".join(f"## Chapter {number}\n\n" for number in range(300)))
    assert len(match_titles(many, "chapter", 20)) == 20
    assert titles(many, "chapter", 3) == ["Chapter 0", "Chapter 1", "Chapter 2"]


@given(st.text(max_size=50))
def test_nothing_typed_ever_raises(query: str) -> None:
    assert all(PLACES.find(found) is not None for found in match_titles(PLACES, query))
