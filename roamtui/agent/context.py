"""What the model knows before its first step: the outline, or the whole of a small document."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.agent import prompts
from roamtui.agent.budget import outline_allowance
from roamtui.agent.settings import RunSettings
from roamtui.document.excerpt import Excerpt, whole_document
from roamtui.document.model import Library
from roamtui.document.outline import Outline, build_outline
from roamtui.events import ContextBuilt

MOST_BYTES_PER_TOKEN = 12
"""Documents beyond this many bytes per allowed token are not even tried to be sent whole."""


@dataclass(frozen=True, slots=True)
class Context:
    """The unchanging beginning of every prompt of a session."""

    outline: Outline
    whole: Excerpt | None
    """The whole document, when it is small enough to be sent instead of its outline."""
    system: str
    """The system message: rules, then outline or document."""

    def event(self, open_refs: tuple[str, ...]) -> ContextBuilt:
        """Return the event that says what the model knows."""
        whole = self.whole
        return ContextBuilt(
            outline_tokens=whole.tokens if whole else self.outline.tokens,
            listed=self.outline.listed,
            folded=0 if whole else self.outline.folded,
            whole=whole is not None,
            open=open_refs,
            hidden=whole.hidden if whole else self.outline.hidden,
        )


def build_context(library: Library, settings: RunSettings, window: int) -> Context:
    """Build outline and system message for a model with this window; the same bytes for the same input."""
    allowance = outline_allowance(window, settings.outline_tokens)
    outline = build_outline(library, allowance, marker=settings.marker)
    whole = _small_enough(library, settings)
    body = whole.text if whole else outline.text
    return Context(outline, whole, prompts.system_message(library, body, whole=whole is not None))


def _small_enough(library: Library, settings: RunSettings) -> Excerpt | None:
    """Samples are always roamed: they are there to show roaming."""
    if settings.always_roam or any(item.origin.address.startswith("sample:") for item in library.documents):
        return None
    if sum(len(item.source) for item in library.documents) > settings.whole_tokens * MOST_BYTES_PER_TOKEN:
        return None
    whole = whole_document(library)
    return whole if whole.tokens <= settings.whole_tokens else None
