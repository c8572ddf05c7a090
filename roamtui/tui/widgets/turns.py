"""A question and its run as rows: what was asked, each tool call, the ending. Pure; drawn by `chat`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from roamtui import events as ev
from roamtui.text import clip
from roamtui.trace.state import GLYPHS, Question, SectionState, Step, ToolUse
from roamtui.tui.counts import short_count
from roamtui.tui.widgets.rows import Piece, Row, row

LIMITS = {
    "steps": "the cap on steps",
    "seconds": "the cap on time",
    "tokens": "the cap on tokens",
    "repeats": "it kept asking for what it had",
    "window": "the model's context window is full",
    "length": "the provider cut the answer at its own limit",
}
"""Caps in words."""
BROKEN = {
    "missing": "the words are not in this section",
    "unopened": "this section was never opened",
    "unknown": "there is no such section",
}
"""What is wrong with a citation that does not hold."""
_LEFT_UNREAD = 5
"""Sections found and not opened that a not-found ending names."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What rows depend on besides the question itself."""

    sections: Mapping[str, SectionState]
    """Judgements and titles by section id."""
    warnings: tuple[ev.Warned, ...]
    """Warnings of the session."""
    unfolded: frozenset[str]
    """Tool calls shown in full, by `fold_key`."""
    waiting: int = 0
    """Whole seconds since the running request went out; 0 when nothing is awaited."""
    titles: Callable[[str], str] = lambda ref: ""
    """Title of a section id; empty when there is none."""


def fold_key(question: Question, step: Step, number: int) -> str:
    """Return the name under which a tool call is folded and unfolded; unique in the session."""
    return f"{question.run}/{step.number}/{number}"


def seconds(ms: int) -> str:
    """Return milliseconds as people read them: 40 ms, 1.1 s, 75 s."""
    if ms < 100:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 9_950 else f"{ms / 1000:.0f} s"


def money(cost: float) -> str:
    """Return US dollars with as many digits as small sums need."""
    return f"${cost:.4f}" if 0 < cost < 0.01 else f"${cost:.3f}" if cost < 1 else f"${cost:.2f}"


# -- before the answer ----------------------------------------------------------------------------


def opening_rows(question: Question, scene: Scene) -> Iterator[Row]:
    """Yield the question and the steps up to the answer's text."""
    yield row(Piece("You  ", "you"), Piece(question.text, "question"), hang=5)
    for step in question.steps:
        yield from _step_rows(question, step, scene)
    if question.outcome == "running":
        yield from _waiting_row(question, scene)


def _waiting_row(question: Question, scene: Scene) -> Iterator[Row]:
    step = question.steps[-1] if question.steps else None
    if step is None:
        yield row(Piece(f"{GLYPHS['opening']} ", "opening"), Piece("reading the outline", "muted"))
    elif not question.answer and step.answered is None:
        what = "thinking" if step.reasoning else f"step {step.number}: waiting for {question.model}"
        count = f" · {scene.waiting} s" if scene.waiting > 1 else ""
        yield row(Piece(f"{GLYPHS['opening']} ", "opening"), Piece(what + count, "muted"))


def _step_rows(question: Question, step: Step, scene: Scene) -> Iterator[Row]:
    for retry in step.retries:
        what = f"{retry.message} Trying again in {max(retry.wait, 0.1):.1f} s (try {retry.attempt})."
        yield row(Piece("↻ ", "warning"), Piece(what, "muted"), hang=2)
    for number, tool in enumerate(step.tools):
        yield from _tool_rows(question, step, number, tool, scene)


def _tool_rows(question: Question, step: Step, number: int, tool: ToolUse, scene: Scene) -> Iterator[Row]:
    key = fold_key(question, step, number)
    unfolded = key in scene.unfolded
    verb, why = _says(tool, scene)
    arrow = "▾ " if unfolded else "▸ "
    style = "error" if tool.error else "opening" if not tool.done else "tool"
    pieces = [Piece(arrow, "muted", ("fold", key)), Piece(verb, style, ("fold", key))]
    if why:
        pieces.append(Piece(f" — {why}", "reason", ("fold", key)))
    right = (Piece(_cost_of(step, number, tool), "muted"),)
    yield row(*pieces, hang=2, right=right, fold=not unfolded)
    if unfolded:
        yield from _details(question, step, tool, scene)
    elif tool.opened or tool.name == "expand_section":
        yield from _opened_line(tool, scene)


def _cost_of(step: Step, number: int, tool: ToolUse) -> str:
    """Size of the result, and for the first call of a step the model's time."""
    parts = [f"{short_count(tool.tokens)} tok"] if tool.tokens else []
    if number == 0 and step.answered is not None:
        parts.append("cached" if step.answered.cached else seconds(step.answered.ms))
    return " · ".join(parts)


def _says(tool: ToolUse, scene: Scene) -> tuple[str, str]:
    """What a tool call does, in words, and why."""
    why = f"“{tool.reason}”" if tool.reason else ""
    if tool.name == "expand_section":
        count = len(tool.opened)
        if not tool.done:
            return "opens sections", why
        if not count:
            return "opens nothing", why or _refusal(tool)
        return f"opens {count} section{'s' if count > 1 else ''}", why
    if tool.name == "search_sections":
        hits = len(tool.hits)
        return f"searches “{tool.query or _argument(tool, 'query')}”", f"{hits} hit{'' if hits == 1 else 's'}"
    if tool.name == "list_children":
        title = scene.titles(_argument(tool, "id"))
        return f"looks below {title or 'a section'}", f"{tool.listed} sections"
    if tool.name == "ask_user":
        return f"asks you: {tool.question or _argument(tool, 'question')}", tool.reply
    if tool.name == "give_up":
        return "finds no answer", ""
    return f"calls {tool.name or 'a tool without a name'}", "there is no such tool"


def _refusal(tool: ToolUse) -> str:
    kinds = {item.kind for item in tool.refused}
    if kinds == {"already_open"}:
        return "already open"
    return "not delivered" if kinds else "a call that cannot be run"


def _argument(tool: ToolUse, name: str) -> str:
    try:
        data = json.loads(tool.arguments[:20_000])
    except (ValueError, RecursionError):
        return ""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""


def _section_mark(ref: str, tool: ToolUse, scene: Scene) -> tuple[str, str, str]:
    """Glyph, style and word for what came of an opened section."""
    known = scene.sections.get(ref)
    if not tool.done:
        return GLYPHS["opening"], "opening", ""
    if known is not None and known.cited:
        return GLYPHS["helpful"], "helpful", "cited"
    if known is not None and known.helpful in ("yes", "partly"):
        return GLYPHS["helpful"], "helpful", "helpful" if known.helpful == "yes" else "partly helpful"
    if known is not None and known.helpful == "no":
        return GLYPHS["unhelpful"], "unhelpful", "not helpful"
    return GLYPHS["open"], "open", ""


def _opened_line(tool: ToolUse, scene: Scene) -> Iterator[Row]:
    """One line with the titles of what was opened; each leads to its section."""
    pieces: list[Piece] = []
    for item in tool.opened:
        glyph, style, _ = _section_mark(item.id, tool, scene)
        reveal = ("reveal", item.id)
        pieces += [Piece("   " if pieces else "", "muted"), Piece(f"{glyph} ", style, reveal)]
        pieces.append(Piece(item.path[-1] if item.path else "the document", style, reveal))
    if pieces:
        yield row(*pieces, indent=2, fold=True)


def _details(question: Question, step: Step, tool: ToolUse, scene: Scene) -> Iterator[Row]:
    """Everything known of a tool call."""
    for item in tool.opened:
        glyph, style, word = _section_mark(item.id, tool, scene)
        part = f" part {item.part} of {item.parts}" if item.parts > 1 else ""
        size = f"L{item.first_line}–{item.last_line}{part} · {short_count(item.tokens)} tok"
        title = " › ".join(item.path[-3:]) or "the document"
        pieces = [Piece(f"{glyph} ", style, ("reveal", item.id)), Piece(title, style, ("reveal", item.id))]
        yield row(*pieces, Piece(f"  {word}" if word else "", "muted"), indent=2, hang=4, right=(Piece(size, "muted"),))
    for refused in tool.refused:
        title = scene.titles(refused.id) or "unknown section"
        yield row(
            Piece("! ", "warning"), Piece(f"{title}: {refused.kind.replace('_', ' ')}", "muted"), indent=2, hang=4
        )
    for hit in tool.hits:
        title = " › ".join(hit.path[-2:])
        yield row(Piece(f"{GLYPHS['found']} {title}", "found", ("reveal", hit.id)), indent=2, hang=4)
        yield row(Piece(hit.snippet, "muted"), indent=4, hang=4)
    for judged in tool.judged:
        word = {"yes": "helpful", "partly": "partly helpful", "no": "not helpful"}[judged.helpful]
        missing = f", missing: {judged.missing}" if judged.missing else ""
        yield row(Piece(f"judged {scene.titles(judged.id)}: {word}{missing}", "muted"), indent=2, hang=4)
    if step.text.strip():
        yield row(Piece(f"says: {clip(step.text.strip(), 600)}", "muted"), indent=2, hang=4)
    if step.reasoning.strip():
        yield row(Piece(f"thought: {clip(step.reasoning.strip(), 600)}", "muted"), indent=2, hang=4)
    answered = step.answered
    if answered is not None:
        usage = answered.usage
        counts = f"{short_count(usage.input)} in, {short_count(usage.output)} out" if usage else "usage unknown"
        cost = "" if answered.cost is None else f" · {money(answered.cost)}"
        source = "from the cache" if answered.cached else f"{seconds(answered.ms)}, first word {seconds(answered.ttft)}"
        yield row(
            Piece(f"step {step.number}: {counts}{cost} · {source}", "muted"),
            Piece("  what was sent", "link", ("inspect", question.run, str(step.number))),
            indent=2,
            hang=4,
        )


# -- after the answer -----------------------------------------------------------------------------


def closing_rows(question: Question, scene: Scene) -> Iterator[Row]:
    """Yield what follows the answer's text: citations, warnings, the ending and its figures."""
    yield from citation_rows(question)
    for warning in scene.warnings:
        if warning.run == question.run:
            yield row(Piece("! ", "warning"), Piece(warning.message, "warning"), hang=2)
    match question.outcome:
        case "not_found":
            yield from _not_found_rows(question, scene)
        case "limit":
            reason = LIMITS.get(question.limit, question.limit)
            yield row(Piece(f"Stopped at a limit: {reason}.", "warning"))
            if question.missing:
                yield row(Piece("Missing  ", "label"), Piece(question.missing), hang=9)
        case "failed":
            yield row(Piece(" ✗ ", "failure"), Piece(f" {question.error}", "error"), hang=4)
            if question.hint:
                yield row(Piece(question.hint, "muted"), indent=4, hang=4)
            yield row(Piece("[Ask again]", "button", ("retry",)), indent=4)
        case "cancelled":
            yield row(Piece("Stopped.  ", "warning"), Piece("[Ask again]", "button", ("retry",)))
        case _:
            pass
    if question.outcome != "running":
        yield row(Piece(_figures(question), "muted"))


def group_citations(question: Question) -> list[tuple[int, ev.Citation]]:
    """Return distinct citations with the number each has in the answer, in order."""
    numbers = citation_numbers(question.citations)
    found: dict[int, ev.Citation] = {}
    for number, citation in zip(numbers, question.citations, strict=True):
        found.setdefault(number, citation)
    return list(found.items())


def citation_numbers(citations: tuple[ev.Citation, ...]) -> list[int]:
    """Return the number shown for each citation; those of the same lines share one."""
    known: dict[tuple[object, ...], int] = {}
    numbers: list[int] = []
    for item in citations:
        place = (item.id, item.status, item.first_line, item.last_line)
        key = place if item.holds else (*place, item.quote)
        numbers.append(known.setdefault(key, len(known) + 1))
    return numbers


def citation_rows(question: Question) -> Iterator[Row]:
    """Yield one button per distinct citation."""
    groups = group_citations(question)
    for number, item in groups:
        title = item.path[-1] if item.path else "unknown section"
        action = ("cite", question.run, str(number))
        label = Piece(f"{number:>2} ", "muted")
        if item.holds:
            where = f"L{item.first_line}" + (f"–{item.last_line}" if item.last_line > item.first_line else "")
            yield row(label, Piece(f"[✓ {title} {where}]", "cite", action), hang=3)
        else:
            broken = f"[✗ {title} — {BROKEN.get(item.status, item.status)}]"
            yield row(label, Piece(broken, "cite-broken", action if item.path else None), hang=3)
            if item.quote:
                yield row(Piece(f"“{clip(item.quote, 300)}”", "muted"), indent=3, hang=3)


def _not_found_rows(question: Question, scene: Scene) -> Iterator[Row]:
    yield row(Piece("Not in this document", "absent"))
    if question.missing:
        yield row(Piece("Missing   ", "label"), Piece(question.missing), hang=10)
    if question.tried:
        yield row(Piece("Tried     ", "label"), Piece(question.tried, "muted"), hang=10)
    opened = {item.id: item.path[-1] for item in question.opened if item.path}
    if opened:
        yield row(Piece("Read      ", "label"), *_links(opened), hang=10)
    hits = [hit for step in question.steps for tool in step.tools for hit in tool.hits]
    unread = {hit.id: hit.path[-1] for hit in hits if hit.id not in opened and hit.path}
    if unread:
        shown = dict(list(unread.items())[:_LEFT_UNREAD])
        more = len(unread) - len(shown)
        yield row(Piece("Unread    ", "label"), *_links(shown), f" and {more} more" if more else "", hang=10)
    if question.suggestions:
        yield row(Piece("You could ask", "label"))
        for text in question.suggestions:
            yield row(Piece("→ ", "muted"), Piece(text, "link", ("fill", text)), indent=2, hang=4)


def _links(titles: Mapping[str, str]) -> Iterator[Piece]:
    for number, (ref, title) in enumerate(titles.items()):
        yield Piece(", " if number else "", "muted")
        yield Piece(title, "link", ("reveal", ref))


def _figures(question: Question) -> str:
    answered = [step.answered for step in question.steps if step.answered is not None]
    usage = [item.usage for item in answered if item.usage is not None and not item.cached]
    parts = [f"{len(question.steps)} step{'' if len(question.steps) == 1 else 's'}"]
    if usage:
        parts.append(f"{short_count(sum(item.input + item.output for item in usage))} tok")
    cost = sum(item.cost or 0.0 for item in answered)
    if cost:
        parts.append(money(cost))
    cached = sum(item.cached for item in answered)
    if cached:
        parts.append(f"{cached} from the cache")
    parts.append(seconds(question.ms))
    return " · ".join(parts)
