"""From settings to what the engine works with: documents, a model, a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui import paths
from roamtui.cli import console
from roamtui.config import Settings

if TYPE_CHECKING:
    from roamtui.agent.settings import RunSettings
    from roamtui.document.model import Library
    from roamtui.models.select import ModelChoice
    from roamtui.session import Session


def open_documents(addresses: tuple[str, ...], settings: Settings) -> Library:
    """Read documents and say on standard error what is odd about them. Raises `DocumentError`."""
    from roamtui.sources.open import open_library

    library = open_library(addresses, max_bytes=settings.max_bytes)
    for document in library.documents:
        for notice in document.origin.notices:
            console.say(f"note: {document.name}: {notice}")
    return library


def run_settings(settings: Settings) -> RunSettings:
    """Return what shapes a run, out of the user's settings."""
    from roamtui.agent.settings import RunSettings

    return RunSettings(
        strategy=settings.strategy,
        max_steps=settings.max_steps,
        max_seconds=settings.max_seconds,
        max_tokens=settings.max_tokens,
        call_tokens=settings.call_tokens,
        part_tokens=settings.part_tokens,
        outline_tokens=settings.outline_tokens,
        always_roam=settings.always_roam,
        window=settings.window,
        seed=settings.seed,
        temperature=settings.temperature,
    )


def model_choice(settings: Settings) -> ModelChoice:
    """Return the model a user's settings choose."""
    from roamtui.models.select import ModelChoice

    return ModelChoice(
        name=settings.model,
        base_url=settings.base_url,
        cache=settings.cache,
        cache_dir=paths.cache_dir(),
        cache_bytes=settings.cache_bytes,
    )


def open_session(library: Library, settings: Settings, notice: Callable[[str], None]) -> Session:
    """Return a session over a library that writes its trace to the state folder. Raises `RoamError`.

    `notice` gets one sentence for everything worth knowing that is no error.
    """
    from roamtui.models.base import Usage
    from roamtui.models.pricing import cost, model_facts
    from roamtui.models.select import address_warning, open_model
    from roamtui.search.lexical import LexicalIndex
    from roamtui.session import Session
    from roamtui.trace.record import TraceWriter

    if settings.base_url and (warning := address_warning(settings.base_url)):
        notice(warning)
    model = open_model(model_choice(settings), notice=notice)
    name = model.name

    def price(usage: Usage) -> float | None:
        return cost(name, usage)

    facts = model_facts(name)
    return Session(
        library,
        model,
        index=LexicalIndex(library),
        settings=run_settings(settings),
        window=facts.window if facts.known else None,
        price=price,
        trace=TraceWriter.in_folder(paths.traces_dir(), library.documents[0].name),
    )


def trace_path(session: Session) -> Path | None:
    """Return where a session's trace lies; None when it could not be written."""
    return session.trace.path if session.trace is not None and session.trace.path.exists() else None
