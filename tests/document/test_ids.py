"""Ids: short, unique, the same everywhere, and indifferent to what a section says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import ids
from roamtui.document.ids import ROOT_ID, section_ids
from tests.support.documents import GARDEN, document, library

_TITLES = st.sampled_from(["Overview", "Usage", "A", "B", "Ü", "(untitled)"])


def of_paths(*paths: tuple[str, ...]) -> list[str]:
    """Return ids of sections given by their paths, parents before children."""
    places = {path: index for index, path in reversed(list(enumerate(paths)))}
    return list(section_ids([path[-1] for path in paths], [places.get(path[:-1], -1) for path in paths]))


def test_the_worked_examples() -> None:
    assert ROOT_ID == "240c57e1"
    first = document("# Models\n## Model Dropdown\n## Model Dropdown\n")
    assert [item.id for item in first.sections] == ["855e11c9", "d4c192e2", "e45f855b"]
    assert first.root.id == ROOT_ID
    assert of_paths(("Models",), ("Models", "Model Dropdown")) == ["855e11c9", "d4c192e2"]


def test_titles_are_normalised_before_they_are_hashed() -> None:
    composed, decomposed = "# Caf\u00e9  au   lait\n", "# Cafe\u0301 au lait\n"
    assert document(composed).sections[0].id == document(decomposed).sections[0].id


@given(st.lists(st.tuples(st.integers(1, 4), _TITLES), max_size=30), st.text(alphabet="abc \n", max_size=50))
def test_ids_are_unique_and_know_nothing_of_own_text(headings: list[tuple[int, str]], text: str) -> None:
    bare = document("".join(f"{'#' * level} {title}\n" for level, title in headings) or "x")
    told = document("".join(f"{'#' * level} {title}\n{text}\n\n" for level, title in headings) or "x")
    found = [item.id for item in bare.sections]
    assert found == [item.id for item in told.sections if item.kind != "preamble"]
    assert len({*found, ROOT_ID}) == len(found) + 1
    assert all(len(item) == 8 and set(item) <= set("0123456789abcdef") for item in found)


def test_ids_before_an_edit_stay() -> None:
    before = document(GARDEN)
    after = document(GARDEN.replace("## Tools", "## New\n\n## Tools"))
    known = {item.title: item.id for item in after.sections}
    assert all(known[item.title] == item.id for item in before.sections)


def test_ids_that_collide_are_salted_in_document_order(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"# Heading {number}\n" for number in range(200))
    monkeypatch.setattr(ids, "_short", lambda path: path.hexdigest()[:2].rjust(8, "0"))
    found = [item.id for item in document(text).sections]
    assert len(set(found)) == 200
    assert found == [item.id for item in document(text).sections]
    assert found[:20] == [item.id for item in document("".join(text.splitlines(keepends=True)[:20])).sections]
    of = library(text)
    for item in of.documents[0].sections:
        place = of.find(item.id)
        assert place is not None
        assert place.section is item


def test_half_a_million_equal_headings_have_ids_of_their_own() -> None:
    found = document("# Same\n" * 50_000).sections
    assert len({item.id for item in found}) == 50_000


_PROGRAM = """
import json, sys
from pathlib import Path
from roamtui.document.model import Library
from roamtui.document.outline import build_outline
from roamtui.sources.open import open_document
found = [open_document(path) for path in sys.argv[1:]]
print(json.dumps([[item.id for item in each.sections] for each in found]))
print(json.dumps([build_outline(Library([each])).text for each in found]))
"""


def second_process(seed: str, *files: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, files)], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_ids_and_outlines_are_the_same_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "garden.md"
    file.write_text(GARDEN * 30, encoding="utf-8")
    one, other = second_process("1", file), second_process("2", file)
    assert one == other
    assert json.loads(one.splitlines()[0]) == [[item.id for item in document(GARDEN * 30).sections]]


def test_development_documents_are_the_same_in_every_process(dev_data: Path) -> None:
    files = sorted([*dev_data.glob("docs/*"), *dev_data.glob("quirks/*")])
    assert second_process("3", *files) == second_process("4", *files)
