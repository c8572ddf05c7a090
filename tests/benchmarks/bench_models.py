"""What a model call costs beyond the wire: each maker against plain httpx, on the same loopback server.

The server runs in another process. Rows: a tool turn of 19 events and an answer of 1,003; first event and whole call
(medians, warm), processor time per event over all threads. Then: the first call ever in a fresh interpreter and what
it does to a loop that should stay free (60 ticks a second) while litellm loads; and a question of 20 steps replayed
from the cache in a fresh interpreter. Aims: performance.md, Models, P7 and P10.
Run: python tests/benchmarks/bench_models.py
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

from roamtui.models.base import Model, Request, Served
from roamtui.models.litellm_model import LiteLLM
from roamtui.models.openai_http import OpenAIHTTP
from roamtui.models.secret import Secret
from roamtui.models.select import ModelChoice, open_model
from tests.support.openai_server import OpenAIServer
from tests.support.wire import Received, Reply

ROUNDS = 15
"""Interleaved calls of each row; the median counts."""
STEPS = 20
"""Model calls of the replayed question."""
TURNS = {
    "19-event tool turn": Reply(tool_calls=[("expand_section", {"section_ids": ["07f3277d", "d4c192e2", "e45f855b"]})]),
    "1,003-event answer": Reply(text="words " * 1_000),
}
Stream = Callable[[str], AsyncIterator[object]]
OUTLINE = "Rules.\n" + "[07f3277d] ## Title of a section · 3 sub · 1.2k tok\n    Its first words, as a preview.\n" * 400


def request(words: str) -> Request:
    """Return a request as the agent sends it, asking for one of the turns."""
    messages = [{"role": "system", "content": OUTLINE}, {"role": "user", "content": words}]
    return Request(model="m", messages=messages)


def _reply(received: Received, _: int) -> Reply:
    return TURNS.get(received.json["messages"][-1]["content"], Reply(text="Step done. " * 10))


def _serve(pipe: Connection) -> None:
    with OpenAIServer(_reply) as server:
        pipe.send(server.base_url)
        pipe.recv()


def plain(client: httpx.AsyncClient, base_url: str) -> Stream:
    """Return the least one can do: post, read lines, parse."""

    async def stream(words: str) -> AsyncIterator[object]:
        body = {"model": "m", "messages": request(words).messages, "stream": True}
        async with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    yield json.loads(line[6:])

    return stream


def of(model: Model) -> Stream:
    """Return a model's stream by the words asked."""
    return lambda words: model.stream(request(words))


async def measure(streams: dict[str, Stream]) -> None:
    """Print the table of warm calls."""
    print(f"{'':34}{'first event':>12}{'whole call':>12}{'CPU/event':>12}{'over httpx':>12}")
    for words in TURNS:
        figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in streams}
        for _ in range(ROUNDS):
            for name, stream in streams.items():
                started, cpu, first, count = time.perf_counter(), time.process_time(), 0.0, 0
                async for item in stream(words):
                    if not isinstance(item, Served):
                        first = first or time.perf_counter() - started
                    count += 1
                spent = (time.process_time() - cpu) / max(1, count)
                figures[name].append((first, time.perf_counter() - started, spent))
        print(words)
        base = statistics.median(row[1] for row in next(iter(figures.values())))
        for name, rows in figures.items():
            first, whole, spent = (statistics.median(column) for column in zip(*rows, strict=True))
            over = f"{(whole - base) * 1e3:+.1f} ms"
            print(f"  {name:32}{first * 1e3:>9.1f} ms{whole * 1e3:>9.1f} ms{spent * 1e6:>9.0f} µs{over:>12}")


FIRST_CALL = """
import asyncio, sys, time
from roamtui.models.base import Request
from roamtui.models.litellm_model import LiteLLM
from roamtui.models.openai_http import OpenAIHTTP
from roamtui.models.secret import Secret
kind, base_url = sys.argv[1:]
late = []
async def tick():
    while True:
        due = time.perf_counter() + 1 / 60
        await asyncio.sleep(1 / 60)
        late.append(time.perf_counter() - due)
async def main():
    ticker = asyncio.ensure_future(tick())
    await asyncio.sleep(0.2)
    late.clear()
    model = OpenAIHTTP("m", base_url) if kind == "httpx" else LiteLLM(
        "openai/m", base_url=base_url, api_key=Secret("none-needed", "X"))
    started, first = time.perf_counter(), 0.0
    async for _ in model.stream(Request(model="m", messages=[{"role": "user", "content": "hello"}])):
        first = first or time.perf_counter() - started
    ticker.cancel()
    late.sort()
    print(first, late[int(len(late) * 0.95)], late[-1])
asyncio.run(main())
"""


def first_calls(base_url: str) -> None:
    """Print what the first call costs in a fresh interpreter, and how a free loop fares meanwhile."""
    print("\nfirst call in a fresh interpreter    first event   loop late p95 / worst")
    for kind in ("httpx", "litellm"):
        runs = [_run(FIRST_CALL, kind, base_url) for _ in range(3)]
        first, late, worst = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"  {kind:34}{first * 1e3:>8.0f} ms{late * 1e3:>14.0f} / {worst * 1e3:.0f} ms")


def _run(code: str, *arguments: str) -> list[float]:
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return [float(word) for word in done.stdout.split()]


REPLAYED = """
import asyncio, sys, time
started = time.perf_counter()
from pathlib import Path
from roamtui.models.base import Request
from roamtui.models.select import ModelChoice, open_model
base_url, folder, steps, outline = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
async def main():
    model = open_model(ModelChoice("m", base_url=base_url, cache_dir=folder), environ={})
    messages = [{"role": "system", "content": outline}]
    for step in range(steps):
        messages.append({"role": "user", "content": f"step {step}"})
        text = []
        async for delta in model.stream(Request(model="m", messages=messages)):
            text.append(getattr(delta, "text", ""))
        messages.append({"role": "assistant", "content": "".join(text)})
    await model.aclose()
asyncio.run(main())
print(time.perf_counter() - started)
"""


def replay(base_url: str) -> None:
    """Print how long a recorded question takes, imports included."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = (base_url, folder, str(STEPS), OUTLINE)
        (live,) = _run(REPLAYED, *arguments)
        again = statistics.median(_run(REPLAYED, *arguments)[0] for _ in range(5))
    print(f"\n{STEPS} steps, fresh interpreter: live {live * 1e3:.0f} ms, recorded {again * 1e3:.0f} ms (aim 100 ms)")


async def warm(base_url: str) -> None:
    """Measure all makers in this process."""
    key = Secret("none-needed", "NO_KEY")
    with tempfile.TemporaryDirectory() as folder:
        choice = ModelChoice("m", base_url=base_url, cache="off")
        recording = ModelChoice("m", base_url=base_url, cache_dir=Path(folder))
        models: dict[str, Model] = {
            "openai-http": OpenAIHTTP("m", base_url),
            "openai-http, all around it": open_model(choice, environ={}),
            "the same, recorded": open_model(recording, environ={}),
            "litellm": LiteLLM("openai/m", base_url=base_url, api_key=key),
        }
        async with httpx.AsyncClient(trust_env=False) as client:
            streams = {"plain httpx": plain(client, base_url), **{name: of(model) for name, model in models.items()}}
            for stream in streams.values():
                for words in TURNS:
                    async for _ in stream(words):
                        pass
            await measure(streams)
        for model in models.values():
            await model.aclose()


def main() -> None:
    """Print all tables."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    base_url = ours.recv()
    asyncio.run(warm(base_url))
    first_calls(base_url)
    replay(base_url)
    ours.send("done")
    server.join(5)


if __name__ == "__main__":
    main()
