"""What shapes a run: caps and choices, each with the default a user gets."""

from __future__ import annotations

from typing import Literal

import msgspec


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a session's runs."""

    strategy: Literal["roam"] = "roam"
    """How the document is walked."""
    max_steps: int = 12
    """Model calls per question, the forced answer at the cap not counted."""
    max_seconds: float = 300.0
    """Wall clock per question; the last sixth of it is kept for the forced answer."""
    max_tokens: int | None = None
    """Tokens delivered to the model per question by opening sections; None: no cap beyond steps."""
    call_tokens: int = 6000
    """Tokens delivered per tool call."""
    part_tokens: int = 3000
    """Tokens of one part of a large section."""
    outline_tokens: int = 4000
    """Budget of the abridged outline."""
    marker: Literal["short", "full"] = "short"
    """Look of the outline's markers."""
    whole_tokens: int = 1000
    """Documents up to this size are sent whole instead of an outline."""
    always_roam: bool = False
    """Never send a document whole."""
    window: int | None = None
    """The model's context window in tokens; None: from the table of models, 32,768 for unknown ones."""
    seed: int | None = None
    """Seed sent to providers that take one."""
    temperature: float | None = None
    """Sampling temperature; None: the provider's default."""
    sample: int = 0
    """Run number for repeated sampling; part of the cache key."""
