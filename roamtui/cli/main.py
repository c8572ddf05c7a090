"""The program's edge: help at once, one command imported and run, and every error as one sentence."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from roamtui.errors import ExitCode, RoamError

COMMANDS = {
    "open": "Open documents on the screen; `roamtui DOC` does the same.",
    "ask": "Ask a document one question and print the answer.",
    "outline": "Print the abridged outline, exactly as a model sees it.",
    "show": "Print sections by id.",
    "search": "Find sections by words.",
    "cache": "Look at the cache of model answers, or empty it.",
    "keys": "List the keys of the screen.",
    "themes": "List the colour themes.",
    "doctor": "Check this installation.",
}
"""Commands in the order of the help, with their one-line help."""

HELP = """\
Usage: roamtui DOC…
       roamtui COMMAND …

  Explore long documents in the terminal, by hand or with an agent whose every
  step you can see.

  DOC is a file or a sample: sample:manual, sample:handbook, sample:guide,
  sample:llms, sample:hostile. Without the screen, `-` is standard input.

    roamtui sample:manual                        open the manual on the screen
    roamtui ask report.md "What was decided?"    ask without the screen

Commands:
{commands}

  roamtui COMMAND --help tells more about one.

Options:
  --version   Print the version.
  -h, --help  Print this.
"""


def help_text() -> str:
    """Return what `roamtui --help` prints. Written here so that help need not load the command line library."""
    longest = max(map(len, COMMANDS))
    return HELP.format(commands="\n".join(f"  {name:<{longest}}  {text}" for name, text in COMMANDS.items()))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; every error becomes one sentence on standard error."""
    _take_any_text()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except RoamError as error:
        return _tell(error.message, error.hint, error.exit_code)
    except BrokenPipeError:
        _drop_output()
        return ExitCode.BROKEN_PIPE
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except OSError as error:
        return _tell(f"The system refused: {error.strerror or error}.", "", ExitCode.FAILED)
    except Exception as error:  # the edge: nothing reaches the user as a traceback
        return _tell_crash(error)


def _run(arguments: list[str]) -> int:
    if "_ROAMTUI_COMPLETE" not in os.environ:
        if not arguments or arguments[0] in ("-h", "--help"):
            sys.stdout.write(help_text())
            return ExitCode.DONE
        if arguments[0] == "--version":
            from roamtui import __version__

            sys.stdout.write(f"roamtui {__version__}\n")
            return ExitCode.DONE
    from roamtui.cli.group import dispatch

    return dispatch(arguments)


def _take_any_text() -> None:
    """Let both streams take any text: what their encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Point standard output at nothing: its reader went away and the interpreter must not complain at exit."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, target)
    os.close(nothing)


def _tell(message: str, hint: str, code: ExitCode) -> int:
    from roamtui.cli import console
    from roamtui.config import learn_secrets

    learn_secrets(os.environ)
    try:
        console.say(f"roamtui: {message}")
        if hint:
            console.say_indented(hint)
    except OSError:  # standard error is gone as well: the exit code still tells
        _drop_output()
    return code


def _tell_crash(error: Exception) -> int:
    from roamtui.crash import write_note

    note = write_note(error)
    hint = f"What happened is written to {note}." if note else ""
    return _tell(f"This is a fault of roamtui ({type(error).__name__}).", hint, ExitCode.FAILED)


def entry() -> NoReturn:
    """Run the program and leave with its exit code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
        code = code or ExitCode.FAILED
    sys.exit(code)
