"""Where roamtui keeps things, and where what it ships lies."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def config_dir() -> Path:
    """Return the folder of the settings file; `ROAMTUI_CONFIG_DIR` overrides it. It may not exist."""
    return _folder("ROAMTUI_CONFIG_DIR", "config")


def cache_dir() -> Path:
    """Return the folder of the response cache; `ROAMTUI_CACHE_DIR` overrides it. It may not exist."""
    return _folder("ROAMTUI_CACHE_DIR", "cache")


def state_dir() -> Path:
    """Return the folder of traces and crash notes; `ROAMTUI_STATE_DIR` overrides it. It may not exist."""
    return _folder("ROAMTUI_STATE_DIR", "state")


def settings_file() -> Path:
    """Return the settings file. It may not exist."""
    return config_dir() / "config.toml"


def traces_dir() -> Path:
    """Return the folder of trace files. It may not exist."""
    return state_dir() / "traces"


def themes_dirs() -> tuple[Path, ...]:
    """Return the folders that hold themes: those shipped, then the user's own, whose names win."""
    return (_shipped("themes"), config_dir() / "themes")


def sample_docs_dir() -> Path:
    """Return the folder of the sample documents."""
    return _shipped("sample_docs")


def _shipped(name: str) -> Path:
    """Find a folder that ships with roamtui: inside the wheel, or beside the package in a checkout."""
    inside = _PACKAGE / "shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def _folder(variable: str, kind: str) -> Path:
    override = os.environ.get(variable, "")
    if override:
        return Path(os.path.abspath(override))
    return _platform_folder(kind)


def _platform_folder(kind: str) -> Path:
    import platformdirs

    try:
        dirs = platformdirs.PlatformDirs("roamtui", appauthor=False)
        found = {"config": dirs.user_config_path, "cache": dirs.user_cache_path, "state": dirs.user_state_path}[kind]
    except (OSError, RuntimeError, KeyError):  # no home folder can be worked out at all
        return _homeless(kind)
    return found if found.is_absolute() else _homeless(kind)


def _homeless(kind: str) -> Path:
    """Return a folder for a user without a home: one of their own below the temporary folder."""
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()
    return Path(tempfile.gettempdir()) / f"roamtui-{user}" / kind
