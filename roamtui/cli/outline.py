"""`roamtui outline DOC`: what a model sees before it opens anything."""

from __future__ import annotations

from typing import Literal

import click

from roamtui.cli import console
from roamtui.cli.documents import open_documents
from roamtui.cli.options import DEFAULTS, DOCUMENT_OPTIONS, complete_document, resolve, with_options


@click.command("outline")
@click.argument("documents", nargs=-1, required=True, metavar="DOC…", shell_complete=complete_document)
@click.option("--tokens", type=int, metavar="N", help=f"Budget of the outline.  [default: {DEFAULTS.outline_tokens}]")
@click.option(
    "--marker",
    type=click.Choice(["short", "full"]),
    default="short",
    help="Lines as models see them, or the comment of the original Roaming RAG article.  [default: short]",
)
@with_options(DOCUMENT_OPTIONS)
def command(documents: tuple[str, ...], tokens: int | None, marker: Literal["short", "full"], **flags: object) -> None:
    """Print the abridged outline, exactly as a model sees it."""
    from roamtui.document.outline import build_outline

    settings = resolve(flags).settings
    budget = settings.outline_tokens if tokens is None else tokens
    outline = build_outline(open_documents(documents, settings), budget, marker=marker)
    console.write(outline.text)
