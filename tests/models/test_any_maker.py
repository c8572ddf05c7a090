"""What holds for every maker that asks a server, whatever the protocol: answers, failures, cuts, cancelling."""

from __future__ import annotations

import asyncio
import gzip
import time
from contextlib import aclosing
from functools import cache

import pytest

from roamtui.models.base import Finish, Reasoning, Text, Usage
from roamtui.models.bounded import Bounded, Deadlines
from tests.models.conftest import ANTHROPIC, CANARY, HTTP, LITELLM, OLLAMA, Maker, ask, collect, fails
from tests.support.openai_server import chunk_of
from tests.support.wire import Cut, Gate, Reply

pytestmark = pytest.mark.faults

TWO_CALLS = [("expand_section", {"section_ids": ["07f3277d"]}), ("expand_section", {"section_ids": ["bbbbbbbb"]})]


async def test_an_answer_streams_with_thinking_text_usage_and_an_end(maker: Maker) -> None:
    reply = Reply(reasoning="Let me think about it.", text="Hello there, reader.", usage={"input": 1010, "output": 9})
    async with maker.server([reply]) as server:
        turn, deltas, error = await collect(maker.model(server))
    assert error is None
    assert (turn.text, turn.reasoning, turn.finish) == ("Hello there, reader.", "Let me think about it.", "stop")
    assert turn.usage is not None
    assert (turn.usage.input, turn.usage.output) == (1010, 9)
    assert sum(isinstance(delta, Text) for delta in deltas) > 1
    assert sum(isinstance(delta, Reasoning) for delta in deltas) > 1
    assert isinstance(deltas[-1], Finish)


async def test_parallel_calls_stay_apart_and_their_results_go_back(maker: Maker) -> None:
    async with maker.server([Reply(tool_calls=TWO_CALLS), Reply(text="Read.")]) as server:
        model = maker.model(server)
        turn, _, error = await collect(model, ask(tools=True))
        assert error is None
        assert turn.finish == "tool_calls"
        assert [call.name for call in turn.tool_calls] == ["expand_section"] * 2
        assert [call.arguments for call in turn.tool_calls] == [
            '{"section_ids": ["07f3277d"]}',
            '{"section_ids": ["bbbbbbbb"]}',
        ]
        first, second = (call.id for call in turn.tool_calls)
        assert first != second
        results = [{"role": "tool", "tool_call_id": id, "content": "its text"} for id in (first, second)]
        again, _, error = await collect(model, ask(turn.message(), *results, tools=True))
        assert (again.text, error) == ("Read.", None)
        sent = str(server.requests[1].json)
    assert sent.count("its text") == 2
    assert "07f3277d" in sent
    assert len(server.requests) == 2


async def test_a_conversation_with_calls_goes_on_without_tools(maker: Maker) -> None:
    """The last, forced answer offers no tools, though the conversation is full of calls."""
    async with maker.server([Reply(tool_calls=TWO_CALLS), Reply(text="In short.")]) as server:
        model = maker.model(server)
        turn, _, _ = await collect(model, ask(tools=True))
        results = [{"role": "tool", "tool_call_id": call.id, "content": "text"} for call in turn.tool_calls]
        again, _, error = await collect(model, ask(turn.message(), *results))
    assert error is None
    assert again.text == "In short."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=401, error=f"bad key {CANARY} \x1b]52;c;eA==\x07"), "auth"),
        (Reply(status=403, error=f"not yours: {CANARY}"), "auth"),
        (Reply(status=404, error="no such model"), "bad_request"),
        (Reply(status=400, error="bad parameter"), "bad_request"),
        (Reply(status=400, error="the prompt is too long: maximum context length is 8192 tokens"), "context"),
        (Reply(status=429, error="slow down"), "rate_limit"),
        (Reply(status=500), "overloaded"),
        (Reply(status=502), "overloaded"),
        (Reply(status=503, body=b"<html>" + b"x" * 50_000), "overloaded"),
        (Reply(status=529, error="overloaded"), "overloaded"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.status),
)
async def test_a_refusal_has_a_kind_and_shows_nothing_unsafe(maker: Maker, reply: Reply, kind: str) -> None:
    """F-P01 to F-P06: one request each, no retry hidden below us."""
    async with maker.server([reply]) as server:
        error = await fails(maker.model(server))
    shown = error.message + error.hint
    assert error.kind == kind
    assert CANARY not in shown
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert "<html>" not in shown
    assert len(shown) < 600
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"), [("2", 2.0), ("86400", 86400.0), ("-5; DROP", None), ("soon", None), ("", None)]
)
async def test_the_providers_pause_is_read(maker: Maker, header: str, seconds: float | None) -> None:
    """F-P03."""
    headers = {"retry-after": header} if header else {}
    async with maker.server([Reply(status=429, headers=headers)]) as server:
        error = await fails(maker.model(server))
    assert error.retry_after == seconds


async def test_nobody_at_the_address(maker: Maker) -> None:
    """F-P07."""
    async with maker.server([]) as server:
        pass
    error = await fails(maker.model(server))
    assert error.kind in ("connection", "bad_reply")
    assert maker is OLLAMA or error.kind == "connection"


@pytest.mark.parametrize("cut", ["end", "close", "reset"])
@pytest.mark.parametrize("after", [0, 1, 4])
async def test_a_cut_answer_is_never_an_answer(maker: Maker, cut: Cut, after: int) -> None:
    """F-P10, F-P11: also where the connection ends politely."""
    reply = Reply(text="All of it is here. " * 4, cut_after=after, cut=cut)
    async with maker.server(lambda *_: reply) as server:  # litellm asks again by itself when nothing came at all
        turn, _, error = await collect(maker.model(server))
    assert error is not None
    assert error.kind in ("truncated", "connection")
    assert turn.finish == ""


@pytest.mark.parametrize("cut", ["end", "close"])
async def test_a_cut_tool_call_is_never_a_call(maker: Maker, cut: Cut) -> None:
    reply = Reply(tool_calls=TWO_CALLS, cut_after=4, cut=cut, finish="")
    async with maker.server([reply]) as server:
        turn, _, error = await collect(maker.model(server), ask(tools=True))
    assert error is not None
    assert error.kind == "truncated"
    assert turn.finish == ""


@pytest.mark.parametrize("body", [b"", b"<html>Log in</html>", b"\x00\xff\xfe" * 1000, b"null", b"[]", b"SSH-2.0"])
async def test_what_is_no_answer_is_an_error(maker: Maker, body: bytes) -> None:
    """F-P12."""
    async with maker.server([Reply(body=body)]) as server:
        turn, _, error = await collect(maker.model(server))
    assert error is not None
    assert error.kind in ("bad_reply", "truncated")
    assert turn.text == ""


async def test_a_redirect_is_not_followed(maker: Maker) -> None:
    """F-P18: the prompt must not go to another host."""
    async with maker.server([Reply(text="stolen")]) as other:
        location = f"{other.base_url}/chat/completions"
        replies = [Reply(status=307, headers={"location": location}, body=b"")]
        async with maker.server(replies) as server:
            error = await fails(maker.model(server))
    assert error.kind == "bad_request"
    assert other.requests == []


@cache
def bomb() -> bytes:
    """Return 70 kB that unpack to 70 MB."""
    return gzip.compress(b" " * 70_000_000, 1)


async def test_a_packed_reply_is_not_inflated_without_bounds(maker: Maker) -> None:
    """F-P16: nothing packed was asked for; what comes packed anyway is refused or inflated in bounds."""
    async with maker.server([Reply(body=bomb(), headers={"content-encoding": "gzip"})]) as server:
        error = await fails(maker.model(server))
    assert error.kind in ("bad_reply", "too_large")
    assert "gzip" not in server.requests[0].headers["accept-encoding"]


async def test_a_line_without_end_is_cut_off(maker: Maker) -> None:
    """F-P14."""
    async with maker.server([Reply(chunks=[b"data: ", b"A" * 1_000_000], repeat=True)]) as server:
        error = await fails(maker.model(server))
    assert error.kind == "too_large"


async def test_an_answer_without_end_is_cut_off(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-P14: by characters, for every maker; the limit is lowered here to keep the test short."""
    monkeypatch.setattr("roamtui.models.bounded.MAX_CHARACTERS", 20_000)
    piece = {
        HTTP: chunk_of({"content": "loop " * 50}),
        LITELLM: chunk_of({"content": "loop " * 50}),
        OLLAMA: {"model": "m", "message": {"role": "assistant", "content": "loop " * 50}, "done": False},
    }.get(maker, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "loop " * 50}})
    async with maker.server([Reply(chunks=[piece], repeat=True)]) as server:
        error = await fails(Bounded(maker.model(server), Deadlines()))
        await server.wait_until(lambda: server.disconnects == 1)
    assert error.kind == "too_large"


async def test_equal_pieces_are_no_loop(maker: Maker) -> None:
    """F-P15: 200 equal pieces, as a wide table has them."""
    async with maker.server([Reply(text="|-----" * 200)]) as server:
        turn, _, error = await collect(maker.model(server))
    assert error is None
    assert turn.text == "|-----" * 200


async def test_silence_before_the_answer_ends_in_time(maker: Maker) -> None:
    """F-P08."""
    gate = Gate()
    async with maker.server([Reply(text="late", gate=gate)]) as server:
        started = time.monotonic()
        error = await fails(Bounded(maker.model(server), Deadlines(first_event=0.2)))
        assert time.monotonic() - started < 0.7
        await server.wait_until(lambda: server.disconnects == 1)
    assert error.kind == "timeout"


async def test_silence_in_the_answer_ends_in_time(maker: Maker) -> None:
    """F-P08, F-P09."""
    async with maker.server([Reply(text="x" * 60, cut_after=5, cut="hang")]) as server:
        started = time.monotonic()
        turn, _, error = await collect(Bounded(maker.model(server), Deadlines(idle=0.2)))
        assert time.monotonic() - started < 1.0
    assert error is not None
    assert error.kind == "timeout"
    assert turn.text.startswith("x")


async def test_pings_are_no_signs_of_life(openai_maker: Maker) -> None:
    """F-P09: comments for ever, as some gateways send them."""
    ping = b": ping\n\n"
    async with openai_maker.server([Reply(chunks=[ping] * 50 + [b": \n" * 20_000], repeat=True)]) as server:
        error = await fails(Bounded(openai_maker.model(server), Deadlines(first_event=0.3, idle=0.3, call=0.6)))
    assert error.kind in ("timeout", "too_large")


@pytest.mark.parametrize("taken", [0, 1, 2, 5])
async def test_closing_the_iterator_closes_the_connection(maker: Maker, taken: int) -> None:
    """F-P28: cancelled at several points; nobody waits, and the server sees it."""
    gate = Gate()
    reply = Reply(text="y" * 120, gate=gate, hold_after=0 if taken == 0 else 15)
    async with maker.server([reply]) as server:
        seen = 0

        async def read() -> None:
            nonlocal seen
            async with aclosing(maker.model(server).stream(ask())) as deltas:
                async for _ in deltas:
                    seen += 1
                    if seen == taken:
                        return
            raise AssertionError("the reply ended")

        task = asyncio.ensure_future(read())
        await server.wait_until(lambda: len(server.requests) == 1)
        if taken == 0:
            started = time.monotonic()
            task.cancel()
            await asyncio.wait({task})
            assert time.monotonic() - started < 0.3
        else:
            await task
        await server.wait_until(lambda: server.disconnects == 1)


async def test_usage_counts_what_the_providers_cache_read(openai_maker: Maker) -> None:
    usage = {"input": 1010, "output": 7, "cache_read": 900, "reasoning": 3}
    async with openai_maker.server([Reply(text="ok", usage=usage)]) as server:
        turn, _, _ = await collect(openai_maker.model(server))
    assert turn.usage == Usage(input=1010, output=7, cache_read=900, reasoning=3)


async def test_anthropic_gets_its_thinking_back_and_keeps_the_prompt() -> None:
    usage = {"input": 1010, "output": 7, "cache_read": 900, "cache_write": 100}
    first = Reply(reasoning="Step one. Step two.", tool_calls=TWO_CALLS, usage=usage)
    async with ANTHROPIC.server([first, Reply(text="done")]) as server:
        model = ANTHROPIC.model(server)
        turn, _, _ = await collect(model, ask(tools=True))
        results = [{"role": "tool", "tool_call_id": call.id, "content": "text"} for call in turn.tool_calls]
        _, _, error = await collect(model, ask(turn.message(), *results, tools=True))
        sent = server.requests[1].json
    assert error is None
    assert turn.usage is not None
    assert (turn.usage.input, turn.usage.cache_read, turn.usage.cache_write) == (1010, 900, 100)
    thinking = sent["messages"][1]["content"][0]
    assert thinking == {"type": "thinking", "thinking": "Step one. Step two.", "signature": "c2lnbmF0dXJl"}
    assert [block["id"] for block in sent["messages"][1]["content"] if block["type"] == "tool_use"] == [
        call.id for call in turn.tool_calls
    ]
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert sent["messages"][-1]["content"][-1]["content"][0]["cache_control"] == {"type": "ephemeral"}


async def test_another_models_fields_are_not_sent() -> None:
    """Thinking of one model must not reach another one, after the user chose a new model."""
    async with ANTHROPIC.server([Reply(reasoning="secret plan", text="hi"), Reply(text="done")]) as server:
        turn, _, _ = await collect(ANTHROPIC.model(server))
        other = ANTHROPIC.make("anthropic/claude-haiku-4-5", server.base_url)
        again = {"role": "user", "content": "And now?"}
        await collect(other, ask(turn.message(), again))
        assert "secret plan" not in server.requests[1].body.decode()
