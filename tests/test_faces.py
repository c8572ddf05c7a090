"""One run, three readers: screen, `ask --format json` and the trace file show one equal state."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from roamtui import events as ev
from roamtui import paths
from roamtui.config import load_settings
from roamtui.trace.read import read_trace
from roamtui.trace.reducer import reduce
from roamtui.trace.state import TraceState, comparable_state
from roamtui.tui.app import RoamApp
from roamtui.tui.run import workshop
from tests.cli.running import process
from tests.support.documents import GARDEN
from tests.support.screen import Stage

QUESTION = "How long should the stake be?"
SCRIPT = [
    {"tool_calls": [{"name": "search_sections", "arguments": {"query": "stake"}}]},
    {
        "text": "I look closer.",
        "tool_calls": [
            {"name": "expand_section", "arguments": {"section_ids": ["$id:Tomatoes", "$id:Beans"], "reason": "plants"}},
            {"name": "list_children", "arguments": {"id": "$id:Soil"}},
        ],
        "usage": {"input": 900, "output": 40},
    },
    {
        "reasoning": "It is there.",
        "text": "150 cm [[$id:Tomatoes|a stake of 150 cm]], not 160 [[$id:Beans|a stake of 160 cm]].",
        "usage": {"input": 1200, "output": 30},
    },
]


def newest_trace() -> Path:
    return max(paths.traces_dir().glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)


async def test_screen_command_line_and_trace_agree(tmp_path: Path) -> None:
    document = tmp_path / "garden.md"
    document.write_text(GARDEN * 8, "utf-8")  # large enough to be roamed
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT), "utf-8")
    model = f"scripted:{script}"

    asked = process("ask", str(document), QUESTION, "--model", model, "--format", "json")
    assert asked.code == 0, asked.err
    from_ask = msgspec.json.decode(asked.out, type=TraceState)
    ask_trace = read_trace(newest_trace())

    settings = load_settings({"model": model}).settings
    app = RoamApp([str(document)], settings, workshop=workshop(settings))
    async with app.run_test(size=(140, 45)) as pilot:
        on = Stage(app, pilot)
        await on.ask(QUESTION)
        from_screen = on.main.asking.bridge.state
    screen_trace = read_trace(newest_trace())

    states = [from_ask, reduce(ask_trace.events), from_screen, reduce(screen_trace.events)]
    assert from_ask.questions[-1].outcome == "answered"
    assert [item.status for item in from_ask.questions[-1].citations] == ["exact", "missing"]
    first, *others = [comparable_state(state) for state in states]
    assert all(other == first for other in others)
    events = [[ev.comparable(event) for event in trace.events] for trace in (ask_trace, screen_trace)]
    assert events[0] == events[1]
