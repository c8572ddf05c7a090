"""Server-sent events out of bytes, in any chunking, with bounds (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

from roamtui.errors import ModelError

MAX_LINE = 4_000_000
"""Most bytes of one line; a line is one piece of an answer, so this is far beyond any."""
_BOM = b"\xef\xbb\xbf"


class EventStream:
    """Cuts bytes into events' data. Understands LF, CRLF and CR, comments, several data lines, and a BOM."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of every event that `chunk` completes. Raises `ModelError` (`too_large`, `bad_reply`)."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[:1] == b"\n":
                chunk = chunk[1:]
        if len(self._rest) + len(chunk) > MAX_LINE and b"\n" not in chunk and b"\r" not in chunk:
            raise _too_long()
        events: list[str] = []
        start, unseen = 0, len(self._rest)
        self._rest += chunk
        buffer = bytes(self._rest)
        has_cr = b"\r" in buffer
        while (end := _line_end(buffer, unseen, has_cr)) >= 0:
            self._line(buffer[start:end], events)
            start = end + 1
            if has_cr and buffer[end] == 0x0D:
                if start == len(buffer):
                    self._skip_lf = True
                elif buffer[start] == 0x0A:
                    start += 1
            unseen = start
        del self._rest[:start]
        return events

    def _line(self, line: bytes, events: list[str]) -> None:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BOM)
        if len(line) > MAX_LINE:
            raise _too_long()
        if not line:
            if self._data:
                events.append(_decode(b"\n".join(self._data)))
                self._data.clear()
                self._size = 0
            return
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
            self._size += len(value) + 1
            if self._size > MAX_LINE:
                raise _too_long()
            self._data.append(value)

    def close(self) -> list[str]:
        """Return the data of a last event that no blank line followed; many servers end so."""
        events: list[str] = []
        if self._rest:
            self._line(bytes(self._rest), events)
            self._rest.clear()
        self._line(b"", events)
        return events


def _line_end(buffer: bytes, start: int, has_cr: bool) -> int:
    """Return the offset of the next line end at or after `start`, -1 for none."""
    line_feed = buffer.find(b"\n", start)
    if not has_cr:
        return line_feed
    carriage = buffer.find(b"\r", start, line_feed if line_feed >= 0 else len(buffer))
    return carriage if carriage >= 0 else line_feed


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError("bad_reply", "The server sent text that is not UTF-8.") from None


def _too_long() -> ModelError:
    return ModelError("too_large", f"The server sent a line of more than {MAX_LINE // 1_000_000} MB.")
