"""From the command to the document on the screen, on a real pseudo-terminal; and keys while other things go on.

For documents of 1, 10 and 36 MB: seconds until the first paint, until the document's headings are shown, until
everything behind them (session, index) is ready; memory (RSS) when the headings stand there; the slowest key from
then until everything is ready. Beside them a minimal Textual application. Then the keys while a provider loads
(litellm's import, at the first question) against a server that refuses connections.
Aims: performance.md P2, P3, P7. Run: python tests/benchmarks/bench_paint.py [MARKDOWN …]
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.bench_search import made_up

SIZES = (1_000_000, 10_000_000, 36_000_000)
ROWS, COLUMNS = 45, 140
RUNS = 3
MINIMAL = """
from textual.app import App
from textual.widgets import Static
class Minimal(App[None]):
    def compose(self):
        yield Static("ready to read", markup=False)
Minimal().run()
"""
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")


class Screened:
    """A program on a pseudo-terminal."""

    def __init__(self, command: list[str], folder: str, **environ: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color", **environ}
        env |= {f"ROAMTUI_{kind}_DIR": f"{folder}/{kind}" for kind in ("CONFIG", "CACHE", "STATE")}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self.seen = b""

    def read(self, wait: float) -> bool:
        """Take what the program wrote; False when it wrote nothing in time."""
        if not select.select([self.master], [], [], wait)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def until(self, *words: str, limit: float = 120.0) -> float:
        """Return the seconds from the start until one of the words was drawn."""
        wanted = [word.encode() for word in words]
        while time.perf_counter() - self.started < limit:
            if any(word in _ESCAPES.sub(b"", self.seen) for word in wanted):
                return time.perf_counter() - self.started
            self.read(0.05)
        raise TimeoutError(f"never saw {words}")

    def key(self, data: bytes) -> float:
        """Press a key and return the seconds until something is drawn."""
        while self.read(0.0):
            pass
        pressed = time.perf_counter()
        os.write(self.master, data)
        while not self.read(0.01):
            if time.perf_counter() - pressed > 5:
                return 5.0
        return time.perf_counter() - pressed

    def memory(self) -> float:
        """Return the resident memory in MB; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0.0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def screened(command: list[str], **environ: str) -> Iterator[Screened]:
    """Run a program on a pseudo-terminal, with folders of its own."""
    with tempfile.TemporaryDirectory() as folder:
        program = Screened(command, folder, **environ)
        try:
            yield program
        finally:
            program.close()


def roamtui(*arguments: str) -> list[str]:
    """Return the command line of the program."""
    return [sys.executable, "-m", "roamtui", *arguments]


def keys_until(program: Screened, done: Callable[[], bool], limit: float) -> list[float]:
    """Move the cursor up and down until `done`; return the seconds each key took."""
    taken: list[float] = []
    end = time.perf_counter() + limit
    keys = (b"\x1b[B", b"\x1b[A")
    while not done() and time.perf_counter() < end:
        taken.append(program.key(keys[len(taken) % 2]))
    return taken


def minimal() -> float:
    """Return the median seconds a minimal Textual application needs to its first paint."""
    found = []
    for _ in range(RUNS):
        with screened([sys.executable, "-c", MINIMAL]) as program:
            found.append(program.until("ready to read"))
    return statistics.median(found)


def paint(path: Path, heading: str) -> tuple[float, float, float, float, list[float]]:
    """Return seconds to the first paint, to the headings, to all ready; MB; and the keys' seconds until then."""
    rows = []
    for _ in range(RUNS):
        with screened(roamtui(str(path))) as program:
            first = program.until("roamtui")
            shown = program.until(heading)
            memory = program.memory()
            taken = keys_until(program, lambda: b"Outline for the model" in program.seen and not _busy(program), 60)
            rows.append((first, shown, time.perf_counter() - program.started, memory, taken))
    return sorted(rows, key=lambda row: row[1])[len(rows) // 2]


def _busy(program: Screened) -> bool:
    text = _ESCAPES.sub(b"", program.seen[-200_000:])
    return text.rfind(b"indexing") > text.rfind(b"tokens  ") or b"tok   Sections" not in text


def keys_while_litellm_loads(path: Path) -> tuple[float, list[float]]:
    """Ask a model of litellm that cannot be reached; return seconds until that is said, and the keys' seconds."""
    command = roamtui(str(path), "--model", "ollama_chat/none")
    with screened(command, OLLAMA_API_BASE="http://127.0.0.1:9") as program:
        program.until("tok   Sections")
        time.sleep(1.0)
        program.key(b"i")
        for char in b"hello?":
            program.key(bytes([char]))
        program.key(b"\r")
        program.key(b"\x1b[Z")
        program.key(b"\x1b[Z")
        asked = time.perf_counter()
        taken = keys_until(program, lambda: b"Ask again" in program.seen, 60)
        return time.perf_counter() - asked, taken


def percentile(values: list[float], share: float) -> float:
    """Return a percentile of some seconds, in milliseconds."""
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def documents(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield label, path and first heading of what is measured."""
    given = [Path(argument) for argument in sys.argv[1:]]
    for size in () if given else SIZES:
        path = folder / f"made-up-{size // 1_000_000}.md"
        path.write_bytes(b"# Hello Reader\n\nwords\n\n" + made_up(size))
        yield f"{size // 1_000_000} MB", path, "Hello Reader"
    for path in given:
        heading = re.search(rb"(?m)^#+ +(.{3,12})", path.read_bytes())
        yield path.name, path, heading[1].decode("utf-8", "replace") if heading else path.name


def main() -> None:
    """Print the table."""
    floor = minimal()
    print(f"minimal Textual application: first paint {floor:.2f} s")
    print("| document | first paint s | headings s | × minimal | all ready s | RSS MB | key p50 / p95 / max ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        last: Path | None = None
        for label, path, heading in documents(Path(name)):
            first, shown, ready, memory, taken = paint(path, heading)
            keys = f"{percentile(taken, 0.5):.0f} / {percentile(taken, 0.95):.0f} / {percentile(taken, 1.0):.0f}"
            print(
                f"| {label} | {first:.2f} | {shown:.2f} | {shown / floor:.1f} | {ready:.1f} | {memory:.0f} | {keys} |"
            )
            last = last or path
        if last is not None:
            seconds, taken = keys_while_litellm_loads(last)
            keys = f"{percentile(taken, 0.5):.0f} / {percentile(taken, 0.95):.0f} / {percentile(taken, 1.0):.0f}"
            print(f"while litellm loads and fails ({seconds:.1f} s): key p50 / p95 / max {keys} ms, {len(taken)} keys")


if __name__ == "__main__":
    main()
