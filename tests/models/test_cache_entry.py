"""Keys and entries of recorded answers: equal requests, equal keys; and nothing comes out that did not go in."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.models import cache_entry
from roamtui.models.base import Delta, Finish, Reasoning, Text
from roamtui.models.cache_entry import MAX_ENTRY, cache_key, pack, request_document, unpack
from tests.models.conftest import ask

ANSWER: list[Delta] = [Reasoning("hm "), Text("Hello "), Text("there."), Finish("stop")]
DOCUMENT = request_document(ask(temperature=0), maker="fake", maker_version="1")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_keys_agree_exactly_when_requests_do(one: object, two: object) -> None:
    first, second = ({"params": value} for value in (one, two))
    same = msgspec.json.encode(first, order="sorted") == msgspec.json.encode(second, order="sorted")
    assert (cache_key(first) == cache_key(second)) == same


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=5))
def test_the_order_of_names_does_not_count(params: dict[str, object]) -> None:
    assert cache_key({"params": params}) == cache_key({"params": dict(reversed(params.items()))})


def entry(deltas: list[Delta], document: dict[str, Any] | None = None) -> bytes:
    """Return a packed entry."""
    timed = [(0.1 * number, delta) for number, delta in enumerate(deltas)]
    packed = pack(document or DOCUMENT, timed, recorded=1.0, version="0")
    assert packed is not None
    return packed


WORDS = st.text(st.characters(codec="utf-8"), max_size=9)
DELTAS = st.lists(st.one_of(st.builds(Text, WORDS), st.builds(Reasoning, WORDS)), max_size=20)


@given(DELTAS)
def test_what_goes_in_comes_out(deltas: list[Delta]) -> None:
    whole = [*deltas, Text("x"), Finish("stop")]
    found = unpack(entry(whole), DOCUMENT)
    assert found is not None
    assert [delta for _, delta in found.deltas] == whole


def test_lone_surrogates_are_not_stored_and_do_no_harm() -> None:
    timed: list[tuple[float, Delta]] = [(0.0, Text("a\ud800")), (0.1, Finish("stop"))]
    assert pack(DOCUMENT, timed, recorded=1.0, version="0") is None
    surrogate = request_document(ask({"role": "user", "content": "\ud800"}), maker="m", maker_version="1")
    assert len(cache_key(surrogate)) == 64


def test_an_entry_answers_its_own_request_only() -> None:
    other = {**DOCUMENT, "sample": 1}
    assert unpack(entry(ANSWER), other) is None


def test_an_entry_of_another_version_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-C17."""
    packed = entry(ANSWER)
    monkeypatch.setattr(cache_entry, "SCHEMA", 2)
    assert unpack(packed, DOCUMENT) is None


def test_a_bomb_is_a_miss() -> None:
    """F-C14."""
    bomb = zlib.compress(b'{"schema": 1, "pad": "' + b" " * (MAX_ENTRY + 1_000_000) + b'"}', 9)
    assert len(bomb) < 100_000
    assert unpack(bomb, DOCUMENT) is None


GARBAGE = [b"", b"x", zlib.compress(b"{}"), zlib.compress(b"\xff"), zlib.compress(b"[" * 99_999)]


@pytest.mark.parametrize("data", GARBAGE)
def test_garbage_is_a_miss(data: bytes) -> None:
    assert unpack(data, DOCUMENT) is None
    assert unpack(entry(ANSWER) + b"tail", DOCUMENT) is None
