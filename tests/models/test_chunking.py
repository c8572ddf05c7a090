"""However the network cuts the bytes of a reply, the turn is the same; and a part of it is never a whole."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import ModelError
from roamtui.models.base import Assembler, Turn
from roamtui.models.chat_chunks import ChatChunks
from roamtui.models.json_reply import SurrogateMender, parse_json
from roamtui.models.sse import MAX_LINE, EventStream
from roamtui.models.toolparts import ToolParts
from tests.support.openai_server import OpenAIServer
from tests.support.wire import Reply

CALLS = [("expand_section", {"section_ids": ["07f3277d"]}), ("search_sections", {"query": "größer · 大"})]
REPLY = Reply(reasoning="Überlegen…", text="Grüße 😀\nund 中文.", tool_calls=CALLS)
REQUEST = {"stream": True, "stream_options": {"include_usage": True}}
BYTES = b"".join(OpenAIServer([]).events(REQUEST, REPLY)).replace(b"\n\n", b"\r\n: a comment\r\n\r\n")
FINISH = BYTES.index(b'"finish_reason": "tool_calls"')


def read(chunks: list[bytes]) -> Turn:
    """Read a reply as the maker does."""
    events, reader, assembler = EventStream(), ChatChunks(id_prefix="call_", where="test"), Assembler()
    data = [item for chunk in chunks for item in events.feed(chunk)]
    for item in [*data, *events.close()]:
        if item != "[DONE]":
            for delta in reader.feed(parse_json(item)):
                assembler.feed(delta)
    for delta in reader.close():
        assembler.feed(delta)
    return assembler.turn()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes at places."""
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(st.lists(st.integers(0, len(BYTES)), max_size=40))
def test_any_chunking_gives_the_same_turn(places: list[int]) -> None:
    turn = read(cut(BYTES, places))
    assert turn == read([BYTES])
    assert turn.text == REPLY.text
    assert turn.reasoning == REPLY.reasoning


def test_byte_by_byte() -> None:
    assert read([BYTES[place : place + 1] for place in range(len(BYTES))]) == read([BYTES])


@given(st.integers(0, FINISH))
def test_a_strict_prefix_is_never_complete(end: int) -> None:
    with pytest.raises(ModelError) as caught:
        read([BYTES[:end]])
    assert caught.value.kind in ("truncated", "bad_reply")  # half a JSON object at the very end


LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)


@given(st.lists(LINES, min_size=1, max_size=4), st.sampled_from(["\n", "\r", "\r\n"]), st.data())
def test_events_with_any_line_ends_and_several_data_lines(lines: list[str], newline: str, data: st.DataObject) -> None:
    body = "\ufeff: hello" + newline + "event: x" + newline
    body += "".join(f"data: {line}{newline}" for line in lines) + newline
    raw = body.encode()
    places = data.draw(st.lists(st.integers(0, len(raw)), max_size=8))
    stream = EventStream()
    events = [item for chunk in cut(raw, places) for item in stream.feed(chunk)]
    assert [*events, *stream.close()] == ["\n".join(lines)]


@pytest.mark.parametrize("piece", [b"A" * 65_536, b"data: " + b"A" * 65_530 + b"\n"])
def test_lines_and_events_have_a_limit(piece: bytes) -> None:
    stream = EventStream()

    def feed() -> None:
        for _ in range(MAX_LINE // 65_536 + 2):
            stream.feed(piece)

    with pytest.raises(ModelError) as caught:
        feed()
    assert caught.value.kind == "too_large"


@given(st.text(st.characters(min_codepoint=0xD700, max_codepoint=0xE100, categories=["Cs", "Lo", "Co"])), st.data())
def test_no_surrogate_gets_through_wherever_text_is_cut(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    mender, whole = SurrogateMender(), SurrogateMender()
    mended = mender.feed(text[:place]) + mender.feed(text[place:]) + mender.close()
    assert mended == whole.feed(text) + whole.close()
    mended.encode()  # raises for a lone surrogate


ODD = st.one_of(st.none(), st.integers(-2, 3), st.booleans(), st.text(max_size=3), st.lists(st.none(), max_size=1))


@given(st.lists(st.tuples(ODD, ODD, ODD, ODD), max_size=12))
def test_fragments_of_any_kind_give_calls_with_unique_ids(fragments: list[tuple[object, ...]]) -> None:
    parts, assembler = ToolParts("call_9_"), Assembler()
    for index, id, name, arguments in fragments:
        for part in parts.feed(index, id, name, arguments):
            assembler.feed(part)
    calls = assembler.turn().tool_calls
    assert len({call.id for call in calls}) == len(calls) == len(parts)


def test_very_many_small_fragments_take_linear_time() -> None:
    """A hostile server could otherwise hold the program for hours with one reply."""
    parts, assembler, started = ToolParts("c_"), Assembler(), time.process_time()
    for number in range(200_000):
        for part in parts.feed(0, "id", "name", '{"a": [' if number == 0 else "1,   "):
            assembler.feed(part)
    assert len(assembler.turn().tool_calls[0].arguments) > 900_000
    assert time.process_time() - started < 20
