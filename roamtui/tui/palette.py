"""The command palette: the commands that make sense without a cursor position, found by typing."""

from __future__ import annotations

from roamtui.tui.commands import COMMANDS
from roamtui.tui.keymap import Keymap
from roamtui.tui.screens.picker import Choice, Picker, among


def palette_dialog(keymap: Keymap) -> Picker:
    """Return a dialog that gives the id of the chosen command."""
    choices = [
        Choice(command.id, command.title, command.help, keymap.shown(command.id))
        for command in COMMANDS
        if command.listed
    ]
    return Picker("Commands", among(choices), placeholder="type to search")
