"""The documents that ship with roamtui, opened as `sample:NAME`."""

from __future__ import annotations

from pathlib import Path

from roamtui import paths
from roamtui.errors import DocumentError
from roamtui.sources.files import shown

PREFIX = "sample:"
"""How the address of a sample begins."""


def sample_names() -> list[str]:
    """Return the names of the samples, sorted."""
    return sorted(_samples())


def sample_path(address: str) -> Path:
    """Return the file of `sample:NAME`. Raises `DocumentError` for a name there is not."""
    name = address.removeprefix(PREFIX)
    samples = _samples()
    if name not in samples:
        known = ", ".join(sorted(samples)) or "none were installed"
        raise DocumentError(f"There is no sample named {shown(name)}.", f"Samples: {known}.")
    return samples[name]


def _samples() -> dict[str, Path]:
    folder = paths.sample_docs_dir()
    try:
        files = sorted(item for item in folder.iterdir() if item.suffix in (".md", ".txt") and item.is_file())
    except OSError:
        return {}
    return {item.stem: item for item in files}
