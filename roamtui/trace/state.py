"""TraceState: everything the faces of the program show. `reducer.apply` makes it out of events."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from roamtui import events as ev

Outcome = Literal["running", "answered", "not_found", "limit", "failed", "cancelled"]
Mark = Literal["none", "closed", "found", "open", "yours", "unhelpful", "helpful", "opening"]

MARKS: tuple[Mark, ...] = ("none", "closed", "found", "open", "yours", "unhelpful", "helpful", "opening")
"""Marks of a section, weakest first; a folded branch shows the strongest below it."""

GLYPHS: dict[Mark, str] = {
    "none": " ",
    "closed": "·",
    "found": "○",
    "open": "◉",
    "yours": "⌂",
    "unhelpful": "✗",
    "helpful": "✓",
    "opening": "◐",
}
PIN = "⚑"


class SectionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened to one section so far."""

    id: str
    path: tuple[str, ...] = ()
    open_agent: bool = False
    """In the model's view now."""
    open_user: bool = False
    """On the user's screen by their own hand."""
    was_open: bool = False
    """Was opened at some time."""
    opening: bool = False
    """Asked for by a tool call that has not returned."""
    found: int = 0
    """How many searches found it."""
    helpful: Literal["", "yes", "partly", "no"] = ""
    """The model's last judgement."""
    cited: bool = False
    """Cited by an answer, and the citation holds."""
    pinned: bool = False
    complete: bool = False
    """Whether its own text was delivered to the model in full."""
    tokens: int = 0
    """Tokens delivered to the model so far."""
    reason: str = ""
    """Why it was opened last."""
    by: ev.Origin = "agent"
    """Who opened it last."""
    step: int = 0
    """Step at which it was opened last; 0 by the user."""
    first_line: int = 0
    last_line: int = 0

    @property
    def is_open(self) -> bool:
        """Whether anyone has it open."""
        return self.open_agent or self.open_user

    @property
    def mark(self) -> Mark:
        """The strongest mark that applies."""
        if self.opening:
            return "opening"
        if self.cited or self.helpful in ("yes", "partly"):
            return "helpful"
        if self.helpful == "no":
            return "unhelpful"
        if self.open_user:
            return "yours"
        if self.open_agent:
            return "open"
        if self.found:
            return "found"
        return "closed" if self.was_open else "none"


class ToolUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call and what came of it."""

    call: str
    name: str
    arguments: str
    reason: str = ""
    opened: tuple[ev.SectionOpened, ...] = ()
    refused: tuple[ev.SectionRefused, ...] = ()
    judged: tuple[ev.SectionJudged, ...] = ()
    query: str = ""
    hits: tuple[ev.Hit, ...] = ()
    listed: int = 0
    question: str = ""
    """What `ask_user` asked."""
    reply: str = ""
    message: str = ""
    """Hash of the tool message; empty until it returned."""
    tokens: int = 0
    error: bool = False
    ms: int = 0

    @property
    def done(self) -> bool:
        """Whether it returned."""
        return bool(self.message)


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model call: what was sent, what came back."""

    number: int
    request: ev.ModelRequested
    text: str = ""
    reasoning: str = ""
    tools: tuple[ToolUse, ...] = ()
    retries: tuple[ev.RetryScheduled, ...] = ()
    answered: ev.ModelAnswered | None = None
    """None while the model is at work, or when the call failed."""


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question and the run that worked on it."""

    run: str
    text: str
    model: str = ""
    maker: str = ""
    steps: tuple[Step, ...] = ()
    outcome: Outcome = "running"
    answer: str = ""
    """Final text with citations as written; while running, the text of the current step."""
    citations: tuple[ev.Citation, ...] = ()
    limit: str = ""
    tried: str = ""
    missing: str = ""
    suggestions: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    ms: int = 0

    @property
    def opened(self) -> tuple[ev.SectionOpened, ...]:
        """Every section delivered to the model in this run, in order."""
        return tuple(item for step in self.steps for tool in step.tools for item in tool.opened)


class Totals(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sums over the session."""

    calls: int = 0
    cached_calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cost: float = 0.0
    """US dollars of the calls whose price is known."""
    unpriced: int = 0
    """Live calls whose price is not known."""


class PendingInput(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the model to the user that waits for a reply."""

    request: str
    question: str
    options: tuple[str, ...] = ()


class TraceState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as far as its events tell."""

    documents: tuple[ev.DocumentInfo, ...] = ()
    model: str = ""
    maker: str = ""
    questions: tuple[Question, ...] = ()
    sections: dict[str, SectionState] = msgspec.field(default_factory=dict)
    """By section id, only sections something happened to."""
    context: ev.ContextBuilt | None = None
    budget: ev.BudgetChanged | None = None
    totals: Totals = Totals()
    messages: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Every message the model saw or wrote, by hash."""
    warnings: tuple[ev.Warned, ...] = ()
    pending: PendingInput | None = None
    seq: int = 0
    """Number of the last event."""

    @property
    def running(self) -> bool:
        """Whether a question is being worked on."""
        return bool(self.questions) and self.questions[-1].outcome == "running"

    def section(self, ref: str) -> SectionState:
        """Return what is known of a section."""
        return self.sections.get(ref) or SectionState(id=ref)


def comparable_state(state: TraceState) -> dict[str, Any]:
    """Return a state as plain data without what may differ between two equal runs."""
    data: dict[str, Any] = _strip(msgspec.to_builtins(state))
    data.pop("totals", None)
    return data


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strip(item) for key, item in value.items() if key not in ev.UNEQUAL_FIELDS}
    if isinstance(value, (list, tuple)):
        return [_strip(item) for item in value]
    return value
