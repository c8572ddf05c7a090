"""`roamtui open DOC…`: the screen."""

from __future__ import annotations

import sys

import click

from roamtui.cli.options import DOCUMENT_OPTIONS, MODEL_OPTIONS, complete_document, resolve, with_options
from roamtui.errors import UsageError


@click.command("open")
@click.argument("documents", nargs=-1, required=True, metavar="DOC…", shell_complete=complete_document)
@click.option("--theme", metavar="NAME", help="Colour theme; `roamtui themes` lists them.")
@with_options(MODEL_OPTIONS, DOCUMENT_OPTIONS)
def command(documents: tuple[str, ...], **flags: object) -> int:
    """Open documents on the screen. `roamtui DOC` does the same."""
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        raise UsageError(
            "There is no terminal to open the screen on.",
            f'Without one, ask: roamtui ask {documents[0]} "your question"; roamtui outline and show print the text.',
        )
    resolved = resolve(flags)
    from roamtui.tui.run import run_screen

    return run_screen(documents, resolved)
