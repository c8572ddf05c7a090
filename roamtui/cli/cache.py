"""`roamtui cache`: the answers of models that are kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from roamtui import paths
from roamtui.cli import console
from roamtui.cli.options import resolve

if TYPE_CHECKING:
    from roamtui.models.cache import ResponseCache


@click.group("cache", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Look at the answers of models that are kept on disk, or delete them."""
    if context.invoked_subcommand is None:
        context.invoke(info)


@command.command("info")
def info() -> None:
    """Print how much is kept, and where."""
    cache = _cache()
    try:
        if not cache.folder.exists():
            console.write(f"The cache is empty.\n{cache.folder}")
            return
        found = cache.info()
    finally:
        cache.close()
    console.write(f"{found.entries:,} calls, {found.bytes:,} bytes\n{found.path}")


@command.command("clear")
def clear() -> None:
    """Delete every kept answer."""
    cache = _cache()
    try:
        if cache.folder.exists():
            cache.clear()
    finally:
        cache.close()
    console.say("The cache is empty.")


@command.command("path")
def path() -> None:
    """Print the folder of the cache."""
    console.write(str(_cache().folder))


def _cache() -> ResponseCache:
    from roamtui.models.cache import ResponseCache
    from roamtui.models.select import CACHE_FOLDER

    return ResponseCache(paths.cache_dir() / CACHE_FOLDER, size_limit=resolve({}).settings.cache_bytes)
