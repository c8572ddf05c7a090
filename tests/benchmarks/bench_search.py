"""Search by words at 1, 10 and 36 MB: build time, memory, time per query; beside SQLite's own full-text table.

The reference row indexes the same sections with SQLite's porter tokenizer and asks for any of the words: no
passages, no word pairs, no snippets. Aims: 1 MB indexed within 150 ms, 10 MB within 0.8 s; a query as it is typed
within 16 ms at 10 MB (95th percentile).
Run: python tests/benchmarks/bench_search.py [MARKDOWN …]; without files, chapters are made up.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from roamtui.document.markdown import parse_markdown
from roamtui.document.model import Document, Library, Origin
from roamtui.search.lexical import LexicalIndex

SIZES = (1_000_000, 10_000_000, 36_000_000)
QUERIES = 60
HANDBOOK = Path(__file__).resolve().parents[2] / "sample_docs" / "handbook.md"


def made_up(size: int) -> bytes:
    """Return Markdown of about `size` bytes with a vocabulary that grows as in real text."""
    chance = random.Random(7)
    known = sorted(set(re.findall(r"[a-z]{3,}", HANDBOOK.read_text(encoding="utf-8").lower())))
    chapters = []
    length = number = 0
    while length < size:
        number += 1
        rare = [f"{chance.choice(known)}{chance.choice(known)}" for _ in range(6)]
        words = [chance.choice(known) if chance.random() < 0.97 else chance.choice(rare) for _ in range(90)]
        body = ". ".join(" ".join(words[at : at + 15]).capitalize() for at in range(0, 90, 15))
        chapters.append(f"{'#' * chance.choice((1, 2, 2, 3, 3, 3))} {' '.join(words[:4])}\n\n{body}.\n\n")
        length += len(chapters[-1])
    return "".join(chapters).encode()


def queries(document: Document) -> tuple[list[str], list[str]]:
    """Return questions, and beginnings as they are typed, both made of the document's own sentences."""
    chance = random.Random(11)
    text = document.source.decode("utf-8", "replace")
    sentences = [item for item in re.findall(r"[A-Z][^.\n|]{40,120}\.", text) if item.isascii()] or [text[:100]]
    asked = [chance.choice(sentences) for _ in range(QUERIES)]
    typed = [item[: chance.choice((3, 5, 8, 12, 18))] for item in asked]
    return asked, typed


def memory() -> int:
    """Return the resident memory of this process in bytes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def spread(run: Callable[[str], object], asked: list[str]) -> str:
    """Return median and 95th percentile of the milliseconds of `run`."""
    times = []
    for query in asked:
        begun = time.perf_counter()
        run(query)
        times.append((time.perf_counter() - begun) * 1000)
    return f"{statistics.median(times):6.1f} /{sorted(times)[int(len(times) * 0.95)]:6.1f}"


def plain_table(document: Document) -> sqlite3.Connection:
    """Return SQLite's own full-text table over the sections."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(title, body, content='', tokenize='porter unicode61')")
    rows = ((item.index + 1, item.title, document.own_text(item)) for item in document.sections)
    connection.executemany("INSERT INTO t(rowid, title, body) VALUES(?, ?, ?)", rows)
    return connection


def measure(source: bytes) -> str:
    """Return one row of the table."""
    document = parse_markdown(source, name="bench", origin=Origin(address="bench", sha256=""))
    _ = document.line_starts
    begun = time.perf_counter()
    table = plain_table(document)
    plain_build = time.perf_counter() - begun
    before = memory()
    index = LexicalIndex(Library([document]))
    begun = time.perf_counter()
    index.build()
    build = time.perf_counter() - begun
    grown = memory() - before
    asked, typed = queries(document)

    def ask_plain(query: str) -> None:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        table.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (match,)).fetchall()

    return (
        f"{len(source) / 1e6:5.1f} {len(document.sections):9,} {build:8.2f} {plain_build:8.2f} {grown / 1e6:7.0f}   "
        f"{spread(lambda query: index.search(query, 10), asked)}   {spread(ask_plain, asked)}   "
        f"{spread(lambda query: index.search(query, 10), typed)}"
    )


def main() -> None:
    """Print the table."""
    sources = [Path(name).read_bytes() for name in sys.argv[1:]]
    given = b"\n".join(sources)
    print("   MB  sections  build s  plain s      MB  question ms p50/p95   plain ms p50/p95   typed ms p50/p95")
    for size in SIZES:
        source = given[:size] if given else made_up(size)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measure, (source,)), flush=True)
        if given and len(given) <= size:
            break


if __name__ == "__main__":
    main()
