"""`roamtui search DOC WORDS`: sections found by words."""

from __future__ import annotations

from typing import Literal

import click

from roamtui.cli import console
from roamtui.cli.documents import open_documents
from roamtui.cli.options import DOCUMENT_OPTIONS, complete_document, resolve, with_options
from roamtui.errors import ExitCode
from roamtui.text import one_line


@click.command("search")
@click.argument("document", metavar="DOC", shell_complete=complete_document)
@click.argument("words", nargs=-1, required=True, metavar="WORDS…")
@click.option(
    "-k",
    "count",
    type=click.IntRange(1, 100),
    default=5,
    metavar="N",
    help="How many sections.  [default: 5]",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people or for programs.  [default: text]",
)
@with_options(DOCUMENT_OPTIONS)
def command(document: str, words: tuple[str, ...], count: int, style: Literal["text", "json"], **flags: object) -> int:
    """Find sections by words, best first. Ends with exit code 3 when there are none."""
    from roamtui.search.lexical import LexicalIndex

    library = open_documents((document,), resolve(flags).settings)
    index = LexicalIndex(library)
    index.build()
    found = []
    for item in index.search(" ".join(words), count):
        place = library.find(item.ref)
        if place is not None:
            found.append((item, place.path))
    if style == "json":
        console.write_json(
            [
                {
                    "id": item.ref,
                    "path": path,
                    "first_line": item.first_line,
                    "last_line": item.last_line,
                    "score": item.score,
                    "snippet": item.snippet,
                }
                for item, path in found
            ]
        )
    else:
        for item, path in found:
            lines = f"{item.first_line}–{item.last_line}" if item.last_line > item.first_line else item.first_line
            console.write(f"[{item.ref}] {one_line(' › '.join(path))} · L{lines}\n    {one_line(item.snippet)}")
    if not found:
        console.say("No section has these words.")
    return ExitCode.DONE if found else ExitCode.NOT_FOUND
