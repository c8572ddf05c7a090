"""The table of commands, and the keys a user may put on them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from roamtui.tui.commands import BY_ID, COMMANDS, key_name
from roamtui.tui.keymap import build_keymap, normal_key
from tests.support.screen import stage


def test_ids_are_unique_and_every_command_says_what_it_does() -> None:
    assert len(BY_ID) == len(COMMANDS)
    for command in COMMANDS:
        assert command.title
        assert command.help.endswith(".")
        assert command.where


def test_the_table_is_read_without_the_screens_library() -> None:
    code = "import sys, roamtui.tui.commands, roamtui.tui.keymap; print({'textual', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_every_command_can_be_run_and_nothing_else() -> None:
    async with stage() as on:
        assert on.main.verbs.known() == frozenset(BY_ID)


def test_default_keys_are_spelled_as_the_library_spells_them_and_do_not_clash() -> None:
    for command in COMMANDS:
        for key in command.keys:
            assert normal_key(key) == key
    assert build_keymap({command.id: ",".join(command.keys) for command in COMMANDS if command.keys}).problems == ()


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("?", "question_mark"),
        ("ctrl+F", "ctrl+f"),
        ("Ctrl + Alt + x", "ctrl+alt+x"),
        ("shift+g", "G"),
        ("esc", "escape"),
        ("F12", "f12"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        (",", "comma"),
        ("ä", "ä"),
        ("hyper+x", None),
        ("f99", None),
        ("", None),
        ("ctrl+", None),
    ],
)
def test_keys_are_read_as_people_write_them(written: str, key: str | None) -> None:
    assert normal_key(written) == key


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"fnd": "f"}, "There is no command 'fnd'. Did you mean find?"),
        ({"[/]\x1b": "f"}, "There is no command"),
        ({"zoom": "ctrl+m"}, "terminals send ctrl+m as enter"),
        ({"zoom": "wheel"}, "is not a key"),
        ({"zoom": ""}, "no key is given"),
        ({"open": "g"}, "g already runs 'goto'"),
        ({"quit": "q"}, "would be typed into the question"),
        ({"zoom": "ctrl+c"}, "copies the selected text"),
        ({"zoom": "j"}, "moves the cursor"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused_with_a_reason(wishes: dict[str, str], reason: str) -> None:
    keymap = build_keymap(wishes)
    assert any(reason in problem for problem in keymap.problems), keymap.problems
    assert all("\x1b" not in problem for problem in keymap.problems)
    assert keymap.keys == build_keymap({}).keys


def test_two_commands_may_swap_their_keys() -> None:
    keymap = build_keymap({"open": "g", "goto": "o"})
    assert keymap.problems == ()
    assert (keymap.shown("open"), keymap.shown("goto")) == ("g", "o")


async def test_a_users_key_works_and_is_shown_and_the_old_one_is_free() -> None:
    async with stage(keys={"goto": "ctrl+g", "nonsense": "x"}) as on:
        assert on.shows("ctrl+g go to", "There is no command 'nonsense'")
        await on.press("g")
        assert not on.shows("title, id, or line number")
        await on.press("ctrl+g")
        await on.until(lambda: on.shows("title, id, or line number"), "the dialog")


async def test_palette_and_help_come_from_the_table() -> None:
    async with stage() as on:
        await on.press("question_mark")
        await on.until(lambda: on.shows("Keys", "Go back to where you were."), "the help")
        await on.press("escape", "ctrl+p")
        await on.until(lambda: on.shows("Commands", "Find in document"), "the palette")
        await on.type("theme")
        await on.until(lambda: on.shows("Next theme") and not on.shows("Find in document"), "the matches")
        before = on.app.theme
        await on.press("enter")
        await on.until(lambda: on.app.theme != before, "the next theme")


async def test_letters_type_in_the_input_and_act_in_the_panes() -> None:
    async with stage() as on:
        await on.press("i")
        await on.type("zxpg")
        assert on.main.prompt.value == "zxpg"
        assert on.main.arrangement.single is None
        await on.press("escape", "z")
        assert on.main.arrangement.single == "outline"


def test_keys_have_names_for_people() -> None:
    assert [key_name(key) for key in ("slash", "alt+left", "f2", "escape", "N")] == ["/", "alt+←", "F2", "esc", "N"]
