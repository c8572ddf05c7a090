"""The open sections as one reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from rich.style import Style
from textual.pilot import Pilot
from textual.selection import SELECT_ALL

from roamtui.document.model import Library
from roamtui.trace.state import SectionState, TraceState
from roamtui.tui.widgets.flow import FlowView
from roamtui.tui.widgets.sections import SectionsPane
from roamtui.tui.widgets.tabs import PaneTabs
from tests.support.documents import library, ref
from tests.support.hostile import ESCAPES, MARKUP, UNSAFE
from tests.support.panes import Panes

GARDEN = library()
TOMATOES = ref(GARDEN, "Garden", "Plants", "Tomatoes")
BEANS = ref(GARDEN, "Garden", "Plants", "Beans")
SOIL = ref(GARDEN, "Garden", "Soil")
EXCERPT = slice(35, -2)
"""Columns of the sections pane in the test application, its scroll bar apart."""


class Reading:
    """The sections pane on the screen."""

    def __init__(self, app: Panes, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot
        self.pane = app.sections

    @property
    def view(self) -> FlowView:
        return self.pane.view

    @property
    def lines(self) -> list[str]:
        """What stands under the tabs."""
        return [line[EXCERPT].rstrip() for line in self.app.lines[1 : 1 + self.view.size.height]]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def open(self, *refs: str, **known: object) -> None:
        for item in refs:
            self.app.mark(item, **{"open_agent": True, "was_open": True, **known})
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def styled(self, words: str) -> list[Style]:
        """Return the styles of the cells that show some words."""
        found: list[Style] = []
        for strip in self.view.render_lines(self.view.size.region):
            at = strip.text.find(words)
            while at >= 0:
                place = 0
                for text, style, _ in strip:
                    if place <= at < place + len(text) and style is not None:
                        found.append(style)
                    place += len(text)
                at = strip.text.find(words, at + 1)
        return found

    def highlighted(self) -> str:
        """Return the text of all cells with the background of a hit, in order."""
        return "".join(text for text, style in self._cells() if style.underline and style.bgcolor is not None)

    def current(self) -> str:
        """Return the text of the hit one stands on."""
        return "".join(text for text, style in self._cells() if style.reverse)

    def _cells(self) -> Iterator[tuple[str, Style]]:
        for strip in self.view.render_lines(self.view.size.region):
            for text, style, _ in strip:
                if style is not None:
                    yield text, style


@asynccontextmanager
async def reading(of: Library = GARDEN, size: tuple[int, int] = (110, 30)) -> AsyncIterator[Reading]:
    app = Panes(of)
    async with app.run_test(size=size) as pilot:
        app.sections.focus()
        await pilot.pause()
        yield Reading(app, pilot)


def book(paragraphs: int, *, sections: int = 1) -> Library:
    """Return a document of long sections whose every paragraph says where it is."""
    parts = []
    for section in range(sections):
        words = "\n\n".join(f"p{section}.{number} " + "words and more words " * 12 for number in range(paragraphs))
        parts.append(f"# S{section}\n\n{words}\n")
    return library("\n".join(parts))


# -- what is shown --------------------------------------------------------------------------------


async def test_nothing_open_says_what_to_do() -> None:
    async with reading() as on:
        assert "Nothing is open" in on.text


async def test_sections_stand_in_document_order_with_where_who_and_why() -> None:
    async with reading() as on:
        await on.open(BEANS, reason="the user asked about beans", step=2)
        await on.open(SOIL, helpful="no", open_agent=True)
        on.app.mark(TOMATOES, open_user=True, pinned=True)
        await on.pilot.pause()
        places = [on.text.index(words) for words in ("Garden › Soil", "Garden › Plants › Tomatoes", "Plants › Beans")]
        assert places == sorted(places)
        assert "L5–9 · " in on.text
        assert "◉ opened by the agent at step 2: the user asked about beans" in on.text
        assert "✗ opened by the agent" in on.text
        assert "⌂ opened by you ⚑" in on.text
        assert "Sections · 3" in on.app.lines[0]
        assert "Clay holds water." in on.text


async def test_a_closed_section_goes_and_a_preview_is_ours_alone() -> None:
    async with reading() as on:
        await on.open(SOIL)
        on.pane.open(TOMATOES)
        await on.pilot.pause()
        assert on.pane.open_refs == (SOIL, TOMATOES)
        assert "preview" in on.text
        on.pane.close(TOMATOES)
        on.app.mark(SOIL, open_agent=False)
        await on.pilot.pause()
        assert "Nothing is open" in on.text


async def test_the_first_tab_is_the_outline_letter_by_letter() -> None:
    outline = "[07f3277d] # Garden · 3 sub\n    A small book [b]bold[/b]\n[… 37 more]\n"
    async with reading() as on:
        on.pane.show_outline(outline, 3_400)
        await on.pilot.click(PaneTabs, offset=(3, 0))
        await on.pilot.pause()
        assert on.text.startswith(" " + outline.replace("\n", "\n ").strip())
        assert "3.4k tok" in on.app.lines[0]
        await on.press("right")
        assert on.pane.tab == "sections" and "Nothing is open" in on.text


EVERYTHING = """\
# Kinds

Some *emphasis*, **weight**, `code`, [a link](http://a.example/x) and <kbd>html</kbd> a</kbd>.

- one
  - two

3. three

> quoted

```rust
fn main() {}
```

| name | size |
|------|-----:|
| a    |   10 |

<div>
  <b>literal</b>
</div>

[ref]: http://ref.example/ "title"

A [referenced][ref] link, ![a \\[picture\\]](p.png) &amp; an entity.

---
"""


async def test_everything_written_in_markdown_is_legible_and_nothing_is_lost() -> None:
    of = library(EVERYTHING)
    async with reading(of, (150, 50)) as on:
        await on.open(ref(of, "Kinds"))
        for words in (
            "Some emphasis, weight, code, a link (http://a.example/x) and <kbd>html</kbd> a</kbd>.",
            "• one",
            "  • two",
            "3. three",
            "▌ quoted",
            "fn main() {}",
            "name │ size",
            "a    │   10",
            "<b>literal</b>",
            '[ref]: http://ref.example/ "title"',
            "A referenced (http://ref.example/) link, ▣ a [picture] (p.png) & an entity.",
        ):
            assert words in on.text, words
        assert on.styled("weight")[0].bold and on.styled("emphasis")[0].italic


async def test_front_matter_is_kept_as_text() -> None:
    of = library("---\ntitle: X\n---\n\nintro\n\n# A\n\nx\n")
    async with reading(of) as on:
        preamble = of.documents[0].sections[0]
        await on.open(preamble.id)
        assert "title: X" in on.text and "intro" in on.text


@pytest.mark.faults
async def test_markup_in_a_document_is_text_and_no_target() -> None:
    """F-T16."""
    of = library("# T\n\n" + "\n\n".join(f"`{payload}` and {payload}" for payload in MARKUP) + "\n")
    async with reading(of, (200, 60)) as on:
        await on.open(ref(of, "T"), reason=" ".join(MARKUP[:6]))
        for payload in MARKUP:
            assert payload in on.text
        for row, line in enumerate(on.lines):
            if "click" in line:
                await on.pilot.click(on.view, offset=(line.index("click") + 1, row))
        assert on.app.is_running
        assert all("@click" not in style.meta for _, style in on._cells())


@pytest.mark.faults
async def test_no_unsafe_character_is_drawn() -> None:
    of = library("# T\n\n" + "\n\n".join(f"{name} {payload} end" for name, payload in ESCAPES.items()) + "\n")
    async with reading(of, (120, 120)) as on:
        await on.open(ref(of, "T"), reason="".join(ESCAPES.values()))
        assert not UNSAFE.search("".join(on.app.lines))


# -- moving ---------------------------------------------------------------------------------------


async def test_going_to_a_line_brings_it_into_view_and_lights_it_up() -> None:
    of = book(200)
    section = of.documents[0].sections[0]
    line = of.documents[0].line_of(of.documents[0].source.index(b"p0.150 "))
    async with reading(of) as on:
        await on.open(section.id)
        assert on.pane.go_to(section.id, line)
        await on.pilot.pause()
        assert "p0.150 " in on.text
        assert on.styled("p0.150")[0].reverse
        await on.pilot.pause(0.9)
        assert not on.styled("p0.150")[0].reverse
        assert not on.pane.go_to(BEANS)


@pytest.mark.parametrize("step", ["up", "pageup"])
async def test_scrolling_back_over_text_never_measured_does_not_jump(step: str) -> None:
    """Heights are estimates until a text is looked at; what one reads must not move when they turn out wrong."""
    of = book(300)
    section = of.documents[0].sections[0]
    async with reading(of) as on:
        await on.open(section.id)
        on.pane.go_to_span(of.documents[0], of.documents[0].source.index(b"p0.200 "))
        await on.pilot.pause()
        height = on.view.size.height
        rows = 1 if step == "up" else height - 2
        for _ in range(12):
            before = on.lines
            await on.press(step)
            assert on.lines[rows:] == before[: height - rows]


async def test_the_end_and_the_start_are_one_key_away() -> None:
    of = book(300)
    async with reading(of) as on:
        await on.open(of.documents[0].sections[0].id)
        await on.press("end")
        assert "p0.299 " in on.text
        await on.press("home")
        assert "p0.0 " in on.text and "S0" in on.lines[0]


async def test_what_one_reads_stays_when_sections_open_and_close_above() -> None:
    of = book(60, sections=4)
    sections = [section.id for section in of.documents[0].sections]
    async with reading(of) as on:
        await on.open(sections[2])
        await on.press("pagedown", "pagedown")
        before = on.lines
        await on.open(sections[0], sections[1], sections[3])
        assert on.lines == before
        on.app.mark(sections[0], open_agent=False)
        await on.pilot.pause()
        assert on.lines == before


async def test_a_new_width_keeps_the_text_on_top() -> None:
    of = book(200)
    section = of.documents[0].sections[0]
    async with reading(of) as on:
        await on.open(section.id)
        on.pane.go_to_span(of.documents[0], of.documents[0].source.index(b"p0.120 "))
        await on.pilot.pause()
        for width in (70, 150, 60, 110):
            await on.pilot.resize_terminal(width, 30)
            await on.pilot.pause()
            await on.pilot.pause()
            assert any(f"p0.{number}" in on.text for number in range(114, 126)), width


async def test_the_section_on_top_is_told() -> None:
    of = book(20, sections=3)
    sections = [section.id for section in of.documents[0].sections]
    async with reading(of) as on:
        await on.open(*sections)
        assert on.pane.current_ref == sections[0]
        on.pane.go_to(sections[2])
        await on.pilot.pause()
        assert on.pane.current_ref == sections[2]
        told = [item.ref for item in on.app.heard if isinstance(item, SectionsPane.SectionFocused)]
        assert told[-1] == sections[2]


# -- words in the text ------------------------------------------------------------------------------


async def test_found_words_are_marked_where_they_stand() -> None:
    async with reading() as on:
        await on.open(TOMATOES, SOIL)
        source = GARDEN.documents[0].source
        spans = [(source.index(word), source.index(word) + len(word)) for word in (b"Sand", b"every\n"[:5], b"stake")]
        on.pane.set_find(GARDEN.documents[0], sorted(spans), 1)
        await on.pilot.pause()
        assert on.highlighted() == "Sandstakeevery"
        assert on.current() == "stake"
        on.pane.set_find(GARDEN.documents[0], [])
        await on.pilot.pause()
        assert on.highlighted() == "" and on.current() == ""


WORDS: tuple[tuple[str, str, str], ...] = (
    ("a **bold** word", "bold", "bold"),
    ("a [link text](http://x.example) b", "link", "link"),
    ("a [link](http://x.example/path) b", "x.example", "x.example"),
    ("über **älter** Öl", "älter", "älter"),
    ("one\r\ntwo\r\nthree", "two", "two"),
    ("日本語の文章", "本語", "本語"),
    ("a `code_here` b", "code_here", "code_here"),
    ("x\n\n```\nfenced words\n```\n", "words", "words"),
    ("| a | b |\n|---|---|\n| cell | other |\n", "other", "other"),
    ("<b>html</b> text", "html", "html"),
    ("spans\nlines", "spans\nlines", "spanslines"),
    ("word &amp; more", "&amp;", "&"),
)
"""A block, words of it as they are written, and as they are shown."""


async def test_words_are_found_again_in_what_they_were_rendered_to() -> None:
    of = library("".join(f"# T{number}\n\nbefore\n\n{text}\n\n" for number, (text, _, _) in enumerate(WORDS)))
    document = of.documents[0]
    async with reading(of) as on:
        for section, (text, words, shown) in zip(document.sections, WORDS, strict=True):
            await on.open(section.id)
            at = document.source.index(words.encode(), document.source.index(text.encode(), section.body))
            on.pane.set_find(document, [(at, at + len(words.encode()))], 0)
            on.pane.go_to_span(document, at)
            await on.pilot.pause()
            assert on.current().replace(" ", "") == shown.replace(" ", ""), text
            on.app.mark(section.id, open_agent=False)


async def test_words_in_a_heading_mark_the_head_of_the_section() -> None:
    source = GARDEN.documents[0].source
    async with reading() as on:
        await on.open(TOMATOES)
        at = source.index(b"Tomatoes")
        on.pane.set_find(GARDEN.documents[0], [(at, at + 8)], 0)
        await on.pilot.pause()
        assert "Garden › Plants › Tomatoes" in on.current()
        assert on.pane.go_to_span(GARDEN.documents[0], at)


async def test_quoted_words_are_marked_across_line_ends_and_can_be_gone_to() -> None:
    async with reading() as on:
        await on.open(SOIL, TOMATOES)
        on.pane.show_quotes([(TOMATOES, "Water them every second day")])
        await on.pilot.pause()
        cited = on.styled("every second") + on.styled("Water them")
        assert len(cited) == 2 and all(style.bold and style.bgcolor is not None for style in cited)
        assert on.pane.go_to_quote(TOMATOES, "Water them every second day", flash=False)
        assert on.pane.go_to_quote(TOMATOES, "words that are not there", flash=False)
        assert not on.pane.go_to_quote(BEANS, "Beans climb")


async def test_a_selection_is_the_text_one_sees() -> None:
    async with reading() as on:
        await on.open(TOMATOES)
        chosen = on.view.get_selection(SELECT_ALL)
        assert chosen is not None
        assert "Tomatoes need a stake of 150 cm." in chosen[0]
        assert chosen[0].splitlines() == [line[1:].rstrip() for line in on.lines[: len(chosen[0].splitlines())]]


# -- the mouse ------------------------------------------------------------------------------------


async def test_the_cross_asks_to_close_and_a_link_only_tells() -> None:
    of = library("# T\n\nsee [here](http://a.example/) now\n")
    section = ref(of, "T")
    async with reading(of) as on:
        await on.open(section)
        cross = on.lines[0].index("✕")
        await on.pilot.click(on.view, offset=(cross, 0))
        await on.pilot.click(on.view, offset=(on.lines[3].index("here") + 1, 3))
        await on.pilot.click(on.view, offset=(on.lines[3].index("now") + 1, 3))
        heard = [item for item in on.app.heard if not isinstance(item, SectionsPane.SectionFocused)]
        assert [type(item) for item in heard] == [SectionsPane.CloseRequested, SectionsPane.LinkActivated]
        assert isinstance(heard[1], SectionsPane.LinkActivated) and heard[1].url == "http://a.example/"


# -- cost -----------------------------------------------------------------------------------------


async def test_a_section_of_a_megabyte_renders_only_what_one_sees() -> None:
    """P4 as a counter: opening and a page down measure a handful of slices, whatever the size."""
    of = book(4_000)
    assert len(of.documents[0].source) > 1_000_000
    async with reading(of) as on:
        await on.open(of.documents[0].sections[0].id)
        assert on.view.measured_slices < 12
        for _ in range(5):
            await on.press("pagedown")
        assert on.view.measured_slices < 40
        await on.press("end")
        assert "p0.3999 " in on.text
        assert on.view.measured_slices < 60


async def test_a_long_block_without_a_break_is_shown_as_written_and_said_to_be() -> None:
    of = library("# T\n\n" + "word " * 40_000 + "\n\nafter\n")
    async with reading(of) as on:
        await on.open(ref(of, "T"))
        assert "(a long block, shown as it is written)" in on.text
        await on.press("end")
        assert "after" in on.text


async def test_nothing_is_laid_out_again_when_the_state_says_the_same() -> None:
    async with reading() as on:
        await on.open(SOIL)
        rows = on.view.measured_slices
        same = TraceState(sections={SOIL: SectionState(id=SOIL, open_agent=True, was_open=True)})
        on.app.show(same)
        on.app.show(replace(same, seq=5))
        assert on.view.measured_slices == rows
