"""The command line: a table of commands, each imported when it is run, and the edge where errors become words."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from itertools import takewhile
from typing import NoReturn

import click

from roamtui import __version__
from roamtui.errors import ExitCode, RoamError, UsageError

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

HELP = """Explore long documents in the terminal, by hand or with an agent whose every step you can see.

DOC is a file, `-` for standard input, or a sample: sample:manual, sample:handbook, sample:guide, sample:llms,
sample:hostile.

\b
  roamtui sample:manual                        open the manual on the screen
  roamtui ask report.md "What was decided?"    ask without the screen
"""
"""What `roamtui --help` says above the commands."""

_SHELL = "_ROAMTUI_COMPLETE"
_KEY_OPTIONS = ("--api-key", "--api_key", "--apikey", "--key", "--token")


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        command = import_module(f"roamtui.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command's name; anything else in its place is a document to open."""
        for argument in takewhile(lambda item: item != "--", args):
            if argument.partition("=")[0] in _KEY_OPTIONS:
                raise UsageError(
                    "A key on the command line can be read by everybody on this machine.",
                    "Put it into the environment instead: export OPENAI_API_KEY=… (or your provider's variable).",
                )
        if args and args[0] not in COMMANDS and args[0] not in ("-h", "--help", "--version"):
            args = ["open", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    options_metavar="",
    subcommand_metavar="DOC… | COMMAND …",
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="roamtui %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Print the help when no command is given; the commands do the rest."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; every error becomes one sentence on standard error."""
    _take_any_text()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        return _tell(error.format_message(), _usage_hint(error), ExitCode.USAGE)
    except RoamError as error:
        return _tell(error.message, error.hint, error.exit_code)
    except BrokenPipeError:
        from roamtui.cli import console

        console.give_up_output()
        return ExitCode.BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.CANCELLED
    except OSError as error:
        return _tell(f"The system refused: {error.strerror or error}.", "", ExitCode.FAILED)
    except Exception as error:  # the edge: nothing reaches the user as a traceback
        return _tell_crash(error)


def _take_any_text() -> None:
    """Let both streams take any text: what their encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _dispatch(arguments: list[str]) -> int:
    if _SHELL in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "roamtui", _SHELL, os.environ[_SHELL])
    with group.make_context("roamtui", arguments) as context:
        found = group.invoke(context)
    return int(found) if isinstance(found, int) else ExitCode.DONE


def _usage_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path} --help tells more." if context is not None else ""


def _tell(message: str, hint: str, code: ExitCode) -> int:
    from roamtui.cli import console
    from roamtui.config import learn_secrets

    learn_secrets(os.environ)
    try:
        console.say(f"roamtui: {message}")
        if hint:
            console.say_indented(hint)
    except OSError:  # standard error is gone as well: the exit code still tells
        console.give_up_output()
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
        from roamtui.cli import console

        console.give_up_output()
        code = code or ExitCode.FAILED
    sys.exit(code)
