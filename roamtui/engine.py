"""From settings to a session: which model, which caps, where the trace goes. Shared by all faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from roamtui import paths
from roamtui.agent.settings import RunSettings
from roamtui.config import Settings
from roamtui.document.model import Library
from roamtui.models.base import Model, Usage
from roamtui.models.pricing import cost, model_facts
from roamtui.models.select import ModelChoice, address_warning, open_model
from roamtui.search.index import Index
from roamtui.search.lexical import LexicalIndex
from roamtui.session import Session
from roamtui.trace.record import TraceWriter

BUILT_IN_WINDOW = 131_072
"""Context window given to models that run inside the program (guide, scripted), tokens."""

_SHAPING = tuple(name for name in RunSettings.__struct_fields__ if name in Settings.__struct_fields__)


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model ready to be asked, with what is known of it."""

    model: Model
    window: int
    """Context window, tokens."""
    price: Callable[[Usage], float | None]
    """US dollars of a call; None when the price is unknown."""


def choose_model(settings: Settings, *, notice: Callable[[str], None] | None = None) -> ChosenModel:
    """Return the model that the settings name. Nothing is sent; raises `ConfigError` for a name that makes no sense."""
    choice = ModelChoice(
        name=settings.model,
        base_url=settings.base_url,
        cache=settings.cache,
        cache_dir=paths.cache_dir(),
        cache_bytes=settings.cache_bytes,
    )
    if notice is not None and settings.base_url and (warning := address_warning(settings.base_url)):
        notice(warning)
    model = open_model(choice, notice=notice)
    if model.maker in ("guide", "scripted"):
        return ChosenModel(model, BUILT_IN_WINDOW, lambda usage: 0.0)
    name = settings.model
    address = settings.base_url
    return ChosenModel(model, model_facts(name, address).window, lambda usage: cost(name, usage, address))


def run_settings(settings: Settings, **changes: object) -> RunSettings:
    """Return the part of the settings that shapes runs, with `changes` on top."""
    shared = {name: getattr(settings, name) for name in _SHAPING}
    return RunSettings(**{**shared, **changes})


def make_session(
    library: Library,
    settings: Settings,
    *,
    interactive: bool,
    index: Index | None = None,
    notice: Callable[[str], None] | None = None,
    keep_trace: bool = True,
) -> Session:
    """Return a session over `library`; without an index, one is made and built at the first question."""
    chosen = choose_model(settings, notice=notice)
    trace = TraceWriter.in_folder(paths.traces_dir(), library.documents[0].name) if keep_trace else None
    return Session(
        library,
        chosen.model,
        index=index or LexicalIndex(library),
        settings=run_settings(settings),
        window=chosen.window,
        price=chosen.price,
        trace=trace,
        interactive=interactive,
    )
