"""The keys of the commands: defaults, with the user's own on top, checked before they are used.

The screen's library ignores unknown ids and impossible keys without a word, so both are found here.
Imports nothing of it: the command line checks keymaps too.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from roamtui.text import one_line
from roamtui.tui.commands import BY_ID, COMMANDS, Command, Where, key_name

_NAMED = frozenset(
    [
        "enter",
        "tab",
        "escape",
        "space",
        "backspace",
        "delete",
        "insert",
        "home",
        "end",
        "pageup",
        "pagedown",
        "up",
        "down",
        "left",
        "right",
    ]
) | {f"f{number}" for number in range(1, 25)}
_MODIFIERS = ("ctrl", "alt", "shift", "super")
_SYMBOLS = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Names the screen's library gives to characters whose Unicode name is another."""
_ALIASES = {"return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown"}
_SAME_BYTE = {
    "ctrl+m": "enter",
    "ctrl+j": "enter",
    "ctrl+i": "tab",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
_TAKEN = {
    "ctrl+c": "copies the selected text",
    "ctrl+z": "suspends the program",
    **dict.fromkeys(("up", "down", "left", "right", "pageup", "pagedown", "home", "end"), "moves the cursor"),
    **dict.fromkeys(("h", "j", "k", "l", "b", "G"), "moves the cursor"),
}
_NARROWER: dict[Where, frozenset[Where]] = {
    "everywhere": frozenset(("everywhere", "reading", "outline", "sections", "talk", "typing")),
    "reading": frozenset(("reading", "outline", "sections")),
    "outline": frozenset(("outline",)),
    "sections": frozenset(("sections",)),
    "talk": frozenset(("talk",)),
    "typing": frozenset(("typing",)),
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """Which keys run which command."""

    keys: Mapping[str, tuple[str, ...]]
    """Keys by command id, the one to show first."""
    problems: tuple[str, ...] = ()
    """What was refused of the user's wishes, one sentence each."""

    def shown(self, command: str) -> str:
        """Return the command's first key as people write it; empty when it has none."""
        keys = self.keys.get(command, ())
        return key_name(keys[0]) if keys else ""


def build_keymap(wishes: Mapping[str, str]) -> Keymap:
    """Return the keys of all commands. `wishes` maps command ids to keys, several with commas between.

    A wish that cannot be granted is refused with a reason and leaves the default in place.
    """
    problems: list[str] = []
    chosen: dict[str, tuple[str, ...]] = {}
    for name, wanted in wishes.items():
        if name not in BY_ID:
            near = difflib.get_close_matches(name, BY_ID, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else "`roamtui keys` lists the commands."
            problems.append(f"There is no command {one_line(name)[:60]!r}. {hint}")
            continue
        keys, reasons = _parse(wanted, BY_ID[name])
        problems.extend(f"{name}: {reason}" for reason in reasons)
        if not reasons:
            chosen[name] = keys
    while clash := _first_clash(chosen):
        command, key, other = clash
        problems.append(f"{command}: {key_name(key)} already runs {other!r}.")
        del chosen[command]
    return Keymap(_merged(chosen), tuple(problems))


def _merged(chosen: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {command.id: chosen.get(command.id, command.keys) for command in COMMANDS}


def is_active(command: Command, place: Where) -> bool:
    """Tell whether a command's keys act where the keyboard is."""
    return any(place in _NARROWER[where] for where in command.where)


def _overlap(one: Command, other: Command) -> bool:
    return any(_NARROWER[a] & _NARROWER[b] for a in one.where for b in other.where)


def _first_clash(chosen: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """Return a chosen command, its key and the command that has it already."""
    merged = _merged(chosen)
    for name in chosen:
        for key in merged[name]:
            for other in COMMANDS:
                if other.id != name and key in merged[other.id] and _overlap(BY_ID[name], other):
                    return name, key, other.id
    return None


def _parse(wanted: str, command: Command) -> tuple[tuple[str, ...], list[str]]:
    keys: list[str] = []
    reasons: list[str] = []
    for piece in _split(wanted):
        key = normal_key(piece)
        if key is None:
            reasons.append(f"{one_line(piece)[:40]!r} is not a key.")
        elif key in _SAME_BYTE:
            reasons.append(f"terminals send {key_name(key)} as {_SAME_BYTE[key]}.")
        elif key in _TAKEN:
            reasons.append(f"{key_name(key)} {_TAKEN[key]}.")
        else:
            keys.append(key)
    if not reasons and not keys:
        reasons.append("no key is given.")
    elif not reasons and "everywhere" in command.where and all(is_printable(key) for key in keys):
        reasons.append(f"{key_name(keys[0])} would be typed into the question; take one with ctrl or alt, or an F key.")
    return tuple(dict.fromkeys(keys)), reasons


def _split(wanted: str) -> Iterator[str]:
    """Yield the keys of a list with commas; `,` alone is the comma key."""
    if wanted.strip() == ",":
        yield ","
        return
    for piece in wanted.split(","):
        if piece.strip():
            yield piece.strip()


def is_printable(key: str) -> bool:
    """Tell whether a key types a character where text is typed."""
    return ("+" not in key and key not in _NAMED) or key == "space"


def normal_key(text: str) -> str | None:
    """Return a key as the screen's library names it (`?` is `question_mark`), or None when it is no key."""
    *modifiers, last = text.split("+") if len(text) > 1 else [text]
    if text.endswith("++"):
        modifiers, last = text[:-2].split("+"), "+"
    modifiers = [item.strip().lower() for item in modifiers]
    last = last.strip() if len(last) > 1 else last
    if any(item not in _MODIFIERS for item in modifiers) or len(set(modifiers)) < len(modifiers):
        return None
    name = _key_of(last)
    if name is None:
        return None
    if modifiers == ["shift"] and len(name) == 1 and name.isalpha():
        return name.upper()
    if modifiers and len(name) == 1:
        name = name.lower()
    return "+".join([*(item for item in _MODIFIERS if item in modifiers), name])


def _key_of(last: str) -> str | None:
    lowered = _ALIASES.get(last.lower(), last.lower())
    if len(last) != 1:
        known = lowered in _NAMED or lowered in _SYMBOLS.values() or lowered in _character_names()
        return lowered if known else None
    if last == " ":
        return "space"
    if last.isalnum():
        return last
    try:
        name = unicodedata.name(last).lower().replace("-", "_").replace(" ", "_")
    except ValueError:
        return None
    return _SYMBOLS.get(name, name)


def _character_names() -> frozenset[str]:
    names = (unicodedata.name(chr(code), "").lower().replace("-", "_").replace(" ", "_") for code in range(33, 127))
    return frozenset(_SYMBOLS.get(name, name) for name in names if not name.startswith(("latin_", "digit_")))
