"""The generated parts of README.md, the manual and the docs: keys, `--help` texts, events, from the program itself.

`python -m tests.tools.readme --write` writes them; a test holds them true.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import click

from roamtui import events
from roamtui.cli.group import group
from roamtui.cli.main import COMMANDS
from roamtui.cli.main import help_text as main_help
from roamtui.tui.commands import COMMANDS as SCREEN
from roamtui.tui.commands import PLACES, Command, key_name

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 96
"""Columns of a help text in the README."""
SHOWN = ("ask", "outline", "show", "search")
"""Commands whose help the README shows."""

_BLOCK = re.compile(r"(<!-- begin (?P<name>[a-z]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
_MANUAL_KEYS = re.compile(r"(?<=\ntyped\.\n\n).*?(?=## How to change keys\n)", re.DOTALL)


def generated_files() -> dict[Path, str]:
    """Return what the files with generated parts should hold."""
    manual = ROOT / "sample_docs" / "manual.md"
    with_blocks = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {
        **{path: _BLOCK.sub(_block, path.read_text(encoding="utf-8")) for path in with_blocks},
        manual: _MANUAL_KEYS.sub(lambda _: _manual_keys(), manual.read_text(encoding="utf-8"), count=1),
    }


def _block(match: re.Match[str]) -> str:
    return match[1] + BLOCKS[match["name"]]() + match[3]


def _keys_of(command: Command) -> str:
    return " ".join(f"`{key_name(key)}`" for key in command.keys)


def _with_keys(place: str) -> list[Command]:
    return [command for command in SCREEN if command.where[0] == place and command.keys]


def _readme_keys() -> str:
    lines = ["| key | what it does |", "|---|---|"]
    for place, title in PLACES.items():
        found = _with_keys(place)
        lines += [f"| | **{title}** |"] if found else []
        lines += [f"| {_keys_of(command).replace('|', chr(92) + '|')} | {command.help} |" for command in found]
    return "\n".join(lines) + "\n"


def _manual_keys() -> str:
    parts = []
    for place, title in PLACES.items():
        lines = [f"- {_keys_of(command)} {command.title.lower()}: {command.help}" for command in _with_keys(place)]
        if lines:
            parts.append(f"### {title}\n\n" + "\n".join(lines) + "\n\n")
    return "".join(parts)


def help_text(name: str) -> str:
    """Return the `--help` text of a command."""
    top = click.Context(group, info_name="roamtui", terminal_width=WIDTH, max_content_width=WIDTH)
    command = group.get_command(top, name)
    assert command is not None
    context = click.Context(
        command,
        info_name=name,
        parent=top,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context)


def _help() -> str:
    texts = [f"```\n$ roamtui {name} --help\n{help_text(name)}\n```\n" for name in SHOWN]
    return "\n".join([f"```\n$ roamtui --help\n{main_help()}```\n", *texts])


def _events() -> str:
    """Return a section per event: what it says, and a line per field, from the source's own docstrings."""
    tree = ast.parse(inspect.getsource(events))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    inner = ("DocumentInfo", "Hit", "TokenUsage", "Citation")
    names = [kind.__name__ for kind in get_args(events.AnyEvent)]
    return "".join(f"### {name}\n\n{_class_text(classes[name])}\n" for name in (*names, *inner))


def _class_text(node: ast.ClassDef) -> str:
    lines = [inspect.cleandoc(ast.get_docstring(node) or "").replace("\n", " "), ""]
    for place, item in enumerate(node.body):
        if not isinstance(item, ast.AnnAssign):
            continue
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        says = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            says = ": " + " ".join(after.value.value.split())
        kind = ast.unparse(item.annotation).replace("|", "or")
        lines.append(f"- `{ast.unparse(item.target)}` ({kind}){says}")
    return "\n".join(lines).rstrip() + "\n"


BLOCKS: dict[str, Callable[[], str]] = {"keys": _readme_keys, "help": _help, "events": _events}
"""Generated parts of the README, by the name in their markers."""


def stale() -> list[Path]:
    """Return the files whose generated parts are not what they should be."""
    return [path for path, text in generated_files().items() if path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Check the files, or write them with `--write`."""
    assert set(SHOWN) <= set(COMMANDS)
    found = stale()
    for path in found:
        print(path.relative_to(ROOT))
        if "--write" in sys.argv[1:]:
            path.write_text(generated_files()[path], encoding="utf-8")
    return 1 if found and "--write" not in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
