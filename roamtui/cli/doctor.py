"""`roamtui doctor`: whether everything roamtui needs is here, and what it would use."""

from __future__ import annotations

import os
import platform
import stat
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import click

from roamtui import __version__, paths
from roamtui.cli import console
from roamtui.config import fields, load_settings
from roamtui.errors import ConfigError, ExitCode

PACKAGES = ("textual", "markdown-it-py", "litellm", "httpx", "diskcache", "msgspec", "rapidfuzz", "regex", "tiktoken")
"""Installed packages whose version matters when something is wrong."""


class Finding(NamedTuple):
    """One line of the report."""

    state: Literal["ok", "note", "wrong"]
    """wrong: the exit code is 1."""
    subject: str
    text: str


@click.command("doctor")
def command() -> int:
    """Check this installation: versions, folders, themes, terminal, settings, and which keys are set, by name only.

    Nothing is sent anywhere. Exit code 1 when something is wrong.
    """
    findings = list(examine())
    wide = max(len(item.subject) for item in findings)
    for item in findings:
        console.write(f"{item.state:<5}  {item.subject:<{wide}}  {item.text}")
    return ExitCode.FAILED if any(item.state == "wrong" for item in findings) else ExitCode.DONE


def examine() -> Iterator[Finding]:
    """Yield every finding, cheapest first. Imports no provider package and opens no connection."""
    yield Finding("ok", "roamtui", f"{__version__} on Python {platform.python_version()}, {platform.system()}")
    yield from _packages()
    yield from _folders()
    yield from _shipped()
    yield from _terminal()
    yield from _settings()
    yield from _keys()


def _packages() -> Iterator[Finding]:
    for name in PACKAGES:
        try:
            yield Finding("ok", name, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Finding("wrong", name, "is not installed")
    if find_spec("litellm") is None:
        yield Finding("wrong", "litellm", "cannot be imported: only --base-url and the guide work")


def _folders() -> Iterator[Finding]:
    for subject, folder in (
        ("settings", paths.config_dir()),
        ("cache", paths.cache_dir()),
        ("traces", paths.traces_dir()),
    ):
        yield _folder(subject, folder)


def _folder(subject: str, folder: Path) -> Finding:
    try:
        found = folder.stat()
    except FileNotFoundError:
        return Finding("ok", subject, f"{folder} (made when needed)")
    except OSError as error:
        return Finding("wrong", subject, f"{folder}: {error.strerror}")
    if not stat.S_ISDIR(found.st_mode):
        return Finding("wrong", subject, f"{folder} is not a folder")
    if subject != "settings" and not os.access(folder, os.W_OK | os.X_OK):
        return Finding("wrong", subject, f"{folder} cannot be written to: nothing will be kept there")
    if subject != "settings" and os.name == "posix" and found.st_mode & 0o077:
        return Finding("note", subject, f"{folder} can be read by others on this machine: chmod 700 it")
    return Finding("ok", subject, str(folder))


def _shipped() -> Iterator[Finding]:
    samples = sorted(paths.sample_docs_dir().glob("*.*"))
    names = ", ".join(f"sample:{item.stem}" for item in samples)
    yield Finding("ok" if samples else "wrong", "samples", names or f"none in {paths.sample_docs_dir()}")
    themes = [item for folder in paths.themes_dirs() for item in sorted(folder.glob("*.toml"))]
    yield Finding("ok" if themes else "wrong", "themes", ", ".join(item.stem for item in themes) or "none")


def _terminal() -> Iterator[Finding]:
    term = os.environ.get("TERM", "")
    yield Finding("note" if term in ("", "dumb") else "ok", "terminal", f"TERM={term or '(not set)'}")
    encoding = (sys.stdout.encoding or "").lower()
    if not encoding.startswith("utf"):
        yield Finding("note", "encoding", f"{encoding or 'none'}: other characters are written as escapes")
    colour = "NO_COLOR is set" if "NO_COLOR" in os.environ else os.environ.get("COLORTERM", "") or "not announced"
    yield Finding("ok", "colours", colour)


def _settings() -> Iterator[Finding]:
    try:
        resolved = load_settings({})
    except ConfigError as error:
        yield Finding("wrong", "settings", error.message + (f" {error.hint}" if error.hint else ""))
        return
    for name in fields():
        if resolved.sources[name] != "default":
            value = getattr(resolved.settings, name)
            yield Finding("ok", "settings", f"{name} = {value!r} ({resolved.sources[name]})")
    yield Finding(
        "ok", "model", resolved.settings.model + (" (no model)" if resolved.settings.model == "guide" else "")
    )


def _keys() -> Iterator[Finding]:
    from roamtui.models.providers import PROVIDERS
    from roamtui.models.select import BASE_URL_KEY

    names = dict.fromkeys([BASE_URL_KEY, *(name for provider in PROVIDERS for name in provider.key_names)])
    found = [name for name in names if os.environ.get(name, "").strip()]
    yield Finding("ok", "keys", ", ".join(found) + " (values are never shown)" if found else "none in the environment")
