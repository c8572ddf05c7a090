"""What a search index is: sections found for a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

Progress = Callable[[int, int], None]
"""Told how many bytes are indexed, of how many."""


@dataclass(frozen=True, slots=True)
class Found:
    """One section found, with the passage that matched best."""

    ref: str
    """Id of the section, as `Library.ref` gives it."""
    score: float
    """Higher is better; comparable within one search only."""
    snippet: str
    """One line of the best passage, at most 160 terminal cells, unsafe characters made visible."""
    first_line: int
    """1-based first line of the best passage."""
    last_line: int
    """1-based last line of it."""


class Index(Protocol):
    """Anything that finds sections for words or for meaning. Safe to use from any thread."""

    @property
    def ready(self) -> bool:
        """Whether everything is indexed; before that, searches see what is there so far."""

    def build(self, progress: Progress | None = None) -> None:
        """Index what is not indexed yet. Blocks; meant for a thread of its own."""

    def search(self, query: str, k: int = 5) -> list[Found]:
        """Return at most `k` sections for any text whatever, best first; never raises for its content."""
