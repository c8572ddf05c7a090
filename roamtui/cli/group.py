"""The commands as click sees them: a group that imports a command only to run it."""

from __future__ import annotations

import os
from importlib import import_module
from itertools import takewhile

import click

from roamtui.cli.main import COMMANDS, help_text
from roamtui.errors import ExitCode, UsageError
from roamtui.text import one_line

_SHELL = "_ROAMTUI_COMPLETE"
_KEY_OPTIONS = ("--api-key", "--api_key", "--apikey", "--key", "--token")


class LazyGroup(click.Group):
    """A group that knows its commands by name only."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"roamtui.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def get_help(self, ctx: click.Context) -> str:
        """Return the program's own help."""
        return help_text()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command's name; anything else in its place is a document to open."""
        for argument in takewhile(lambda item: item != "--", args):
            if argument.partition("=")[0] in _KEY_OPTIONS:
                raise UsageError(
                    "A key on the command line can be read by everybody on this machine.",
                    "Put it into the environment instead: export OPENAI_API_KEY=… (or your provider's variable).",
                )
        if args and args[0] not in COMMANDS:
            _refuse_mistyped(args[0])
            args = ["open", *args]
        return super().parse_args(ctx, args)


def _refuse_mistyped(name: str) -> None:
    """Raise `UsageError` when `name` is nearly a command and no file."""
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.7)
    if close and name.isalpha() and not os.path.lexists(name):
        raise UsageError(f"There is no command and no file {one_line(name)}.", f"Did you mean: roamtui {close[0]}")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def group() -> None:
    """Explore long documents in the terminal."""


def dispatch(arguments: list[str]) -> int:
    """Run the command that `arguments` name and return its exit code. Raises `RoamError`."""
    if _SHELL in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "roamtui", _SHELL, os.environ[_SHELL])
    try:
        with group.make_context("roamtui", arguments) as context:
            found = group.invoke(context)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.Abort:
        return ExitCode.CANCELLED
    except click.ClickException as error:
        where = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"{where.command_path} --help tells more." if where is not None else ""
        raise UsageError(error.format_message(), hint) from None
    return int(found) if isinstance(found, int) else ExitCode.DONE
