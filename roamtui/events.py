"""The events: the only thing the engine emits.

Every face of the program (screen, command line, trace file, evaluation) reads these and nothing else.
Events are frozen, tagged and serialisable. The session stamps `run`, `seq` and `t`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FORMAT_VERSION = 1
"""Version of the event vocabulary, written at the head of every trace file."""

UNEQUAL_FIELDS = frozenset({"t", "run", "ms", "ttft", "cached", "cost"})
"""Fields that may differ between two equal runs."""

Origin = Literal["agent", "user", "budget"]
"""Who did it."""
RefusalKind = Literal["malformed", "unknown", "already_open", "over_budget", "forbidden", "bad_part"]
"""Why a section was not delivered."""
CitationStatus = Literal["exact", "section", "missing", "unopened", "unknown"]
"""What the check of a citation found."""


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all events."""

    run: str = ""
    """Id of the question's run; empty for what happens between questions."""
    seq: int = 0
    """Number of the event in its session, from 1 without gaps."""
    t: float = 0.0
    """When it happened, seconds since the epoch."""


class DocumentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace remembers of a document."""

    name: str
    address: str
    sha256: str
    sections: int
    size: int
    """Bytes."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One search result."""

    id: str
    path: tuple[str, ...]
    snippet: str
    score: float
    open: bool = False


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one model call, as the provider reports them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Citation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One citation of an answer, checked against the document."""

    id: str
    """Id of the section that holds the quote; as the model wrote it when there is no such section."""
    path: tuple[str, ...] = ()
    """Titles of the section; empty when no such section exists."""
    quote: str = ""
    """The words quoted; empty when only the section is cited."""
    status: CitationStatus = "section"
    """exact: the quote stands in the section word for word; section: no quote, but the section was opened;
    missing: the quote is not there; unopened: the section was never opened; unknown: no such section."""
    first_line: int = 0
    """1-based first line of the quote (of the section, without a quote); 0 when unknown."""
    last_line: int = 0
    """1-based last line of it."""

    @property
    def holds(self) -> bool:
        """Whether the citation is good: opened, and the quote is there."""
        return self.status in ("exact", "section")


# -- a question begins ----------------------------------------------------------------------------


class RunStarted(Event, frozen=True, kw_only=True, tag="RunStarted"):
    """A question is about to be worked on."""

    version: str
    """Version of roamtui."""
    model: str
    maker: str
    strategy: str
    documents: tuple[DocumentInfo, ...]
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """The settings that shape the run: caps, seed, strategy; never a secret."""


class QuestionAsked(Event, frozen=True, kw_only=True, tag="QuestionAsked"):
    """The user's question, as typed."""

    text: str


class ContextBuilt(Event, frozen=True, kw_only=True, tag="ContextBuilt"):
    """What the model knows before its first step."""

    outline_tokens: int
    listed: int
    """Sections with a line of their own in the outline."""
    folded: int
    """Sections that the outline only counts."""
    whole: bool
    """Whether the document was small enough to be sent whole."""
    open: tuple[str, ...] = ()
    """Ids of sections open from earlier questions or by the user."""
    hidden: int = 0
    """Invisible characters kept from the model."""


class BudgetChanged(Event, frozen=True, kw_only=True, tag="BudgetChanged"):
    """How full the model's window is, in tokens, for the next request."""

    window: int
    outline: int
    """System message and outline."""
    sections: int
    """Results of tools: opened sections, searches, lists."""
    history: int
    """Questions, answers and tool calls."""
    reserve: int
    """Kept free for the answer."""
    counted_by: str
    """`estimate`, or the name of the tokenizer, or `provider`."""

    @property
    def used(self) -> int:
        """Tokens of the whole prompt."""
        return self.outline + self.sections + self.history


# -- a step: one model call -----------------------------------------------------------------------


class MessageRecorded(Event, frozen=True, kw_only=True, tag="MessageRecorded"):
    """A message (or the tool list) as the model saw it; requests name it by `hash`. Once per distinct message."""

    hash: str
    message: dict[str, Any]


class ModelRequested(Event, frozen=True, kw_only=True, tag="ModelRequested"):
    """A request goes out; first event of a step."""

    step: int
    """Number of the model call in this run, from 1."""
    model: str
    maker: str
    messages: tuple[str, ...]
    """Hashes of the messages, in order."""
    tools: str
    """Hash under which the tool list was recorded; empty when no tools are offered."""
    params: dict[str, Any]
    tokens: int
    """Estimated tokens of the prompt."""


class RetryScheduled(Event, frozen=True, kw_only=True, tag="RetryScheduled"):
    """A call failed and will be tried again."""

    step: int
    attempt: int
    wait: float
    """Seconds."""
    kind: str
    message: str


class TextDelta(Event, frozen=True, kw_only=True, tag="TextDelta"):
    """Some of the model's text."""

    step: int
    text: str


class ReasoningDelta(Event, frozen=True, kw_only=True, tag="ReasoningDelta"):
    """Some of the model's visible thinking."""

    step: int
    text: str


class ModelAnswered(Event, frozen=True, kw_only=True, tag="ModelAnswered"):
    """A model call is complete."""

    step: int
    message: str
    """Hash of the assistant message."""
    finish: str
    usage: TokenUsage | None = None
    """None when the provider did not say."""
    cost: float | None = None
    """US dollars; None when the price is unknown."""
    ms: int = 0
    """Milliseconds from request to last delta."""
    ttft: int = 0
    """Milliseconds to the first delta with content."""
    cached: bool = False
    """Whether the disk cache answered."""
    key: str = ""
    """Cache key, hexadecimal; empty when no cache is used."""


# -- what the model does --------------------------------------------------------------------------


class ToolCalled(Event, frozen=True, kw_only=True, tag="ToolCalled"):
    """The model calls a tool."""

    step: int
    call: str
    name: str
    arguments: str
    """JSON text as the model wrote it."""


class ToolReturned(Event, frozen=True, kw_only=True, tag="ToolReturned"):
    """The result of a tool call, as the model will read it."""

    step: int
    call: str
    name: str
    message: str
    """Hash of the tool message."""
    tokens: int
    error: bool = False
    ms: int = 0


class SectionOpened(Event, frozen=True, kw_only=True, tag="SectionOpened"):
    """A section's text was delivered: to the model, or to the user's screen."""

    id: str
    path: tuple[str, ...]
    first_line: int
    last_line: int
    tokens: int
    """Tokens delivered for this section."""
    step: int = 0
    """Model step; 0 when the user opened it."""
    call: str = ""
    by: Origin = "agent"
    reason: str = ""
    part: int = 1
    parts: int = 1
    complete: bool = True
    """Whether the own text has now been delivered in full (all parts)."""
    overlap: int = 0
    """Tokens of it that had been delivered before."""


class SectionRefused(Event, frozen=True, kw_only=True, tag="SectionRefused"):
    """A section was asked for and not delivered."""

    step: int
    call: str
    id: str
    """As the model wrote it."""
    kind: RefusalKind
    message: str


class SectionJudged(Event, frozen=True, kw_only=True, tag="SectionJudged"):
    """The model says whether an opened section helped."""

    step: int
    id: str
    helpful: Literal["yes", "partly", "no"]
    missing: str = ""


class SectionClosed(Event, frozen=True, kw_only=True, tag="SectionClosed"):
    """A section is no longer in the model's view, or on the user's screen."""

    id: str
    by: Origin
    reason: str = ""


class SectionPinned(Event, frozen=True, kw_only=True, tag="SectionPinned"):
    """The user pinned a section, or took the pin out."""

    id: str
    pinned: bool


class Searched(Event, frozen=True, kw_only=True, tag="Searched"):
    """A search over the documents."""

    query: str
    hits: tuple[Hit, ...]
    step: int = 0
    call: str = ""
    by: Origin = "agent"


class ChildrenListed(Event, frozen=True, kw_only=True, tag="ChildrenListed"):
    """The model asked for the outline below a section."""

    step: int
    call: str
    id: str
    path: tuple[str, ...]
    count: int
    """Sections listed."""


class InputRequested(Event, frozen=True, kw_only=True, tag="InputRequested"):
    """The model asks the user something; answered by `Session.reply(request, …)`."""

    step: int
    call: str
    request: str
    question: str
    options: tuple[str, ...] = ()


class InputGiven(Event, frozen=True, kw_only=True, tag="InputGiven"):
    """The user's reply, or the reason there is none."""

    request: str
    answer: str
    refused: str = ""


class CitationChecked(Event, frozen=True, kw_only=True, tag="CitationChecked"):
    """One citation of the answer was checked."""

    number: int
    """Place in the answer, from 1."""
    citation: Citation


class Warned(Event, frozen=True, kw_only=True, tag="Warned"):
    """Something the user should know; the run goes on."""

    kind: str
    message: str


# -- endings: exactly one per run -----------------------------------------------------------------


class Answered(Event, frozen=True, kw_only=True, tag="Answered"):
    """The question was answered."""

    text: str
    """The answer with its citations as `[[id|quote]]`."""
    citations: tuple[Citation, ...]
    steps: int
    ms: int = 0


class NotFound(Event, frozen=True, kw_only=True, tag="NotFound"):
    """The document does not hold the answer."""

    text: str
    """What the model says about it; may be empty."""
    tried: str
    missing: str
    suggestions: tuple[str, ...]
    steps: int
    ms: int = 0


class LimitReached(Event, frozen=True, kw_only=True, tag="LimitReached"):
    """A cap ended the run; `text` answers from what was open."""

    limit: Literal["steps", "seconds", "tokens", "repeats", "window", "length"]
    """Which cap; `length`: the provider cut the answer at its own limit."""
    text: str
    citations: tuple[Citation, ...]
    missing: str
    steps: int
    ms: int = 0


class Failed(Event, frozen=True, kw_only=True, tag="Failed"):
    """The run broke; `text` holds what had come by then."""

    kind: str
    message: str
    hint: str = ""
    text: str = ""
    steps: int = 0
    ms: int = 0


class Cancelled(Event, frozen=True, kw_only=True, tag="Cancelled"):
    """The user stopped the run."""

    during: Literal["request", "answer", "tool", "input"]
    text: str = ""
    steps: int = 0
    ms: int = 0


Ending = Answered | NotFound | LimitReached | Failed | Cancelled
ENDINGS = (Answered, NotFound, LimitReached, Failed, Cancelled)

AnyEvent = (
    RunStarted
    | QuestionAsked
    | ContextBuilt
    | BudgetChanged
    | MessageRecorded
    | ModelRequested
    | RetryScheduled
    | TextDelta
    | ReasoningDelta
    | ModelAnswered
    | ToolCalled
    | ToolReturned
    | SectionOpened
    | SectionRefused
    | SectionJudged
    | SectionClosed
    | SectionPinned
    | Searched
    | ChildrenListed
    | InputRequested
    | InputGiven
    | CitationChecked
    | Warned
    | Answered
    | NotFound
    | LimitReached
    | Failed
    | Cancelled
)
"""Every event there is."""


def comparable(event: Event) -> dict[str, Any]:
    """Return an event as plain data without the fields in which equal runs may differ."""
    data: dict[str, Any] = msgspec.to_builtins(event)
    return {key: value for key, value in data.items() if key not in UNEQUAL_FIELDS}
