"""From the command to the document on the screen, on a real pseudo-terminal; and keys while other things go on.

What a terminal would show is worked out by pyte. For documents of 1, 10 and 36 MB: seconds until the first paint,
until the document's headings stand there, until session and index behind them are ready; memory (RSS) at the headings
and when all is ready; and how long a typed letter takes to stand in the input line until then. Beside them a minimal
Textual application. Then the letters while a provider loads (litellm's import, at the first question) for a server
that refuses connections, and while an answer streams at 500 tokens a second.
Aims: performance.md P2, P3, P7. Run: python tests/benchmarks/bench_paint.py [MARKDOWN …]
"""

from __future__ import annotations

import contextlib
import fcntl
import json
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
from dataclasses import dataclass
from pathlib import Path

import pyte

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
_UNKNOWN = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p")


class Screened:
    """A program on a pseudo-terminal, and what the terminal shows."""

    def __init__(self, command: list[str], folder: str, **environ: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color", **environ}
        env |= {f"ROAMTUI_{kind}_DIR": f"{folder}/{kind}" for kind in ("CONFIG", "CACHE", "STATE")}
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self.typed = ""

    def read(self, wait: float) -> bool:
        """Take what the program wrote; False when it wrote nothing in time."""
        if not select.select([self.master], [], [], wait)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        # pyte knows neither the kitty keyboard's private sequences nor synchronised output
        self.stream.feed(_UNKNOWN.sub(b"", data))
        return bool(data)

    def shows(self, *words: str) -> bool:
        """Tell whether all words stand on the screen."""
        text = "\n".join(self.screen.display)
        return all(word in text for word in words)

    def until(self, *words: str, limit: float = 120.0) -> float:
        """Return the seconds from the start until all words stand on the screen."""
        while time.perf_counter() - self.started < limit:
            while self.read(0.0):
                pass
            if self.shows(*words):
                return time.perf_counter() - self.started
            self.read(0.02)
        raise TimeoutError(f"never saw {words}:\n" + "\n".join(self.screen.display))

    def press(self, data: bytes) -> None:
        """Press a key."""
        os.write(self.master, data)

    def letter(self) -> float:
        """Type a letter into the input line and return the seconds until it stands there."""
        if len(self.typed) >= 30:
            self.press(b"\x15")
            self.typed = ""
            while any("xyxy" in line for line in self.screen.display):
                self.read(0.02)
        self.typed += "xy"[len(self.typed) % 2]
        pressed = time.perf_counter()
        self.press(self.typed[-1].encode())
        while not any(self.typed in line for line in self.screen.display):
            self.read(0.01)
            if time.perf_counter() - pressed > 10:
                return 10.0
        return time.perf_counter() - pressed

    def memory(self) -> float:
        """Return the resident memory in MB; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0.0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    def cpu(self) -> float:
        """Return the seconds of processor time the program has used; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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


def letters_until(program: Screened, done: Callable[[], bool], limit: float) -> list[float]:
    """Type letters, about twenty a second, until `done`; return the seconds each took."""
    taken: list[float] = []
    end = time.perf_counter() + limit
    while not done() and time.perf_counter() < end:
        taken.append(program.letter())
        program.read(max(0.0, 0.05 - taken[-1]))
    return taken


def minimal() -> float:
    """Return the median seconds a minimal Textual application needs to its first paint."""
    found = []
    for _ in range(RUNS):
        with screened([sys.executable, "-c", MINIMAL]) as program:
            found.append(program.until("ready to read"))
    return statistics.median(found)


@dataclass(frozen=True)
class Painted:
    """One run."""

    first: float
    headings: float
    ready: float
    memory: float
    memory_ready: float
    letters: list[float]


def paint(path: Path, heading: str) -> Painted:
    """Return the median run (by the seconds to the headings)."""
    runs: list[Painted] = []
    for _ in range(RUNS):
        with screened(roamtui(str(path))) as program:
            first = program.until("roamtui")
            shown = program.until(heading)
            memory = program.memory()
            program.press(b"i")

            def ready(program: Screened = program) -> bool:
                return program.shows("Outline for the model ·") and not program.shows(" · indexing")

            letters = letters_until(program, ready, 90)
            took = time.perf_counter() - program.started
            runs.append(Painted(first, shown, took, memory, program.memory(), letters))
    return sorted(runs, key=lambda run: run.headings)[len(runs) // 2]


def letters_while_litellm_loads(path: Path) -> tuple[float, list[float]]:
    """Ask a model of litellm that cannot be reached; return seconds until that is said, and the letters'."""
    command = roamtui(str(path), "--model", "ollama_chat/none")
    with screened(command, OLLAMA_API_BASE="http://127.0.0.1:9") as program:
        program.until("Outline for the model ·")
        program.press(b"ihello?\r")
        asked = time.perf_counter()
        letters = letters_until(program, lambda: program.shows("Ask again"), 60)
        return time.perf_counter() - asked, letters


def letters_while_an_answer_streams(path: Path, folder: Path) -> tuple[float, list[float]]:
    """Let a script answer with 5,000 tokens, 500 a second; return the share of a core used, and the letters'."""
    words = " ".join(f"word{number}" + (".\n\n" if number % 40 == 39 else "") for number in range(5_000))
    script = folder / "stream.json"
    script.write_text(json.dumps([{"text": words, "pace": 0.002}]), encoding="utf-8")
    with screened(roamtui(str(path), "--model", f"scripted:{script}")) as program:
        program.until("Outline for the model ·")
        program.press(b"ihello?\r")
        program.until("word0")
        began, used = time.perf_counter(), program.cpu()
        letters = letters_until(program, lambda: program.shows("1 step ·"), 60)
        return (program.cpu() - used) / (time.perf_counter() - began), letters


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


def figures(letters: list[float]) -> str:
    """Return median, 95th percentile and maximum of some seconds in milliseconds."""
    return " / ".join(f"{percentile(letters, share):.0f}" for share in (0.5, 0.95, 1.0))


def main() -> None:
    """Print the table."""
    floor = minimal()
    print(f"minimal Textual application: first paint {floor:.2f} s")
    print("| document | first paint s | headings s | × minimal | all ready s | RSS MB, ready | letter p50/p95/max ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        first: Path | None = None
        for label, path, heading in documents(Path(name)):
            run = paint(path, heading)
            memory = f"{run.memory:.0f}, {run.memory_ready:.0f}"
            times = f"{run.first:.2f} | {run.headings:.2f} | {run.headings / floor:.1f} | {run.ready:.1f}"
            print(f"| {label} | {times} | {memory} | {figures(run.letters)} |", flush=True)
            first = first or path
        if first is not None:
            seconds, letters = letters_while_litellm_loads(first)
            print(f"litellm loads and fails ({seconds:.1f} s): letter {figures(letters)} ms, {len(letters)} letters")
            share, letters = letters_while_an_answer_streams(first, Path(name))
            print(f"500 tokens/s stream in: {share:.0%} of a core, letter {figures(letters)} ms")


if __name__ == "__main__":
    main()
