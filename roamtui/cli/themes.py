"""`roamtui themes`: the colour themes that are found, and why others are not used."""

from __future__ import annotations

import click

from roamtui import paths
from roamtui.cli import console
from roamtui.errors import ExitCode


@click.group("themes", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the colour themes; a TOML file in your own folder adds one."""
    if context.invoked_subcommand is None:
        context.invoke(list_themes)


@command.command("list")
def list_themes() -> int:
    """List the themes that can be used, and files that cannot with the reason."""
    from roamtui.tui.themes import load_themes

    found = load_themes(paths.themes_dirs())
    for theme in found.usable:
        console.write(f"{theme.name}  ({'dark' if theme.dark else 'light'})")
    for path, reason in found.refused:
        console.say(f"note: {path} is not used: {reason}.")
    return ExitCode.DONE


@command.command("path")
def print_paths() -> None:
    """Print the folders in which themes are looked for, your own last."""
    for folder in paths.themes_dirs():
        console.write(str(folder))
