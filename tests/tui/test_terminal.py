"""A real terminal: nothing harmful reaches it, and it is left as it was found."""

from __future__ import annotations

import base64
import io
import signal
import stat
from pathlib import Path

import pytest

from roamtui.errors import UsageError
from roamtui.text import display
from roamtui.tui.terminal import clipboard_sequence, require_terminal
from tests.support.hostile import ESCAPES, unsafe_output
from tests.support.panes import SECRET
from tests.support.pty import Terminal

PROGRAM = ["-m", "tests.support.panes"]


def written(folder: Path, text: str, name: str = "book.md") -> str:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return str(path)


def hostile_text() -> str:
    """Every payload in every kind of block, in headings and in running text."""
    sections = []
    for name, payload in ESCAPES.items():
        sections.append(
            f"# {name} {payload} end\n\npara {payload} **bold {payload}** `code {payload}` [link {payload}](http://a.example)\n"
            f"\n- item {payload}\n\n> quote {payload}\n\n| head {payload} | b |\n|---|---|\n| cell {payload} | c |\n\n"
            f"```\nfence {payload}\n```\n\n<div>html {payload}</div>\n\n![image {payload}](a.png)\n"
        )
    return "\n".join(sections)


@pytest.mark.faults
def test_no_byte_of_a_hostile_document_reaches_the_terminal(tmp_path: Path) -> None:
    """F-T01 to F-T09, F-T12, F-T20: outline, sections with all blocks, toasts, the tab with the model's outline."""
    hits = tmp_path / "hits"
    names = tmp_path / "folder"
    names.mkdir()
    document = written(names, hostile_text(), "name\x1b]0;x\x07\u202e.md")
    with Terminal([*PROGRAM, document], size=(120, 50), env={"HITS_FILE": str(hits)}) as terminal:
        terminal.shows("everything is drawn")
        for keys in (b"\t\t", *([b"\x1b[6~"] * 24), b"\x1b[D", *([b"\x1b[6~"] * 3)):
            terminal.send(keys)
            terminal.read(0.03)
        terminal.send(b"q")
        assert terminal.exit_code() == 0
        assert unsafe_output(terminal.raw) == []
        assert terminal.is_as_before
    assert hits.read_text() == "0", "the filter at the terminal had to step in"


@pytest.mark.faults
def test_what_a_reader_cannot_see_becomes_visible(tmp_path: Path) -> None:
    """F-T06 to F-T10: a visible substitute for every hidden character."""
    text = "# T\n\n" + "".join(f"x{payload}x\n\n" for payload in ("\x1b", "\u202e", "\u200b", "\x7f", "\x00"))
    with Terminal([*PROGRAM, written(tmp_path, text)]) as terminal:
        terminal.shows("x␛x", "x‹U+202E›x", "x‹U+200B›x", "x␡x", "x\ufffdx")
        assert unsafe_output(terminal.raw) == []


ODD_LINES = {
    "accents": "e" + "\u0301" * 300 + "|",
    "family": "👨‍👩‍👧|",
    "flag": "🇩🇪|",
    "wide": "日本語|",
    "heart": "❤️|",
    "devanagari": "क्षि|",
    "tab": "a\tb|",
    "wide at the edge": "x" * 47 + "日|",
}


@pytest.mark.faults
def test_columns_stay_where_they_are(tmp_path: Path) -> None:
    """F-T07, F-T11: odd widths move nothing outside their own row."""
    text = "# T\n\n```\n" + "\n".join(ODD_LINES.values()) + "\n```\n\nafter\n"
    with Terminal([*PROGRAM, written(tmp_path, text)], size=(100, 40)) as terminal:
        terminal.shows("everything is drawn", "after", "a   b|")
        assert {row.find("│") for row in terminal.lines if "│" in row} == {34}


@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    """F-L01: exit 128 + n, everything restored."""
    with Terminal([*PROGRAM, written(tmp_path, "# T\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        terminal.signal(number)
        assert terminal.exit_code() == 128 + number
        assert terminal.is_as_before


@pytest.mark.faults
def test_a_second_signal_ends_a_program_that_is_stuck(tmp_path: Path) -> None:
    with Terminal([*PROGRAM, written(tmp_path, "# T\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        terminal.send(b"f")
        terminal.read(0.3)
        terminal.signal(signal.SIGTERM)
        terminal.read(0.2)
        terminal.signal(signal.SIGTERM)
        assert terminal.exit_code() == 128 + signal.SIGTERM
        assert terminal.is_as_before


@pytest.mark.faults
def test_a_closed_terminal_ends_the_program(tmp_path: Path) -> None:
    """F-L04."""
    with Terminal([*PROGRAM, written(tmp_path, "# T\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        terminal.hang_up()
        assert terminal.process.wait(5) == 128 + signal.SIGHUP


@pytest.mark.faults
@pytest.mark.parametrize("key", [b"!", b"%", b"&", b"*"], ids=["handler", "worker", "thread", "timer"])
def test_a_crash_shows_and_writes_no_values(tmp_path: Path, own_folders: Path, key: bytes) -> None:
    """F-L08, H8: one sentence on the terminal, a private note, exit 1."""
    with Terminal([*PROGRAM, written(tmp_path, "# T\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        terminal.send(key)
        assert terminal.exit_code() == 1
        assert terminal.is_as_before
        assert SECRET.encode() not in terminal.raw
        assert unsafe_output(terminal.raw) == []
        assert b"RuntimeError" in terminal.raw
    (note,) = (own_folders / "state").rglob("crash*.txt")
    assert SECRET not in note.read_text()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600


BAD_INPUT = {
    "not UTF-8": b"\xff",
    "beyond Unicode": b"\x1b[1114112u",
    "beyond C": b"\x1b[99999999999u",
    "a surrogate": b"\x1b[55296u",
    "in a paste": b"\x1b[200~\xff\xfe\x1b[1114112u\x1b[201~",
    "a long paste": b"\x1b[200~" + b"x" * 100_000 + b"\x1b[201~",
    "a huge screen": b"\x1b[48;99999;99999;1;1t",
    "no screen": b"\x1b[48;0;0;0;0t\x1b[<0;1;1M",
    "a far mouse": b"\x1b[<99999999999999999999;1;1M",
    "high bytes": bytes(range(128, 256)),
}


@pytest.mark.faults
def test_no_input_ends_the_program(tmp_path: Path) -> None:
    """H10, F-L07: after all of it one still quits with the key for it."""
    with Terminal([*PROGRAM, written(tmp_path, "# T\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        for what, data in BAD_INPUT.items():
            terminal.send(data)
            terminal.read(0.1)
            assert terminal.process.poll() is None, what
        terminal.send(b"q")
        assert terminal.exit_code() == 0
        assert terminal.is_as_before


@pytest.mark.faults
def test_any_size_is_survived(tmp_path: Path) -> None:
    """F-L05: from one cell to a million, and back."""
    with Terminal([*PROGRAM, written(tmp_path, hostile_text()[:20_000])]) as terminal:
        terminal.shows("everything is drawn")
        for size in [(1, 1), (2, 40), (300, 1), (1000, 1000), (7, 7), (100, 30)]:
            terminal.resize(*size)
            terminal.signal(signal.SIGWINCH)
            terminal.read(0.15)
        terminal.send(b"q")
        assert terminal.exit_code() == 0


@pytest.mark.faults
def test_a_copy_is_exactly_the_text(tmp_path: Path) -> None:
    """F-T18: a lone surrogate does not end the program; the clipboard gets the bytes and nothing acts."""
    with Terminal([*PROGRAM, written(tmp_path, "# a\x1b]0;x\x07b\n\nx\n")]) as terminal:
        terminal.shows("everything is drawn")
        terminal.send(b"c")
        copied = base64.b64encode(b"a\x1b]0;x\x07b?")
        terminal.until(lambda: b"\x1b]52;c;" + copied + b"\x07" in terminal.raw, "the copy")
        terminal.send(b"q")
        assert terminal.exit_code() == 0


def test_tmux_gets_the_copy_in_its_own_wrapping_too() -> None:
    assert clipboard_sequence("hi", in_tmux=False) == "\x1b]52;c;aGk=\x07"
    assert clipboard_sequence("hi", in_tmux=True).endswith("\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\")


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stdin", "stdout", "words"),
    [(io.StringIO(), _Tty(), "standard input"), (_Tty(), io.StringIO(), "standard output"), (None, _Tty(), "input")],
)
def test_without_a_terminal_one_is_told_what_works(stdin: io.StringIO | None, stdout: io.StringIO, words: str) -> None:
    """F-L06."""
    with pytest.raises(UsageError, match=words) as caught:
        require_terminal(stdin, stdout, term="xterm")
    assert "roamtui ask" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_terminal_that_cannot_move_its_cursor_is_none() -> None:
    """F-T15."""
    require_terminal(_Tty(), _Tty(), term="xterm")
    with pytest.raises(UsageError, match="dumb"):
        require_terminal(_Tty(), _Tty(), term="dumb")


def test_the_substitutes_are_themselves_harmless() -> None:
    for payload in ESCAPES.values():
        assert unsafe_output(display(payload).encode()) == []
