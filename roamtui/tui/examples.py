"""Example questions: five from the headings at once, better ones from a model once one is chosen."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from roamtui.document.model import Document, Library, Section
from roamtui.errors import ModelError
from roamtui.models.base import Assembler, Delta, Model, Request
from roamtui.text import clip, one_line, width

COUNT = 5
"""Questions offered."""
_LONGEST = 160
"""Cells of a question; a longer one is no example."""
_TITLE = 70
_MEANT = 80
"""Bytes of own text from which on a section is likely to answer something."""
_DULL = re.compile(
    r"(?i)^(?:(?:table of )?contents?|toc|index|introduction|intro|overview|preface|foreword|summary|conclusion|notes?"
    r"|see also|references|bibliography|appendix.*|glossary|acknowledge?ments?|license|copyright.*|changelog"
    r"|inhalt.*|einleitung|vorwort|untitled|\(untitled\)|next steps|further reading|.{0,2}|[\W\d_]*)$"
)
_QUESTION = re.compile(
    r"(?i)^(?:how|what|why|when|where|who|which|can|does|do|is|are|should|wie|was|warum|wann|wo|wer)\b.*"
)
_VERB = re.compile(r"(?i)^([a-z]{3,})ing\s+(.+)$")

_ASK = """\
Below is the outline of a document. Write {count} short questions that a reader could ask and that this document \
answers, each about another part of it, in the language of the document. Answer with one JSON object and nothing \
else: {{"questions": ["…"]}}"""


def questions_from_headings(library: Library, count: int = COUNT) -> tuple[str, ...]:
    """Return questions made of headings spread over the documents; fewer where there are few headings."""
    found: dict[str, None] = {}
    chosen = _spread(library, count * 4)
    for document, section in chosen:
        question = _question(document, section)
        if question and len(found) < count:
            found[question] = None
    if not found:
        found[f"What is {clip(one_line(library.documents[0].name), _TITLE)} about?"] = None
    return tuple(found)


def _spread(library: Library, most: int) -> list[tuple[Document, Section]]:
    """Return sections with telling titles, evenly over the documents, in an order that visits all parts early."""
    headed = [
        (document, section)
        for document in library.documents
        for section in document.sections[:5_000]
        if section.kind == "heading" and section.level <= 4 and section.own_end > section.body
    ]
    everything = [item for item in headed if item[1].own_end - item[1].body > _MEANT] or headed
    telling = [item for item in everything if not _DULL.match(item[1].title) and len(item[1].title) <= _TITLE]
    if not telling:
        return []
    step = max(1, len(telling) // most)
    candidates = telling[step // 2 :: step]
    stride = max(1, len(candidates) // COUNT)
    return [item for offset in range(stride) for item in candidates[offset::stride]]


def _question(document: Document, section: Section) -> str:
    """Turn a heading into a question; German documents get German ones."""
    title = one_line(section.title).strip(" .:¶#")
    title = re.sub(r"^(?:\d+(?:\.\d+)*\.?|§+\s*\d+\w*)\s+", "", title)
    if not title or width(title) > _TITLE:
        return ""
    if title.endswith("?"):
        return title
    if _is_german(document):
        return f"Was steht im Dokument über „{title}“?"
    how = re.match(r"(?i)^how (?:to|do i|can i)\s+(.+)$", title)
    if how:
        return f"How do I {_lower_first(how[1])}?"
    if _QUESTION.match(title):
        return f"{title}?"
    verb = _VERB.match(title)
    if verb and len(title.split()) > 1 and verb[1].lower() not in ("th", "someth", "noth", "everyth", "str"):
        return f"How does {_lower_first(title)} work?"
    return f"What does the document say about {_lower_first(title)}?"


def _lower_first(title: str) -> str:
    """Lower-case the first letter unless the first word is a name or an abbreviation."""
    first = title.split(maxsplit=1)[0]
    if len(first) > 1 and first[0].isupper() and first[1:].islower() and first[1:].isalpha():
        rest = title.split()[1:]
        if rest and all(not word[0].isupper() for word in rest):
            return title[0].lower() + title[1:]
    return f"“{title}”"


def _is_german(document: Document) -> bool:
    sample = document.source[:20_000].decode("utf-8", "replace").lower()
    german = len(re.findall(r"\b(?:der|die|das|und|nicht|ist|werden|von|durch)\b", sample))
    return german > 2 * len(re.findall(r"\b(?:the|and|of|is|to|in)\b", sample)) + 5


async def questions_from_model(model: Model, outline: str, count: int = COUNT) -> tuple[str, ...]:
    """Ask a model for questions; the same outline is answered from the cache. Raises `ModelError`."""
    request = Request(
        model=model.name,
        messages=(
            {"role": "system", "content": _ASK.format(count=count)},
            {"role": "user", "content": outline},
        ),
    )
    assembler = Assembler()
    stream: AsyncGenerator[Delta, None] = model.stream(request)
    async with aclosing(stream) as deltas:
        async for delta in deltas:
            assembler.feed(delta)
    questions = parse_questions(assembler.turn().text, count)
    if not questions:
        raise ModelError("bad_reply", "The model sent no list of questions.")
    return questions


def parse_questions(text: str, count: int = COUNT) -> tuple[str, ...]:
    """Return the questions of a model's reply: an object or a list, with or without a fence around it."""
    for opening, closing in (("{", "}"), ("[", "]")):
        start, end = text.find(opening), text.rfind(closing)
        if start < 0 or end < start:
            continue
        try:
            data = json.loads(text[start : end + 1])
        except (ValueError, RecursionError):
            continue
        items = data.get("questions") if isinstance(data, dict) else data
        if isinstance(items, list):
            lines = [one_line(item) for item in items if isinstance(item, str) and item.strip()]
            return tuple(dict.fromkeys(line for line in lines if width(line) <= _LONGEST))[:count]
    return ()
