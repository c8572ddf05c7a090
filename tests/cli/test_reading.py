"""outline, show, search: what they print."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roamtui import paths
from roamtui.document.outline import build_outline
from roamtui.errors import ExitCode
from roamtui.estimate import estimate_tokens
from roamtui.sources.open import open_library
from roamtui.text import is_displayable
from tests.cli.running import here, process


@pytest.mark.parametrize("name", ["manual", "handbook", "guide", "llms", "hostile"])
def test_outline_prints_what_a_model_sees(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = build_outline(open_library([f"sample:{name}"], max_bytes=1_000_000), 800).text
    done = here(capsys, "outline", f"sample:{name}", "--tokens", "800")
    assert done.code == 0
    assert done.out == expected + "\n"
    assert estimate_tokens(done.out) <= 800


def test_outline_takes_its_budget_from_the_settings_too(capsys: pytest.CaptureFixture[str]) -> None:
    small = here(capsys, "outline", "sample:manual", "--tokens", "500").out
    file = paths.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("outline_tokens = 500\n")
    assert here(capsys, "outline", "sample:manual").out == small


def test_an_outline_that_is_too_small_to_be_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "outline", "sample:manual", "--tokens", "199")
    assert done.code == ExitCode.USAGE
    assert "200" in done.err


def test_search_then_show(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(here(capsys, "search", "sample:handbook", "daily", "allowance", "--format", "json").out)
    assert found[0]["path"] == ["Travel", "Meals and daily allowance"]
    shown = here(capsys, "show", "sample:handbook", found[0]["id"])
    assert shown.code == 0
    assert shown.out.splitlines()[0].startswith("Travel › Meals and daily allowance · lines ")
    assert "On Eel Island food comes from the" in shown.out
    by_line = here(capsys, "show", "sample:handbook", f"L{found[0]['first_line']}")
    assert by_line.out == shown.out


def test_show_prints_a_branch_with_everything_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(here(capsys, "search", "sample:handbook", "How to travel", "--format", "json", "-k", "20").out)
    ref = next(item["id"] for item in found if item["path"] == ["Travel", "How to travel"])
    shown = here(capsys, "show", "sample:handbook", ref).out
    for below in ("### Trains and buses", "### Planes", "### Bicycles"):
        assert below in shown


def test_raw_is_the_document_s_own_bytes(tmp_path: Path) -> None:
    source = b"# One\r\n\r\nText \x1b[31m with caf\xe9\r\n"
    document = tmp_path / "raw.md"
    document.write_bytes(source)
    assert process("show", "--raw", str(document), "L1").out.encode("utf-8", "surrogateescape") == source
    shown = process("show", str(document), "L1").out
    assert is_displayable(shown)
    assert "␛[31m" in shown


@pytest.mark.parametrize("ref", ["deadbeef", "L99999", "L0", "zz", "L" + "9" * 400, "l²"])
def test_a_section_that_is_not_there_is_wrong_usage(ref: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "show", "sample:handbook", ref)
    assert done.code == ExitCode.USAGE
    assert "roamtui outline" in done.err


def test_search_without_a_hit_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    done = here(capsys, "search", "sample:handbook", "xylophone")
    assert (done.code, done.out) == (ExitCode.NOT_FOUND, "")
    assert json.loads(here(capsys, "search", "sample:handbook", "xylophone", "--format", "json").out) == []


@pytest.mark.faults
def test_search_of_hostile_text_is_plain_ascii_json() -> None:
    done = process("search", "sample:hostile", "keeper", "--format", "json")
    assert done.out.isascii()
    assert is_displayable(done.out)
    assert any("Quist" in item["snippet"] for item in json.loads(done.out))


def test_standard_input_is_a_document() -> None:
    done = process("outline", "-", given=b"# Harbour\n\nTides.\n\n## Sill\n\nTwo metres.\n")
    assert done.code == 0
    assert "# Harbour" in done.out
    assert "## Sill" in done.out


def test_several_documents_form_one_outline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# Title {name}\n\nWords of {name}.\n")
    done = here(capsys, "outline", str(tmp_path / "a.md"), str(tmp_path / "b.md"))
    assert "Title a" in done.out
    assert "Title b" in done.out


@pytest.mark.faults
@pytest.mark.parametrize("kind", ["missing", "folder", "empty name", "too long", "nul", "no such user", "loop", "fifo"])
def test_what_cannot_be_read_is_one_line_and_exit_2(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop, fifo = tmp_path / "loop", tmp_path / "fifo"
    loop.symlink_to(loop)
    os.mkfifo(fifo)
    address = {
        "missing": str(tmp_path / "missing.md"),
        "folder": str(tmp_path),
        "empty name": "",
        "too long": "x" * 5000,
        "nul": "a\0b",
        "no such user": "~nosuchuser/x.md",
        "loop": str(loop),
        "fifo": str(fifo),
    }[kind]
    done = here(capsys, "outline", address)
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert is_displayable(done.err)
    assert 1 <= len(done.err.splitlines()) <= 2


@pytest.mark.faults
@pytest.mark.parametrize("name", [b"esc\x1b[31m.md", b"line\nbreak.md", "rtl\u202efdp.md".encode(), b"bad\xff.md"])
def test_a_hostile_file_name_is_shown_escaped(name: bytes, tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)
    with open(path, "wb") as file:
        file.write(
            b"# Sill\n\nThe sill lies two metres above the datum.\n\n# Bar\n\nThe bar shifts with every storm.\n"
        )
    commands: tuple[tuple[str | bytes, ...], ...] = (
        ("outline", path),
        ("ask", path, "What is two metres above the datum?"),
    )
    for arguments in commands:
        done = process(*arguments)
        assert done.code == 0, done.err
        assert is_displayable(done.out)
        assert is_displayable(done.err)


@pytest.mark.faults
def test_a_file_above_the_limit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "big.md"
    document.write_text("# A\n\n" + "word " * 1000)
    done = here(capsys, "outline", str(document), "--max-bytes", "1000")
    assert done.code == ExitCode.USAGE
