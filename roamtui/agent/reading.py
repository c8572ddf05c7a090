"""Running the reading tools: a call in, text for the model and events out. No power beyond the library."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from roamtui import events as ev
from roamtui.agent.memory import Memory
from roamtui.agent.tools import ID, Expand, Judgement, ListChildren, Search
from roamtui.document.excerpt import Excerpt, excerpt
from roamtui.document.model import Library, Place
from roamtui.document.outline import list_children
from roamtui.document.parts import part_ends
from roamtui.search.index import Index
from roamtui.text import for_model, one_line

LIST_TOKENS = 1500
"""Budget of one list_children result."""
LEAST_SHARE = 400
"""Tokens that each section of a call may at least use while there is room."""


@dataclass(slots=True)
class Result:
    """What a tool call gives: text for the model, events for everybody."""

    text: str
    events: list[ev.Event] = field(default_factory=list)
    error: bool = False
    news: bool = True
    """Whether it told the model anything it did not have; the repeat detector counts on it."""


@dataclass(slots=True)
class Reader:
    """Runs reading tools over a library."""

    library: Library
    index: Index
    memory: Memory
    call_tokens: int
    """Tokens delivered per call at most."""
    part_tokens: int
    """Tokens of one part of a large section."""
    forbidden: frozenset[str] = frozenset()
    _titles: dict[str, str] = field(default_factory=dict)
    _ends: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """Where the parts of large sections end that were found by searches."""

    # -- expand_section ---------------------------------------------------------------------

    def expand(self, call: Expand, *, step: int, call_id: str, room: int) -> Result:
        """Open sections within `room` tokens (and the cap per call)."""
        result = Result(text="", news=False)
        texts: list[str] = []
        left = min(self.call_tokens, room)
        for number, ref in enumerate(call.ids):
            waiting = len(call.ids) - number
            share = max(left // waiting, min(left, LEAST_SHARE))
            opened = self._open(ref, call, step=step, call_id=call_id, share=share, left=left)
            if isinstance(opened, ev.SectionRefused):
                texts.append(f"! {opened.message}")
                result.events.append(opened)
                continue
            block, opened_events = opened
            texts.append(block.text)
            left -= block.tokens
            result.events.extend(opened_events)
            result.news = True
        if call.dropped:
            texts.append(f"! {call.dropped} more ids were left out: at most 8 sections per call.")
        result.text = "\n\n".join(texts)
        result.error = not result.news
        return result

    def _open(
        self, ref: str, call: Expand, *, step: int, call_id: str, share: int, left: int
    ) -> tuple[Excerpt, list[ev.SectionOpened]] | ev.SectionRefused:
        def refuse(kind: ev.RefusalKind, message: str) -> ev.SectionRefused:
            return ev.SectionRefused(step=step, call=call_id, id=ref[:80], kind=kind, message=message)

        place = self.library.find(ref) if ID.fullmatch(ref) else None
        if place is None:
            kind: ev.RefusalKind = "unknown" if ID.fullmatch(ref) else "malformed"
            return refuse(kind, self._unknown(ref, kind))
        if ref in self.forbidden:
            return refuse("forbidden", f"The user does not want {ref} to be opened.")
        if place.section.index < 0:
            return refuse("unknown", f"{ref} is the document itself. Open one of its sections: see the outline.")
        try:
            block = excerpt(
                self.library,
                ref,
                budget=share,
                part=call.part,
                part_tokens=self.part_tokens,
                already=self.memory.complete(),
            )
        except ValueError as error:
            return refuse("bad_part", str(error))
        if all(self.memory.has(item.ref, item.part) for item in block.delivered):
            return refuse("already_open", self._already_open(ref, place, block))
        if block.tokens > left:
            return refuse("over_budget", self._over_budget(ref, place, block.tokens, left))
        return block, self._opened_events(block, call, step=step, call_id=call_id)

    def _opened_events(self, block: Excerpt, call: Expand, *, step: int, call_id: str) -> list[ev.SectionOpened]:
        found: list[ev.SectionOpened] = []
        for item in block.delivered:
            place = self.library.find(item.ref)
            if place is None:
                continue
            before = self.memory.open.get(item.ref)
            already = before is not None and item.part in before.delivered
            parts = (before.delivered if before else frozenset()) | {item.part}
            event = ev.SectionOpened(
                id=item.ref,
                path=place.path,
                first_line=item.first_line,
                last_line=item.last_line,
                tokens=item.tokens,
                step=step,
                call=call_id,
                reason=call.reason,
                part=item.part,
                parts=item.parts,
                complete=len(parts) >= item.parts,
                overlap=item.tokens if already else 0,
            )
            self.memory.take(event)
            found.append(event)
        return found

    def _already_open(self, ref: str, place: Place, block: Excerpt) -> str:
        known = self.memory.open.get(ref)
        missing = sorted(set(range(1, block.parts + 1)) - known.delivered) if known else []
        more = f" Parts not read yet: {', '.join(map(str, missing))}." if missing else ""
        below = [self.library.ref(place.document, item) for item in place.document.children(place.section)]
        unread = [item for item in below if item not in self.memory.open][:8]
        more += f" Not read yet, below it: {', '.join(unread)}." if unread else ""
        title = one_line(for_model(place.section.title)[0])
        return f"[{ref}] {title} is already open: its text stands above.{more}"

    def _over_budget(self, ref: str, place: Place, tokens: int, left: int) -> str:
        below = [self.library.ref(place.document, child) for child in place.document.children(place.section)][:8]
        hint = f" Sections below it: {', '.join(below)}." if below else " Open it alone in the next call."
        return f"[{ref}] needs {tokens:,} tokens and this call has {max(0, left):,} left; it was not opened.{hint}"

    def _unknown(self, ref: str, kind: str) -> str:
        shown = one_line(for_model(ref)[0])[:40]
        start = (
            f'There is no section with the id "{shown}".'
            if kind == "unknown"
            else f'"{shown}" is not a section id. Ids are 8 hexadecimal characters in brackets in the outline.'
        )
        near = "; ".join(f"[{item}] {title}" for item, title in self._nearest(ref))
        return f"{start} Nearest: {near}." if near else start

    def _nearest(self, ref: str) -> Iterator[tuple[str, str]]:
        """Sections whose id is a typing error away, else whose title was written for an id."""
        titles = self._titles = self._titles or {item: place.section.title for item, place in self.library.places()}
        bare = ref[:80]
        close = process.extract(bare, titles.keys(), scorer=Levenshtein.distance, limit=3, score_cutoff=3)
        found = [item for item, _, _ in close]
        if not found:
            similar = process.extract(bare, titles, limit=3, score_cutoff=70, processor=str.lower)
            found = [key for _, _, key in similar]
        for item in found:
            yield item, one_line(for_model(titles[item])[0])

    def judge(self, judged: tuple[Judgement, ...], *, step: int) -> list[ev.Event]:
        """Return the judgements of sections that really were opened."""
        return [
            ev.SectionJudged(step=step, id=item.id, helpful=item.helpful, missing=item.missing)
            for item in judged
            if item.id in self.memory.open
        ]

    # -- the other two ----------------------------------------------------------------------

    def search(self, call: Search, *, step: int, call_id: str) -> Result:
        """Search all sections; never delivers bodies."""
        found = self.index.search(call.query, call.k)
        hits: list[ev.Hit] = []
        lines: list[str] = []
        for item in found:
            place = self.library.find(item.ref)
            if place is None:
                continue
            is_open = item.ref in self.memory.open
            snippet = one_line(for_model(item.snippet)[0])
            hits.append(ev.Hit(id=item.ref, path=place.path, snippet=snippet, score=round(item.score, 4), open=is_open))
            path = one_line(for_model(" › ".join(place.path))[0])
            tokens = place.document.own_tokens(place.section)
            part = self._part_of(place, item.first_line) if tokens > self.part_tokens else ""
            lines.append(f"[{item.ref}] {path} · {tokens} tok{part}{' · open' if is_open else ''}\n    {snippet}")
        query = one_line(for_model(call.query)[0])
        count = "1 hit" if len(hits) == 1 else f"{len(hits)} hits"
        head = f'{count} for "{query}":' if hits else f'No hits for "{query}".'
        event = ev.Searched(query=call.query, hits=tuple(hits), step=step, call=call_id)
        return Result(text="\n".join([head, *lines]), events=[event])

    def _part_of(self, place: Place, line: int) -> str:
        """Say in which part of a large section a line stands, so that it can be opened there."""
        document, section = place.document, place.section
        key = (id(document), section.index)
        ends = self._ends.get(key)
        if ends is None:
            ends = part_ends(document.source, section.body, section.own_end, self.part_tokens)
            self._ends[key] = ends
        part = min(len(ends), bisect_right(ends, document.line_starts[line - 1]) + 1)
        return f" · part {part} of {len(ends)}" if len(ends) > 1 else ""

    def list_children(self, call: ListChildren, *, step: int, call_id: str, room: int) -> Result:
        """Show the outline below a section."""
        try:
            listing = list_children(self.library, call.id, min(LIST_TOKENS, room))
        except (KeyError, ValueError):
            kind = "unknown" if ID.fullmatch(call.id) else "malformed"
            return Result(text=f"! {self._unknown(call.id, kind)}", error=True, news=False)
        place = self.library.find(call.id.partition(":")[0])
        path = place.path if place else ()
        event = ev.ChildrenListed(step=step, call=call_id, id=call.id, path=path, count=listing.count)
        return Result(text=listing.text, events=[event])
