"""ask: answers, formats, endings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from roamtui import paths
from roamtui.errors import ExitCode
from roamtui.text import is_displayable
from roamtui.trace.read import read_trace
from roamtui.trace.reducer import reduce
from roamtui.trace.state import comparable_state
from tests.cli.running import Done, here, process

QUESTION = "How much is paid for each kilometre by bicycle?"
OPEN = {"name": "expand_section", "arguments": {"section_ids": ["$id:Bicycles"], "reason": "the heading says so"}}
ANSWER = "You get 0.15 [[$id:Bicycles|0.15 per kilometre for your own bicycle]]."


def script(tmp_path: Path, *turns: dict[str, Any]) -> str:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(list(turns)))
    return f"scripted:{file}"


def asked(capsys: pytest.CaptureFixture[str], model: str, *more: str) -> Done:
    return here(capsys, "ask", "sample:handbook", QUESTION, "--model", model, *more)


def test_the_answer_goes_out_and_the_steps_go_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = asked(capsys, script(tmp_path, {"tool_calls": [OPEN]}, {"text": ANSWER}))
    assert done.code == ExitCode.DONE
    assert done.out.startswith("You get 0.15 (")
    assert "Travel › How to travel › Bicycles, L" in done.out
    assert "[[" not in done.out
    assert "opens Travel › How to travel › Bicycles" in done.err
    assert "the heading says so" in done.err
    assert "answered · 2 steps" in done.err


def test_the_guide_answers_without_any_model(capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "ask", "sample:handbook", QUESTION)
    assert done.code == ExitCode.DONE
    assert "0.15 per kilometre" in done.out
    assert "guide (no model)" in done.err


def test_a_citation_that_does_not_hold_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "You get 0.99 [[$id:Bicycles|0.99 per kilometre]]."
    done = asked(capsys, script(tmp_path, {"tool_calls": [OPEN]}, {"text": wrong}))
    assert done.code == ExitCode.DONE
    assert "the words are not there" in done.out


def test_json_is_the_state_that_the_trace_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = script(tmp_path, {"tool_calls": [OPEN]}, {"text": ANSWER})
    printed = json.loads(asked(capsys, model, "--format", "json").out)
    (trace,) = paths.traces_dir().glob("*.jsonl")
    state = comparable_state(reduce(read_trace(trace).events))
    again = json.loads(json.dumps(state))
    assert {key: value for key, value in printed.items() if key == "sections"} == {"sections": again["sections"]}
    assert printed["questions"][0]["outcome"] == "answered"
    assert printed["questions"][0]["answer"] == again["questions"][0]["answer"]


def test_jsonl_is_every_event_and_the_same_as_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = script(tmp_path, {"tool_calls": [OPEN]}, {"text": ANSWER})
    done = asked(capsys, model, "--format", "jsonl")
    printed = [json.loads(line) for line in done.out.splitlines()]
    (trace,) = paths.traces_dir().glob("*.jsonl")
    written = [json.loads(line) for line in trace.read_text().splitlines()]
    assert written[0]["type"] == "Trace"
    assert printed == written[1:]
    assert printed[-1]["type"] == "Answered"


def test_what_is_not_in_the_document_is_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = {
        "tried": "the travel chapter",
        "missing": "any word on hovercraft",
        "suggestions": ["What about boats?"],
    }
    done = asked(capsys, script(tmp_path, {"tool_calls": [{"name": "give_up", "arguments": arguments}]}))
    assert done.code == ExitCode.NOT_FOUND
    for words in ("Not in this document.", "the travel chapter", "any word on hovercraft", "- What about boats?"):
        assert words in done.out


def test_a_cap_prints_what_there_is_and_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = script(tmp_path, {"tool_calls": [OPEN]}, {"text": ANSWER})
    done = asked(capsys, model, "--max-steps", "1")
    assert done.code == ExitCode.LIMIT
    assert "You get 0.15" in done.out
    assert "the number of steps ran out" in done.out


def test_a_failure_is_a_sentence_and_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = script(tmp_path, {"error": {"kind": "auth", "message": "The key was refused.\x1b[31m", "status": 401}})
    done = asked(capsys, model)
    assert (done.code, done.out) == (ExitCode.FAILED, "")
    assert "The key was refused." in done.err
    assert is_displayable(done.err)


@pytest.mark.faults
def test_whatever_a_model_writes_is_shown_inert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\x1b]52;c;QUJD\x07 \u202etxet [[deadbeef|no\x1b[31m]] \x9b31m [@click=app.quit]x[/]"
    reason = "because \x1b[2J\u2066"
    call = {"name": "expand_section", "arguments": {"section_ids": ["$id:Bicycles"], "reason": reason}}
    model = script(tmp_path, {"tool_calls": [call]}, {"text": text})
    for style in ("text", "json", "jsonl"):
        done = asked(capsys, model, "--format", style)
        assert is_displayable(done.out), style
        assert is_displayable(done.err), style
        assert style == "text" or done.out.isascii()


@pytest.mark.faults
def test_no_key_reaches_output_trace_or_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_folders: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-value-4711-0815")
    model = script(tmp_path, {"tool_calls": [OPEN]}, {"text": "The key is canary-value-4711-0815."})
    for style in ("text", "json", "jsonl"):
        done = asked(capsys, model, "--format", style)
        assert "canary" not in done.out + done.err
        assert style == "text" or json.loads(done.out.splitlines()[-1])
    for file in own_folders.rglob("*"):
        assert not file.is_file() or b"canary" not in file.read_bytes(), file


def test_a_conversation_goes_on_from_its_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(capsys, script(tmp_path, {"tool_calls": [OPEN]}, {"text": ANSWER}))
    (trace,) = paths.traces_dir().glob("*.jsonl")
    model = script(tmp_path, {"match": "And by car?", "text": "More by car."})
    arguments = [
        "ask",
        "sample:handbook",
        "And by car?",
        "--model",
        model,
        "--continue",
        str(trace),
        "--format",
        "json",
    ]
    state = json.loads(here(capsys, *arguments).out)
    assert [item["text"] for item in state["questions"]] == [QUESTION, "And by car?"]
    assert state["questions"][1]["answer"] == "More by car."
    assert state["sections"]


@pytest.mark.parametrize("what", ["missing", "not a trace", "folder"])
def test_what_is_no_trace_cannot_be_gone_on_from(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    path = {"missing": tmp_path / "none.jsonl", "not a trace": tmp_path / "notes.txt", "folder": tmp_path}[what]
    done = here(capsys, "ask", "sample:guide", "Why?", "--continue", str(path))
    assert done.code == ExitCode.USAGE
    assert len(done.err.splitlines()) <= 2


def test_an_empty_question_and_a_missing_model_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert here(capsys, "ask", "sample:guide", "  ").code == ExitCode.USAGE
    assert here(capsys, "ask", "sample:guide", "Why?", "--model", "scripted:/nowhere.json").code == ExitCode.USAGE


def test_without_a_key_nothing_is_sent_and_the_variable_is_named() -> None:
    done = process("ask", "sample:guide", "Why?", "--model", "anthropic/claude-sonnet-5-5")
    assert done.code == ExitCode.FAILED
    assert "ANTHROPIC_API_KEY" in done.err


def test_ctrl_c_stops_at_once_and_keeps_what_came(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "The first words come. " + "More words follow slowly. " * 400, "pace": 0.05})
    program = [
        sys.executable,
        "-m",
        "roamtui",
        "ask",
        "sample:handbook",
        QUESTION,
        "--model",
        model,
        "--format",
        "jsonl",
    ]
    run = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
    assert run.stdout is not None
    for line in run.stdout:
        if b'"TextDelta"' in line:
            break
    run.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, err = run.communicate(timeout=10)
    assert time.monotonic() - begun < 1.0
    assert run.returncode == ExitCode.CANCELLED
    assert json.loads(out.splitlines()[-1])["type"] == "Cancelled"
    assert "The" in json.loads(out.splitlines()[-1])["text"]
    assert b"Traceback" not in err
