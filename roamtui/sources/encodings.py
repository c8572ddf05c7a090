"""Bytes of a file into UTF-8, by looking at them; what is not text is refused."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_SAMPLE = 1 << 18
"""Bytes looked at to tell text from other things."""
_MARKS = (  # the longer marks first: UTF-16's is how UTF-32's begins
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FORMATS = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive, or an office document"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a RIFF file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"(\xb5/\xfd", "a zstd file"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"fLaC", "a sound file"),
    (b"\0\0\x01\0", "an icon"),
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\x0b\x0c\x1b\x1c\x1d\x1e\x1f") + b"\x7f"
_MANY_CONTROLS = 0.30
"""Share of control bytes from which UTF-8 is no text; text with NULs between its words is below."""
_SOME_CONTROLS = 0.02
"""The same for bytes that are no UTF-8 either."""
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"  # a character of UTF-8, roughly
)
_HIGH = re.compile(rb"[\x80-\xff]")
_WESTERN = re.compile(
    rb"(?<=[A-Za-z])[\xc0-\xd6\xd8-\xf6\xf8-\xff]|[\xc0-\xd6\xd8-\xf6\xf8-\xff](?=[a-z])"  # a letter beside a letter
    rb"|[\x85\x91-\x97\xa0\xa3\xa7-\xa9\xab\xb0\xb4\xb7\xbb-\xbf]"  # quotes, dashes, signs
)
_LEAST_WESTERN = 4
"""Letters that make a text Latin-1: fewer are taken for damage of UTF-8, where the bytes stay as they are."""


class NotTextError(ValueError):
    """The bytes are no text; the message says what they look like."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text as UTF-8."""

    source: bytes
    """UTF-8 without byte order mark; invalid bytes of files that are UTF-8 otherwise are kept."""
    encoding: str
    """What it was read as."""
    notices: tuple[str, ...] = ()
    """What the reader should know."""


def decode(data: bytes) -> Decoded:
    """Return bytes as UTF-8. Raises `NotTextError`."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _transcode(data, encoding)
    if data.startswith(codecs.BOM_UTF8):
        return _utf8(data.removeprefix(codecs.BOM_UTF8), "utf-8-sig")
    for start, name in _FORMATS:
        if data.startswith(start):
            raise NotTextError(f"looks like {name}")
    wide = _utf16_without_mark(data[:_SAMPLE])
    if wide:
        return _transcode(data, wide)
    return _utf8(data, "utf-8")


def _utf8(data: bytes, encoding: str) -> Decoded:
    sample = data[:_SAMPLE]
    controls = (len(sample) - len(sample.translate(None, _CONTROLS))) / max(1, len(sample))
    if controls > _MANY_CONTROLS:
        raise NotTextError("looks binary")
    bad = _invalid(data)
    if not bad:
        return Decoded(data, encoding)
    western = _western(data)
    if western and encoding == "utf-8":
        return _transcode(data, western)
    if controls > _SOME_CONTROLS and bad > len(data) // 50:
        raise NotTextError("looks binary")
    places = "1 place" if bad == 1 else f"{bad:,} places"
    return Decoded(data, encoding, (f"Not valid UTF-8 in {places}; U+FFFD is shown there.",))


def _invalid(data: bytes) -> int:
    """Count the places where bytes are no UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").count("\ufffd") - data.count("\ufffd".encode())
    return 0


def _western(data: bytes) -> str:
    """Return the Western encoding of a text that is no UTF-8; empty where it does not look like one."""
    rest = _MULTIBYTE.sub(b"", data)
    odd = len(_HIGH.findall(rest))
    letters = len(_WESTERN.findall(rest))
    characters = len(_MULTIBYTE.findall(data))
    if letters < _LEAST_WESTERN or letters < odd * 0.8 or characters > odd // 4 or odd > len(data) * 0.3:
        return ""
    return "cp1252" if re.search(rb"[\x80-\x9f]", rest) else "iso-8859-1"


def _utf16_without_mark(sample: bytes) -> str:
    """Return the kind of UTF-16 whose every other byte is NUL; empty where that is not so."""
    half = len(sample) // 2
    if half < 8:
        return ""
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.6 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 and odd < 0.05 else ""


def _transcode(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    sample = text[:_SAMPLE].encode("utf-8")
    if len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) * _MANY_CONTROLS:
        raise NotTextError("looks binary")
    notices = [f"Read as {encoding.upper()}, not UTF-8."]
    broken = text.count("\ufffd")
    if broken:
        notices.append(f"{broken:,} characters could not be read; U+FFFD is shown for them.")
    return Decoded(text.encode("utf-8"), encoding, tuple(notices))
