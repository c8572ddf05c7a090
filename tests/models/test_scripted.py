"""The scripted model: a file played turn by turn, with section ids looked up in what was shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roamtui.errors import ConfigError
from roamtui.models.base import Finish, Request, Text, Usage
from roamtui.models.scripted import ScriptedModel, parse_script
from roamtui.models.shown_ids import ShownIds
from tests.models.conftest import collect, fails

OUTLINE = """\
Rules.

[240c57e1] (preamble) manual.md · 30 tok
[855e11c9] # Models · 2 sub · 1.2k tok
    What models there are.
[d4c192e2] ## Model Dropdown · 310 tok
[e45f855b] ## Model Dropdown · 2 sub · 12 tok
[11111111] ### Keys · 5 tok
[22222222] # Tools · no text of its own
[33333333] ## Keys · and locks · 40 tok
[… 3 more: list_children("22222222")]
"""
SEARCH = '1 hits for "beans":\n[44444444] Plants › Beans · 310 tok · open\n    Beans climb.'
EXCERPT = (
    "[5555.66666666] Manual › Setup › Linux · lines 12-40 · 310 tok · part 2 of 5\n--- 0123\n[77777777] fake\n--- 0123"
)


def write(tmp_path: Path, script: object) -> ScriptedModel:
    """Return the model that plays a script."""
    path = tmp_path / "script.json"
    path.write_text(script if isinstance(script, str) else json.dumps(script))
    return ScriptedModel.from_file(path)


def conversation(*more: str) -> Request:
    """Return a request whose system message ends in an outline, with results of tools."""
    tools = [{"role": "tool", "tool_call_id": "x", "content": text} for text in more]
    messages = [{"role": "system", "content": OUTLINE}, {"role": "user", "content": "Which [99999999] # Trap?"}, *tools]
    return Request(model="scripted", messages=messages)


async def test_turns_are_played_in_order(tmp_path: Path) -> None:
    calls = [{"name": "expand_section", "arguments": {"section_ids": ["$id:Models › Model Dropdown", "x"]}}]
    script = [
        {"reasoning": "The outline  names it.", "tool_calls": calls, "usage": {"input": 5, "output": 2}},
        {"text": "Below the box [[$id:Keys · and locks|a key]].\n", "match": "Trap"},
    ]
    model = write(tmp_path, script)
    assert model.name == "scripted:script.json"
    turn, deltas, error = await collect(model, conversation())
    assert error is None
    assert turn.reasoning == "The outline  names it."
    assert json.loads(turn.tool_calls[0].arguments) == {"section_ids": ["d4c192e2", "x"]}
    assert turn.usage == Usage(input=5, output=2)
    assert deltas[-1] == Finish("tool_calls")
    turn, deltas, error = await collect(model, conversation())
    assert error is None
    assert turn.text == "Below the box [[33333333|a key]].\n"
    assert sum(isinstance(delta, Text) for delta in deltas) > 3
    assert "2 turns" in (await fails(model, conversation())).message


async def test_failures_can_be_played(tmp_path: Path) -> None:
    error = {"kind": "rate_limit", "message": "slow down", "retry_after": 2}
    model = write(tmp_path, [{"text": "half", "error": error}, {"text": "half", "finish": ""}, {"finish": "length"}])
    turn, _, raised = await collect(model, conversation())
    assert turn.text == "half"
    assert raised is not None
    assert (raised.kind, raised.message, raised.retry_after) == ("rate_limit", "slow down", 2)
    assert (await fails(model, conversation())).kind == "truncated"
    turn, _, _ = await collect(model, conversation())
    assert turn.finish == "length"


async def test_broken_arguments_can_be_played(tmp_path: Path) -> None:
    model = write(tmp_path, [{"tool_calls": [{"name": "expand_section", "arguments": '{"section_ids": ['}]}])
    turn, _, error = await collect(model, conversation())
    assert error is None
    assert turn.tool_calls[0].arguments == '{"section_ids": ['


async def test_a_turn_that_does_not_fit_says_so(tmp_path: Path) -> None:
    model = write(tmp_path, [{"match": "beans", "text": "x"}])
    assert "expects “beans”" in (await fails(model, conversation())).message


async def test_a_section_that_was_never_shown_is_an_error(tmp_path: Path) -> None:
    model = write(tmp_path, [{"text": "[[$id:Nowhere]]"}])
    assert "Nowhere" in (await fails(model, conversation())).message


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("Models", "855e11c9"),
        ("Model Dropdown", "d4c192e2"),
        ("Models › Model Dropdown", "d4c192e2"),
        ("Model Dropdown › Keys", "11111111"),
        ("Models › Model Dropdown › Keys", "11111111"),
        ("Keys · and locks", "33333333"),
        ("Tools", "22222222"),
        ("manual.md", "240c57e1"),
        ("Beans", "44444444"),
        ("Plants › Beans", "44444444"),
        ("Setup › Linux", "5555.66666666"),
    ],
)
def test_ids_are_found_by_the_end_of_their_path(path: str, id: str) -> None:
    assert ShownIds(conversation(SEARCH, EXCERPT).messages).find(path) == id


@pytest.mark.parametrize(
    "script",
    [
        "",
        "not json",
        "{}",
        '[{"txt": "typing error"}]',
        '[{"text": 7}]',
        '[{"tool_calls": [{"arguments": {}}]}]',
        '[{"error": {"kind": "unheard_of"}}]',
        "[" * 100_000,
        '"\\ud800"',
    ],
)
def test_wrong_scripts_are_refused_with_the_reason(tmp_path: Path, script: str) -> None:
    with pytest.raises(ConfigError) as caught:
        write(tmp_path, script)
    assert "script" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("path", ["missing.json", ".", "a\0b"])
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ConfigError):
        ScriptedModel.from_file(tmp_path / path)


def test_an_empty_script_is_a_script() -> None:
    assert parse_script(b"[]", "x") == ()
