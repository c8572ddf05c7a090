"""Recorded answers: what is stored, what hits, what never does, and what happens when the disk does not play along."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from roamtui.errors import ModelError, RoamError
from roamtui.models import base
from roamtui.models.base import Delta, Finish, ProviderFields, Reasoning, Request, Retrying, Served, Text, ToolCallPart
from roamtui.models.cache import Cached, CacheMode, ResponseCache
from roamtui.text import redact
from tests.models.conftest import ask, collect, fails

ANSWER: list[Delta] = [Reasoning("hm "), Text("Hello "), Text("there."), base.Usage(input=9, output=2), Finish("stop")]
CALL: list[Delta] = [ToolCallPart(0, "c1", "expand_section", '{"section_ids": '), ToolCallPart(0, arguments='["x"]}')]


class Fake:
    """A model that counts its calls and gives what it is told to."""

    maker = "fake"
    name = "fake-1"

    def __init__(self, *answers: list[Delta], error: ModelError | None = None) -> None:
        self.answers = list(answers)
        self.error = error
        self.calls = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        answer = self.answers[min(self.calls, len(self.answers) - 1)]
        self.calls += 1
        for delta in answer:
            yield delta
        if self.error is not None:
            raise self.error

    async def aclose(self) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the cache will lie."""
    return tmp_path / "cache" / "responses"


@pytest.fixture
def cache(folder: Path) -> Iterator[ResponseCache]:
    """Return a cache over the folder."""
    cache = ResponseCache(folder)
    yield cache
    cache.close()


def cached(fake: Fake, cache: ResponseCache | None, mode: CacheMode = "on", **more: str) -> Cached:
    """Return a fake behind a cache."""
    return Cached(fake, cache, mode, **more)


# -- hits -----------------------------------------------------------------------------------------


async def test_the_second_time_nobody_is_asked(cache: ResponseCache) -> None:
    fake = Fake(ANSWER)
    model = cached(fake, cache)
    _, first, _ = await collect(model)
    _, second, error = await collect(model)
    assert error is None
    assert fake.calls == 1
    assert first[1:] == second[1:] == ANSWER
    assert isinstance(first[0], Served)
    assert isinstance(second[0], Served)
    assert (first[0].cached, second[0].cached) == (False, True)
    assert first[0].key == second[0].key != ""
    assert abs(second[0].recorded - time.time()) < 60


async def test_a_hit_survives_the_program(folder: Path) -> None:
    before = ResponseCache(folder)
    await collect(cached(Fake([*CALL, Finish("tool_calls")]), before))
    before.close()
    after, fake = ResponseCache(folder), Fake([])
    turn, _, error = await collect(cached(fake, after))
    after.close()
    assert (error, fake.calls) == (None, 0)
    assert turn.tool_calls[0].arguments == '{"section_ids": ["x"]}'


async def test_everything_a_provider_wants_back_is_kept(cache: ResponseCache) -> None:
    fields = {"litellm": {"model": "m", "thinking_blocks": [{"signature": "s", "n": 1.5, "x": None, "l": [True]}]}}
    model = cached(Fake([Text("x"), ProviderFields(fields), Finish("stop")]), cache)
    await collect(model)
    turn, _, _ = await collect(model)
    assert turn.provider_fields == fields


async def test_fresh_call_ids_do_not_miss(cache: ResponseCache) -> None:
    fake = Fake(ANSWER)
    for id in ("call_abc", "call_xyz"):
        call = {"id": id, "type": "function", "function": {"name": "expand_section", "arguments": '{"a": [1, 2]}'}}
        history = [{"role": "assistant", "content": "", "tool_calls": [call]}]
        await collect(cached(fake, cache), ask(*history, {"role": "tool", "tool_call_id": id, "content": "text"}))
    assert fake.calls == 1


def variant(**changes: Any) -> Request:
    """Return the usual request with something changed."""
    return msgspec.structs.replace(ask(temperature=0), **changes)


@pytest.mark.parametrize(
    "other",
    [
        variant(model="other"),
        variant(messages=[{"role": "user", "content": "Hello!"}]),
        variant(messages=list(reversed(ask().messages))),
        variant(tools=({"type": "function"},)),
        variant(params={"temperature": 1}),
        variant(params={"temperature": 0, "seed": 1}),
        variant(params={}),
        variant(sample=1),
        variant(base_url="http://elsewhere/v1"),
    ],
)
async def test_another_request_is_another_entry(cache: ResponseCache, other: Request) -> None:
    """F-C18."""
    fake = Fake(ANSWER)
    await collect(cached(fake, cache), variant())
    await collect(cached(fake, cache), other)
    assert fake.calls == 2


async def test_another_maker_version_or_server_is_another_entry(cache: ResponseCache) -> None:
    """F-C17, F-C18."""
    fake = Fake(ANSWER)
    await collect(cached(fake, cache))
    await collect(cached(fake, cache, version="2"))
    await collect(cached(fake, cache, base_url="http://127.0.0.1:1/v1"))
    other = Fake(ANSWER)
    other.maker = "another"
    await collect(cached(other, cache))
    assert (fake.calls, other.calls) == (3, 1)


# -- what is stored, and what never ---------------------------------------------------------------

NEVER: dict[str, list[Delta]] = {
    "length": [Text("half"), Finish("length")],
    "content filter": [Text("half"), Finish("content_filter")],
    "nothing said": [Text("  "), Finish("stop")],
    "broken arguments": [ToolCallPart(0, "c", "expand_section", '{"a": '), Finish("tool_calls")],
    "a call without a name": [ToolCallPart(0, "c", "", "{}"), Finish("tool_calls")],
    "no end": [Text("half")],
}


@pytest.mark.parametrize("answer", NEVER)
async def test_incomplete_turns_are_not_stored(cache: ResponseCache, answer: str) -> None:
    fake = Fake(NEVER[answer])
    await collect(cached(fake, cache))
    await collect(cached(fake, cache))
    assert fake.calls == 2


async def test_failed_calls_are_not_stored(cache: ResponseCache) -> None:
    fake = Fake([Text("half")], error=ModelError("truncated", "cut"))
    for _ in range(2):
        assert (await fails(cached(fake, cache))).kind == "truncated"
    assert fake.calls == 2


async def test_abandoned_calls_are_not_stored(cache: ResponseCache) -> None:
    fake = Fake(ANSWER)
    async with aclosing(cached(fake, cache).stream(ask())) as deltas:
        async for delta in deltas:
            if isinstance(delta, Text):
                break
    await collect(cached(fake, cache))
    assert fake.calls == 2


async def test_only_the_try_that_counted_is_stored(cache: ResponseCache) -> None:
    retrying = Retrying(attempt=2, wait=0.1, kind="overloaded", message="busy")
    fake = Fake([Text("first try"), retrying, *ANSWER])
    await collect(cached(fake, cache))
    turn, deltas, _ = await collect(cached(fake, cache))
    assert fake.calls == 1
    assert turn.text == "Hello there."
    assert retrying not in deltas


async def test_a_reader_that_stops_at_the_end_still_gets_it_stored(cache: ResponseCache) -> None:
    fake = Fake(ANSWER)
    async with aclosing(cached(fake, cache).stream(ask())) as deltas:
        async for delta in deltas:
            if isinstance(delta, Finish):
                break
    await collect(cached(fake, cache))
    assert fake.calls == 1


SECRET = "CANARY-key-of-the-user-42"


def all_bytes(folder: Path) -> bytes:
    """Return the content of every file of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_no_secret_is_written(cache: ResponseCache, folder: Path) -> None:
    """F-S01: a key in a request is taken out of what is stored; the request still hits."""
    redact.add(SECRET)
    fake = Fake(ANSWER)
    request = ask({"role": "user", "content": f"My key is {SECRET}, and a sample is sk-abcdefghijklmnop."})
    await collect(cached(fake, cache), request)
    await collect(cached(fake, cache), request)
    assert fake.calls == 1
    cache.close()
    stored = all_bytes(folder)
    with sqlite3.connect(folder / "cache.db") as database:
        ((value,),) = database.execute("SELECT value FROM Cache").fetchall()
    unpacked = zlib.decompress(value[32:])
    for secret in (SECRET.encode(), b"sk-abcdefghijklmnop"):
        assert secret not in stored + unpacked


@pytest.mark.parametrize(
    "answer",
    [
        [Text("It is " + SECRET[:9]), Text(SECRET[9:]), Finish("stop")],
        [ToolCallPart(0, "c", "call_action", f'{{"key": "{SECRET}"}}'), Finish("tool_calls")],
        [Text("x"), ProviderFields({"m": {"x": [SECRET]}}), Finish("stop")],
    ],
)
async def test_an_answer_with_a_secret_is_not_stored(cache: ResponseCache, answer: list[Delta]) -> None:
    """It could only be served altered."""
    redact.add(SECRET)
    fake = Fake(answer)
    await collect(cached(fake, cache))
    await collect(cached(fake, cache))
    assert fake.calls == 2


# -- modes ----------------------------------------------------------------------------------------


async def test_refresh_asks_and_stores(cache: ResponseCache) -> None:
    fake = Fake(ANSWER, [Text("Newer."), Finish("stop")])
    await collect(cached(fake, cache))
    await collect(cached(fake, cache, "refresh"))
    turn, _, _ = await collect(cached(fake, cache))
    assert (turn.text, fake.calls) == ("Newer.", 2)


async def test_off_neither_reads_nor_writes(cache: ResponseCache, folder: Path) -> None:
    fake = Fake(ANSWER)
    for _ in range(2):
        _, deltas, _ = await collect(cached(fake, cache, "off"))
        assert deltas[0] == Served(cached=False)
    assert fake.calls == 2
    assert not all_bytes(folder.parent)


async def test_only_never_asks(cache: ResponseCache) -> None:
    fake = Fake(ANSWER)
    assert (await fails(cached(fake, cache, "only"))).kind == "not_cached"
    assert (await fails(cached(fake, None, "only"))).kind == "not_cached"
    assert fake.calls == 0
    await collect(cached(fake, cache))
    turn, _, error = await collect(cached(fake, cache, "only"))
    assert (turn.text, error, fake.calls) == ("Hello there.", None, 1)


# -- the disk does not play along -----------------------------------------------------------------


async def goes_on(cache: ResponseCache, *, limit: float = 3.5) -> None:
    """Check that two calls are answered in time, with one notice between them."""
    fake, started = Fake(ANSWER), time.monotonic()
    for _ in range(2):
        turn, _, error = await collect(cached(fake, cache))
        assert (turn.text, error) == ("Hello there.", None)
    assert fake.calls == 2
    assert time.monotonic() - started < limit
    assert len(cache.notices) == 1


@pytest.fixture
def blocked(folder: Path) -> Path:
    """Put a file where the folder should be."""
    folder.parent.mkdir()
    folder.write_text("a file")
    return folder


async def test_a_folder_that_cannot_be_used_costs_one_notice(blocked: Path) -> None:
    """F-C08."""
    told: list[str] = []
    cache = ResponseCache(blocked, notice=told.append)
    await goes_on(cache)
    assert told == cache.notices
    with pytest.raises(RoamError):
        cache.info()
    cache.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_without_permission_costs_one_notice(folder: Path) -> None:
    """F-C08."""
    folder.parent.mkdir(mode=0o500)
    await goes_on(ResponseCache(folder))


async def test_a_locked_cache_costs_two_seconds_and_one_notice(folder: Path) -> None:
    """F-C05: opening it would block for a minute."""
    first = ResponseCache(folder)
    first.info()
    first.close()
    with sqlite3.connect(folder / "cache.db", isolation_level=None, timeout=5) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        await goes_on(ResponseCache(folder))


async def test_a_cache_locked_while_in_use_still_answers(cache: ResponseCache, folder: Path) -> None:
    """F-C05: reading goes on, writing is given up after a second."""
    fake = Fake(ANSWER)
    await collect(cached(fake, cache))
    with sqlite3.connect(folder / "cache.db", isolation_level=None) as database:
        database.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        await collect(cached(fake, cache), ask(temperature=1))
        assert time.monotonic() - started < 2.5
        turn, _, _ = await collect(cached(fake, cache))
    assert turn.text == "Hello there."
    assert fake.calls == 2


async def test_a_cache_broken_while_in_use_is_put_aside(cache: ResponseCache, folder: Path) -> None:
    fake = Fake(ANSWER)
    await collect(cached(fake, cache))
    with sqlite3.connect(folder / "cache.db", isolation_level=None) as database:
        database.execute("DROP TABLE Cache")
    for _ in range(2):
        turn, _, error = await collect(cached(fake, cache))
        assert (turn.text, error) == ("Hello there.", None)
    assert fake.calls == 2
    assert list(folder.parent.glob("responses.bad-*"))
    assert cache.notices == []


async def test_cancelling_a_look_up_leaves_the_cache_usable(cache: ResponseCache) -> None:
    """F-C21."""
    fake = Fake(ANSWER)
    for moment in range(12):
        task = asyncio.ensure_future(collect(cached(fake, cache), ask(temperature=moment)))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    turn, _, error = await collect(cached(fake, cache))
    assert (turn.text, error, cache.notices) == ("Hello there.", None, [])


async def test_two_programs_share_a_cache(folder: Path) -> None:
    one, two = ResponseCache(folder), ResponseCache(folder)
    first, second = Fake(ANSWER), Fake(ANSWER)
    await collect(cached(first, one))
    await collect(cached(second, two))
    assert (first.calls, second.calls) == (1, 0)
    one.close()
    two.close()


async def test_info_and_clear(cache: ResponseCache, folder: Path) -> None:
    await collect(cached(Fake(ANSWER), cache))
    info = cache.info()
    assert (info.entries, info.path) == (1, folder)
    assert info.bytes > 0
    cache.clear()
    assert cache.info().entries == 0
