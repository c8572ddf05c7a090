"""Go to a section by its title, its id or a line number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from roamtui.document.model import Library
from roamtui.search.titles import match_titles
from roamtui.tui.screens.picker import MOST_SHOWN, Choice, Picker


def goto_dialog(library: Library) -> Picker:
    """Return a dialog that gives the id of the chosen section, with `@` and a line where one was typed."""

    def search(typed: str) -> Sequence[Choice]:
        refs = match_titles(library, typed, MOST_SHOWN) if typed.strip() else islice(_top(library), MOST_SHOWN)
        return [choice for ref in refs if (choice := _choice(library, ref, typed.strip()))]

    return Picker("Go to", search, placeholder="title, id, or line number")


def _top(library: Library) -> Iterator[str]:
    """Yield the uppermost sections of all documents; below a lone title also those below it."""
    for document in library.documents:
        top = list(islice(document.children(document.root), MOST_SHOWN))
        if len(top) == 1:
            top += islice(document.children(top[0]), MOST_SHOWN)
        for section in top:
            yield library.ref(document, section)


def _choice(library: Library, ref: str, typed: str) -> Choice | None:
    place = library.find(ref)
    if place is None:
        return None
    above = " › ".join(place.path[:-1])
    first, last = place.document.lines(place.section)
    if typed.isdecimal() and first <= int(typed) <= last:
        return Choice(f"{ref}@{int(typed)}", place.section.title, above, f"L{int(typed)}")
    name = "" if library.is_single else f"{place.document.name} · "
    return Choice(ref, place.section.title, above, f"{name}L{first}")
