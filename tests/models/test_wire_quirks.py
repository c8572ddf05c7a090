"""Odd things OpenAI-compatible servers really send, read by both makers that speak the protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roamtui.models.base import Turn
from tests.models.conftest import HTTP, Maker, ask, collect, fails
from tests.support.openai_server import OpenAIServer, chunk_of, whole
from tests.support.wire import Reply

pytestmark = pytest.mark.faults

Chunk = dict[str, Any]
DONE = b"data: [DONE]\n\n"


def call(index: object = 0, id: object = None, name: object = None, arguments: object = None, **more: object) -> Chunk:
    """Return a chunk with one tool-call fragment; None leaves a field out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fragment = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return chunk_of({"tool_calls": [{**fragment, "type": "function", "function": function, **more}]})


A, B = '{"section_ids": ["aaaaaaaa"]}', '{"section_ids": ["bbbbbbbb"]}'
TWO = [("expand_section", A), ("expand_section", B)]
TOOL_QUIRKS: dict[str, list[Chunk]] = {
    "as OpenAI": [
        call(0, "c1", "expand_section", ""),
        call(0, arguments=A[:9]),
        call(0, arguments=A[9:]),
        call(1, "c2", "expand_section", ""),
        call(1, arguments=B),
    ],
    "every index 0": [call(0, "c1", "expand_section", A), call(0, "c2", "expand_section", B)],
    "every index 0, no id": [call(0, None, "expand_section", A), call(0, None, "expand_section", B)],
    "no index": [call(None, "c1", "expand_section", A), call(None, "c2", "expand_section", B)],
    "id and name repeated": [
        call(0, "c1", "expand_section", A[:5]),
        call(0, "c1", "expand_section", A[5:]),
        call(1, "c2", "expand_section", B[:5]),
        call(1, "c2", "expand_section", B[5:]),
    ],
    "a new id on every fragment": [
        call(0, "x1", "expand_section", A[:5]),
        call(0, "x2", None, A[5:]),
        call(1, "x3", "expand_section", B[:5]),
        call(1, "x4", None, B[5:]),
    ],
    "one id for both": [call(0, "c", "expand_section", A), call(1, "c", "expand_section", B)],
    "interleaved": [
        call(0, "c1", "expand_section", A[:5]),
        call(1, "c2", "expand_section", B[:5]),
        call(0, arguments=A[5:]),
        call(1, arguments=B[5:]),
    ],
    "two in one chunk": [
        chunk_of(
            {
                "tool_calls": [
                    {"index": 0, "id": "c1", "function": {"name": "expand_section", "arguments": A}},
                    {"index": 1, "id": "c2", "function": {"name": "expand_section", "arguments": B}},
                ]
            }
        )
    ],
    "null content beside": [
        {**call(0, "c1", "expand_section", A)},
        chunk_of({"content": None, "tool_calls": [{"index": 1, "id": "c2", "function": {"name": "expand_section"}}]}),
        call(1, arguments=B),
    ],
    "empty fragments": [
        call(0, "c1", "expand_section", ""),
        call(0, arguments=""),
        call(0, arguments=A),
        call(0, arguments=""),
        call(1, "c2", "expand_section", B),
    ],
    "no id ever": [call(0, None, "expand_section", A), call(1, None, "expand_section", B)],
}
"""Streams that all mean the same two calls."""


async def stream(maker: Maker, *chunks: object) -> tuple[Turn, object]:
    """Return the turn and the error of a stream of chunks."""
    async with maker.server([Reply(chunks=chunks)]) as server:
        turn, _, error = await collect(maker.model(server), ask(tools=True))
    return turn, error


@pytest.mark.parametrize("quirk", TOOL_QUIRKS)
async def test_calls_come_out_the_same_whatever_the_wire(openai_maker: Maker, quirk: str) -> None:
    turn, error = await stream(openai_maker, *TOOL_QUIRKS[quirk], chunk_of({}, "tool_calls"), DONE)
    assert error is None
    assert [(item.name, item.arguments) for item in turn.tool_calls] == TWO
    assert len({item.id for item in turn.tool_calls}) == 2
    assert all(item.id for item in turn.tool_calls)
    assert turn.finish == "tool_calls"


async def test_arguments_as_an_object() -> None:
    """llama.cpp and others; litellm refuses it before we see it."""
    chunk = call(0, "c1", "expand_section", {"section_ids": ["aaaaaaaa"]})
    turn, error = await stream(HTTP, chunk, chunk_of({}, "tool_calls"), DONE)
    assert error is None
    assert turn.tool_calls[0].arguments == '{"section_ids":["aaaaaaaa"]}'


async def test_an_empty_object_before_the_real_arguments_is_a_placeholder() -> None:
    chunks = [call(0, "c1", "expand_section", {}), call(0, arguments=A)]
    turn, _ = await stream(HTTP, *chunks, chunk_of({}, "tool_calls"), DONE)
    assert turn.tool_calls[0].arguments == A


async def test_a_call_without_arguments_has_none(openai_maker: Maker) -> None:
    turn, error = await stream(openai_maker, call(0, "c1", "list_children"), chunk_of({}, "tool_calls"), DONE)
    assert error is None
    assert turn.tool_calls[0].arguments == "{}"


async def test_the_old_function_call(openai_maker: Maker) -> None:
    chunks = [
        chunk_of({"function_call": {"name": "expand_section", "arguments": A[:7]}}),
        chunk_of({"function_call": {"arguments": A[7:]}}),
    ]
    turn, error = await stream(openai_maker, *chunks, chunk_of({}, "function_call"), DONE)
    assert error is None
    assert [(item.name, item.arguments) for item in turn.tool_calls] == TWO[:1]
    assert turn.finish == "tool_calls"


async def test_stop_with_calls_means_calls(openai_maker: Maker) -> None:
    turn, _ = await stream(openai_maker, call(0, "c1", "expand_section", A), chunk_of({}, "stop"), DONE)
    assert turn.finish == "tool_calls"


async def test_runaway_calls_are_stopped() -> None:
    chunks = [call(number, f"c{number}", "expand_section", "{}") for number in range(200)]
    async with OpenAIServer([Reply(chunks=[*chunks, DONE])]) as server:
        error = await fails(HTTP.model(server), ask(tools=True))
    assert error.kind == "too_large"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_thinking_under_either_name(openai_maker: Maker, field: str) -> None:
    turn, _ = await stream(
        openai_maker, chunk_of({field: "hm"}), chunk_of({"content": "x"}), chunk_of({}, "stop"), DONE
    )
    assert (turn.reasoning, turn.text) == ("hm", "x")


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_an_end_that_is_not_the_answers_own_is_said(openai_maker: Maker, reason: str) -> None:
    """F-M12."""
    turn, error = await stream(openai_maker, chunk_of({"content": "half of"}), chunk_of({}, reason), DONE)
    assert error is None
    assert (turn.text, turn.finish) == ("half of", reason)


async def test_an_end_in_foreign_words_is_no_end() -> None:
    turn, error = await stream(HTTP, chunk_of({"content": "half of"}), chunk_of({}, "abort"), DONE)
    assert getattr(error, "kind", "") == "truncated"
    assert turn.finish == ""


async def test_an_error_inside_the_stream(openai_maker: Maker) -> None:
    """F-P13."""
    error_chunk = {"error": {"message": "the server is overloaded", "code": 529}}
    turn, error = await stream(openai_maker, chunk_of({"content": "par"}), error_chunk)
    assert getattr(error, "kind", "") in ("overloaded", "truncated")
    assert turn.text == "par"
    assert turn.finish == ""


@pytest.mark.parametrize("error", ["overloaded", {"message": None}, {"code": "x"}, [1], {"message": "boom", "code": 3}])
async def test_an_error_of_any_shape_inside_the_stream(error: object) -> None:
    _, raised = await stream(HTTP, chunk_of({"content": "par"}), {"error": error})
    assert getattr(raised, "kind", "") in ("overloaded", "bad_reply")


@pytest.mark.parametrize("choices", [[], None, [None], "x", [{}], [{"delta": None}], [{"delta": {"content": 7}}]])
async def test_odd_choices_are_skipped(choices: object) -> None:
    """F-P19."""
    odd = {**chunk_of({}), "choices": choices}
    turn, error = await stream(HTTP, odd, chunk_of({"content": "fine"}), odd, chunk_of({}, "stop"), DONE)
    assert error is None
    assert turn.text == "fine"


async def test_missing_choices_usage_and_odd_numbers_are_skipped(openai_maker: Maker) -> None:
    """F-P19."""
    odd = {**chunk_of({}), "choices": []}
    usage = {**odd, "usage": {"prompt_tokens": -5, "completion_tokens": 7, "total_tokens": 2}}
    turn, error = await stream(openai_maker, chunk_of({"content": "fine"}), odd, chunk_of({}, "stop"), usage, DONE)
    assert error is None
    assert turn.text == "fine"
    assert turn.usage is None or turn.usage.input >= 0


@pytest.mark.parametrize(
    "body",
    [
        b"data: {not json}\n\n",
        b"data: " + b"[" * 200_000 + b"\n\n",
        b'data: {"choices": ' + b"9" * 5_000 + b"}\n\n",
        b'data: {"choices": [{"index": 0, "delta": {"content": "\xff\xfe"}}]}\n\n',
        b"data: 7\n\n",
    ],
    ids=["no JSON", "deep", "huge number", "bad UTF-8", "no object"],
)
async def test_garbage_in_the_stream_is_an_error(openai_maker: Maker, body: bytes) -> None:
    """F-P12, F-P20: never an answer, never a crash."""
    turn, error = await stream(openai_maker, chunk_of({"content": "par"}), body)
    assert getattr(error, "kind", "") in ("bad_reply", "truncated")
    assert turn.finish == ""


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["a\\ud83d", "\\ude00b"], "a😀b"),
        (["a\\ud83d\\ude00b"], "a😀b"),
        (["a\\ud800b"], "a\ufffdb"),
        (["a\\ud83d"], "a\ufffd"),
        (["a\\ud83d", "b"], "a\ufffdb"),
    ],
)
async def test_half_characters_are_joined_or_replaced(pieces: list[str], text: str) -> None:
    """F-P20: no lone surrogate gets in."""
    chunks = [f'data: {{"choices": [{{"delta": {{"content": "{piece}"}}}}]}}\n\n'.encode() for piece in pieces]
    turn, error = await stream(HTTP, *chunks, chunk_of({}, "stop"), DONE)
    assert error is None
    assert turn.text == text


async def test_what_comes_after_the_end_does_not_count(openai_maker: Maker) -> None:
    """F-P21."""
    late = chunk_of({"content": " and more"})
    turn, error = await stream(openai_maker, chunk_of({"content": "all"}), chunk_of({}, "stop"), DONE, DONE, late)
    assert error is None
    assert turn.text == "all"


async def test_an_end_without_text_is_an_end(openai_maker: Maker) -> None:
    """F-P21: empty answers are the agent's to judge."""
    turn, error = await stream(openai_maker, chunk_of({}, "stop"), DONE)
    assert error is None
    assert (turn.text, turn.finish) == ("", "stop")


async def test_done_without_a_finish_reason_is_no_end(openai_maker: Maker) -> None:
    _, error = await stream(openai_maker, chunk_of({"content": "abc"}), DONE)
    assert getattr(error, "kind", "") == "truncated"


async def test_a_finish_reason_without_done_is_an_end(openai_maker: Maker) -> None:
    turn, error = await stream(openai_maker, chunk_of({"content": "abc"}), chunk_of({}, "stop"))
    assert error is None
    assert turn.finish == "stop"


async def test_a_server_that_does_not_stream() -> None:
    """Some answer whole whatever was asked."""
    reply = whole(Reply(text="All at once.", tool_calls=[("expand_section", {"section_ids": ["aaaaaaaa"]})]))
    async with OpenAIServer([Reply(body=json.dumps(reply).encode())]) as server:
        turn, _, error = await collect(HTTP.model(server))
    assert error is None
    assert turn.text == "All at once."
    assert turn.tool_calls[0].arguments == '{"section_ids": ["aaaaaaaa"]}'
    assert turn.finish == "tool_calls"
