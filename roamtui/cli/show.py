"""`roamtui show DOC ID…`: sections, as they stand in the document."""

from __future__ import annotations

import sys

import click

from roamtui.cli import console
from roamtui.cli.documents import open_documents
from roamtui.cli.options import DOCUMENT_OPTIONS, complete_document, resolve, with_options
from roamtui.errors import UsageError
from roamtui.text import is_displayable, one_line


@click.command("show")
@click.argument("document", metavar="DOC", shell_complete=complete_document)
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--raw", is_flag=True, help="The document's own bytes, with nothing made visible and no header.")
@with_options(DOCUMENT_OPTIONS)
def command(document: str, ids: tuple[str, ...], raw: bool, **flags: object) -> None:
    """Print sections with everything below them. An ID is one from `outline` or `search`, or L and a line number."""
    library = open_documents((document,), resolve(flags).settings)
    found = library.documents[0]
    sections = []
    for ref in ids:
        line = ref[1:] if ref[:1] in "Ll" and ref[1:].isdecimal() else ""
        section = found.at_line(int(line)) if line else found.get(ref.strip("[]").lower())
        if section is None:
            raise UsageError(
                f"{one_line(document)} has no {'line' if line else 'section'} {one_line(line or ref)[:80]}.",
                f"roamtui outline {one_line(document)} lists the ids.",
            )
        sections.append(section)
    if raw:
        data = b"".join(found.source[section.start : section.end] for section in sections)
        if sys.stdout.isatty() and not is_displayable(data.decode("utf-8", "replace").replace("\r\n", "\n")):
            raise UsageError(
                "This text holds characters that a terminal would act on.", "Leave out --raw, or send it to a file."
            )
        console.write_bytes(data)
        return
    for number, section in enumerate(sections):
        first, _ = found.lines(section)
        last = found.line_of(max(section.start, section.end - 1))
        path = " › ".join(found.path(section)) or found.name
        console.write(("\n" if number else "") + f"{one_line(path)} · lines {first}–{last}\n")
        console.write(found.full_text(section).rstrip("\r\n"))
