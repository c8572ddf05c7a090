"""The tools a model is offered, and the reading of its calls. Every call is taken as hostile input."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import msgspec

from roamtui.models.base import ToolCall
from roamtui.text import for_model

MAX_IDS = 8
"""Sections per expand_section call."""
MAX_CALLS = 16
"""Tool calls answered per turn; the rest are refused."""
MAX_ARGUMENTS = 100_000
"""Characters of arguments that are looked at."""
MAX_WORDS = 400
"""Characters kept of a reason, a judgement or a question."""

Helpful = Literal["yes", "partly", "no"]


def _tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_STRING = {"type": "string"}

TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "expand_section",
        "Open sections of the document by id and read their text. Large sections come in parts.",
        {
            "section_ids": {"type": "array", "items": _STRING, "minItems": 1, "maxItems": MAX_IDS},
            "reason": {"type": "string", "description": "Why these sections, in a few words."},
            "part": {"type": "integer", "minimum": 1, "description": "Which part of a large section; 1 if left out."},
            "judged": {
                "type": "array",
                "description": "Your judgement of sections opened before.",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": _STRING,
                        "helpful": {"type": "string", "enum": ["yes", "partly", "no"]},
                        "missing": {"type": "string", "description": "What is still missing."},
                    },
                    "required": ["id", "helpful"],
                },
            },
        },
        ["section_ids", "reason"],
    ),
    _tool(
        "search_sections",
        "Find sections by words anywhere in their text. Returns ids, paths and a snippet each, never whole sections.",
        {
            "query": _STRING,
            "k": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How many; 5 if left out."},
        },
        ["query"],
    ),
    _tool("list_children", "Show the outline below a section, without text.", {"id": _STRING}, ["id"]),
    _tool(
        "give_up",
        "End the question because the document does not hold the answer.",
        {
            "tried": {"type": "string", "description": "What you searched and read."},
            "missing": {"type": "string", "description": "What the document does not say."},
            "suggestions": {
                "type": "array",
                "items": _STRING,
                "maxItems": 3,
                "description": "Questions the document can answer.",
            },
        },
        ["tried", "missing"],
    ),
    _tool(
        "ask_user",
        "Ask the user what they mean.",
        {"question": _STRING, "options": {"type": "array", "items": _STRING, "maxItems": 6}},
        ["question"],
    ),
)
"""Tool definitions in the OpenAI shape; the same bytes in every request."""


class Judgement(msgspec.Struct, frozen=True):
    """What the model says of a section it opened before."""

    id: str
    helpful: Helpful
    missing: str = ""


class Expand(msgspec.Struct, frozen=True, kw_only=True):
    """expand_section, as understood."""

    ids: tuple[str, ...]
    """Ids in the order given, duplicates merged, normalised where possible."""
    reason: str = ""
    part: int = 1
    judged: tuple[Judgement, ...] = ()
    dropped: int = 0
    """Ids beyond the cap."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """search_sections, as understood."""

    query: str
    k: int = 5


class ListChildren(msgspec.Struct, frozen=True, kw_only=True):
    """list_children, as understood."""

    id: str


class GiveUp(msgspec.Struct, frozen=True, kw_only=True):
    """give_up, as understood."""

    tried: str
    missing: str
    suggestions: tuple[str, ...] = ()


class AskUser(msgspec.Struct, frozen=True, kw_only=True):
    """ask_user, as understood."""

    question: str
    options: tuple[str, ...] = ()


class BadCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that cannot be run, and what to tell the model."""

    message: str


Call = Expand | Search | ListChildren | GiveUp | AskUser | BadCall

ID = re.compile(r"(?:[0-9a-f]{4,64}(?:-\d+)?\.)?[0-9a-f]{8}")
"""A section id, with the document's prefix when there are several documents."""
_ID_PART = re.compile(rf"({ID.pattern})(?::(\d{{1,4}}))?")
_NAMES = ", ".join(item["function"]["name"] for item in TOOLS)


def parse_call(call: ToolCall) -> Call:
    """Return what a tool call asks for; anything that is not a proper call becomes a `BadCall`."""
    reader = _READERS.get(call.name.strip())
    if reader is None:
        return BadCall(message=f"There is no tool with that name. The tools are: {_NAMES}.")
    if len(call.arguments) > MAX_ARGUMENTS:
        return BadCall(message=f"The arguments are too long ({len(call.arguments)} characters).")
    try:
        data = json.loads(call.arguments or "{}")
        if isinstance(data, str):  # some models encode twice
            data = json.loads(data)
        data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))  # lone surrogates become ?
    except (ValueError, RecursionError):
        return BadCall(message="The arguments are not valid JSON. Send one JSON object.")
    if not isinstance(data, dict):
        return BadCall(message="The arguments must be one JSON object.")
    return reader(data)


def normal_id(text: str) -> str:
    """Return an id as the library writes it: no quotes, brackets or 0x, lower case. May still be malformed."""
    cleaned = for_model(text)[0].strip().strip("[]()<>\"'`#*§ ").lower()
    return cleaned.removeprefix("0x").removeprefix("id:").strip()


def _expand(data: dict[str, Any]) -> Call:
    raw = next((data[key] for key in ("section_ids", "ids", "section_id", "id") if data.get(key)), None)
    if isinstance(raw, str):
        raw = re.split(r"[\s,;]+", raw.strip())
    if isinstance(raw, int):
        raw = [str(raw)]
    if not isinstance(raw, list) or not raw:
        return BadCall(message='Give section_ids: a list of 1 to 8 ids from the outline, such as ["07f3277d"].')
    ids: list[str] = []
    part = data.get("part")
    for item in raw:
        if not isinstance(item, str | int):
            continue
        ref = normal_id(str(item))
        match = _ID_PART.fullmatch(ref)
        if match and match[2]:
            ref, part = match[1], int(match[2])
        if ref and ref not in ids:
            ids.append(ref)
    if not ids:
        return BadCall(message="section_ids holds no usable id.")
    return Expand(
        ids=tuple(ids[:MAX_IDS]),
        reason=_words(data.get("reason")),
        part=part if isinstance(part, int) and not isinstance(part, bool) else 1,
        judged=_judgements(data.get("judged")),
        dropped=max(0, len(ids) - MAX_IDS),
    )


def _judgements(raw: Any) -> tuple[Judgement, ...]:
    found: list[Judgement] = []
    for item in raw if isinstance(raw, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            continue
        helpful = str(item.get("helpful")).strip().lower()
        word: Helpful | None = (
            "yes"
            if helpful in ("yes", "true")
            else "no"
            if helpful in ("no", "false")
            else "partly"
            if helpful == "partly"
            else None
        )
        if word is not None:
            found.append(Judgement(normal_id(item["id"]), word, _words(item.get("missing"))))
    return tuple(found[:32])


def _search(data: dict[str, Any]) -> Call:
    query = data.get("query") or data.get("q") or data.get("words")
    if not isinstance(query, str) or not query.strip():
        return BadCall(message="Give query: the words to look for.")
    k = data.get("k", 5)
    return Search(query=query.strip()[:1000], k=min(10, max(1, k)) if isinstance(k, int) else 5)


def _list_children(data: dict[str, Any]) -> Call:
    ref = data.get("id") or data.get("section_id")
    if not isinstance(ref, str) or not ref.strip():
        return BadCall(message="Give id: the id of a section from the outline.")
    return ListChildren(id=normal_id(ref))


def _give_up(data: dict[str, Any]) -> Call:
    raw = data.get("suggestions")
    suggestions = (
        tuple(_words(item) for item in raw if isinstance(item, str) and item.strip()) if isinstance(raw, list) else ()
    )
    return GiveUp(
        tried=_words(data.get("tried"), 2000), missing=_words(data.get("missing"), 2000), suggestions=suggestions[:3]
    )


def _ask_user(data: dict[str, Any]) -> Call:
    question = _words(data.get("question"), 1000)
    if not question:
        return BadCall(message="Give question: what you want to ask the user.")
    raw = data.get("options")
    options = (
        tuple(_words(item) for item in raw if isinstance(item, str) and item.strip()) if isinstance(raw, list) else ()
    )
    return AskUser(question=question, options=options[:6])


def _words(value: Any, limit: int = MAX_WORDS) -> str:
    return " ".join(value.split())[:limit] if isinstance(value, str) else ""


_READERS = {
    "expand_section": _expand,
    "search_sections": _search,
    "list_children": _list_children,
    "give_up": _give_up,
    "ask_user": _ask_user,
}

_CALL_TEXT = re.compile(r'"name"\s*:\s*"(?:{})"|<(?:tool_call|function)[ =>]'.format("|".join(_READERS)))


def looks_like_call(text: str) -> bool:
    """Tell whether an answer is a tool call written as text; such text is never executed."""
    return len(text) < 4000 and text.lstrip()[:1] in ("{", "<", "[", "`") and _CALL_TEXT.search(text) is not None
