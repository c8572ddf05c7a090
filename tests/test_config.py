from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from roamtui import paths
from roamtui.config import Settings, describe, fields, load_settings
from roamtui.errors import ConfigError
from roamtui.text import is_displayable, redact


def write(text: str | bytes) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def refused(flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(flags or {}, environ or {})
    assert is_displayable(caught.value.message), caught.value.message
    assert caught.value.message.endswith("."), caught.value.message
    return caught.value


def test_without_anything_the_defaults_hold() -> None:
    found = load_settings({}, {})
    assert found.settings == Settings()
    assert found.settings.model == "guide"
    assert (found.settings.max_steps, found.settings.max_seconds, found.settings.outline_tokens) == (12, 300, 4000)
    assert set(found.sources.values()) == {"default"}


def test_flags_win_over_environment_over_file_and_say_so() -> None:
    write('model = "ollama_chat/qwen3"\nmax_steps = 5\nseed = 1\n')
    found = load_settings({"max_steps": 7, "seed": None}, {"ROAMTUI_MAX_STEPS": "6", "ROAMTUI_CACHE": "off"})
    assert found.settings.max_steps == 7
    assert found.settings.seed == 1
    assert found.settings.cache == "off"
    assert found.settings.model == "ollama_chat/qwen3"
    assert found.sources["max_steps"] == "flag"
    assert found.sources["cache"] == "environment"
    assert found.sources["model"] == "file"
    assert found.sources["theme"] == "default"


def test_an_unknown_key_is_an_error_with_the_nearest_known_one() -> None:
    write("max_stps = 5\n")
    error = refused()
    assert "max_stps" in error.message
    assert "max_steps" in error.hint
    write("zzz = 5\n")
    assert "outline_tokens" in refused().hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_steps", 0),
        ("max_steps", "five"),
        ("max_steps", True),
        ("max_seconds", float("nan")),
        ("max_seconds", float("inf")),
        ("cache", "maybe"),
        ("outline_tokens", 199),
        ("model", ""),
        ("strategy", "wander\x1b[31m"),
        ("keys", "q"),
    ],
)
def test_a_wrong_value_is_refused_with_what_it_takes(name: str, value: object) -> None:
    error = refused({name: value})
    assert "--" + name.replace("_", "-") in error.message
    assert error.hint


def test_an_environment_variable_is_read_as_the_type_of_its_setting() -> None:
    found = load_settings({}, {"ROAMTUI_ALWAYS_ROAM": "true", "ROAMTUI_MAX_SECONDS": "2.5", "ROAMTUI_SEED": "3"})
    assert found.settings.always_roam is True
    assert found.settings.max_seconds == 2.5
    assert found.settings.seed == 3
    assert "ROAMTUI_MAX_STEPS" in refused(environ={"ROAMTUI_MAX_STEPS": "many"}).message


@pytest.mark.faults
@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\x00\xff",
        b"model = 'a" + b"a" * 300_000 + b"'",
        b"keys = " + b"[" * 20_000,
        b"model = 5",
        b"model = [1, 2]",
        b"a = 1\na = 2",
        b"[keys]\nsearch = 5",
        b'"\x1b]52;c;AAAA\x07" = 1',
        b"max_steps = 99999999999999999999999999",
    ],
)
def test_any_broken_file_is_one_sentence(content: bytes) -> None:
    write(content)
    refused()


@pytest.mark.faults
def test_a_settings_file_that_is_no_file_is_refused_at_once() -> None:
    paths.config_dir().mkdir(parents=True)
    os.mkfifo(paths.settings_file())
    assert "not a regular file" in refused().message
    paths.settings_file().unlink()
    paths.settings_file().mkdir()
    refused()


@pytest.mark.faults
def test_nothing_is_read_from_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    trap = paths.config_dir().parent / "trap"
    trap.mkdir()
    for name in ("roamtui.toml", "config.toml", ".roamtui.toml"):
        (trap / name).write_text('model = "evil"\nbase_url = "http://evil.example"\n')
    (trap / ".env").write_text("ROAMTUI_MODEL=evil\nOPENAI_API_BASE=http://evil.example\n")
    monkeypatch.chdir(trap)
    assert load_settings({}).settings == Settings()


def test_values_of_key_variables_are_redacted_from_then_on() -> None:
    load_settings({}, {"SOME_API_KEY": "plain-canary-4711", "PATH": "/usr/bin/plain"})
    assert "canary" not in redact("the key plain-canary-4711 was refused")
    assert redact("/usr/bin/plain") == "/usr/bin/plain"


def test_every_setting_can_be_described() -> None:
    for name in fields():
        assert describe(name)
    assert describe("cache") == "off, on, only or refresh"
    assert describe("max_steps") == "a whole number from 1 to 200"
