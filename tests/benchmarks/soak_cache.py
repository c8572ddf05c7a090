"""Kill a program that writes to the response cache, again and again, and check that nothing acknowledged is lost.

Each round starts a writer, kills it with SIGKILL at a random moment, opens the cache as the next program would, and
compares every value the writer reported as stored. Fault row F-C01.
Run: python tests/benchmarks/soak_cache.py [KILLS]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from roamtui.models.disk import Store

SIZES = (200, 5_000, 60_000)
"""Bytes of the values, in turn: in the row, in the row, in a file."""
LIMIT = 4_000_000_000

WRITER = """
import sys
from pathlib import Path
from roamtui.models.disk import Store
from tests.benchmarks.soak_cache import LIMIT, value
folder, session, number = Path(sys.argv[1]), sys.argv[2], 0
store = Store(folder, LIMIT)
while True:
    if store.put(f"{session}-{number}", value(int(session), number)):
        print(number, flush=True)
    number += 1
"""


@dataclass(slots=True)
class Result:
    """What a soak found."""

    acknowledged: int = 0
    """Values reported as stored."""
    lost: int = 0
    """Of those, how many were gone."""
    wrong: int = 0
    """Of those, how many were not what was stored."""
    slowest_open: float = 0.0
    """Seconds of the slowest opening after a kill."""


def value(session: int, number: int) -> bytes:
    """Return the bytes that belong to a key."""
    return random.Random(session * 1_000_003 + number).randbytes(SIZES[number % len(SIZES)])


def soak(kills: int, folder: Path, *, seed: int = 0) -> Result:
    """Write, kill and compare `kills` times in `folder`."""
    chance, result = random.Random(seed), Result()
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    for session in range(kills):
        command = [sys.executable, "-c", WRITER, str(folder), str(session)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(chance.random() * 0.05)
            writer.send_signal(signal.SIGKILL)
            lines = (first + writer.stdout.read()).splitlines(keepends=True)
        numbers = [int(line) for line in lines if line.endswith(b"\n")]
        _compare(folder, session, numbers, result)
    return result


def _compare(folder: Path, session: int, numbers: list[int], result: Result) -> None:
    started = time.perf_counter()
    store = Store(folder, LIMIT)
    result.slowest_open = max(result.slowest_open, time.perf_counter() - started)
    for number in numbers:
        found = store.get(f"{session}-{number}")
        result.acknowledged += 1
        result.lost += found is None
        result.wrong += found is not None and found != value(session, number)
    store.close()


def main() -> None:
    """Print what a soak found; exit with 1 when something was lost."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        result = soak(kills, Path(folder) / "responses")
        aside = list(Path(folder).glob("*.bad-*"))
    print(f"{kills} kills, {result.acknowledged:,} values acknowledged: {result.lost} lost, {result.wrong} wrong,")
    print(f"{len(aside)} times put aside, slowest opening {result.slowest_open * 1e3:.0f} ms")
    sys.exit(1 if result.lost or result.wrong or aside else 0)


if __name__ == "__main__":
    main()
