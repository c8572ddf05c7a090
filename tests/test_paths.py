from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from roamtui import paths


def test_environment_moves_every_folder(own_folders: Path) -> None:
    assert paths.config_dir() == own_folders / "config"
    assert paths.cache_dir() == own_folders / "cache"
    assert paths.traces_dir() == own_folders / "state" / "traces"
    assert paths.settings_file() == own_folders / "config" / "config.toml"


def test_shipped_folders_are_found() -> None:
    assert (paths.sample_docs_dir() / "manual.md").is_file()
    assert list(paths.themes_dirs()[0].glob("*.toml"))


def test_folders_are_absolute_without_home_and_with_odd_variables() -> None:
    program = "from roamtui import paths; print(paths.config_dir(), paths.cache_dir(), paths.state_dir(), sep='\\n')"
    for change in (
        {},
        {"HOME": "/nonexistent"},
        {"HOME": ""},
        {"XDG_CONFIG_HOME": "relative", "TMPDIR": "/nonexistent"},
    ):
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_", "ROAMTUI_"))}
        run = subprocess.run(
            [sys.executable, "-c", program], env=bare | change, capture_output=True, text=True, timeout=20, check=True
        )
        assert all(Path(line).is_absolute() for line in run.stdout.splitlines()), (change, run.stdout)
        assert len(run.stdout.splitlines()) == 3
