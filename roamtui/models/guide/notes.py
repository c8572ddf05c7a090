"""What the guide knows: read out of a request's messages, which are all it ever sees.

Messages may hold anything. What does not look like the program's own formats is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from roamtui.document.model import ROOT_ID
from roamtui.models.base import Message

PROGRAM_NOTE = "[roamtui] "
"""How messages of the program itself start."""

_REF = r"(?:[0-9a-f]{4,64}(?:-\d+)?\.)?[0-9a-f]{8}"
_SIZE = r"[\d.,]+[kM]?"
_HEADER = re.compile(
    rf"^\[({_REF})\] (.*) · lines? (\d+)(?:-(\d+))? · ({_SIZE}) tok(?: · part (\d+) of (\d+))?( · no text of its own)?$"
)
_FENCE = re.compile(r"^--- [0-9a-f]{16}$")
_OUTLINE = re.compile(rf"^\[({_REF})\] (?:(#+) |(\([a-z]+\)) )?(.*?)(?: · \d+ sub)?(?: · ({_SIZE}) tok)?$")
_COMMENTED = re.compile(rf"^(?:(#+) )?(.*?)(?: · \d+ sub)?(?: · ({_SIZE}) tok)? <!-- .*\(\"({_REF})\"\) -->$")
"""An outline line in its long form."""
_HIT = re.compile(rf"^\[({_REF})\] (.*) · ({_SIZE}) tok(?: · part (\d+) of (\d+))?( · open)?$")
_REFUSED = re.compile(rf"^! .*?\[?({_REF})\]?")


@dataclass(slots=True)
class Listed:
    """A section known from the outline or a list, or as a search hit: its line, not its text."""

    ref: str
    """Id as the program writes it."""
    title: str
    """Title; the whole path for a search hit."""
    tokens: int
    """Size in tokens as listed: with what is below in an outline, own text in a hit."""
    words: str
    """Opening words, or the snippet."""
    level: int = 0
    """Heading level; 0 for hits, the preamble and parts."""
    order: int = 0
    """Place among the lines seen."""
    part: int = 1
    """Part of a large section that a search hit stands in."""


@dataclass(slots=True)
class OpenText:
    """A section whose text was delivered, whole or in part."""

    ref: str
    path: str
    first_line: int
    parts: int
    order: int
    """Place among the sections delivered."""
    texts: dict[int, str] = field(default_factory=dict)
    """Own text by part."""
    fresh: bool = False
    """Whether the present question opened it."""

    @property
    def title(self) -> str:
        """The last title of the path."""
        return self.path.rpartition(" › ")[2]

    @property
    def next_part(self) -> int:
        """The first part not read yet; 0 when all are."""
        return next((part for part in range(1, self.parts + 1) if part not in self.texts), 0)


@dataclass(slots=True)
class Search:
    """One search of the present question."""

    query: str
    """As it was sent."""
    hits: list[Listed]
    """What was found, best first."""


@dataclass(slots=True)
class Notes:
    """Everything the messages tell."""

    question: str = ""
    earlier: list[str] = field(default_factory=list)
    """Questions asked before, oldest first."""
    outline: dict[str, Listed] = field(default_factory=dict)
    open: dict[str, OpenText] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Sections asked for by the present question and not delivered."""
    asked: list[tuple[str, int]] = field(default_factory=list)
    """Sections and parts the present question asked for, in order."""
    judged: set[str] = field(default_factory=set)
    """Sections the present question has judged."""
    steps: int = 0
    """Turns with tool calls since the question."""
    sample: str = ""
    """Some of the document's text seen, to guess the language by."""


def read(messages: Sequence[Message]) -> Notes:
    """Read a conversation."""
    notes = Notes()
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for message in messages:
        role, content = message.get("role"), _text(message.get("content"))
        if role == "system":
            _read_outline(content, notes)
            _read_excerpts(content, notes, fresh=False)
        elif role == "user":
            if content.startswith(PROGRAM_NOTE):
                _read_excerpts(content, notes, fresh=False)
                continue
            _ask(content, notes)
        elif role == "assistant":
            found = list(_calls(message))
            notes.steps += bool(found)
            for key, name, arguments in found:
                calls[key] = (name, arguments)
                _note_asked(name, arguments, notes)
        elif role == "tool":
            name, arguments = calls.get(str(message.get("tool_call_id")), ("", {}))
            _read_result(content, name, arguments, notes)
    return notes


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text(item.get("text")) for item in content if isinstance(item, dict))
    return ""


def _ask(content: str, notes: Notes) -> None:
    if notes.question:
        notes.earlier.append(notes.question)
    notes.question = content
    notes.searches = []
    notes.refused = set()
    notes.asked = []
    notes.judged = set()
    notes.steps = 0
    for section in notes.open.values():
        section.fresh = False


def _calls(message: Message) -> Iterator[tuple[str, str, dict[str, Any]]]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        try:
            arguments = json.loads(function.get("arguments") or "{}")
        except (ValueError, TypeError, RecursionError):
            arguments = {}
        yield str(call.get("id")), str(function.get("name")), arguments if isinstance(arguments, dict) else {}


def _note_asked(name: str, arguments: dict[str, Any], notes: Notes) -> None:
    ids = arguments.get("section_ids")
    if name == "expand_section" and isinstance(ids, list):
        part = arguments.get("part")
        notes.asked.extend((str(ref), part if isinstance(part, int) else 1) for ref in ids)
    judged = arguments.get("judged")
    for item in judged if isinstance(judged, list) else ():
        if isinstance(item, dict):
            notes.judged.add(str(item.get("id")))


def _read_result(content: str, name: str, arguments: dict[str, Any], notes: Notes) -> None:
    if name == "search_sections":
        query = arguments.get("query")
        hits = list(_hits(content))
        notes.searches.append(Search(query if isinstance(query, str) else "", hits))
        notes.sample += " ".join(hit.words for hit in hits)
    elif name == "list_children":
        _read_outline(content, notes)
    else:
        _read_excerpts(content, notes, fresh=True)


def _hits(content: str) -> Iterator[Listed]:
    lines = content.split("\n")
    for number, line in enumerate(lines):
        match = _HIT.match(line)
        if match:
            after = lines[number + 1] if number + 1 < len(lines) else ""
            words = after.strip() if after.startswith("    ") else ""
            yield Listed(match[1], match[2], _size(match[3]), words, order=number, part=int(match[4] or 1))


def _read_outline(content: str, notes: Notes) -> None:
    lines = content.split("\n")
    for number, line in enumerate(lines):
        found = _listed(line)
        if found is None or found.ref in notes.outline or found.ref.endswith(ROOT_ID):
            continue
        after = lines[number + 1] if number + 1 < len(lines) else ""
        found.words = after.strip() if after.startswith("    ") else ""
        found.order = len(notes.outline)
        notes.outline[found.ref] = found
        notes.sample += f" {found.title} {found.words}"


def _listed(line: str) -> Listed | None:
    if line.startswith("["):
        match = None if _HEADER.match(line) else _OUTLINE.match(line)
        return Listed(match[1], match[4], _size(match[5] or "0"), "", level=len(match[2] or "")) if match else None
    match = _COMMENTED.match(line) if line.endswith("-->") else None
    return Listed(match[4], match[2], _size(match[3] or "0"), "", level=len(match[1] or "")) if match else None


def _read_excerpts(content: str, notes: Notes, *, fresh: bool) -> None:
    lines = content.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("! "):
            refused = _REFUSED.match(line)
            if refused:
                notes.refused.add(refused[1])
            continue
        header = _HEADER.match(line)
        if header is None:
            continue
        text = ""
        if number < len(lines) and _FENCE.match(lines[number]):
            end = next((i for i in range(number + 1, len(lines)) if lines[i] == lines[number]), len(lines))
            text = "\n".join(lines[number + 1 : end])
            number = end + 1
        _take(header, text, notes, fresh=fresh)
        if number < len(lines) and lines[number].startswith("Not opened, below"):
            listed = number + 1
            while number < len(lines) and lines[number] != "":
                number += 1
            _read_outline("\n".join(lines[listed:number]), notes)


def _take(header: re.Match[str], text: str, notes: Notes, *, fresh: bool) -> None:
    ref, part, parts = header[1], int(header[6] or 1), int(header[7] or 1)
    section = notes.open.get(ref)
    if section is None:
        section = notes.open[ref] = OpenText(ref, header[2], int(header[3]), parts, order=len(notes.open))
    section.parts = max(section.parts, min(parts, 10_000))
    section.texts[part] = text
    section.fresh = section.fresh or fresh
    notes.sample += " " + text[:2000]


def _size(text: str) -> int:
    number = text.replace(",", "").rstrip("kM")
    try:
        value = float(number)
    except ValueError:
        return 0
    return int(value * {"k": 1_000, "M": 1_000_000}.get(text[-1], 1))
