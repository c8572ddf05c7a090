"""Bytes from the keyboard: whatever they are, they become messages or nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from roamtui.tui.driver import PASTE_LIMIT, PASTE_PATIENCE, InputReader

PIECES = st.sampled_from(
    [
        b"\x1b", b"[", b"200~", b"201~", b"\x1b[200~", b"\x1b[201~", b"u", b";", b":", b"1114112", b"55296", b"M", b"<",
        b"0", b"48", b"t", b"\xff", b"\xc3", b"\xa9", b"a", b"\x00", b"\x1b[<64;5;5M", b"\x1b[48;10;10;1;1t", b"\x1b[I",
        b"99999999999999999999", b"\x1b[?2026;2$y", b"R", b"-", b"\xed\xa0\x80", "²".encode(), "٣".encode(),
    ]
)  # fmt: skip


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def messages(*pieces: bytes) -> list[Message]:
    reader = InputReader(clock=Clock())
    found = [message for piece in pieces for message in reader.feed(piece)]
    return [*found, *reader.feed(b"", final=True)]


def keys(*pieces: bytes) -> list[str]:
    return [item.key for item in messages(*pieces) if isinstance(item, events.Key)]


def pastes(*pieces: bytes) -> list[str]:
    return [item.text for item in messages(*pieces) if isinstance(item, events.Paste)]


@given(st.lists(PIECES | st.binary(max_size=12), max_size=40))
def test_no_bytes_raise_and_no_key_is_half_a_character(pieces: list[bytes]) -> None:
    for message in messages(*pieces):
        if isinstance(message, events.Key):
            (message.key + (message.character or "")).encode("utf-8")
        elif isinstance(message, events.Paste):
            message.text.encode("utf-8")


@given(st.text(max_size=80), st.lists(st.integers(0, 300), max_size=6))
def test_a_paste_is_one_message_however_it_arrives(text: str, cuts: list[int]) -> None:
    text = text.replace("\x1b", "").encode("utf-8", "replace").decode()
    data = b"\x1b[200~" + text.encode() + b"\x1b[201~"
    places = [6, *sorted({cut for cut in cuts if 6 < cut < len(data)}), len(data)]
    pieces = [data[:6], *(data[start:end] for start, end in pairwise(places))]
    assert pastes(*pieces) == [text.replace("\x00", "")]


@pytest.mark.parametrize("data", [b"\x1b[55296u", b"\x1b[97;1;55296u", b"\x1b[1114112u", b"\x1b[99999999999u"])
def test_codes_that_are_no_characters_are_no_keys(data: bytes) -> None:
    assert keys(data) == []


def test_keys_still_work() -> None:
    assert keys(b"a", b"\r", b"\x1b[A", b"\x1b[97;5u", "é".encode()) == ["a", "enter", "up", "ctrl+a", "é"]
    assert keys("é".encode()[:1], "é".encode()[1:]) == ["é"]
    assert [type(item) for item in messages(b"\x1b[<0;3;4M")] == [events.MouseDown]


def test_a_paste_may_hold_escape_sequences_without_their_effect() -> None:
    assert pastes(b"\x1b[200~a\x1b[Ab\x1b[48;5;5;1;1t\x1b[201~") == ["a\x1b[Ab\x1b[48;5;5;1;1t"]
    assert not [item for item in messages(b"\x1b[200~\x1b[48;5;5;1;1t\x1b[201~") if isinstance(item, events.Resize)]


def test_a_paste_that_is_never_closed_ends_after_a_while() -> None:
    clock = Clock()
    reader = InputReader(clock=clock)
    assert list(reader.feed(b"\x1b[200~left open")) == []
    assert list(reader.tick()) == []
    clock.now += PASTE_PATIENCE + 0.1
    (paste,) = reader.tick()
    assert isinstance(paste, events.Paste) and paste.text == "left open"
    (key,) = reader.feed(b"q")
    assert isinstance(key, events.Key) and key.key == "q"


def test_a_paste_of_any_length_keeps_its_beginning() -> None:
    (text,) = pastes(b"\x1b[200~", *[b"x" * 65_536] * 40, b"\x1b[201~")
    assert len(text) == PASTE_LIMIT


@pytest.mark.parametrize("data", [b"\x1b[48;99999;10;1;1t", b"\x1b[48;10;0;1;1t"])
def test_sizes_no_screen_has_are_not_believed(data: bytes) -> None:
    assert messages(data) == []


def test_escape_is_a_key_of_its_own() -> None:
    reader = InputReader()
    assert list(reader.feed(b"\x1b")) == []
    found: list[Message] = []
    while not found:
        found += reader.tick()
    assert isinstance(found[0], events.Key) and found[0].key == "escape"
