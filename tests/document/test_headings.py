"""Headings equal the oracle's, whatever the text: the scanner's shortcuts are never seen."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.markdown import parse_markdown
from roamtui.document.model import Document, Origin
from roamtui.document.titles import heading_title
from tests.support import oracle
from tests.support.documents import document

_LINES = st.sampled_from(
    """
    |text|word and words|# h|## h|  # h|   ### h|    # code|#|#x|# a \\| b|```|````|~~~|  ```|   ~~~|    ```|```py
    |``` a`b|```\\||===|---|==|--|=|-| ---|   ===|- item|  - b|* a|+ x|1. one|2. two|10) ten|1.|   cont|  cont
    |    cont|> q|> # q|>|> ```|  > q|> - x|<div>|</div>|<a>|<a href='x'>|  <b>|<!-- c|c -->|<!-- x -->|<script>
    |</script>|<?php|?>|<pre>|</pre>|<!X|]]>|<![CDATA[|<div|<p>\\|x|\\| a \\| b \\||\\| - \\| - \\||a \\| b|--- \\| ---
    |\\|-\\||- # h|- ```|-|  # in|   # in|- <div>|- <!-- z|  <!-- in|[a]: /u|[a]: /u 'x|y'|[b]:|/url|[c]|***|* * *
    |- - -|**bold**|_x_|-     code|é|ü ---|\u00a0|\\|(x)|5|5. x|---\ttab|\t# t|- \tx| \t|...|$$
    """.replace("\n    ", "").split("|")
)
_LINE_ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def _texts(draw: st.DrawFn) -> bytes:
    """Lines that start blocks or may be taken for it, with blank lines between some."""
    lines = draw(st.lists(st.one_of(_LINES, st.just("")), max_size=14))
    ends = draw(st.one_of(st.just("\n"), _LINE_ENDS, st.none()))
    indents = draw(st.lists(st.sampled_from(["", "", "", " ", "  ", "   ", "\t"]), min_size=14, max_size=14))
    text = "".join(
        indent + line.replace("\\", "|") + (ends or draw(_LINE_ENDS))
        for indent, line in zip(indents, lines, strict=False)
    )
    return text.encode()


def found(source: bytes) -> list[tuple[int, int, int]]:
    parsed = parse_markdown(source, name="x", origin=Origin("x", ""))
    return [(item.start, item.body, item.level) for item in parsed.sections if item.kind == "heading"]


def byte_exact(parsed: Document) -> bool:
    pieces = [
        parsed.source[item.start : item.body] + parsed.source[item.body : item.own_end] for item in parsed.sections
    ]
    return b"".join(pieces) == parsed.source


def well_formed(parsed: Document) -> bool:
    for item in parsed.sections:
        above = parsed.parent(item)
        if not (above.start <= item.start <= item.body <= item.own_end <= item.end <= above.end):
            return False
        if item.index not in {child.index for child in parsed.children(above)} or item.depth > 5:
            return False
    return True


@settings(max_examples=400)
@given(_texts())
def test_lines_that_may_start_blocks(source: bytes) -> None:
    assert found(source) == oracle.headings(source)


@settings(max_examples=400)
@given(st.text(alphabet='# \n\t-=`~<>!a1.*|[]:"/\r\\é', max_size=60))
def test_any_characters_of_markdown(text: str) -> None:
    source = text.encode()
    assert found(source) == oracle.headings(source)


@given(st.binary(max_size=120))
def test_any_bytes_are_kept_and_make_a_tree(source: bytes) -> None:
    parsed = parse_markdown(source, name="x", origin=Origin("x", ""))
    assert byte_exact(parsed)
    assert well_formed(parsed)


@given(st.lists(st.sampled_from(["# a\n", "## b\n", "### c\n", "###### d\n", "text\n", "---\n", "\n"]), max_size=40))
def test_any_levels_make_a_tree(lines: list[str]) -> None:
    parsed = document("".join(lines))
    assert byte_exact(parsed)
    assert well_formed(parsed)
    assert [parsed.at_offset(item.start) for item in parsed.sections] == list(parsed.sections)


@pytest.mark.parametrize("char", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_lines_end_at_line_feeds_and_carriage_returns_only(char: str) -> None:
    text = f"intro {char} more\n# A{char}B\n\ntext{char}# no\n\r# C\r## D\r\n"
    parsed = document(text)
    assert found(text.encode()) == oracle.headings(text.encode())
    assert [parsed.own_text(item) for item in parsed.sections[-3:]] == [f"\ntext{char}# no\n\r", "", ""]
    assert parsed.line_of(text.encode().index(b"# C")) == 6


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            ["word", "a_b", "`c d`", "\\*", '<a name="x"></a>', "*", "**", "_", "`", "``", "[", "](u)", "![", "<b>",
             "&amp;", "!", "#", " ", "  ", "é", "<", "\\", "&", "]", "1", "<a id='x'>"]
        ),
        max_size=8,
    )
)  # fmt: skip
def test_titles_equal_those_of_the_inline_parser(pieces: list[str]) -> None:
    from roamtui.document import titles

    content = "".join(pieces).strip()
    tokens = titles._inline_parser().parseInline(content)
    expected = " ".join("".join(titles._plain(tokens[0].children or ())).split()) if tokens else ""
    assert heading_title(content) == (expected or "(untitled)")


# -- hostile shapes -------------------------------------------------------------------------------

_HOSTILE = {
    "headings": b"# a heading\n" * 100_000,
    "one heading of 5 MB": b"# " + b"word *x* " * 600_000 + b"\n\nbody\n## child\n",
    "quotes in quotes": b">" * 100_000 + b" # x\n# y\n",
    "lists in lists": b"- " * 10_000 + b"x\n  # h\n# y\n",
    "open brackets": b"[" * 1_000_000 + b"\n# y\n",
    "a link definition without end": b'[a]: /u "' + b"a\n" * 100_000 + b"===\n# y\n",
    "lines of brackets": b"[\n" * 50_000 + b"---\n# y\n",
    "link definitions": b"[a]: /u\n" * 10_000 + b"---\n",
    "plain lines": b"word word word\n" * 300_000,
    "underlined lines": b"word word word\n" * 300_000 + b"===\n",
    "fences in an item": b"- item\n\n" + b"   ```\n   # x\n   ```\n" * 20_000,
    "comments": b"<!--\n" * 200_000,
    "tags": b"x\n" + b"<a>\n" * 30_000,
    "attributes": b"<a " + b"b " * 200_000 + b"\n# x\n",
    "blank lines": b"\n" * 1_000_000,
    "tables": b"# a|b\n-|-\n" * 5_000,
    "NULs": b"# a\0b\n\0\0\n" * 20_000,
}


@pytest.mark.faults
@pytest.mark.parametrize("shape", _HOSTILE)
def test_hostile_shapes_take_linear_time(shape: str) -> None:
    source = _HOSTILE[shape]
    started = time.process_time()
    parsed = parse_markdown(source, name="x", origin=Origin("x", ""))
    assert byte_exact(parsed)
    assert time.process_time() - started < 3.0


def test_progress_is_reported_while_a_large_text_is_read() -> None:
    calls: list[tuple[int, int]] = []
    source = (b"# Heading\n\n" + b"Plain words of a paragraph.\n" * 100) * 1_000
    parse_markdown(source, name="x", origin=Origin("x", ""), progress=lambda done, found: calls.append((done, found)))
    assert len(calls) > 10
    assert calls == sorted(calls, key=lambda call: call[0])
    assert calls[-1] == (len(source), 1_000)


# -- real documents --------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return sorted([*folder.glob("docs/*"), *folder.glob("quirks/*")])


def test_every_development_document(dev_data: Path) -> None:
    for path in _files(dev_data):
        source = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        parsed = parse_markdown(source, name=path.name, origin=Origin(path.name, ""))
        assert found(source) == oracle.headings(source), path.name
        assert byte_exact(parsed), path.name
        assert well_formed(parsed), path.name
        assert len({item.id for item in parsed.sections}) == len(parsed.sections), path.name


def test_every_example_of_the_commonmark_specification(dev_data: Path) -> None:
    spec = (dev_data / "docs" / "commonmark-spec.txt").read_text(encoding="utf-8")
    examples = re.findall(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", spec, re.MULTILINE | re.DOTALL)
    assert len(examples) > 640
    for example in examples:
        source = example.replace("→", "\t").encode()
        assert found(source) == oracle.headings(source), example
        for wrapped in (b"para\n" + source + b"# end\n", b"- item\n\n  " + source + b"\n# end\n", source * 2):
            assert found(wrapped) == oracle.headings(wrapped), wrapped
