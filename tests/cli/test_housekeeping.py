"""cache, keys, themes, doctor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roamtui import paths
from roamtui.errors import ExitCode
from roamtui.text import is_displayable
from roamtui.tui.commands import COMMANDS
from tests.cli.running import here


def settings(text: str) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_an_empty_cache_is_said_to_be_empty_and_not_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert "empty" in here(capsys, "cache", "info").out
    assert here(capsys, "cache", "clear").code == 0
    folder = Path(here(capsys, "cache", "path").out.strip())
    assert folder.is_relative_to(paths.cache_dir())
    assert not folder.exists()


@pytest.mark.faults
def test_a_cache_that_is_no_folder_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(here(capsys, "cache", "path").out.strip())
    folder.parent.mkdir(parents=True)
    folder.write_text("not a folder")
    for name in ("info", "clear"):
        done = here(capsys, "cache", name)
        assert done.code == ExitCode.FAILED
        assert done.err.startswith("roamtui: ")
        assert "Traceback" not in done.err
    assert folder.read_text() == "not a folder"


def test_keys_lists_every_command_that_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    out = here(capsys, "keys").out
    for command in COMMANDS:
        assert not command.keys or command.help in out
    assert all(command.id in here(capsys, "keys", "--ids").out for command in COMMANDS if command.keys)


def test_keys_shows_your_own_and_says_what_it_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    settings('[keys]\nfind = "ctrl+f"\nfnd = "x"\n')
    done = here(capsys, "keys")
    assert "ctrl+f" in done.out
    assert "find" in done.err
    assert done.code == 0


def test_themes_are_listed_with_the_reason_for_those_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    own = paths.themes_dirs()[1]
    own.mkdir(parents=True)
    (own / "mine.toml").write_text('name = "mine"\nprimary = "#336699"\n')
    (own / "broken\x1b[31m.toml").write_text('name = "broken"\nprimary = "no colour"\n')
    done = here(capsys, "themes")
    assert len(done.out.splitlines()) >= 4
    assert "mine" in done.out
    assert "broken" in done.err
    assert is_displayable(done.err)
    assert str(own) in here(capsys, "themes", "path").out


def test_a_healthy_installation_has_nothing_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "doctor")
    assert done.code == 0, done.out
    assert "wrong" not in done.out
    assert "sample:manual" in done.out


def test_doctor_says_where_a_setting_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings("max_steps = 5\n")
    monkeypatch.setenv("ROAMTUI_SEED", "7")
    out = here(capsys, "doctor").out
    assert "max_steps = 5 (file)" in out
    assert "seed = 7 (environment)" in out


@pytest.mark.faults
def test_doctor_names_keys_and_never_shows_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-CANARY-000000")
    monkeypatch.setenv("ROAMTUI_API_KEY", "plain-CANARY-value")
    done = here(capsys, "doctor")
    assert "ANTHROPIC_API_KEY" in done.out
    assert "ROAMTUI_API_KEY" in done.out
    assert "CANARY" not in done.out + done.err


@pytest.mark.faults
def test_doctor_finds_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    settings("max_stps = 5\n")
    paths.state_dir().mkdir(parents=True)
    paths.traces_dir().write_text("not a folder")
    paths.cache_dir().mkdir(parents=True, mode=0o755)
    os.chmod(paths.cache_dir(), 0o755)
    done = here(capsys, "doctor")
    assert done.code == ExitCode.FAILED
    assert "max_steps" in done.out
    assert "is not a folder" in done.out
    assert "chmod 700" in done.out
