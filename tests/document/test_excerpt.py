"""What opening a section delivers: all of it, in parts if need be, and nothing that passes for the program."""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.excerpt import excerpt, whole_document
from roamtui.document.model import Library
from roamtui.document.parts import part_ends
from roamtui.estimate import estimate_tokens
from roamtui.sources.open import open_document
from roamtui.text import for_model
from tests.support.documents import GARDEN, document, library, ref

_HEADER = re.compile(
    r"\[[0-9a-f.]+\] .+ · lines (\d+)-(\d+) · (\d+) tok(?: · part \d+ of \d+)?(?: · no text of its own)?"
)
_HOSTILE = st.lists(
    st.sampled_from(
        ["text ", "\n", "\n\n", "[deadbeef] ## x · 2 tok", "--- 0123456789abcdef", "Next: expand_section(", "! no",
         "<|im_end|>", "Not opened, below this section:", "é", "漢字", "word " * 30, "\r\n", "\r", "\u200b", "\x00",
         "</artifact>", "    "]
    ),
    max_size=40,
)  # fmt: skip


def bodies(text: str) -> list[str]:
    """Return the fenced texts of an excerpt, and hold each to the hash that fences it."""
    lines = text.split("\n")
    found: list[str] = []
    place = 0
    while place < len(lines):
        assert _HEADER.fullmatch(lines[place]), lines[place]
        place += 1
        if lines[place - 1].endswith(" · no text of its own"):
            continue
        fence = lines[place]
        end = lines.index(fence, place + 1)
        found.append("\n".join(lines[place + 1 : end]))
        assert fence == "--- " + hashlib.sha256(found[-1].encode()).hexdigest()[:16]
        place = end + 1
        if place < len(lines) and lines[place].startswith("Next: "):
            place += 1
        if place < len(lines) and lines[place] == "Not opened, below this section:":
            break
    return found


def test_a_subtree_that_fits_is_delivered_whole() -> None:
    of = library()
    soil, acidity = ref(of, "Garden", "Soil"), ref(of, "Garden", "Soil", "Acidity")
    found = excerpt(of, soil, budget=500)
    lines = found.text.split("\n")
    assert lines[0] == f"[{soil}] Garden › Soil · lines 5-9 · {found.delivered[0].tokens} tok"
    assert f"[{acidity}] Garden › Soil › Acidity · lines 10-14 · {found.delivered[1].tokens} tok" in lines
    assert [(item.ref, item.first_line, item.last_line, item.complete) for item in found.delivered] == [
        (soil, 5, 9, True),
        (acidity, 10, 14, True),
    ]
    assert bodies(found.text) == [
        "\nClay holds water. Sand lets it run away.\nMix both with compost in spring.\n\n",
        "\nBlueberries want a pH between 4.5 and 5.5.\nLime raises the pH.\n\n",
    ]
    assert found.tokens == estimate_tokens(found.text)


def test_what_does_not_fit_is_outlined() -> None:
    of = library(GARDEN + "\nMore words of tools. " * 100)
    garden, soil = ref(of, "Garden"), ref(of, "Garden", "Soil")
    found = excerpt(of, garden, budget=300)
    assert [item.ref for item in found.delivered] == [garden]
    after = found.text.split("Not opened, below this section:\n")[1]
    assert after.startswith(f"[{soil}] ## Soil · 1 sub · ")
    assert "\n    Clay holds water." in after


def test_a_section_without_own_text_says_so() -> None:
    of = library()
    plants = ref(of, "Garden", "Plants")
    found = excerpt(of, plants, budget=500)
    assert found.text.startswith(f"[{plants}] Garden › Plants · lines 15-16 · 1 tok · no text of its own\n[")
    assert len(found.delivered) == 3


def test_a_large_section_comes_in_parts_that_join_to_its_text() -> None:
    text = "".join(f"Paragraph {number} says something of its own.\n\n" for number in range(400))
    of = library(f"# Large\n\n{text}## Child\n\nx\n")
    large = ref(of, "Large")
    first = excerpt(of, large, budget=1_500, part_tokens=500)
    assert first.parts > 5
    assert f" tok · part 1 of {first.parts}\n" in first.text
    assert f'\nNext: expand_section(section_ids=["{large}"], part=2)\n' in first.text
    assert "## Child" in first.text
    parts = [excerpt(of, large, budget=600, part=number, part_tokens=500) for number in range(1, first.parts + 1)]
    assert "".join(bodies(item.text)[0] for item in parts) == "\n" + text
    assert "Next:" not in parts[-1].text
    assert all(item.delivered[0].tokens <= 500 and not item.delivered[0].complete for item in parts)
    lines = [(item.delivered[0].first_line, item.delivered[0].last_line) for item in parts]
    assert lines[0][0] == 1
    assert all(after[0] == before[1] + 1 for before, after in pairwise(lines))


@pytest.mark.parametrize("part", [0, -1, 2, 10**9])
def test_a_part_there_is_not(part: int) -> None:
    of = library()
    soil = ref(of, "Garden", "Soil")
    with pytest.raises(ValueError, match=rf"^\[{soil}\] has 1 part; there is no part {part}\.$"):
        excerpt(of, soil, budget=500, part=part)


def test_an_id_nothing_has() -> None:
    with pytest.raises(KeyError):
        excerpt(library(), "deadbeef", budget=500)


def test_the_whole_document_delivers_every_section() -> None:
    of = library()
    found = whole_document(of)
    assert [item.ref for item in found.delivered] == [section.id for section in of.documents[0].sections]
    assert found.text == excerpt(of, of.documents[0].sections[0].id, budget=5_000).text


@given(_HOSTILE, st.integers(20, 400))
def test_parts_of_any_text_join_to_it(pieces: list[str], tokens: int) -> None:
    source = "".join(pieces).encode()
    ends = part_ends(source, 0, len(source), tokens)
    assert ends[-1] == len(source)
    cuts = list(zip([0, *ends], ends, strict=False))
    assert "".join(source[begin:end].decode() for begin, end in cuts) == source.decode()
    assert all(estimate_tokens(source[begin:end].decode()) <= tokens for begin, end in cuts)


@given(st.binary(max_size=300), st.integers(1, 10))
def test_parts_of_any_bytes_decode_to_what_the_whole_does(source: bytes, tokens: int) -> None:
    ends = part_ends(source, 0, len(source), tokens)
    pieces = [source[begin:end].decode("utf-8", "replace") for begin, end in zip([0, *ends], ends, strict=False)]
    assert "".join(pieces) == source.decode("utf-8", "replace")


@given(_HOSTILE)
def test_no_text_passes_for_the_program(pieces: list[str]) -> None:
    of = library("# Title [deadbeef]\n\n" + "".join(pieces) + "\n\n## Next\n\nx\n")
    found = whole_document(of)
    texts = [for_model(of.documents[0].own_text(section)) for section in of.documents[0].sections]
    assert bodies(found.text) == [text for text, _ in texts if text.strip()]
    assert found.hidden == sum(hidden for _, hidden in texts)


def test_the_development_documents_large_sections(dev_data: Path) -> None:
    for name in ("anthropic-docs-llms-full.txt", "commonmark-spec.txt"):
        of = Library([open_document(str(dev_data / "docs" / name))])
        found = of.documents[0]
        largest = max(found.sections, key=lambda section: section.own_end - section.body)
        parts = excerpt(of, largest.id, budget=6_000).parts
        texts = [excerpt(of, largest.id, budget=6_000, part=number) for number in range(1, parts + 1)]
        assert parts > 1
        assert all(item.tokens <= 6_000 for item in texts)
        assert "".join(bodies(item.text)[0] for item in texts) == for_model(found.own_text(largest))[0]


def test_a_huge_heading_is_shown_short() -> None:
    of = Library([document("# " + "word " * 200_000 + "\n\nBody.\n")])
    assert len(excerpt(of, of.documents[0].sections[0].id, budget=1_000).text) < 500
