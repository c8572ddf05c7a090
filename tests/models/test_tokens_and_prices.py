"""Tokens, windows and prices from litellm's data files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roamtui.estimate import estimate_tokens
from roamtui.models import tokens
from roamtui.models.base import Usage
from roamtui.models.pricing import UNKNOWN_WINDOW, ModelFacts, Prices, cost, model_facts
from roamtui.models.providers import PROVIDERS
from roamtui.models.tokens import ESTIMATE, TokenCounter


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gpt-4o", "o200k_base"),
        ("openai/gpt-5-mini", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("azure/gpt-3.5-turbo", "cl100k_base"),
        ("anthropic/claude-sonnet-5-5", ESTIMATE),
        ("ollama_chat/llama3", ESTIMATE),
        ("guide", ESTIMATE),
    ],
)
def test_the_tokenizer_is_the_models_own_or_none(name: str, label: str) -> None:
    counter = TokenCounter(name)
    assert counter.label == label
    assert counter.count("") == 0
    assert counter.count("hello world " * 100) == (estimate_tokens("hello world " * 100) if label == ESTIMATE else 201)


def test_marks_are_counted_as_text() -> None:
    """F-D36."""
    assert TokenCounter("gpt-4o").count("<|endoftext|>") > 1


def test_counting_leaves_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_encodings", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nowhere")
    assert TokenCounter("gpt-4").count("x") == 1
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/nowhere"


@pytest.fixture
def altered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a table that is not the known one in the place of litellm's."""
    folder = tmp_path / "litellm_core_utils" / "tokenizers"
    folder.mkdir(parents=True)
    table = folder / tokens._TABLES["o200k_base"][0]
    table.write_bytes(b"IQ== 0\n")
    monkeypatch.setattr(tokens, "_encodings", {})
    monkeypatch.setattr(tokens, "litellm_folder", lambda: tmp_path)
    return table


def test_an_altered_table_is_not_used_and_not_deleted(altered: Path) -> None:
    counter = TokenCounter("gpt-4o")
    assert counter.count("hello there") == estimate_tokens("hello there")
    assert counter.label == ESTIMATE
    assert altered.exists()


def test_without_litellm_everything_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "litellm_folder", lambda: None)
    assert TokenCounter("gpt-4o").label == ESTIMATE


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o", 128_000),
        ("openai/gpt-4o", 128_000),
        ("anthropic/claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("groq/openai/gpt-oss-120b", 131_072),
    ],
)
def test_windows_are_known_with_and_without_the_provider(name: str, window: int) -> None:
    facts = model_facts(name)
    assert facts.known
    assert facts.window == window
    assert facts.input_price is not None
    assert facts.output_price is not None


@pytest.mark.parametrize(
    "name", ["my-own-model", "ollama_chat/llama3.1", "ollama/llama3.1", "sample_spec", "a/b/c", ""]
)
def test_unknown_models_get_the_default_and_no_price(name: str) -> None:
    """The table's window of a local model is a guess."""
    assert model_facts(name) == ModelFacts(UNKNOWN_WINDOW, known=False)
    assert cost(name, Usage(input=1_000, output=10)) is None


def test_through_a_router_or_an_own_address_the_window_holds_and_the_price_does_not() -> None:
    for facts in (model_facts("openrouter/openai/gpt-4o"), model_facts("gpt-4o", "http://localhost/v1")):
        assert facts.window == 128_000
        assert facts.cost(Usage(input=1, output=1)) is None


def test_a_call_costs_what_its_tokens_cost() -> None:
    facts = ModelFacts(1, known=True, prices=Prices(3e-6, 15e-6, 0.3e-6, 3.75e-6))
    usage = Usage(input=10_000, output=100, cache_read=8_000, cache_write=1_000)
    assert facts.cost(usage) == pytest.approx(1_000 * 3e-6 + 8_000 * 0.3e-6 + 1_000 * 3.75e-6 + 100 * 15e-6)
    assert ModelFacts(1, known=True, prices=Prices(3e-6, 15e-6)).cost(usage) == pytest.approx(0.03 + 0.0015)
    assert facts.cost(Usage(input=5, cache_read=10)) == pytest.approx(10 * 0.3e-6)


def test_long_prompts_cost_the_long_price() -> None:
    facts = model_facts("gemini/gemini-2.5-pro")
    assert facts.long_prices
    limit, dearer = facts.long_prices[0]
    assert dearer.input is not None
    assert facts.cost(Usage(input=limit + 1)) == pytest.approx((limit + 1) * dearer.input)
    assert dearer.input > (facts.input_price or 0)


def test_every_suggested_model_is_in_the_table() -> None:
    for provider in PROVIDERS:
        if provider.suggested:
            assert model_facts(provider.suggested).known, provider.suggested
