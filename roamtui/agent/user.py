"""What the user does on the screen, as the engine is told of it."""

from __future__ import annotations

import msgspec

from roamtui.events import Hit


class OpenSection(msgspec.Struct, frozen=True):
    """The user opened a section on the screen."""

    ref: str


class CloseSection(msgspec.Struct, frozen=True):
    """The user closed a section on the screen."""

    ref: str


class PinSection(msgspec.Struct, frozen=True):
    """The user pinned a section, or took the pin out."""

    ref: str
    pinned: bool


class UserSearched(msgspec.Struct, frozen=True):
    """The user searched; `hits` as the index gave them."""

    query: str
    hits: tuple[Hit, ...]


Action = OpenSection | CloseSection | PinSection | UserSearched
