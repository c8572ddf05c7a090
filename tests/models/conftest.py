"""The makers that speak to a server, each with a loopback server of its own protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from roamtui.errors import ModelError
from roamtui.models.base import Assembler, Delta, Message, Model, Request, Turn
from roamtui.models.litellm_model import LiteLLM
from roamtui.models.openai_http import OpenAIHTTP
from roamtui.models.secret import Secret
from tests.support.anthropic_server import AnthropicServer
from tests.support.ollama_server import OllamaServer
from tests.support.openai_server import OpenAIServer
from tests.support.wire import WireServer

CANARY = "sk-CANARY-0123456789"
"""The key every server is given; it may appear nowhere else."""

TOOL = {
    "type": "function",
    "function": {
        "name": "expand_section",
        "description": "Open sections.",
        "parameters": {"type": "object", "properties": {"section_ids": {"type": "array", "items": {"type": "string"}}}},
    },
}


_opened: list[Model] = []


@pytest.fixture(autouse=True)
async def close_models() -> AsyncIterator[None]:
    """Close what the test opened."""
    yield
    while _opened:
        await _opened.pop().aclose()


@dataclass(frozen=True)
class Maker:
    """A way to reach a server."""

    server: type[WireServer]
    name: str
    make: Callable[[str, str], Model]

    def model(self, server: WireServer) -> Model:
        """Return the model behind a running server; it is closed after the test."""
        _opened.append(self.make(self.name, server.base_url))
        return _opened[-1]


def _over_httpx(name: str, base_url: str) -> Model:
    return OpenAIHTTP(name, base_url, api_key=Secret(CANARY, "ROAMTUI_API_KEY"))


def _over_litellm(name: str, base_url: str) -> Model:
    return LiteLLM(name, base_url=base_url, api_key=Secret(CANARY, "SOME_API_KEY"))


HTTP = Maker(OpenAIServer, "some-model", _over_httpx)
LITELLM = Maker(OpenAIServer, "openai/some-model", _over_litellm)
ANTHROPIC = Maker(AnthropicServer, "anthropic/claude-sonnet-4-5", _over_litellm)
OLLAMA = Maker(OllamaServer, "ollama_chat/some-model", _over_litellm)
ALL = {"httpx": HTTP, "litellm-openai": LITELLM, "litellm-anthropic": ANTHROPIC, "litellm-ollama": OLLAMA}


@pytest.fixture(params=ALL)
def maker(request: pytest.FixtureRequest) -> Maker:
    """Each maker and protocol in turn."""
    return ALL[str(request.param)]


@pytest.fixture(params=["httpx", "litellm-openai"])
def openai_maker(request: pytest.FixtureRequest) -> Maker:
    """Each maker that speaks OpenAI's protocol."""
    return ALL[str(request.param)]


def ask(*more: Message, tools: bool = False, **params: object) -> Request:
    """Return a small request."""
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}, *more]
    return Request(model="m", messages=messages, tools=(TOOL,) if tools else (), params=params)


async def collect(model: Model, request: Request | None = None) -> tuple[Turn, list[Delta], ModelError | None]:
    """Return the turn, its deltas, and the error that ended it."""
    assembler, deltas = Assembler(), list[Delta]()
    try:
        async for delta in model.stream(request or ask()):
            deltas.append(delta)
            assembler.feed(delta)
    except ModelError as error:
        return assembler.turn(), deltas, error
    return assembler.turn(), deltas, None


async def fails(model: Model, request: Request | None = None) -> ModelError:
    """Return the error a call must end in."""
    _, _, error = await collect(model, request)
    assert error is not None, "the call succeeded"
    return error
