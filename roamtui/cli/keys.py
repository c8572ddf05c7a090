"""`roamtui keys`: what every key of the screen does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from roamtui.cli import console
from roamtui.cli.options import resolve


@click.command("keys")
@click.option("--ids", is_flag=True, help="With the command ids that the settings file takes.")
def command(ids: bool) -> None:
    """List the keys of the screen, with your own on top.

    To change one, write its command's id and a key into the settings file, below [keys]: find = "ctrl+f".
    """
    from roamtui.tui.keymap import build_keymap

    keymap = build_keymap(resolve({}).settings.keys)
    console.write("\n".join(_table(keymap.keys, with_ids=ids)))
    for problem in keymap.problems:
        console.say(f"note: {problem}")


def _table(keys: Mapping[str, tuple[str, ...]], *, with_ids: bool) -> Iterator[str]:
    from roamtui.text import width
    from roamtui.tui.commands import COMMANDS, PLACES, key_name

    shown = {item.id: ", ".join(key_name(key) for key in keys[item.id]) or "(none)" for item in COMMANDS}
    wide = max(width(text) for text in shown.values())
    longest = max(len(item.id) for item in COMMANDS)
    for place, title in PLACES.items():
        commands = [item for item in COMMANDS if place in item.where[:1]]
        if not commands:
            continue
        yield title
        for item in commands:
            name = f"{item.id:<{longest}}  " if with_ids else ""
            yield f"  {shown[item.id]}{' ' * (wide - width(shown[item.id]))}  {name}{item.help}"
        yield ""
