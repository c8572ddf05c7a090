"""Sections out of 1, 10 and 36 MB of Markdown: parse_markdown beside markdown-it-py's full parse, in one run.

Parse, read and one scan take turns, three times each; medians are printed. "gap" is the longest time between two
reports of progress, "read + scan" the time to read the file and look for one byte that is not there: the limit.
Aims: 25 times markdown-it-py's full parse and at most 20 ms between reports; 10 times is the floor.
Run: python tests/benchmarks/bench_sections.py [MARKDOWN …]. Without files it takes the development documents of
ROAMTUI_DEV_DATA, else the samples, repeated; ROAMTUI_BIG_DATA names a folder with aws-15-guides.md.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from roamtui.document.markdown import parse_markdown
from roamtui.document.model import Origin
from tests.support import oracle

SIZES = (1_000_000, 10_000_000)
ROUNDS = 3
SAMPLES = Path(__file__).resolve().parents[2] / "sample_docs"


def documents(arguments: list[str]) -> list[bytes]:
    """Return the documents that longer ones are made of."""
    if arguments:
        return [Path(name).read_bytes() for name in arguments]
    folder = os.environ.get("ROAMTUI_DEV_DATA", "")
    files = sorted(Path(folder).glob("docs/*")) if folder else sorted(SAMPLES.glob("*.md"))
    return [path.read_bytes() for path in files]


def repeated(pieces: list[bytes], size: int) -> bytes:
    """Return the documents one after the other, from the start again until there are `size` bytes."""
    made: list[bytes] = []
    length = 0
    while length < size:
        for piece in pieces:
            made.append(piece + b"\n\n")
            length += len(piece) + 2
            if length >= size:
                break
    return b"".join(made)[:size].rpartition(b"\n")[0] + b"\n"


def cases(arguments: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts."""
    pieces = documents(arguments)
    for size in SIZES:
        yield f"{size // 1_000_000} MB", repeated(pieces, size)
    big = Path(os.environ.get("ROAMTUI_BIG_DATA", "")) / "aws-15-guides.md"
    yield "36 MB", big.read_bytes() if big.is_file() else repeated(pieces, 36_000_000)


def timed(run: Callable[[], object]) -> float:
    """Return the seconds a call takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def longest_gap(source: bytes) -> float:
    """Return the longest time between two reports of progress, in seconds."""
    last, longest = time.perf_counter(), 0.0

    def report(done: int, found: int) -> None:
        nonlocal last, longest
        now = time.perf_counter()
        longest, last = max(longest, now - last), now

    parse_markdown(source, name="x", origin=Origin("x", ""), progress=report)
    report(0, 0)
    return longest


def race(name: str, source: bytes) -> str:
    """Return one row of the table."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(source)
        file.flush()
        path = Path(file.name)
        ours, limit = [], []
        for _ in range(ROUNDS):
            ours.append(timed(lambda: parse_markdown(source, name="x", origin=Origin("x", ""))))
            limit.append(timed(lambda: path.read_bytes().find(b"\x00\x01")))
    rounds = 1 if len(source) > 20_000_000 else 2
    theirs = statistics.median(
        timed(lambda: oracle.full_parse(source.decode("utf-8", "replace"))) for _ in range(rounds)
    )
    parsed = parse_markdown(source, name="x", origin=Origin("x", ""))
    found = [(item.start, item.body, item.level) for item in parsed.sections if item.kind == "heading"]
    same = "same" if found == oracle.headings(source) else "DIFFERENT"
    mine = statistics.median(ours)
    return (
        f"{name:>6} {len(parsed.sections):>9,} {mine * 1000:>9.0f} ms {len(source) / mine / 1e6:>6.0f} MB/s"
        f" {theirs:>8.2f} s {theirs / mine:>7.1f} × {mine / statistics.median(limit):>7.1f} ×"
        f" {longest_gap(source) * 1000:>6.1f} ms  {same}"
    )


def main() -> None:
    """Print the table."""
    print("  size  sections        parse     speed   markdown-it   ratio  read+scan       gap  headings")
    for name, source in cases(sys.argv[1:]):
        print(race(name, source), flush=True)


if __name__ == "__main__":
    main()
