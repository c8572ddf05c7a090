"""The program's edge: starting, refusing, ending."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui import paths
from roamtui.cli import main
from roamtui.errors import ExitCode
from roamtui.text import is_displayable
from tests.cli.running import here, process

HEAVY = ("litellm", "textual", "rich", "numpy", "httpx", "asyncio", "msgspec", "markdown_it", "diskcache", "sqlite3")


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    program = (
        "import sys; from roamtui.cli.main import run; code = run(['--help']);"
        f"print('LOADED', *(name for name in {HEAVY!r} if name in sys.modules)); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "LOADED"
    for name in main.COMMANDS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "sample:handbook", "What is paid per kilometre?"],
        ["outline", "sample:handbook"],
        ["search", "sample:handbook", "boats"],
        ["cache"],
        ["keys"],
        ["doctor"],
    ],
)
def test_only_the_screen_loads_the_screen_and_only_a_request_a_provider(arguments: list[str]) -> None:
    program = (
        f"import sys; from roamtui.cli.main import run; code = run({arguments!r});"
        "print('LOADED', *(name for name in ('litellm', 'openai', 'textual', 'rich', 'numpy') if name in sys.modules));"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


@pytest.mark.parametrize("name", list(main.COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: roamtui {name}")
    assert done.err == ""


def test_version_and_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert here(capsys, "--version").out.startswith("roamtui 0.")
    assert here(capsys).out == here(capsys, "--help").out


@pytest.mark.faults
@pytest.mark.parametrize("arguments", [("sample:guide",), ("open", "sample:guide"), ("--theme", "x", "sample:guide")])
def test_without_a_terminal_the_screen_says_how_to_ask(arguments: tuple[str, ...]) -> None:
    begun = time.monotonic()
    done = process(*arguments)
    assert time.monotonic() - begun < 1.0
    assert done.code == ExitCode.USAGE
    assert done.out == ""
    assert "roamtui ask sample:guide" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "sample:guide"),
        ("--bogus",),
        ("ask", "sample:guide", "q", "--steps", "3"),
        ("show", "sample:guide"),
    ],
)
def test_wrong_usage_is_two_lines_and_exit_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, *arguments)
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert 1 <= len(done.err.splitlines()) <= 2
    assert done.err.startswith("roamtui: ")


@pytest.mark.faults
@pytest.mark.parametrize(
    "arguments",
    [
        ("outline", "no\x1b]0;pwned\x07such.md"),
        ("outline", "--\x1b[31mbogus", "x"),
        ("ask", "sample:guide", "q", "--cache", "\x1b[2J\u202e"),
        ("outline", "sample:guide", "--tokens", "\x9b31m"),
        ("show", "sample:guide", "\x1b[31m\u2066"),
        ("ask", "sample:guide", "q", "--model", "scripted:\x1b]52;c;QUJD\x07"),
        ("ask", "sample:guide", "q", "--base-url", "http://\x1b[31m/"),
        ("ask", "sample:guide", "q", "--continue", "/no/\x1b[31m"),
        ("outline", "line\nbreak.md"),
        ("outline", "lone\udcffbyte"),
    ],
)
def test_no_argument_reaches_the_terminal_as_it_is(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = here(capsys, *arguments)
    assert done.code in (ExitCode.USAGE, ExitCode.FAILED)
    assert is_displayable(done.err), done.err
    assert "fault of roamtui" not in done.err


@given(st.lists(st.text(max_size=12), max_size=5))
def test_no_arguments_whatever_break_the_edge(arguments: list[str]) -> None:
    if not {"-h", "--help", "open", "cache", "doctor", "keys", "themes"} & set(arguments):
        assert main.run(["outline", *arguments]) == ExitCode.USAGE


@pytest.mark.parametrize(("typed", "meant"), [("serach", "search"), ("outlin", "outline"), ("themse", "themes")])
def test_a_mistyped_command_is_told_apart_from_a_document(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = here(capsys, typed, "sample:guide")
    assert done.code == ExitCode.USAGE
    assert f"roamtui {meant}" in done.err


@pytest.mark.faults
@pytest.mark.parametrize("option", ["--api-key", "--api-key=sk-CANARY1234567890", "--key", "--token=x"])
def test_a_key_as_an_option_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "ask", "sample:guide", "question", option)
    assert done.code == ExitCode.USAGE
    assert "environment" in done.err
    assert "CANARY" not in done.err


@pytest.mark.faults
def test_a_key_in_any_argument_is_warned_about_and_not_shown() -> None:
    done = process("outline", "sk-CANARY1234567890abc")
    assert done.code == ExitCode.USAGE
    assert "looks like a key" in done.err
    assert "CANARY" not in done.err + done.out


@pytest.mark.faults
def test_a_fault_of_ours_is_one_sentence_and_a_private_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: list[str]) -> int:
        secret = "local-canary"
        raise ZeroDivisionError(f"not to be shown {len(secret)}")

    monkeypatch.setattr(main, "_run", broken)
    done = here(capsys, "outline", "sample:guide")
    assert done.code == ExitCode.FAILED
    assert "fault of roamtui (ZeroDivisionError)" in done.err
    assert "Traceback" not in done.err
    notes = list(paths.state_dir().glob("crash-*.txt"))
    assert len(notes) == 1
    assert notes[0].stat().st_mode & 0o077 == 0
    assert "local-canary" not in notes[0].read_text().replace('secret = "local-canary"', "")


@pytest.mark.faults
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    document = tmp_path / "long.md"
    document.write_text("".join(f"# Heading {number}\n\nSome words.\n\n" for number in range(3000)))
    for arguments in (["show", str(document), "L1"], ["outline", str(document), "--tokens", "60000"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        program = [sys.executable, "-m", "roamtui", *arguments]
        done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, timeout=30, check=False)
        os.close(writing)
        assert done.returncode == ExitCode.BROKEN_PIPE, arguments
        assert done.stderr == b""


@pytest.mark.faults
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_one_sentence() -> None:
    with open("/dev/full", "wb") as full:
        program = [sys.executable, "-m", "roamtui", "outline", "sample:handbook"]
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, timeout=30, check=False)
    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith(b"roamtui: ")
    assert b"Traceback" not in done.stderr


@pytest.mark.faults
@pytest.mark.parametrize(
    "environ",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_an_output_without_unicode_never_raises(environ: dict[str, str]) -> None:
    for arguments in (["outline", "sample:hostile"], ["show", "sample:hostile", "L1"], ["keys"], ["doctor"]):
        done = process(*arguments, environ=environ)
        assert done.code == 0, done.err
        assert "Traceback" not in done.err


@pytest.mark.faults
@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_COLOR": "1", "TERM": "xterm-256color"}]
)
def test_no_command_writes_an_escape(environ: dict[str, str]) -> None:
    commands = (
        ["outline", "sample:hostile"],
        ["ask", "sample:hostile", "When does the ferry leave?"],
        ["search", "sample:hostile", "keeper"],
    )
    for arguments in commands:
        done = process(*arguments, environ=environ)
        assert done.code == 0, done.err
        assert is_displayable(done.out), arguments
        assert is_displayable(done.err), arguments


@pytest.mark.faults
@pytest.mark.parametrize("flags", [["-W", "error"], ["-O"], ["-X", "utf8=0"]])
def test_the_interpreter_s_moods_change_nothing(flags: list[str]) -> None:
    program = [sys.executable, *flags, "-m", "roamtui", "search", "sample:handbook", "daily", "allowance"]
    plain = [sys.executable, "-m", "roamtui", "search", "sample:handbook", "daily", "allowance"]
    outputs = []
    for number, line in enumerate((plain, program)):
        own = {**os.environ, "PYTHONHASHSEED": str(number + 3)}
        outputs.append(subprocess.run(line, capture_output=True, env=own, timeout=30, check=True).stdout)
    assert outputs[0] == outputs[1]


@pytest.mark.faults
def test_without_a_home_everything_still_works(tmp_path: Path) -> None:
    gone = ("HOME", "ROAMTUI_CONFIG_DIR", "ROAMTUI_CACHE_DIR", "ROAMTUI_STATE_DIR")
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o500)
    for environ in ({"HOME": "/nonexistent"}, {"HOME": str(sealed)}, {"HOME": str(sealed / "file" / "below")}):
        done = process("ask", "sample:handbook", "What is paid per kilometre?", environ=environ, unset=gone)
        assert done.code == 0, done.err
        assert "per kilometre" in done.out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ou", "plain,outline"),
        ("outline sample:h", "plain,sample:handbook\nplain,sample:hostile"),
        ("outline ./re", "file,./re"),
        ("ask --max-st", "plain,--max-steps"),
    ],
)
def test_the_shell_completes_commands_samples_files_and_options(typed: str, offered: str) -> None:
    words = ["roamtui", *typed.split()]
    completion = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = process(environ={**completion, "_ROAMTUI_COMPLETE": "bash_complete"})
    assert done.out.strip() == offered
