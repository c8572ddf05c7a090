"""Answers as they stream: drawn block by block, citations as marks, ids nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.tui.widgets.answer import (
    SHOWN,
    MarkedText,
    StreamedMarkdown,
    answer_rows,
    open_fence,
    plain_answer,
    split_blocks,
)
from roamtui.tui.widgets.rows import action_at

_LINES = st.lists(
    st.sampled_from(
        [
            "# Head",
            "words",
            "- item",
            "  more",
            "",
            "",
            "```",
            "```py",
            "> quote",
            "1. one",
            "---",
            "| a | b |",
            "|---|---|",
            "    code",
            "~~~",
        ]
    ),
    max_size=25,
)


def untitled(ref: str) -> str:
    return ""


def drawer() -> StreamedMarkdown:
    def render(text: str, width: int) -> list[Strip]:
        return [Strip([Segment(piece.text) for piece in row.pieces]) for row in answer_rows(text, width)]

    return StreamedMarkdown(render, lambda name: Style())


def shown(drawn: StreamedMarkdown) -> list[str]:
    return [strip.text.rstrip() for strip in drawn.strips]


def draw_all(drawn: StreamedMarkdown, text: str, width: int = 40) -> None:
    while not drawn.draw(text, width, "run"):
        pass


@given(_LINES)
def test_blocks_joined_are_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert "".join(split_blocks(text)) == text


@given(_LINES, st.integers(1, 9))
def test_streaming_ends_with_what_drawing_at_once_gives(lines: list[str], step: int) -> None:
    text = "\n".join(lines)
    streamed, whole = drawer(), drawer()
    for end in range(0, len(text), step):
        streamed.draw(text[:end], 40, "run")
    draw_all(streamed, text)
    draw_all(whole, text)
    assert shown(streamed) == shown(whole)


def test_a_finished_block_is_not_drawn_again() -> None:
    drawn = drawer()
    head = "".join(f"Paragraph {number} with some words.\n\n" for number in range(40))
    draw_all(drawn, head)
    before = drawn.blocks_drawn
    for end in range(1, 60):
        drawn.draw(head + "The last one grows letter by letter, and nothing else is touched."[:end], 40, "run")
    assert drawn.blocks_drawn - before <= 60


def test_an_endless_block_is_cut_so_that_a_frame_stays_cheap() -> None:
    drawn = drawer()
    text = "```\n" + "code line\n" * 4_000
    drawn.draw(text, 40, "run")
    draw_all(drawn, text)
    before = drawn.blocks_drawn
    drawn.draw(text + "more\n", 40, "run")
    assert drawn.blocks_drawn - before <= 1
    assert sum("code line" in line for line in shown(drawn)) == 4_000
    assert all(line.startswith("  ") for line in shown(drawn) if line)


@pytest.mark.parametrize(
    "text",
    [
        "# head\n\n" * 3_000,
        ">" * 3_000 + " deep",
        "[[" * 9_000,
        "- a\n" * 5_000,
        "|a|\n|-|\n" + "|1|\n" * 3_000,
        "*" * 9_000,
    ],
)
def test_every_shape_is_drawn_to_its_end_in_slices(text: str) -> None:
    drawn = drawer()
    while not drawn.draw(text, 40, "run"):
        pass
    assert any(line.strip() for line in shown(drawn))


def test_a_fence_that_is_cut_stays_a_fence() -> None:
    assert open_fence("words\n\n```py\nx = 1\n") == "```py\n"
    assert open_fence("```py\nx = 1\n```\n") == ""
    assert open_fence("words") == ""
    assert open_fence("|a|b|\n|-|-|\n|1|2|\n") == "|a|b|\n|-|-|\n"


def test_a_long_table_stays_a_table() -> None:
    drawn = drawer()
    draw_all(drawn, "| name | value |\n|---|---|\n" + "| one | two |\n" * 600)
    rows = [line for line in shown(drawn) if line]
    assert sum(line.split() == ["one", "│", "two"] for line in rows) == 600


def test_citations_become_marks_that_lead_somewhere() -> None:
    answer = "One [[07f3277d|a]] two [[07f3277d|a]] three [[deadbeef]]."
    text = MarkedText(untitled)(answer, [(1, True), (1, True), (2, False)], running=False)
    drawn = drawer()
    draw_all(drawn, text, 80)
    line = drawn.strips[0]
    assert line.text.rstrip() == "One ✓1 two ✓1 three ✗2."
    assert action_at(line, line.text.index("✗")) == ("cite", "run", "2")
    assert action_at(line, 0) is None


def test_citations_are_pending_until_they_are_checked_and_held_back_while_they_come() -> None:
    def running(answer: str) -> str:
        return MarkedText(untitled)(answer, [], running=True)

    assert running("One [[07f3277d|a]] two [[07f3") == "One \ue0001 two "
    assert running("One [") == "One "


def test_ids_that_slip_into_an_answer_are_shown_as_titles() -> None:
    titles = {"07f3277d": "Models"}
    text = MarkedText(lambda ref: titles.get(ref, ""))(
        "See [07f3277d] and 07f3277d, commit 12345678.", [], running=False
    )
    assert text == "See “Models” and “Models”, commit 12345678."


def test_an_answer_of_any_length_is_drawn_up_to_a_limit() -> None:
    text = MarkedText(untitled)("word " * SHOWN, [], running=False)
    assert len(text) < SHOWN + 100
    assert "more characters" in text


def test_an_answer_is_copied_with_places_for_citations() -> None:
    assert plain_answer("A [[07f3277d|q]].", ["Models, L3"], lambda ref: "") == "A (Models, L3)."


@given(st.text(alphabet="[]|0123456789abcdef \n\ue000\ue001", max_size=60))
def test_marking_never_fails_and_leaves_no_mark_of_the_models_own(text: str) -> None:
    marked = MarkedText(untitled)(text, [], running=True)
    assert marked.count("\ue001") == 0


@given(
    st.lists(
        st.sampled_from(["words ", "[[07f3277d|a b]]", "[[", "]]", "\n\n", "\n", "07f3277d ", "x" * 700]), max_size=30
    )
)
def test_marking_piece_by_piece_gives_what_marking_at_once_gives(pieces: list[str]) -> None:
    answer = "".join(pieces)
    growing = MarkedText(untitled)
    for end in range(0, len(answer), 97):
        growing(answer[:end], [], running=True)
    assert growing(answer, [], running=False) == MarkedText(untitled)(answer, [], running=False)
