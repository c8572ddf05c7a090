"""The abridged document: within its budget, the same every time, and every id in it leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.model import Library
from roamtui.document.outline import build_outline, list_children
from roamtui.errors import UsageError
from roamtui.estimate import estimate_tokens
from roamtui.sources.open import open_document
from roamtui.text import hidden_count
from tests.support.documents import GARDEN, library, ref

_ID = re.compile(r'^\[([0-9a-f.]{8,})\] |list_children\("([^"]+)"\)', re.MULTILINE)
_WORDS = st.sampled_from(
    ["Setup", "Art 54", "A very long heading " * 20, "日本語の見出し", "a.b.c.d" * 30, "x", "1 2 3 4 5 6"]
)
_BODIES = st.sampled_from(["", "Some text.\n\n", "<div>\n\n", "word " * 100 + "\n\n", "漢字" * 200 + "\n\n", "| a |\n"])
_SECTIONS = st.lists(st.tuples(st.integers(1, 6), _WORDS, _BODIES), max_size=60)


def text_of(sections: list[tuple[int, str, str]]) -> str:
    return "".join(f"{'#' * level} {title}\n\n{body}" for level, title, body in sections)


def ids_in(text: str) -> list[str]:
    """Return the ids and folds an outline prints; those in document text stand indented and do not count."""
    return [one or other for one, other in _ID.findall("\n".join(re.findall(r"^\[.*$", text, re.MULTILINE)))]


def test_every_section_of_a_small_document_has_a_line() -> None:
    of = library()
    soil = ref(of, "Garden", "Soil")
    outline = build_outline(of)
    assert outline.whole
    assert (outline.listed, outline.folded) == (7, 0)
    lines = outline.text.splitlines()
    line = (
        f"[{soil}] ## Soil · 1 sub · {estimate_tokens(GARDEN[GARDEN.index('## Soil') : GARDEN.index('## Plants')])} tok"
    )
    assert line in lines
    assert lines[lines.index(line) + 1] == (
        "    Clay holds water. Sand lets it run away. Mix both with compost in spring."
    )


def test_size_hints_are_exact() -> None:
    of = library()
    found = of.documents[0]
    for section in found.sections:
        assert found.tokens(section) == estimate_tokens(found.full_text(section))
        assert found.own_tokens(section) == estimate_tokens(found.own_text(section))
    assert found.tokens(found.root) == estimate_tokens(GARDEN)


@given(_SECTIONS)
def test_the_size_of_every_subtree_is_that_of_its_text(sections: list[tuple[int, str, str]]) -> None:
    found = library(text_of(sections) * 3).documents[0]
    for section in (found.root, *found.sections):
        assert found.tokens(section) == estimate_tokens(found.full_text(section))


def test_a_section_without_own_text_shows_the_first_text_below_it() -> None:
    outline = build_outline(library("# Top\n\n## Middle\n\n### Low\n\nWords at last.\n"))
    assert outline.text.splitlines()[1::2] == ["    Words at last."] * 3


def test_a_preview_ends_at_a_word_and_says_when_it_was_cut() -> None:
    outline = build_outline(library("# A\n\nShort.\n\n# B\n\n" + "wordlike " * 30))
    previews = [line for line in outline.text.splitlines() if line.startswith("    ")]
    assert previews[0] == "    Short."
    assert previews[1] == "    " + "wordlike " * 10 + "wordlike…"


def test_a_preview_begins_with_words() -> None:
    text = (
        '# A\n\n<a name="x"></a>\n![badge](https://x.example/b.svg)\n'
        "\n---\n\nSee [the guide](https://x.example/g) first.\n"
    )
    assert "    See [the guide] first." in build_outline(library(text)).text.splitlines()


def test_a_folded_section_names_its_children() -> None:
    chapter = "# Chapter {0}\n\nAbout {0}.\n\n" + "".join(
        f"## Topic {{0}}{letter}\n\nText.\n\n" for letter in "abcdefgh" * 5
    )
    outline = build_outline(library("".join(chapter.format(number) for number in range(8))), 700)
    folded = [line for line in outline.text.splitlines() if "▸" in line]
    assert folded
    assert "Topic" in folded[0]


def test_the_same_bytes_every_time() -> None:
    assert build_outline(library(GARDEN * 40), 700) == build_outline(library(GARDEN * 40), 700)


def test_a_budget_below_the_least_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        build_outline(library(), 199)
    assert caught.value.exit_code == 2
    assert caught.value.hint


@given(_SECTIONS, st.integers(200, 3_000), st.sampled_from(["short", "full"]))
def test_any_document_fits_any_budget(sections: list[tuple[int, str, str]], budget: int, marker: str) -> None:
    of = library(text_of(sections))
    outline = build_outline(of, budget, marker="full" if marker == "full" else "short")
    assert outline.tokens == estimate_tokens(outline.text) <= budget
    assert outline.listed + outline.folded == len(of.documents[0].sections)
    assert bool(outline.text) == bool(of.documents[0].sections)
    for name in ids_in(outline.text):
        place = of.find(name.partition(":")[0])
        assert place is not None
        assert place.section.title in outline.text or place.section.index < 0 or len(place.section.title) > 100


@given(_SECTIONS, st.integers(200, 1_500), st.integers(0, 400))
def test_a_larger_budget_never_lists_less(sections: list[tuple[int, str, str]], budget: int, more: int) -> None:
    of = library(text_of(sections))
    less, larger = build_outline(of, budget), build_outline(of, budget + more)
    assert set(re.findall(r"^\[([0-9a-f]{8})\]", less.text, re.MULTILINE)) <= set(
        re.findall(r"^\[([0-9a-f]{8})\]", larger.text, re.MULTILINE)
    )


def test_budgets_over_a_wide_range_list_more_and_more() -> None:
    of = library("".join(f"# Title {number}\n\nText {number} is here.\n\n" for number in range(300)))
    listed = [build_outline(of, budget).listed for budget in range(200, 6_000, 97)]
    assert listed == sorted(listed)


def test_several_documents_begin_with_a_line_each() -> None:
    of = library(GARDEN, "# Other\n\nThe other text.\n")
    lines = [line for line in build_outline(of).text.splitlines() if not line.startswith("    ")]
    assert lines[0].startswith(f"[{of.ref(of.documents[0], of.documents[0].root)}] garden.md · 7 sub")
    assert lines[8].startswith(f"[{of.ref(of.documents[1], of.documents[1].root)}] doc2.md · 1 sub")
    assert all(of.find(name) for name in ids_in(build_outline(of).text))


def test_documents_that_find_no_room_are_named_and_can_be_listed() -> None:
    of = library(GARDEN, *(f"# Book {number}\n\nText.\n" for number in range(2, 60)))
    outline = build_outline(of, 400)
    assert outline.tokens <= 400
    fold = ids_in(outline.text)[-1]
    assert fold.startswith("documents:")
    listed = set(ids_in(outline.text))
    while fold.startswith("documents:"):
        text = list_children(of, fold, 1_500).text
        listed |= set(ids_in(text))
        fold = next((name for name in ids_in(text) if name.startswith("documents:")), "")
    assert {of.ref(item, item.root) for item in of.documents} <= listed
    with pytest.raises(ValueError, match="has 59"):
        list_children(of, "documents:99-100")


def test_hidden_characters_are_taken_out_and_counted() -> None:
    outline = build_outline(library("# A\u200bB\n\nPlain\U000e0049\u202e words.\n"))
    assert hidden_count(outline.text) == 0
    assert outline.hidden == 3
    assert "# AB" in outline.text


# -- unfolding ---------------------------------------------------------------------------------------


def unfold(of: Library, name: str) -> list[str]:
    """Return the ids of all sections that listing a fold, and the folds in it, brings up."""
    text = list_children(of, name, 1_500).text
    found: list[str] = []
    for item in ids_in(text):
        found += unfold(of, item) if ":" in item else [item]
    return found


@pytest.mark.parametrize("count", [1, 30, 41, 300, 2_000])
def test_every_section_of_a_long_row_can_be_reached_by_listing(count: int) -> None:
    of = library("# Top\n\n" + "".join(f"## Title {number}\n\nText {number} is here.\n\n" for number in range(count)))
    document_ = of.documents[0]
    assert unfold(of, document_.sections[0].id) == [item.id for item in document_.sections[1:]]
    outline = build_outline(of, 400)
    folds = [item for item in ids_in(outline.text) if item not in {section.id for section in document_.sections[1:]}]
    reached = {section for fold in folds for section in unfold(of, fold)} | set(ids_in(outline.text))
    assert {item.id for item in document_.sections[1:]} <= reached


def test_a_listing_stays_within_its_budget() -> None:
    of = library("# Top\n\n" + "".join(f"## {'Long title ' * 12}{number}\n\nText.\n\n" for number in range(2_000)))
    listing = list_children(of, of.documents[0].sections[0].id, 1_500)
    assert listing.tokens == estimate_tokens(listing.text) <= 1_500
    assert listing.count >= 10


def test_a_leaf_says_that_nothing_lies_below_it() -> None:
    of = library()
    tools = ref(of, "Garden", "Tools")
    assert list_children(of, tools).text == f"Nothing lies below [{tools}]."


@pytest.mark.parametrize("name", ["deadbeef", "", "x:y", ":1-2", "240c57e1:", "240c57e1:1", "240c57e1:1-2-3"])
def test_an_id_nothing_has_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        list_children(library(), name)


@pytest.mark.parametrize("rows", ["0-1", "2-1", "9-12", "999999999-999999999"])
def test_a_range_without_children_says_so(rows: str) -> None:
    of = library()
    with pytest.raises(ValueError, match="has 3 directly below it"):
        list_children(of, f"{ref(of, 'Garden')}:{rows}")


# -- real documents ----------------------------------------------------------------------------------


def test_outlines_of_development_documents(dev_data: Path) -> None:
    for path in sorted([*dev_data.glob("docs/*"), *dev_data.glob("quirks/*")]):
        of = Library([open_document(str(path))])
        for budget in (200, 1_000, 4_000):
            outline = build_outline(of, budget)
            assert outline.tokens <= budget, path.name
            assert outline.tokens > budget * 0.7 or outline.whole, (path.name, budget, outline.tokens)
            assert all(of.find(name.partition(":")[0]) for name in ids_in(outline.text)), path.name


def test_no_section_with_text_lacks_a_preview(dev_data: Path) -> None:
    of = Library([open_document(str(dev_data / "docs" / "us-constitution.md"))])
    lines = build_outline(of, 8_000).text.splitlines()
    for above, below in zip(lines, [*lines[1:], ""], strict=True):
        assert above.startswith("    ") or below.startswith("    ")


def test_a_document_of_one_heading_starts_below_it(dev_data: Path) -> None:
    outline = build_outline(Library([open_document(str(dev_data / "docs" / "grundgesetz-de.md"))]))
    assert outline.listed > 60
    assert len(re.findall(r"^\[\w+\] # ", outline.text, re.MULTILINE)) == 1
    assert "Bundespräsident" in outline.text


def test_a_document_of_hundreds_of_headings_says_what_it_folds(dev_data: Path) -> None:
    outline = build_outline(Library([open_document(str(dev_data / "docs" / "aws-rds-guide.md"))]))
    folds = re.findall(r"^\[… (\d+) more: list_children\(.*\n    (.*)", outline.text, re.MULTILINE)
    assert sum(int(count) for count, _ in folds) + len(re.findall(r"^\[\w+\] # ", outline.text, re.MULTILINE)) == 304
    assert all(words.count(";") >= 3 for _, words in folds)
