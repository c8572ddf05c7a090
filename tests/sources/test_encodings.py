"""Encodings: what is text is read, what was changed is said, what is no text is refused."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.sources.encodings import NotTextError, decode
from roamtui.sources.open import open_document

TEXT = "# Überschrift\n\nGrüße aus Köln, señor: “ça va” – naïve façade.\r\n"


def test_utf8_stays_as_it_is() -> None:
    found = decode(TEXT.encode())
    assert (found.source, found.encoding, found.notices) == (TEXT.encode(), "utf-8", ())


def test_a_byte_order_mark_is_taken_off_so_that_the_first_heading_is_one(tmp_path: Path) -> None:
    path = tmp_path / "bom.md"
    path.write_bytes(b"\xef\xbb\xbf# Title\r\n")
    found = open_document(str(path))
    assert found.sections[0].title == "Title"
    assert found.source == b"# Title\r\n"
    assert found.origin.notices == ()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_with_a_mark_are_transcoded(encoding: str) -> None:
    found = decode(("\ufeff" + TEXT).encode(encoding))
    assert found.source == TEXT.encode()
    assert found.encoding == encoding[:6]
    assert found.notices == (f"Read as {encoding[:6].upper()}, not UTF-8.",)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised(encoding: str) -> None:
    found = decode(TEXT.encode(encoding))
    assert found.source == TEXT.encode()
    assert found.encoding == encoding


@pytest.mark.parametrize(
    ("encoding", "text"), [("iso-8859-1", "Grüße aus Köln für naïve Gäste, señor."), ("cp1252", TEXT)]
)
def test_western_text_is_transcoded_and_said_so(encoding: str, text: str) -> None:
    found = decode(text.encode(encoding))
    assert found.source == text.encode()
    assert found.notices == (f"Read as {encoding.upper()}, not UTF-8.",)


@pytest.mark.faults
@pytest.mark.parametrize(
    "bad",
    [
        b"\x80",
        b"\xbf\xbf",
        b"\xc0\xaf",
        b"\xc3",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xf5",
        b"\xff\xfe\xfd",
    ],
)
def test_damaged_utf8_keeps_its_bytes(bad: bytes) -> None:
    data = b"# Title\n\nPlain words " + bad + b" go on, \xc3\xbc too.\n"
    found = decode(data)
    assert found.source == data
    assert found.encoding == "utf-8"
    assert "Not valid UTF-8 in" in found.notices[0]


def test_text_in_another_encoding_is_read_with_a_notice_or_refused() -> None:
    for encoding in ("shift_jis", "koi8-r", "gb18030", "cp1251"):
        text = (
            "これは日本語の文章です。"
            if encoding == "shift_jis"
            else "中文的文章"
            if encoding == "gb18030"
            else "Это русский текст."
        )
        try:
            assert decode((text * 20).encode(encoding)).notices
        except NotTextError:
            pass


@pytest.mark.faults
def test_nuls_between_words_are_text() -> None:
    data = b"# Ti\0tle\n\nwo\0rds and \0 more\0\n"
    assert decode(data).source == data


@pytest.mark.faults
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (random.Random(1).randbytes(1_000_000), "looks binary"),
        (random.Random(2).randbytes(300), "looks binary"),
        (b"\0" * 1000, "looks binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "a program"),
        (gzip.compress(b"text " * 100, mtime=0), "a gzip file"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF"),
        (b"PK\x03\x04" + bytes(26), "an office document"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(NotTextError, match=words):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused_and_no_surrogate_comes_out(data: bytes) -> None:
    try:
        found = decode(data)
    except NotTextError:
        return
    found.source.decode("utf-8", "replace").encode("utf-8")
    assert found.encoding != "utf-8" or found.source == data
    assert found.source == data or found.encoding != "utf-8"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=100))
def test_any_text_in_utf8_comes_back(text: str) -> None:
    data = text.encode()
    if not data.startswith((b"\xef\xbb\xbf", b"GIF8", b"RIFF", b"BZh", b"ID3", b"OggS", b"fLaC", b"%PDF-")):
        assert decode(data).source == data


def test_a_real_book_in_latin1(dev_data: Path) -> None:
    path = dev_data / "quirks" / "latin1-american-adventures.txt"
    found = open_document(str(path))
    assert found.origin.encoding == "iso-8859-1"
    assert found.source.decode("utf-8") == path.read_bytes().decode("iso-8859-1")
    assert len(found.origin.notices) == 1
