"""Where the data files inside litellm's package lie, found without importing litellm."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def litellm_folder() -> Path | None:
    """Return litellm's package folder, None when it is not installed."""
    try:
        spec = find_spec("litellm")
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
