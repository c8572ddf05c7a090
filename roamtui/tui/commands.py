"""One table of everything the screen can do. It feeds bindings, palette, footer, help, keymap files and README.

Imports nothing of the screen's library, so that the command line can print it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Where = Literal["everywhere", "reading", "outline", "sections", "talk", "typing"]

PLACES: dict[Where, str] = {
    "everywhere": "Everywhere",
    "reading": "In the outline and the sections",
    "outline": "In the outline",
    "sections": "In the sections",
    "talk": "In the conversation",
    "typing": "While typing a question",
}
"""Where a key acts, in the order of the help screen. `reading` and what is narrower never acts in an input."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing the screen can do."""

    id: str
    """Name in keymap files; never changes."""
    title: str
    """What the palette and the help screen call it."""
    help: str
    """What it does, in one sentence."""
    keys: tuple[str, ...]
    """Default keys, the one to show first; empty when it is reached by the palette only."""
    where: tuple[Where, ...]
    """Places in which its keys act."""
    label: str = ""
    """Word in the footer; empty when it is not shown there."""
    listed: bool = True
    """Whether the palette lists it: it makes sense without a cursor position."""


EVERYWHERE: tuple[Where, ...] = ("everywhere",)
READING: tuple[Where, ...] = ("reading",)
BROWSING: tuple[Where, ...] = ("reading", "talk")

COMMANDS: tuple[Command, ...] = (
    # -- reading by hand --------------------------------------------------------------------
    Command(
        "toggle",
        "Open or close",
        "Open or close the branch or section under the cursor.",
        ("enter",),
        READING,
        "open",
        listed=False,
    ),
    Command(
        "preview",
        "Preview section",
        "Show the section under the cursor without opening it.",
        ("space",),
        ("outline",),
        "preview",
        listed=False,
    ),
    Command("open", "Open section", "Open the section under the cursor in the sections pane.", ("o",), READING),
    Command("close", "Close section", "Close the section under the cursor.", ("x",), READING, "close"),
    Command(
        "pin", "Pin section", "Keep the section open when room is needed, or let it go again.", ("p",), READING, "pin"
    ),
    Command(
        "ask", "Ask about this section", "Start a question about the section under the cursor.", ("a",), READING, "ask"
    ),
    Command(
        "find", "Find in document", "Find words or a regular expression in the text.", ("slash",), BROWSING, "find"
    ),
    Command("find-next", "Next match", "Go to the next match.", ("n",), READING),
    Command("find-previous", "Previous match", "Go to the match before.", ("N",), READING),
    Command(
        "goto", "Go to section", "Go to a section by its title, its id or a line number.", ("g",), BROWSING, "go to"
    ),
    Command("back", "Back", "Go back to where you were.", ("alt+left",), EVERYWHERE),
    Command("forward", "Forward", "Go forward again.", ("alt+right",), EVERYWHERE),
    Command("copy", "Copy section", "Copy the text of the section under the cursor.", ("y",), READING, "copy"),
    Command("copy-all", "Copy section with subsections", "Copy the section and all below it.", ("Y",), READING),
    # -- asking -----------------------------------------------------------------------------
    Command("prompt", "Ask a question", "Go to the input line.", ("i",), BROWSING, "ask"),
    Command("examples", "Example questions", "Show questions this document can answer.", ("f3",), EVERYWHERE),
    Command(
        "history", "Earlier questions", "Choose one of the questions asked before.", ("ctrl+r",), EVERYWHERE, "earlier"
    ),
    Command("retry", "Ask again", "Send the last question again.", ("r",), ("talk",), "again"),
    Command(
        "copy-answer",
        "Copy answer",
        "Copy the last answer as Markdown, with titles and lines.",
        ("c",),
        BROWSING,
        "copy answer",
    ),
    Command(
        "model", "Choose model", "Choose who answers: the built-in guide or a model.", ("f4",), EVERYWHERE, "model"
    ),
    Command(
        "stop",
        "Stop",
        "Close what is on top, stop the agent, or leave the input.",
        ("escape",),
        EVERYWHERE,
        "stop",
        listed=False,
    ),
    # -- the trace --------------------------------------------------------------------------
    Command("trace", "Trace", "Look at what was sent and what came back, step by step.", ("f2",), EVERYWHERE, "trace"),
    Command("step-back", "Previous step", "Choose the step before in the trace.", ("left_square_bracket",), BROWSING),
    Command("step-on", "Next step", "Choose the next step in the trace.", ("right_square_bracket",), BROWSING),
    # -- the screen -------------------------------------------------------------------------
    Command("next-pane", "Next pane", "Move to the next pane.", ("tab",), EVERYWHERE),
    Command("previous-pane", "Previous pane", "Move to the pane before.", ("shift+tab",), EVERYWHERE),
    Command("zoom", "Zoom pane", "Give the whole screen to this pane, or take it back.", ("z",), BROWSING, "zoom"),
    Command("theme", "Next theme", "Change the colours.", ("ctrl+t",), EVERYWHERE),
    Command("open-document", "Open document", "Open another document by its path.", ("ctrl+o",), EVERYWHERE),
    Command("palette", "Commands", "Search all commands.", ("ctrl+p",), EVERYWHERE, "commands", listed=False),
    Command("help", "Help", "Show all keys.", ("question_mark", "f1"), EVERYWHERE, "help"),
    Command("quit", "Quit", "Leave; everything is in the trace file.", ("ctrl+q",), EVERYWHERE, "quit"),
)
"""Every command, in the order of the help screen."""

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}

_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def key_name(key: str) -> str:
    """Return how people write a key: `alt+left` is `alt+←`, `slash` is `/`, `f2` is `F2`."""
    *modifiers, last = key.split("+") if key != "+" else [key]
    if len(last) in (2, 3) and last[0] == "f" and last[1:].isdigit():
        last = last.upper()
    return "+".join([*modifiers, _NAMES.get(last, last)])
