"""Section ids by title or path, read out of what a conversation has shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roamtui.errors import ModelError
from roamtui.models.base import Message

_LINE = re.compile(r"^\[((?:[0-9a-f]{4,}\.)?[0-9a-f]{8,})\] (#{1,6} |\(preamble\) )?(.*)$", re.M)
_COUNTS = re.compile(
    r" · (?:\d+ sub|[\d.,]+[kM]? tok|lines? \d+(?:[-–]\d+)?|no text of its own|part \d+ of \d+|open(?: already)?)$"
)


class ShownIds:
    """What the outline, search results, lists and opened sections of a conversation call their sections."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Read `messages`; later ones win where an id appears twice, the first section where a title does."""
        self._paths: dict[str, tuple[str, ...]] = {}
        for message in messages:
            content = message.get("content")
            if isinstance(content, str) and message.get("role") in ("system", "tool"):
                self._read(content)

    def _read(self, text: str) -> None:
        above: dict[int, str] = {}
        for match in _LINE.finditer(text):
            id, marks, title = match[1], match[2] or "", match[3]
            while (shorter := _COUNTS.sub("", title)) != title:
                title = shorter
            level = marks.count("#")
            if not level:
                self._paths.setdefault(id, tuple(title.split(" › ")))
                continue
            above = {depth: name for depth, name in above.items() if depth < level} | {level: title}
            self._paths.setdefault(id, tuple(above[depth] for depth in sorted(above)))

    def find(self, path: str) -> str:
        """Return the id of the first section whose path ends in `path`. Raises `ModelError` when none was shown."""
        wanted = tuple(part.strip() for part in path.split("›"))
        for id, titles in self._paths.items():
            if titles[-len(wanted) :] == wanted:
                return id
        raise ModelError("bad_request", f"The script names “{path.strip()}”, but no such section was shown so far.")
