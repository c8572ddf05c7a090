"""Providers by litellm's prefixes: which variable holds their key, which model to suggest, who needs no key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider roamtui knows by name."""

    prefix: str
    """First part of litellm's model names, as in `anthropic/…`."""
    title: str
    """Name for people."""
    key_names: tuple[str, ...]
    """Environment variables that may hold its key, the first found counts."""
    suggested: str = ""
    """A middle-sized model with tools, in litellm's spelling; empty when its models have no lasting names."""
    hosts: tuple[str, ...] = ()
    """Its OpenAI-compatible servers, which may have its key when they are given as --base-url over https."""


PROVIDERS = (
    Provider("anthropic", "Anthropic", ("ANTHROPIC_API_KEY",), "anthropic/claude-sonnet-5-5", ("api.anthropic.com",)),
    Provider("openai", "OpenAI", ("OPENAI_API_KEY",), "openai/gpt-5-mini", ("api.openai.com",)),
    Provider(
        "gemini",
        "Google Gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini/gemini-3.8-flash",
        ("generativelanguage.googleapis.com",),
    ),
    Provider("mistral", "Mistral", ("MISTRAL_API_KEY",), "mistral/mistral-medium-latest", ("api.mistral.ai",)),
    Provider("groq", "Groq", ("GROQ_API_KEY",), "groq/openai/gpt-oss-120b", ("api.groq.com",)),
    Provider("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",), "deepseek/deepseek-v4-flash", ("api.deepseek.com",)),
    Provider("xai", "xAI", ("XAI_API_KEY",), "xai/grok-4.20-non-reasoning", ("api.x.ai",)),
    Provider(
        "openrouter",
        "OpenRouter",
        ("OPENROUTER_API_KEY", "OR_API_KEY"),
        "openrouter/openai/gpt-5-mini",
        ("openrouter.ai",),
    ),
    Provider("cerebras", "Cerebras", ("CEREBRAS_API_KEY",), "cerebras/gpt-oss-120b", ("api.cerebras.ai",)),
    Provider("moonshot", "Moonshot", ("MOONSHOT_API_KEY",), "moonshot/kimi-k2.6", ("api.moonshot.ai",)),
    Provider("zai", "Z.ai", ("ZAI_API_KEY",), "zai/glm-5.3-flash", ("api.z.ai",)),
    Provider("together_ai", "Together AI", ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"), hosts=("api.together.xyz",)),
    Provider("fireworks_ai", "Fireworks AI", ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY")),
    Provider("perplexity", "Perplexity", ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY")),
    Provider("cohere", "Cohere", ("COHERE_API_KEY", "CO_API_KEY")),
    Provider("cohere_chat", "Cohere", ("COHERE_API_KEY", "CO_API_KEY")),
)
"""Those whose key we look for; litellm knows more, and says itself what they need. None was tried live."""

KEYLESS = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "docker_model_runner"})
"""Prefixes of servers that usually ask for no key."""

_BARE = (("claude-", "anthropic"), ("gpt-", "openai"), ("o1", "openai"), ("o3", "openai"), ("o4", "openai"))
_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}


def provider_of(name: str) -> Provider | None:
    """Return the provider a model's name speaks of, None when it is not in the table."""
    prefix, slash, _ = name.partition("/")
    if slash:
        return _BY_PREFIX.get(prefix)
    return next((_BY_PREFIX[prefix] for start, prefix in _BARE if name.startswith(start)), None)


def provider_at(host: str) -> Provider | None:
    """Return the provider whose own server `host` is (without port), None for any other."""
    return next((provider for provider in PROVIDERS if host in provider.hosts), None)


def key_name(provider: Provider, environ: Mapping[str, str]) -> str:
    """Return the variable that holds the provider's key in `environ`; empty when none does."""
    return next((name for name in provider.key_names if environ.get(name, "").strip()), "")


def providers_with_keys(environ: Mapping[str, str]) -> list[Provider]:
    """Return the providers whose key is in `environ` and that have a model to suggest, to be offered to the user."""
    return [provider for provider in PROVIDERS if provider.suggested and key_name(provider, environ)]
