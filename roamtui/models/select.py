"""From a model's name to a model: which maker, which key, and the bounds, retries and cache around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from roamtui.errors import ConfigError, ModelError
from roamtui.models.addresses import check_base_url, host_of, is_loopback
from roamtui.models.base import Model
from roamtui.models.bounded import Bounded, Deadlines
from roamtui.models.cache import SIZE_LIMIT, Cached, CacheMode, ResponseCache
from roamtui.models.providers import KEYLESS, Provider, key_name, provider_at, provider_of
from roamtui.models.providers import providers_with_keys as providers_with_keys
from roamtui.models.retry import Retried, RetryPolicy
from roamtui.models.secret import Secret
from roamtui.text import one_line

BASE_URL_KEY = "ROAMTUI_API_KEY"
"""The variable whose key goes to `--base-url`, and nowhere else."""
CACHE_FOLDER = "responses"
"""Folder of recorded answers below the program's cache folder."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as the user chose it, with everything that shapes its calls."""

    name: str
    """`guide`, `scripted:FILE`, litellm's spelling (`anthropic/…`), or with `base_url` the server's own name."""
    base_url: str = ""
    """Address of an OpenAI-compatible server; empty for everything else."""
    cache: CacheMode = "on"
    """How recorded answers are used."""
    cache_dir: Path | None = None
    """The program's cache folder; None: no cache."""
    cache_bytes: int = SIZE_LIMIT
    """Most bytes of recorded answers on disk."""
    first_event_s: float = 60.0
    """Seconds until the first sign of an answer."""
    idle_s: float = 60.0
    """Seconds between two signs of life."""
    call_s: float = 600.0
    """Seconds of a whole call."""
    api_key: Secret | None = None
    """A key that replaces the one in the environment."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    """How failed calls are tried again."""


def open_model(
    choice: ModelChoice,
    *,
    environ: Mapping[str, str] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Model:
    """Return the chosen model: recorded answers around retries around deadlines around a maker.

    Nothing is sent, imported or opened yet. `notice` gets a sentence when the cache cannot be used. Raises
    `ConfigError` for a name, script or address that makes no sense; a missing or broken key is only an error when a
    request must really be sent (`key_problem` tells before).
    """
    environ = os.environ if environ is None else environ
    name = choice.name.strip()
    if not name:
        raise ConfigError("No model is chosen.", "Give --model, for example --model guide.")
    if name == "guide":
        from roamtui.models.guide import GuideModel

        return Cached(GuideModel(), None, "off")
    if name.startswith("scripted:"):
        from roamtui.models.scripted import ScriptedModel

        return Cached(ScriptedModel.from_file(Path(name.removeprefix("scripted:"))), None, "off")
    maker, version, base_url = _maker(name, choice, environ)
    deadlines = Deadlines(choice.first_event_s, choice.idle_s, choice.call_s)
    patient = Retried(Bounded(maker, deadlines), choice.retries)
    cache = None
    if choice.cache_dir is not None and choice.cache != "off":
        cache = ResponseCache(choice.cache_dir / CACHE_FOLDER, size_limit=choice.cache_bytes, notice=notice)
    return Cached(patient, cache, choice.cache, version=version, base_url=base_url)


def _maker(name: str, choice: ModelChoice, environ: Mapping[str, str]) -> tuple[Model, str, str]:
    """Return the maker's model, the maker's version and the server's address."""
    if choice.base_url:
        if name.partition("/")[0] in ("ollama", "ollama_chat"):
            raise ConfigError(
                "With --base-url, the model's name is the server's own.",
                f"Give --model {one_line(name.partition('/')[2])} and an address ending in /v1.",
            )
        from roamtui.models.openai_http import OpenAIHTTP

        problem = None if choice.api_key else key_problem(name, choice.base_url, environ=environ)
        key = choice.api_key or (base_url_key(choice.base_url, environ) if problem is None else None)
        model = OpenAIHTTP(name, choice.base_url, api_key=key, problem=problem)
        return model, model.version, model.base_url
    from roamtui.models.litellm_model import LiteLLM

    problem = None if choice.api_key else key_problem(name, environ=environ)
    key = choice.api_key or (provider_key(name, environ) if problem is None else None)
    lite = LiteLLM(name, api_key=key, problem=problem)
    return lite, lite.version, _address_in(environ, name)


def _address_in(environ: Mapping[str, str], name: str) -> str:
    """Return the address the user's environment gives litellm for a provider: recorded answers belong to a server."""
    provider = provider_of(name)
    prefix = (provider.prefix if provider else name.partition("/")[0]).removesuffix("_chat").upper()
    found = next((environ[key] for end in ("_API_BASE", "_BASE_URL") if environ.get(key := prefix + end)), "")
    scheme, mark, rest = found.partition("://")
    return scheme + mark + rest.rpartition("@")[2].partition("?")[0]


def base_url_key(base_url: str, environ: Mapping[str, str]) -> Secret | None:
    """Return the key for a server given by address, None to send none.

    That is `ROAMTUI_API_KEY`; a provider's own variable is used only for that provider's own host over https, so
    that no key ever goes to a foreign server. Raises `ModelError` (`auth`) for a key that cannot be sent.
    """
    key = Secret.from_environ(BASE_URL_KEY, environ)
    if key is not None:
        return key
    parts = urlsplit(check_base_url(base_url))
    provider = provider_at(parts.hostname or "") if parts.scheme == "https" else None
    return provider_key(f"{provider.prefix}/", environ) if provider is not None else None


def provider_key(name: str, environ: Mapping[str, str]) -> Secret | None:
    """Return the key of the provider a model's name speaks of. Raises `ModelError` (`auth`) for one that is broken."""
    provider = provider_of(name)
    variable = key_name(provider, environ) if provider is not None else ""
    return Secret.from_environ(variable, environ) if variable else None


def key_problem(name: str, base_url: str = "", *, environ: Mapping[str, str] | None = None) -> ModelError | None:
    """Return what is wrong with the key for a model, None when it is there or none is needed as far as we know."""
    environ = os.environ if environ is None else environ
    try:
        if base_url:
            base_url_key(base_url, environ)
            return None
        if name == "guide" or name.startswith("scripted:") or name.partition("/")[0] in KEYLESS:
            return None
        provider = provider_of(name)
        if provider is None or provider_key(name, environ) is not None:
            return None
    except ModelError as error:
        return error
    return _missing(provider)


def _missing(provider: Provider) -> ModelError:
    variable = provider.key_names[0]
    return ModelError("auth", f"No key for {provider.title}: {variable} is not set.", f"export {variable}=…")


def address_warning(base_url: str) -> str:
    """Return a warning about an address that sends everything unencrypted over a network; empty for a good one."""
    address = check_base_url(base_url)
    if address.startswith("https:") or is_loopback(address):
        return ""
    return f"{host_of(address)} is asked over http: document, questions and key travel unencrypted."
