"""Context windows and prices, from the table that ships inside litellm; litellm itself is not imported."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from roamtui.models.base import Usage
from roamtui.models.wheel_data import litellm_folder

UNKNOWN_WINDOW = 32_768
"""Context window assumed for a model nobody described, tokens."""
_TABLE = "model_prices_and_context_window_backup.json"
_ABOVE = re.compile(r"_above_(\d+)k_tokens$")
_GUESSES = ("ollama/", "ollama_chat/")
"""Prefixes whose windows in the table are guesses: a local server decides its own."""


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per token; None where the table has no figure."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model before it is asked."""

    window: int
    """Most tokens of a prompt."""
    known: bool
    """Whether the window comes from the table; otherwise it is `UNKNOWN_WINDOW`."""
    max_output: int | None = None
    """Most tokens of an answer, None when unknown."""
    prices: Prices = field(default_factory=Prices)
    """Prices of an ordinary prompt."""
    long_prices: tuple[tuple[int, Prices], ...] = ()
    """Prices of the whole call when its prompt has more tokens than the number before them, ascending."""

    @property
    def input_price(self) -> float | None:
        """US dollars per prompt token."""
        return self.prices.input

    @property
    def output_price(self) -> float | None:
        """US dollars per answer token."""
        return self.prices.output

    @property
    def cache_read_price(self) -> float | None:
        """US dollars per prompt token read from the provider's cache."""
        return self.prices.cache_read

    def cost(self, usage: Usage) -> float | None:
        """Return the US dollars of a call, None when a price is missing.

        Without a price for tokens from the provider's cache, the full price counts, so that it is never too low.
        """
        prices = self.prices
        for above, dearer in self.long_prices:
            if usage.input > above:
                prices = dearer
        if prices.input is None or prices.output is None:
            return None
        plain = max(0, usage.input - usage.cache_read - usage.cache_write)
        read = prices.input if prices.cache_read is None else prices.cache_read
        write = prices.input if prices.cache_write is None else prices.cache_write
        return plain * prices.input + usage.cache_read * read + usage.cache_write * write + usage.output * prices.output


_NOTHING = ModelFacts(UNKNOWN_WINDOW, known=False)


@cache
def model_facts(name: str, base_url: str = "") -> ModelFacts:
    """Return what the table says of a model by litellm's name; the first call reads 3 MB, about 20 ms.

    Behind a `base_url`, or through a router, a model of the table keeps its window; prices are then not ours to know.
    """
    if name.startswith(_GUESSES):
        return _NOTHING
    table = _table()
    entry = _entry(table, name)
    if entry is not None and not base_url:
        return _facts(entry)
    routed = entry or next((found for part in _tails(name) if (found := _entry(table, part)) is not None), None)
    if routed is None:
        return _NOTHING
    facts = _facts(routed)
    return ModelFacts(facts.window, facts.known, facts.max_output)


def cost(name: str, usage: Usage, base_url: str = "") -> float | None:
    """Return the US dollars of a call to a model, None when its prices are unknown."""
    return model_facts(name, base_url).cost(usage)


@cache
def _table() -> dict[str, msgspec.Raw]:
    folder = litellm_folder()
    if folder is None:
        return {}
    try:
        return msgspec.json.decode((folder / _TABLE).read_bytes(), type=dict[str, msgspec.Raw])
    except (OSError, msgspec.DecodeError):
        return {}


def _entry(table: dict[str, msgspec.Raw], name: str) -> dict[str, Any] | None:
    """Return the table's entry of a name, also where it leaves out the provider it belongs to."""
    raw = table.get(name)
    if raw is not None and name != "sample_spec":
        return msgspec.json.decode(raw, type=dict[str, Any])
    provider, slash, bare = name.partition("/")
    raw = table.get(bare) if slash else None
    if raw is None:
        return None
    entry = msgspec.json.decode(raw, type=dict[str, Any])
    return entry if str(entry.get("litellm_provider", "")).removesuffix("_chat") == provider else None


def _tails(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(1, len(parts) - 1)]


def _facts(entry: dict[str, Any]) -> ModelFacts:
    window, output = _count(entry.get("max_input_tokens")), _count(entry.get("max_output_tokens"))
    limits = sorted({int(match[1]) * 1000 for key in entry if (match := _ABOVE.search(key))})
    return ModelFacts(
        window=window or UNKNOWN_WINDOW,
        known=window is not None,
        max_output=output,
        prices=Prices() if entry.get("tiered_pricing") else _prices(entry, ""),
        long_prices=tuple((limit, _prices(entry, f"_above_{limit // 1000}k_tokens")) for limit in limits),
    )


def _prices(entry: dict[str, Any], suffix: str) -> Prices:
    def price(name: str) -> float | None:
        value = entry.get(name + suffix, entry.get(name))
        return float(value) if isinstance(value, int | float) and value >= 0 else None

    return Prices(
        input=price("input_cost_per_token"),
        output=price("output_cost_per_token"),
        cache_read=price("cache_read_input_token_cost"),
        cache_write=price("cache_creation_input_token_cost"),
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None
