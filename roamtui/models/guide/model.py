"""The guide as a model: the same protocol, no network, no key, the same answer every time."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

from roamtui.models.base import Delta, Finish, Request, Text, ToolCallPart
from roamtui.models.guide.notes import read
from roamtui.models.guide.reading import decide

CHUNK = 24
"""Characters per text delta, so that an answer is seen to arrive."""


class GuideModel:
    """Answers requests by searching, opening and quoting; sees only the request's messages and tools."""

    @property
    def maker(self) -> str:
        """`guide`."""
        return "guide"

    @property
    def name(self) -> str:
        """`guide`."""
        return "guide"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer one request; never raises, whatever the messages hold."""
        step = decide(read(request.messages), _offered(request))
        for index, (name, arguments) in enumerate(step.calls):
            key = f"guide_{len(request.messages)}_{index}"
            written = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace").decode()
            yield ToolCallPart(index, key, name, written)
        for start in range(0, len(step.text), CHUNK):
            yield Text(step.text[start : start + CHUNK])
        yield Finish("tool_calls" if step.calls else "stop")

    async def aclose(self) -> None:
        """Nothing to give back."""


def _offered(request: Request) -> frozenset[str]:
    names = (tool.get("function", {}).get("name") for tool in request.tools)
    return frozenset(name for name in names if isinstance(name, str))
