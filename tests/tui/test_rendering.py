"""Markdown as rows: nothing lost, everything in its place, any width."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from roamtui.text import display
from roamtui.tui.blocks import Block, Stack, char_offset, slice_text
from roamtui.tui.highlights import Highlights
from roamtui.tui.references import source_definitions
from roamtui.tui.rendering import render_markdown
from roamtui.tui.slices import BLOCK_LIMIT, markdown_slices, verbatim_slices
from roamtui.tui.wrapping import Piece, cells_of, wrap, wrap_exactly
from tests.support.hostile import ESCAPES, MARKUP, UNSAFE

MARKDOWN_LINES = st.sampled_from(
    [
        "",
        "",
        "words and **bold** words",
        "a [link](http://a.example/x) and `code`",
        "- item",
        "  continued",
        "  - nested",
        "12. numbered",
        "> quote",
        "```rust",
        "~~~",
        "    indented",
        "<!-- comment",
        "-->",
        "<div>",
        "</div>",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 | 3 |",
        "---",
        "[x]: http://x.example",
        "see [x] and ![alt](p.png)",
        "日本語の文章です",
        "tab\there \x1b[31m \u202e",
        "&amp; &copy; \\* \\[",
        "é" * 40,
        "word " * 30,
        "x" * 90,
    ]
)
MARKDOWN = st.lists(MARKDOWN_LINES, max_size=25).map("\n".join)


@given(MARKDOWN, st.integers(1, 60))
def test_rows_fit_and_hold_only_what_may_be_shown(text: str, width: int) -> None:
    for row in render_markdown(text, width):
        assert cell_len(row.text) <= max(width, 4), row
        assert display(row.text, newlines=False) == row.text


@given(MARKDOWN)
def test_every_word_of_the_text_is_somewhere_on_the_screen(text: str) -> None:
    """Nothing vanishes: HTML, comments, link definitions, what looks like markup."""
    shown = "".join(row.text for row in render_markdown(text, 400, source_definitions(text.encode())))
    for word in re.findall(r"[A-Za-zé]{3,}|[日本語の文章です]+", text):
        assert word in shown or word in ("amp", "copy"), word


@given(MARKDOWN, st.integers(4, 60))
def test_a_piece_that_knows_its_place_stands_there(text: str, width: int) -> None:
    for row in render_markdown(text, width):
        for piece in row.pieces:
            if piece.at >= 0:
                assert text[piece.at : piece.at + len(piece.text)].replace("\n", " ") == piece.text


@given(MARKDOWN, st.integers(4, 60))
def test_rows_name_lines_of_the_text(text: str, width: int) -> None:
    lines = [row.line for row in render_markdown(text, width)]
    assert all(0 <= line <= text.count("\n") for line in lines)


@pytest.mark.parametrize(
    "text", ["a</kbd>", "<b", "</", "<!--", "<?php", "[", "![", "`", "|", "|-|", "- ", "1.", ">", "\x00"]
)
def test_scraps_do_no_harm(text: str) -> None:
    """`a</kbd>` alone ends Rich's own Markdown with an IndexError."""
    assert text.strip("\x00") in "".join(row.text for row in render_markdown(text, 40)) or text in (
        "- ",
        "1.",
        ">",
        "|",
    )


@pytest.mark.parametrize("payload", [*ESCAPES.values(), *MARKUP])
def test_payloads_are_inert_in_every_kind_of_block(payload: str) -> None:
    blocks = [
        f"x {payload} y",
        f"- {payload}",
        f"> {payload}",
        f"`{payload}`",
        f"```\n{payload}\n```",
        f"<div>{payload}</div>",
    ]
    for block in [*blocks, f"| {payload} | b |\n|---|---|\n| {payload} | d |", f"[{payload}](http://{payload})"]:
        for row in render_markdown(block, 50):
            assert not UNSAFE.search(row.text)
            assert all(not piece.style or re.fullmatch(r"[a-z0-9 ]+", piece.style) for piece in row.pieces)


def test_code_is_kept_letter_by_letter() -> None:
    code = "def f(x):\n\treturn  x   # [b]\n\n\n    y"
    rows = [row.text[2:] for row in render_markdown(f"```\n{code}\n```", 80)]
    assert rows == code.expandtabs(4).split("\n")


def test_a_table_too_wide_for_columns_becomes_records() -> None:
    head = "| " + " | ".join(f"column {n}" for n in range(8)) + " |\n" + "|---" * 8 + "|\n"
    text = head + "| " + " | ".join(f"value {n}" for n in range(8)) + " |\n"
    rows = [row.text for row in render_markdown(text, 30)]
    assert "column 3: value 3" in rows
    assert "column 3 │ column 4" in "".join(row.text for row in render_markdown(text, 120))


def test_definitions_are_found_without_a_scan_by_lines() -> None:
    text = (
        b"x\n\n[One]: <http://one.example>\n  [two]:\n  http://two.example 'T'\n[bad]: javascript:alert(1)\nno [x]: y\n"
    )
    found = source_definitions(text)
    assert {label: item["href"] for label, item in found.items()} == {
        "ONE": "http://one.example",
        "TWO": "http://two.example",
    }


# -- wrapping -------------------------------------------------------------------------------------

WORDS = st.text(alphabet="ab \n日é\u0301👨‍👩‍👧", max_size=60)


@given(st.lists(WORDS, max_size=4), st.integers(1, 20))
def test_wrapping_keeps_every_letter_and_the_width(texts: list[str], width: int) -> None:
    pieces = [Piece(text, str(number)) for number, text in enumerate(texts)]
    rows = wrap(pieces, width)
    assert "".join("".join(piece.text for piece in row) for row in rows).replace(" ", "") == (
        "".join(texts).replace(" ", "").replace("\n", "")
    )
    for row in rows:
        assert cells_of(row) <= width or len("".join(piece.text for piece in row)) <= 7


@given(st.text(alphabet="ab 日é", max_size=60), st.integers(1, 20))
def test_verbatim_rows_lose_nothing(text: str, width: int) -> None:
    rows = wrap_exactly([Piece(text)], width)
    assert "".join(piece.text for row in rows for piece in row) == text
    assert all(cells_of(row) <= max(2, width) for row in rows)


def test_words_in_several_styles_are_not_torn_apart() -> None:
    rows = wrap([Piece("aaaa bb"), Piece("cc", "strong"), Piece("dd ee")], 6)
    assert ["".join(piece.text for piece in row) for row in rows] == ["aaaa", "bbccdd", "ee"]


# -- slices ---------------------------------------------------------------------------------------


@given(MARKDOWN.map(lambda text: text * 9), st.sampled_from(["\n", "\r\n", "\r"]))
def test_slices_join_to_the_text(text: str, end: str) -> None:
    source = text.replace("\n", end).encode()
    for cut in (markdown_slices, verbatim_slices):
        slices = list(cut(source, 0, len(source)))
        assert b"".join(source[item.start : item.end] for item in slices) == source
        assert all(item.end - item.start <= BLOCK_LIMIT + 6_000 for item in slices)


@given(st.binary(max_size=3_000).map(lambda data: data * 9))
def test_slices_of_any_bytes_join_to_them(source: bytes) -> None:
    slices = list(markdown_slices(source, 0, len(source)))
    assert b"".join(source[item.start : item.end] for item in slices) == source


UNITS = ["word\n", "word ", "- item\n", "| a | b |\n", "> quote\n", "```\ncode\n", "    code\n", "ä", "<div>\n", "\r"]


@pytest.mark.parametrize("unit", UNITS)
def test_no_slice_is_so_large_that_drawing_it_is_felt(unit: str) -> None:
    source = (unit * (300_000 // len(unit))).encode()
    assert max(item.end - item.start for item in markdown_slices(source, 0, len(source))) <= BLOCK_LIMIT + 6_000


def test_cuts_fall_where_markdown_means_the_same_on_both_sides() -> None:
    """Rendered slice by slice a text reads as it does at once: lists, fences, nested blocks, tables."""
    unit = (
        "para **bold**\ngoes on\n\n- one\n\n  inside one\n\n      code in one\n- two\n  - three\n\n"
        "```\nfence\n\n# no heading\n- no item\n```\n\n1. a\n2. b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n"
        "> quote\n\n<!-- a\n\ncomment -->\n\n~~~\ntilde\n```\n~~~\n\n"
    )
    text = unit * 30
    source = text.encode()
    slices = list(markdown_slices(source, 0, len(source)))
    assert len(slices) > 3
    cut = [row.text for item in slices for row in render_markdown(slice_text(source, item.start, item.end), 60)]
    whole = [row.text for row in render_markdown(text, 60)]
    assert [row for row in cut if row.strip()] == [row for row in whole if row.strip()]


# -- the stack ------------------------------------------------------------------------------------


def stack_of(text: str, width: int = 40) -> Stack:
    source = text.encode()
    stack = Stack()
    stack.set_width(width)
    stack.show([Block("k", source, 0, len(source), 1, lambda cells: [])])
    return stack


@given(MARKDOWN.map(lambda text: (text + "\n\n") * 40), st.lists(st.integers(0, 3_000), max_size=6), st.integers(3, 90))
def test_measuring_in_any_order_gives_the_same_rows(text: str, places: list[int], width: int) -> None:
    def rows(stack: Stack) -> list[str]:
        stack.measure(0, 10_000_000)
        return [row.text for index in range(len(stack)) for row in stack.rows(index)]

    here = stack_of(text, width)
    for place in places:
        here.measure(min(place, here.height), 20)
    assert rows(here) == rows(stack_of(text, width))
    assert here.height == len(rows(here))


@given(st.text(alphabet="aé日\r\n 😀", max_size=200), st.integers(0, 400))
def test_characters_are_counted_as_the_slice_has_them(text: str, byte: int) -> None:
    source = text.encode()
    byte = min(byte, len(source))
    while byte < len(source) and source[byte] & 0xC0 == 0x80:
        byte += 1
    if source[byte - 1 : byte + 1] != b"\r\n":
        before = source[:byte].decode()
        assert char_offset(source, 0, byte) == len(before.replace("\r\n", "\n"))


@given(
    st.lists(st.sampled_from(["needle", "words", "**needle**", "[needle](u)", "`needle`", "\n\n", "- "]), max_size=60)
)
def test_every_find_hit_is_marked_somewhere(parts: list[str]) -> None:
    text = " ".join(parts)
    source = text.encode()
    stack = stack_of(text)
    stack.measure(0, 10_000)
    highlights = Highlights()
    for match in re.finditer(rb"needle", source):
        highlights.set("hit", stack.blocks[0].source, [match.span()])
        found = ""
        for index in range(len(stack)):
            for number, row in enumerate(stack.rows(index)):
                for start, end, _ in highlights.on_row(stack, index, number):
                    found += row.text[start:end]
        assert found == "needle"
