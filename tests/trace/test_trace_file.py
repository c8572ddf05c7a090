"""A trace file survives kills, newer writers and full disks; it never holds a key."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from roamtui import events as ev
from roamtui.errors import DocumentError
from roamtui.text import REDACTED, redact
from roamtui.trace.read import read_trace
from roamtui.trace.record import TraceWriter


def written(path: Path, *events: ev.Event) -> Path:
    writer = TraceWriter(path)
    for event in events:
        writer.write(event)
    writer.close()
    return path


QUESTION = ev.QuestionAsked(text="Why?", run="r", seq=1, t=1.0)
OPENED = ev.SectionOpened(id="07f3277d", path=("Models",), first_line=1, last_line=2, tokens=3, seq=2)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "a" / "t.jsonl", QUESTION, OPENED))
    assert trace.events == (QUESTION, OPENED)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", QUESTION, OPENED)
    path.write_bytes(path.read_bytes()[:-10])
    trace = read_trace(path)
    assert trace.events == (QUESTION,)
    assert trace.cut


def test_events_of_a_later_version_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", QUESTION)
    later = b'{"type":"SomethingNew","seq":9}'
    path.write_bytes(path.read_bytes() + later + b"\n" + b'{"type":"QuestionAsked","text":"x","colour":"red"}\n')
    trace = read_trace(path)
    assert trace.unknown == (later,)
    assert [event.text for event in trace.events if isinstance(event, ev.QuestionAsked)] == ["Why?", "x"]


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe\x00", b'{"type":"Trace"}\n', b"[]\n"])
def test_other_files_are_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x\x1b[2Jy.jsonl"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        read_trace(path)
    assert "\x1b" not in caught.value.message


def test_a_disk_error_stops_the_writing_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "t.jsonl")
    writer.write(QUESTION)
    assert "cannot be written" in writer.error
    writer.write(OPENED)


def test_sessions_that_begin_together_do_not_share_a_file(tmp_path: Path) -> None:
    first = written(tmp_path / "t.jsonl", QUESTION)
    second = TraceWriter(tmp_path / "t.jsonl")
    second.write(OPENED)
    second.close()
    assert read_trace(first).events == (QUESTION,)
    assert read_trace(second.path).events == (OPENED,)
    assert second.path.name == "t-2.jsonl"


def test_secrets_are_taken_out(tmp_path: Path) -> None:
    redact.add("canary-value-123")
    path = written(tmp_path / "t.jsonl", ev.Warned(kind="x", message="key canary-value-123 and sk-abcdefghijklmnop"))
    text = path.read_text("utf-8")
    assert "canary" not in text
    assert "sk-abc" not in text
    warned = read_trace(path).events[0]
    assert isinstance(warned, ev.Warned)
    assert warned.message.count(REDACTED) == 2


def test_a_killed_program_leaves_every_full_line(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from roamtui import events as ev
from roamtui.trace.record import TraceWriter
writer = TraceWriter(Path(sys.argv[1]))
for number in range(1_000_000):
    writer.write(ev.Warned(kind="n", message=str(number), seq=number))
    if number == 200:
        print("ready", flush=True)
"""
    path = tmp_path / "t.jsonl"
    child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    trace = read_trace(path)
    assert len(trace.events) > 200
    assert [event.seq for event in trace.events] == list(range(len(trace.events)))
