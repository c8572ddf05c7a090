"""The sections one has open, stacked in document order, beside the outline as the model sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import ContentSwitcher

from roamtui.document.model import Document, Library, Place
from roamtui.estimate import estimate_tokens
from roamtui.text import clip, for_model, one_line
from roamtui.trace.state import GLYPHS, PIN, SectionState, TraceState
from roamtui.tui.blocks import Block, Span
from roamtui.tui.counts import short_count
from roamtui.tui.references import source_definitions
from roamtui.tui.widgets.flow import FlowView
from roamtui.tui.widgets.messages import SectionMessage
from roamtui.tui.widgets.tabs import PaneTabs
from roamtui.tui.wrapping import Piece, Row, wrap

Tab = Literal["outline", "sections"]
OUTLINE_KEY = "outline"
_COUNTED = 12_000
"""Bytes of own text up to which tokens are estimated from the text itself; beyond, from its beginning."""
_REASON_ROWS = 3
"""Rows a section's head gives to who opened it and why."""
_EMPTY = "Nothing is open. Choose a section in the outline, or ask a question."
_NO_OUTLINE = "The outline is sent with the first question."


class SectionsPane(Vertical):
    """Two tabs: the outline exactly as the model sees it, and the open sections."""

    DEFAULT_CSS = """
    SectionsPane {
        & > ContentSwitcher { height: 1fr; }
        & FlowView { height: 1fr; padding: 0 1; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "other_tab", "Other tab", show=False, id="sections.tab"),
    ]

    class CloseRequested(SectionMessage):
        """The cross of a section was clicked."""

    class SectionFocused(SectionMessage):
        """Another section came to the top of the pane."""

    class LinkActivated(Message):
        """A link was clicked. Nothing is opened; whoever handles it asks the user first."""

        def __init__(self, pane: SectionsPane, url: str) -> None:
            super().__init__()
            self.pane = pane
            self.url = url
            """Address as the document gives it: any scheme, relative, or an anchor."""

        @property
        def control(self) -> SectionsPane:
            """The pane it comes from."""
            return self.pane

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._tabs = PaneTabs()
        self._outline = FlowView(empty=_NO_OUTLINE, id="sections-outline")
        self._texts = FlowView(empty=_EMPTY, id="sections-texts")
        self._switcher = ContentSwitcher(self._outline, self._texts, initial="sections-texts")
        self._library: Library | None = None
        self._state = TraceState()
        self._extra: set[str] = set()
        self._blocks: dict[str, tuple[SectionState, Block]] = {}
        self._references: dict[int, Callable[[], dict[str, dict[str, str]]]] = {}

    def compose(self) -> ComposeResult:
        """Lay out the row of tabs above the two views."""
        yield self._tabs
        yield self._switcher

    # -- what is shown ------------------------------------------------------------------------

    def show_outline(self, text: str, tokens: int = 0) -> None:
        """Show the outline as it is sent, with the tokens it takes."""
        source = text.encode("utf-8", "replace")
        block = Block(OUTLINE_KEY, source, 0, len(source), 1, lambda width: [], verbatim=True)
        self._outline.show_blocks([block])
        self._tabs.set_label("outline", f"Outline for the model · {short_count(tokens)} tok" if tokens else "")

    def show_state(self, state: TraceState, library: Library) -> None:
        """Show the sections that are open in a session; what one reads stays in its place."""
        if library is self._library and state.sections is self._state.sections:
            return
        if library is not self._library:
            self._blocks.clear()
            self._references.clear()
        self._library, self._state = library, state
        self._update()

    def open(self, ref: str) -> None:
        """Show a section that the session does not have open, as a preview does."""
        self._extra.add(ref)
        self._update()

    def close(self, ref: str) -> None:
        """Take a section away that was shown by `open`."""
        self._extra.discard(ref)
        self._update()

    @property
    def open_refs(self) -> tuple[str, ...]:
        """Ids of the sections shown, in document order."""
        return tuple(self._blocks)

    def _update(self) -> None:
        library = self._library
        if library is None:
            return
        refs = {ref for ref, section in self._state.sections.items() if section.is_open} | self._extra
        order = {id(document): position for position, document in enumerate(library.documents)}
        found = [(ref, place) for ref in refs if (place := library.find(ref)) is not None and place.section.index >= 0]
        found.sort(key=lambda item: (order[id(item[1].document)], item[1].section.index))
        before, self._blocks = self._blocks, {}
        for ref, place in found:
            section = self._state.section(ref)
            known = before.get(ref)
            same = known is not None and known[0] == section
            self._blocks[ref] = known if known is not None and same else (section, self._block(ref, place, section))
        if [*before] != [*self._blocks] or any(before[ref] is not self._blocks[ref] for ref in before):
            self._texts.show_blocks([block for _, block in self._blocks.values()])
        self._tabs.set_label("sections", f"Sections · {len(self._blocks)}" if self._blocks else "Sections")

    def _block(self, ref: str, place: Place, section: SectionState) -> Block:
        document, where = place.document, place.section
        references = self._references.get(id(document))
        if references is None:
            references = cache(partial(source_definitions, document.source))
            self._references[id(document)] = references
        return Block(
            key=ref,
            source=document.source,
            start=where.body,
            end=where.own_end,
            line=document.line_of(where.body),
            header=partial(_header, place, section, _own_tokens(place, section)),
            heading_start=where.start,
            references=references,
        )

    # -- places -------------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """Which tab is shown."""
        return "outline" if self._switcher.current == "sections-outline" else "sections"

    def show_tab(self, tab: Tab) -> None:
        """Show a tab; the keyboard goes with it."""
        had_focus = self.view.has_focus
        self._switcher.current = f"sections-{'outline' if tab == 'outline' else 'texts'}"
        self._tabs.choose(tab)
        if had_focus:
            self.view.focus()

    def action_other_tab(self) -> None:
        """Show the other tab."""
        self.show_tab("sections" if self.tab == "outline" else "outline")

    @property
    def view(self) -> FlowView:
        """The view of the tab that is shown."""
        return self._outline if self.tab == "outline" else self._texts

    def focus(self, scroll_visible: bool = True) -> SectionsPane:
        """Give the keyboard to the view that is shown."""
        self.view.focus(scroll_visible)
        return self

    @property
    def current_ref(self) -> str | None:
        """Id of the section at the top of the pane, or None."""
        return self._texts.top_key or None

    def go_to(self, ref: str, line: int | None = None, *, flash: bool = True) -> bool:
        """Bring an open section, or a line of it, into view. Returns whether it is open."""
        place = self._library.find(ref) if self._library is not None else None
        if place is None or ref not in self._blocks:
            return False
        starts = place.document.line_starts
        byte = -1 if line is None else starts[max(0, min(line - 1, len(starts) - 1))]
        return self._go_to_byte(ref, place, byte, flash=flash)

    def go_to_span(self, document: Document, start: int, *, flash: bool = False) -> bool:
        """Bring a byte of a document into view. Returns whether its section is open."""
        section = document.at_offset(start)
        if section is None or self._library is None:
            return False
        return self._go_to_byte(self._library.ref(document, section), Place(document, section), start, flash=flash)

    def _go_to_byte(self, ref: str, place: Place, byte: int, *, flash: bool) -> bool:
        if ref not in self._blocks:
            return False
        if self.tab != "sections":
            self.show_tab("sections")
        inside = place.section.body <= byte < place.section.own_end
        return self._texts.go_to(ref, byte if inside else -1, flash=flash)

    # -- marks in the text ----------------------------------------------------------------------

    def set_find(self, document: Document, spans: Sequence[Span], current: int | None = None) -> None:
        """Mark what was found in a document (byte spans, sorted) and the hit one stands on; no spans: none."""
        self._texts.highlight("hit", document.source, spans)
        now = [spans[current]] if current is not None and 0 <= current < len(spans) else []
        self._texts.highlight("current", document.source, now)

    def show_quotes(self, quotes: Sequence[tuple[str, str]]) -> None:
        """Mark the words an answer quotes: pairs of section id and quote. Replaces those marked before."""
        self._texts.clear_highlights("cited")
        if self._library is None:
            return
        spans: dict[int, tuple[bytes, list[Span]]] = {}
        for ref, quote in quotes:
            place = self._library.find(ref)
            span = None if place is None else quote_span(place, quote)
            if place is not None and span is not None:
                spans.setdefault(id(place.document), (place.document.source, []))[1].append(span)
        for source, found in spans.values():
            self._texts.highlight("cited", source, sorted(found))

    def go_to_quote(self, ref: str, quote: str, *, flash: bool = True) -> bool:
        """Bring quoted words into view, or their section's head where they are not found."""
        place = self._library.find(ref) if self._library is not None else None
        if place is None:
            return False
        span = quote_span(place, quote)
        return self._go_to_byte(ref, place, -1 if span is None else span[0], flash=flash)

    # -- messages -------------------------------------------------------------------------------

    @on(FlowView.BlockFocused, "#sections-texts")
    def _focused(self, event: FlowView.BlockFocused) -> None:
        event.stop()
        self.post_message(self.SectionFocused(self, event.key))

    @on(FlowView.PieceClicked)
    def _clicked(self, event: FlowView.PieceClicked) -> None:
        event.stop()
        if event.piece.style == "close":
            self.post_message(self.CloseRequested(self, event.key))
        elif event.piece.link:
            self.post_message(self.LinkActivated(self, event.piece.link))

    @on(PaneTabs.Chosen)
    def _tab_chosen(self, event: PaneTabs.Chosen) -> None:
        event.stop()
        self.show_tab("outline" if event.tab == "outline" else "sections")


def quote_span(place: Place, quote: str) -> Span | None:
    """Return where quoted words stand in a section, in bytes of its document, white space folded; or None."""
    words = for_model(quote)[0].split()
    if not words:
        return None
    pattern = re.compile(rb"\s+".join(re.escape(word.encode("utf-8", "replace")) for word in words))
    match = pattern.search(place.document.source, place.section.start, place.section.own_end)
    return None if match is None else match.span()


def _own_tokens(place: Place, section: SectionState) -> int:
    if section.complete and section.tokens:
        return section.tokens
    where = place.section
    size = where.own_end - where.body
    sample = estimate_tokens(place.document.slice(where.body, min(where.own_end, where.body + _COUNTED)))
    return sample if size <= _COUNTED else round(sample * size / _COUNTED)


def _header(place: Place, section: SectionState, tokens: int, width: int) -> list[Row]:
    """Return the rows above a section's text: where it is, how large, who opened it and why."""
    first, last = place.document.lines(place.section)
    lines = f"L{first}" if first == last else f"L{first}–{last}"
    right = f" {lines} · {short_count(tokens)} tok "
    if cell_len(right) > width // 2:
        right = f" {lines} "
    room = max(1, width - cell_len(right) - 4)
    path = _clip_path([one_line(title) for title in place.path] or [one_line(place.document.name)], room)
    fill = " " * (room - cell_len(path) + 1)
    head = (Piece(f" {path}", "path"), Piece(fill, "path"), Piece(right, "path"), Piece("✕ ", "close"))
    mark = section.mark
    rows = [Row(head, 0)]
    pin = (Piece(f" {PIN}", "pin"),) if section.pinned else ()
    told = wrap([Piece(_who(section), "meta")], max(1, width - 5))
    for number, pieces in enumerate(told[:_REASON_ROWS]):
        before = Piece(f" {GLYPHS[mark]} ", mark) if number == 0 else Piece("   ")
        more = (Piece("…", "meta"),) if number == _REASON_ROWS - 1 and len(told) > _REASON_ROWS else ()
        rows.append(Row((before, *pieces, *more, *(pin if number == 0 else ())), 0))
    return [*rows, Row((), 0)]


def _who(section: SectionState) -> str:
    if section.open_agent:
        step = f" at step {section.step}" if section.step else ""
        reason = f": {one_line(section.reason)}" if section.reason else ""
        return f"opened by the agent{step}{reason}"
    return "opened by you" if section.open_user else "preview"


def _clip_path(titles: Sequence[str], cells: int) -> str:
    """Join titles, leaving out outer ones where there is no room for all."""
    path = " › ".join(titles)
    kept = list(titles)
    while cell_len(path) > cells and len(kept) > 1:
        kept.pop(0)
        path = "… › " + " › ".join(kept)
    return clip(path, cells)
