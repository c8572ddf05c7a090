"""Options that several commands share, and the settings they make together with file and environment."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Protocol

import click
from click.shell_completion import CompletionItem

from roamtui import paths
from roamtui.cli import console
from roamtui.config import Resolved, Settings, load_settings
from roamtui.text import redact


class Decorator(Protocol):
    """Adds an option to a command's function."""

    def __call__(self, function: click.decorators.FC, /) -> click.decorators.FC:
        """Return the function with the option."""


DEFAULTS = Settings()
"""What holds where nothing is set; shown in every `--help`."""


CACHE_MODES = click.Choice(["on", "off", "refresh", "only"])


def _option(
    name: str, text: str, metavar: str = "", kind: click.Choice[str] | type[int | float | str] = str
) -> Decorator:
    default = getattr(DEFAULTS, name)
    shown = f"  [default: {default:g}]" if isinstance(default, float) else f"  [default: {default}]"
    return click.option(
        "--" + name.replace("_", "-"),
        name,
        type=kind,
        metavar=metavar or None,
        help=text + (shown if default not in (None, "", False) else ""),
    )


def _flag(name: str, text: str) -> Decorator:
    return click.option("--" + name.replace("_", "-"), name, is_flag=True, default=None, help=text)


DOCUMENT_OPTIONS: tuple[Decorator, ...] = (_option("max_bytes", "Largest file that is read.", "N", int),)
"""Options of every command that opens a document."""

MODEL_OPTIONS: tuple[Decorator, ...] = (
    _option("model", "Model, by litellm's name (anthropic/…, ollama_chat/…), or the built-in guide.", "NAME"),
    _option("base_url", "Address of an OpenAI-compatible server.", "URL"),
    _option("strategy", "How the agent walks the document.", "", click.Choice(["roam"])),
    _option("cache", "Kept answers: use them, or not, renew them, or use nothing else.", "", CACHE_MODES),
    _option("max_steps", "Model calls per question.", "N", int),
    _option("max_seconds", "Seconds per question.", "N", float),
    _option("max_tokens", "Tokens of the document delivered per question.", "N", int),
    _option("outline_tokens", "Tokens of the outline the model starts from.", "N", int),
    _flag("always_roam", "Never send a small document whole."),
    _option("seed", "Seed, for providers that take one.", "N", int),
)
"""Options of every command that asks a model."""


def with_options(*groups: tuple[Decorator, ...]) -> Decorator:
    """Return a decorator that adds option groups to a command, in the order given."""

    def decorate(function: click.decorators.FC) -> click.decorators.FC:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return decorate


def complete_document(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return what a shell may complete a document with: the samples, or a file's name."""
    samples = [f"sample:{path.stem}" for path in sorted(paths.sample_docs_dir().glob("*.*"))]
    found = [CompletionItem(name) for name in samples if incomplete and name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def resolve(flags: Mapping[str, object]) -> Resolved:
    """Return the settings of this run. Raises `ConfigError`."""
    resolved = load_settings(flags)
    if any(redact(argument) != argument for argument in sys.argv[1:]):
        console.say("note: an argument looks like a key. Everybody on this machine can read arguments.")
    return resolved
