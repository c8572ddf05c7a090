"""Standard output and standard error of the commands: data on one, everything else on the other.

No command writes a colour or any other escape sequence, so pipes, `NO_COLOR`, dumb terminals and screen
readers all get the same plain text.
"""

from __future__ import annotations

import json
import sys
from typing import TextIO

from roamtui.text import display, one_line, redact


def write(text: str) -> None:
    """Write text for people to standard output, unsafe characters made visible."""
    _put(sys.stdout, display(text))


def write_json(value: object) -> None:
    """Write plain data as one line of ASCII JSON to standard output."""
    text = redact(json.dumps(value, ensure_ascii=True, separators=(",", ":")))
    _put(sys.stdout, text.encode("ascii", "backslashreplace").decode("ascii"))
    sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Write one line to standard error, secrets taken out, unsafe characters made visible."""
    _put(sys.stderr, one_line(redact(text)))
    sys.stderr.flush()


def say_indented(text: str, depth: int = 4) -> None:
    """Write one indented line to standard error."""
    _put(sys.stderr, " " * depth + one_line(redact(text)))
    sys.stderr.flush()


def _put(stream: TextIO, text: str) -> None:
    stream.write(text if text.endswith("\n") else text + "\n")
