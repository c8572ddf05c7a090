"""Choosing a model: which maker a name means, which key goes where, and what is said before anything is sent."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from roamtui.errors import ConfigError, ModelError
from roamtui.models.base import Served
from roamtui.models.providers import PROVIDERS, key_name, provider_of
from roamtui.models.secret import Secret
from roamtui.models.select import (
    ModelChoice,
    address_warning,
    base_url_key,
    key_problem,
    open_model,
    providers_with_keys,
)
from roamtui.text import redact
from tests.models.conftest import ask, collect, fails
from tests.support.openai_server import OpenAIServer
from tests.support.wire import Reply

KEYS = {"OPENAI_API_KEY": "sk-openai-000000001", "ROAMTUI_API_KEY": "own-key-000000001"}


@pytest.mark.parametrize(
    ("choice", "maker", "name"),
    [
        (ModelChoice("guide"), "guide", "guide"),
        (ModelChoice("llama3", base_url="http://localhost:11434/v1"), "openai-http", "llama3"),
        (ModelChoice("anthropic/claude-sonnet-5-5"), "litellm", "anthropic/claude-sonnet-5-5"),
        (ModelChoice("gpt-4o"), "litellm", "gpt-4o"),
    ],
)
def test_a_name_means_a_maker(choice: ModelChoice, maker: str, name: str) -> None:
    model = open_model(choice, environ={})
    assert (model.maker, model.name) == (maker, name)


def test_a_script_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('[{"text": "hi"}]')
    assert open_model(ModelChoice(f"scripted:{path}"), environ={}).maker == "scripted"


@pytest.mark.parametrize(
    "choice",
    [
        ModelChoice(""),
        ModelChoice("  "),
        ModelChoice("scripted:/nowhere.json"),
        ModelChoice("m", base_url="not an address"),
        ModelChoice("m", base_url="http://user:secret@host/v1"),
        ModelChoice("ollama_chat/llama3", base_url="http://localhost:11434"),
    ],
)
def test_choices_that_make_no_sense(choice: ModelChoice) -> None:
    with pytest.raises(ConfigError) as caught:
        open_model(choice, environ={})
    assert "secret" not in caught.value.message + caught.value.hint


async def test_every_model_says_first_where_the_answer_comes_from(tmp_path: Path) -> None:
    async with OpenAIServer(lambda *_: Reply(text="hi")) as server:
        for choice in (
            ModelChoice("guide"),
            ModelChoice("m", base_url=server.base_url),
            ModelChoice("m", base_url=server.base_url, cache_dir=tmp_path),
            ModelChoice("m", base_url=server.base_url, cache_dir=tmp_path),
        ):
            model = open_model(choice, environ={})
            _, deltas, error = await collect(model)
            await model.aclose()
            assert error is None
            assert isinstance(deltas[0], Served)
            assert sum(isinstance(delta, Served) for delta in deltas) == 1
    assert len(server.requests) == 2


async def test_the_whole_line_retries_and_records(tmp_path: Path) -> None:
    """Cache around retries around deadlines around a maker."""
    async with OpenAIServer([Reply(status=503), Reply(text="hi")]) as server:
        for _ in range(2):
            model = open_model(ModelChoice("m", base_url=server.base_url, cache_dir=tmp_path), environ=KEYS)
            turn, _, error = await collect(model)
            await model.aclose()
            assert (turn.text, error) == ("hi", None)
        assert len(server.requests) == 2
        assert server.requests[1].headers["authorization"] == "Bearer own-key-000000001"


async def test_recorded_answers_belong_to_the_server_the_environment_names(tmp_path: Path) -> None:
    """litellm reads addresses from the environment; an answer of one server must not be served for another."""
    keys = set()
    for address in ("", "http://one.example/v1", "http://user:CANARY-word@two.example/v1"):
        environ = {"OPENAI_API_BASE": address} if address else {}
        model = open_model(ModelChoice("gpt-4o", cache_dir=tmp_path), environ=environ)
        _, deltas, _ = await collect(model)
        await model.aclose()
        assert isinstance(deltas[0], Served)
        keys.add(deltas[0].key)
    assert len(keys) == 3


# -- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "environ", "source"),
    [
        ("http://localhost:1234/v1", KEYS, "ROAMTUI_API_KEY"),
        ("https://foreign.example/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, None),
        ("http://localhost:1234/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, None),
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, None),
        ("https://api.openai.com.evil.example/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, None),
        ("https://openrouter.ai/api/v1", {"OPENROUTER_API_KEY": "or-key-0000000001"}, "OPENROUTER_API_KEY"),
        ("https://openrouter.ai/api/v1", {"OPENAI_API_KEY": "sk-openai-000000001"}, None),
        ("http://localhost:1234/v1", {"ROAMTUI_API_KEY": "  "}, None),
    ],
)
def test_a_key_goes_to_its_own_server_only(address: str, environ: dict[str, str], source: str | None) -> None:
    """F-S04: no provider's key ever reaches a foreign address."""
    key = base_url_key(address, environ)
    assert (key.source if key else None) == source


@pytest.mark.parametrize(
    ("name", "environ", "variable"),
    [
        ("anthropic/claude-sonnet-5-5", {}, "ANTHROPIC_API_KEY"),
        ("claude-sonnet-5-5", {}, "ANTHROPIC_API_KEY"),
        ("gpt-4o", {"ANTHROPIC_API_KEY": "x" * 20}, "OPENAI_API_KEY"),
        ("gemini/gemini-3.8-flash", {"GEMINI_API_KEY": ""}, "GEMINI_API_KEY"),
        ("gemini/gemini-3.8-flash", {"GOOGLE_API_KEY": "x" * 20}, ""),
        ("openai/gpt-4o", {"OPENAI_API_KEY": "x" * 20}, ""),
        ("ollama_chat/llama3", {}, ""),
        ("some_new_provider/model", {}, ""),
        ("guide", {}, ""),
    ],
)
async def test_a_missing_key_is_said_before_anything_is_sent(name: str, environ: dict[str, str], variable: str) -> None:
    """F-P23."""
    problem = key_problem(name, environ=environ)
    assert (problem is None) == (variable == "")
    if problem is not None:
        assert variable in problem.message
        error = await fails(open_model(ModelChoice(name), environ=environ))
        assert (error.kind, error.message) == ("auth", problem.message)


@pytest.mark.parametrize("key", ["abc\ndef-ghi", "schlüssel-123", "two words here", "tab\tbed-key", "nul\0nul-key"])
async def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    """F-P23."""
    problem = key_problem("m", "http://localhost/v1", environ={"ROAMTUI_API_KEY": key})
    assert problem is not None
    assert problem.kind == "auth"
    assert key not in str(problem)
    model = open_model(ModelChoice("m", base_url="http://localhost/v1"), environ={"ROAMTUI_API_KEY": key})
    assert await fails(model) is not None
    other = open_model(ModelChoice("gpt-4o"), environ={"OPENAI_API_KEY": key})
    assert (await fails(other)).kind == "auth"


def test_a_key_never_shows_itself() -> None:
    """F-S01."""
    secret = Secret(" CANARY-value-123 \n", "SOME_API_KEY")
    assert secret.reveal() == "CANARY-value-123"
    for shown in (repr(secret), str(secret), f"{secret}", f"{[secret]}", redact("It is CANARY-value-123.")):
        assert "CANARY" not in shown
    assert "CANARY" not in repr(ModelChoice("m", api_key=secret))
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(ModelError):
        Secret("  ", "SOME_API_KEY")


def test_providers_whose_key_is_here_are_offered() -> None:
    environ = {"ANTHROPIC_API_KEY": "x" * 20, "MISTRAL_API_KEY": " ", "OPENAI_API_KEY": "y" * 20}
    offered = providers_with_keys(environ)
    assert [provider.prefix for provider in offered] == ["anthropic", "openai"]
    assert all(provider.suggested for provider in offered)
    assert providers_with_keys({}) == []


def test_the_table_of_providers_is_consistent() -> None:
    for provider in PROVIDERS:
        assert provider.key_names
        assert provider_of(f"{provider.prefix}/x") is provider
        assert key_name(provider, {provider.key_names[-1]: "k" * 10}) == provider.key_names[-1]
        assert not provider.suggested or provider_of(provider.suggested) is provider


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("http://localhost:1/v1", False),
        ("https://host.example/v1", False),
        ("http://host.example/v1", True),
        ("http://192.168.1.9:8080/v1", True),
    ],
)
def test_an_open_line_is_warned_about(address: str, warned: bool) -> None:
    """F-S04."""
    assert bool(address_warning(address)) is warned


async def test_a_cache_that_cannot_be_used_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "responses").write_text("in the way")
    told: list[str] = []
    async with OpenAIServer(lambda *_: Reply(text="hi")) as server:
        choice = ModelChoice("m", base_url=server.base_url, cache_dir=tmp_path)
        model = open_model(choice, environ={}, notice=told.append)
        for temperature in range(2):
            turn, _, error = await collect(model, ask(temperature=temperature))
            assert (turn.text, error) == ("hi", None)
        await model.aclose()
    assert len(told) == 1
