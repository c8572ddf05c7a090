"""Answers as people read them: titles and lines in place of ids."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.answer import Cited, Prose, as_markdown, label, segments
from roamtui.events import Citation

GOOD = Citation(
    id="07f3277d", path=("Book", "Soil"), quote="Clay holds water", status="exact", first_line=3, last_line=4
)
BAD = Citation(id="07f3277d", path=("Book", "Soil"), quote="Clay floats", status="missing")


def known(ref: str) -> bool:
    return ref == "07f3277d"


def test_a_citation_becomes_a_button() -> None:
    found = segments("It does [[07f3277d|Clay holds water]].", [GOOD], known)
    assert found == [Prose("It does "), Cited(1, GOOD, "Clay holds water"), Prose(".")]
    assert label(GOOD) == "✓ Soil L3–4"
    assert label(BAD) == "✗ Soil"


def test_bare_ids_never_reach_a_reader() -> None:
    found = segments("See [07f3277d] and (07f3277d) or `07f3277d`; the commit deadbeef stays.", [], known)
    assert found == [Prose("See and or; the commit deadbeef stays.")]


def test_a_citation_still_being_written_is_held_back() -> None:
    for cut in ("So [", "So [[", "So [[07f3", "So [[07f3277d|Clay ho", "So [[07f3277d|Clay holds water]"):
        assert segments(cut, [], known, complete=False) == [Prose("So ")]


def test_brackets_inside_a_quote() -> None:
    found = segments("x [[07f3277d|see [the list](#a)]] y", [], known)
    assert [item.quote for item in found if isinstance(item, Cited)] == ["see [the list](#a)"]


def test_copied_answers_keep_place_and_problem() -> None:
    text = "Yes [[07f3277d|Clay holds water]]. No [[07f3277d|Clay floats]]."
    assert as_markdown(text, [GOOD, BAD], known) == (
        "Yes (“Clay holds water” Book › Soil, L3–4). No (“Clay floats” Book › Soil — the words are not there)."
    )


@given(st.text(alphabet="[]|07f3277da \n", max_size=60), st.booleans())
def test_no_text_whatever_raises_or_shows_a_known_id(text: str, complete: bool) -> None:
    prose = "".join(item.text for item in segments(text, [], known, complete=complete) if isinstance(item, Prose))
    assert "[07f3277d]" not in prose
