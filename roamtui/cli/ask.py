"""`roamtui ask DOC QUESTION`: one question without the screen."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Literal

import click

from roamtui.cli import console
from roamtui.cli.options import DOCUMENT_OPTIONS, MODEL_OPTIONS, complete_document, resolve, with_options
from roamtui.config import Settings
from roamtui.errors import UsageError
from roamtui.text import redact

Style = Literal["text", "json", "jsonl"]


@click.command("ask")
@click.argument("document", metavar="DOC", shell_complete=complete_document)
@click.argument("question", metavar="QUESTION")
@click.option(
    "--continue",
    "earlier",
    metavar="TRACE",
    shell_complete=complete_document,
    help="Go on from the trace file of an earlier session.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    help="The answer, the final state, or every event as it happens.  [default: text]",
)
@with_options(MODEL_OPTIONS, DOCUMENT_OPTIONS)
def command(document: str, question: str, earlier: str | None, style: Style, **flags: object) -> int:
    """Ask a document one question.

    The steps go to standard error as they happen, the answer to standard output. Without --model the built-in
    guide answers with quotes and sends nothing anywhere.

    Exit code: 0 answered, 3 not in the document, 4 a cap was reached, 1 something failed, 2 wrong usage,
    130 stopped.
    """
    if not question.strip():
        raise UsageError("The question is empty.", 'For example: roamtui ask sample:manual "How do I copy an answer?"')
    settings = resolve(flags).settings
    return asyncio.run(_ask(document, question, earlier, style, settings))


async def _ask(document: str, question: str, earlier: str | None, style: Style, settings: Settings) -> int:
    import msgspec

    from roamtui.cli import printer
    from roamtui.cli.documents import open_documents
    from roamtui.engine import make_session
    from roamtui.events import ENDINGS, Event
    from roamtui.trace.read import read_trace

    library = open_documents((document,), settings)
    session = make_session(
        library, settings, interactive=False, notice=lambda sentence: console.say(f"note: {sentence}")
    )
    ending: Event | None = None
    try:
        if earlier is not None:
            session.resume(read_trace(Path(earlier)))
        with suppress(NotImplementedError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, session.cancel)
        async with aclosing(session.run(question)) as events:
            async for event in events:
                if style == "jsonl":
                    console.write_json(msgspec.to_builtins(event))
                for line in printer.step_lines(event):
                    console.say(line)
                if isinstance(event, ENDINGS):
                    ending = event
        console.say(printer.summary(session.state))
        if session.trace is not None and session.trace.path.exists():
            console.say(f"trace: {session.trace.path}")
    finally:
        await session.aclose()
    assert ending is not None
    if style == "json":
        console.write_json(msgspec.to_builtins(session.state))
    elif style == "text":
        text = printer.ending_text(ending, lambda ref: library.find(ref) is not None)
        if text:
            console.write(redact(text))
    sys.stdout.flush()
    return printer.EXIT_CODES[type(ending)]
