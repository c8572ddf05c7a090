"""How long the command line takes from nothing: `--help` against bare Python, a cold `ask` of the guide on 1 MB.

Aims: `--help` within 4 times a bare interpreter; `ask` within 1 s, everything included.
Run: python tests/benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROUNDS = 15
"""Interleaved runs of each row; the median counts."""
HANDBOOK = Path(__file__).resolve().parents[2] / "sample_docs" / "handbook.md"


def seconds(arguments: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the wall clock of one fresh process."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, check=False)
    took = time.perf_counter() - begun
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())
    return took


def megabyte(folder: Path) -> Path:
    """Write a Markdown document of 1 MB whose chapters differ."""
    text = HANDBOOK.read_text(encoding="utf-8")
    path = folder / "megabyte.md"
    chapters = []
    size = number = 0
    while size < 1_000_000:
        number += 1
        chapter = text.replace("# ", f"# Station {number}: ").replace("the Trust", f"trust {number}")
        chapters.append(chapter)
        size += len(chapter.encode())
    path.write_text("".join(chapters), encoding="utf-8")
    return path


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {**os.environ, **{f"ROAMTUI_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "CACHE", "STATE")}}
        document = str(megabyte(folder))
        question = "How much is paid for each kilometre by bicycle?"
        rows: dict[str, list[str]] = {
            "bare python": ["-c", "pass"],
            "roamtui --help": ["-m", "roamtui", "--help"],
            "roamtui outline, 1 MB": ["-m", "roamtui", "outline", document],
            "roamtui ask (guide), 1 MB": ["-m", "roamtui", "ask", document, question],
        }
        times: dict[str, list[float]] = {row: [] for row in rows}
        for _ in range(ROUNDS):
            for row, arguments in rows.items():
                times[row].append(seconds(arguments, environ))
    bare = statistics.median(times["bare python"])
    print(f"{'':<28}{'median s':>10}{'best s':>10}{'x bare':>9}")
    for row, found in times.items():
        median = statistics.median(found)
        print(f"{row:<28}{median:>10.3f}{min(found):>10.3f}{median / bare:>9.1f}")


if __name__ == "__main__":
    main()
