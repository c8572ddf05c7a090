"""What is shipped: the wheel, the pinned packages, the generated texts, and what the code never does."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.tools import readme

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "roamtui"
MODULES = sorted(PACKAGE.rglob("*.py"))

# -- the wheel ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    program = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_everything_the_program_reads(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"roamtui/shipped/themes/{item.name}" for item in (ROOT / "themes").glob("*.toml")}
    expected |= {f"roamtui/shipped/sample_docs/{item.name}" for item in (ROOT / "sample_docs").iterdir()}
    expected |= {
        item.relative_to(ROOT).as_posix()
        for item in PACKAGE.rglob("*")
        if item.is_file() and "__pycache__" not in item.parts
    }
    assert expected <= names
    assert "roamtui/py.typed" in names
    assert not [name for name in names if name.endswith(".pth") or name.startswith(("tests", "docs", "stubs"))]


def test_the_wheel_works_where_no_checkout_is(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    program = (
        "import roamtui, sys; from roamtui import paths; from roamtui.cli.main import run\n"
        "assert roamtui.__file__.startswith(sys.argv[1]), roamtui.__file__\n"
        "assert list(paths.themes_dirs()[0].glob('*.toml'))\n"
        "sys.exit(run(['outline', 'sample:llms']))"
    )
    own = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=tmp_path,
        env=own,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"# Tidebook" in done.stdout


# -- the packages it stands on --------------------------------------------------------------------------


def _pinned(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"^\s*-(?!-hash)", text, re.MULTILINE), "an index, a folder or an editable package is named"
    assert "://" not in text
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=[a-zA-Z])", text):
        match = re.match(r"([a-zA-Z0-9_.\[\]-]+)==([^ ;\\\n]+)", block)
        assert match, block[:60]
        assert "--hash=sha256:" in block, match[1]
        found[match[1].lower()] = match[2]
    return found


def test_every_pinned_package_has_a_hash_and_names_no_host() -> None:
    run, dev = _pinned("requirements.txt"), _pinned("requirements-dev.txt")
    assert run.items() <= dev.items()
    assert "hatchling" in run
    assert run["litellm"] not in ("1.82.7", "1.82.8")
    assert not run["litellm"].startswith("1.106.")


def test_every_declared_package_is_pinned_and_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=!~ ]", item)[0] for item in project["dependencies"]]
    assert set(names) <= set(_pinned("requirements.txt"))
    imported = {name.partition(".")[0] for path in MODULES for name in _imports(path)}
    for name in names:
        module = {"markdown-it-py": "markdown_it"}.get(name, name)
        assert module in imported, f"{name} is declared and nowhere imported"
    known = {"markdown_it", *names}
    foreign = imported - known - set(sys.stdlib_module_names) - {"roamtui"}
    assert not foreign, f"imported and not declared: {foreign}"


def test_malicious_releases_are_shut_out() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.strip().startswith('"litellm'))
    assert "!=1.82.7" in line
    assert "!=1.82.8" in line


def test_no_package_runs_code_at_every_start_of_python() -> None:
    allowed = {"distutils-precedence.pth", "_roamtui.pth", "_virtualenv.pth", "a1_coverage.pth"}
    site = Path(str(metadata.distribution("pytest").locate_file("")))
    found = {item.name for item in site.glob("*.pth")} - allowed
    runs = [name for name in found if re.search(r"^import\b", (site / name).read_text(errors="replace"), re.MULTILINE)]
    assert not runs, f"unknown .pth files that run code: {runs}"


# -- the generated texts -----------------------------------------------------------------------------


def test_readme_and_manual_say_what_the_program_says() -> None:
    assert readme.stale() == [], "run: make readme"


def test_the_manual_names_every_setting_and_command() -> None:
    from roamtui.cli.main import COMMANDS
    from roamtui.config import Settings

    manual = (ROOT / "sample_docs" / "manual.md").read_text(encoding="utf-8")
    for name in Settings.__struct_fields__:
        assert f"`{name}`" in manual, name
    for name in COMMANDS:
        assert f"roamtui {name}" in manual, name


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "sample_docs/manual.md"])
def test_links_between_the_texts_lead_somewhere(name: str) -> None:
    place = ROOT / name
    for page in [place] if place.is_file() else sorted(place.glob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


# -- what the code never does ------------------------------------------------------------------------


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )


FORBIDDEN_IMPORTS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "mmap", "yaml", "ctypes", "imp", "telnetlib"}
FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "tempfile.mktemp",
    "yaml.load",
    "print",
}


@pytest.mark.faults
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_does_what_is_never_needed(path: Path) -> None:
    assert not {name.partition(".")[0] for name in _imports(path)} & FORBIDDEN_IMPORTS
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in FORBIDDEN_CALLS, f"line {node.lineno}"
            shell = [item for item in node.keywords if item.arg == "shell"]
            assert not shell, f"line {node.lineno}: shell="
