"""Failed calls are tried again few times, in sight of the user, and never over an answer being read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import MODEL_ERROR_KINDS, RETRYABLE_KINDS, ModelError
from roamtui.models.base import Delta, Finish, Reasoning, Request, Retrying, Text, ToolCallPart
from roamtui.models.bounded import Bounded, Deadlines
from roamtui.models.provider_errors import retry_after_seconds
from roamtui.models.retry import Retried, RetryPolicy
from tests.models.conftest import HTTP, collect, fails
from tests.support.wire import Reply

GOOD: list[Delta] = [Text("Here."), Finish("stop")]
Try = Sequence[Delta | ModelError]


class Flaky:
    """A model whose tries go as written; the last one repeats."""

    maker = "fake"
    name = "flaky"

    def __init__(self, *tries: Try) -> None:
        self.tries = tries
        self.count = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        steps = self.tries[min(self.count, len(self.tries) - 1)]
        self.count += 1
        for step in steps:
            if isinstance(step, ModelError):
                raise step
            yield step

    async def aclose(self) -> None:
        pass


class Clock:
    """Remembers waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def retried(flaky: Flaky, clock: Clock, policy: RetryPolicy | None = None) -> Retried:
    """Return a flaky model behind retries that do not wait, with the longest backoff."""
    return Retried(flaky, policy, sleep=clock.sleep, chance=lambda: 1.0)


def broken(kind: str = "overloaded") -> ModelError:
    """Return an error of a kind."""
    return ModelError(kind, f"it is {kind}")


async def test_a_passing_failure_is_told_and_tried_again() -> None:
    flaky, clock = Flaky([broken()], [broken("connection")], GOOD), Clock()
    turn, deltas, error = await collect(retried(flaky, clock))
    assert error is None
    assert turn.text == "Here."
    retries = [delta for delta in deltas if isinstance(delta, Retrying)]
    assert [(item.attempt, item.kind) for item in retries] == [(2, "overloaded"), (3, "connection")]
    assert clock.waits == [item.wait for item in retries] == [0.5, 1.0]


async def test_three_tries_are_all() -> None:
    """F-P04, F-P05."""
    flaky = Flaky([broken("rate_limit")])
    assert (await fails(retried(flaky, Clock()))).kind == "rate_limit"
    assert flaky.count == 3


@pytest.mark.parametrize("kind", sorted(MODEL_ERROR_KINDS - RETRYABLE_KINDS))
async def test_other_failures_are_final(kind: str) -> None:
    """F-P01, F-P02."""
    flaky = Flaky([broken(kind)], GOOD)
    assert (await fails(retried(flaky, Clock()))).kind == kind
    assert flaky.count == 1


@pytest.mark.parametrize(
    "said",
    [
        [Reasoning("long " * 200)],
        [ToolCallPart(0, "c", "expand_section", '{"sec')],
        [Text("Let me look at the outline first.")],
    ],
)
async def test_what_nobody_reads_yet_is_voided(said: list[Delta]) -> None:
    flaky = Flaky([*said, broken("truncated")], GOOD)
    turn, _, error = await collect(retried(flaky, Clock()))
    assert (turn.text, turn.reasoning, turn.tool_calls, error) == ("Here.", "", (), None)


async def test_an_answer_being_read_is_kept_as_it_is() -> None:
    """F-P10: the partial text stays and the error says so."""
    flaky = Flaky([Text("word " * 60), broken("truncated")], GOOD)
    turn, deltas, error = await collect(retried(flaky, Clock()))
    assert error is not None
    assert error.kind == "truncated"
    assert turn.text == "word " * 60
    assert turn.finish == ""
    assert not [delta for delta in deltas if isinstance(delta, Retrying)]


@pytest.mark.parametrize(("asked", "waits"), [(2.0, [2.0]), (0.0, [0.5]), (None, [0.5]), (60.0, [60.0])])
async def test_the_providers_pause_is_kept(asked: float | None, waits: list[float]) -> None:
    """F-P03."""
    failure, clock = ModelError("rate_limit", "slow down", retry_after=asked), Clock()
    _, _, error = await collect(retried(Flaky([failure], GOOD), clock))
    assert error is None
    assert clock.waits == waits


async def test_a_pause_of_a_day_is_not_waited_for() -> None:
    """F-P03."""
    failure, clock = ModelError("rate_limit", "slow down", retry_after=86_400), Clock()
    error = await fails(retried(Flaky([failure], GOOD), clock))
    assert clock.waits == []
    assert "24 hours" in error.hint


async def test_all_tries_together_have_a_limit() -> None:
    """F-P04."""
    failure, clock = ModelError("rate_limit", "slow down", retry_after=50), Clock()
    await fails(retried(Flaky([failure]), clock, RetryPolicy(tries=10, total=40)))
    assert clock.waits == []


async def test_a_wait_can_be_cancelled() -> None:
    """F-P03, F-P28."""
    model = Retried(Flaky([ModelError("rate_limit", "slow", retry_after=30)]))
    seen = asyncio.Event()

    async def read() -> None:
        async for delta in model.stream(Request(model="m", messages=[])):
            if isinstance(delta, Retrying):
                seen.set()

    task = asyncio.ensure_future(read())
    await seen.wait()
    started = time.monotonic()
    task.cancel()
    await asyncio.wait({task})
    assert time.monotonic() - started < 0.3


async def test_over_the_wire_every_try_is_a_request_of_ours() -> None:
    replies = [Reply(status=503), Reply(status=429, headers={"retry-after": "0"}), Reply(text="At last.")]
    async with HTTP.server(replies) as server:
        turn, _, error = await collect(Retried(HTTP.model(server), sleep=Clock().sleep))
    assert (turn.text, error) == ("At last.", None)
    assert len(server.requests) == 3


@given(st.integers(2, 40), st.none() | st.floats(0, 60), st.floats(0, 0.999))
def test_waits_are_bounded_and_never_shorter_than_asked(attempt: int, asked: float | None, chance: float) -> None:
    policy = RetryPolicy()
    wait = policy.wait(attempt, asked, chance)
    assert (asked or 0.0) <= wait <= max(policy.cap, asked or 0.0)
    assert wait >= policy.base / 2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:10 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "-5; DROP"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Thu, 99 Foo 99999999999 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_headers_are_read_with_care(headers: dict[str, str], seconds: float | None) -> None:
    """F-P03."""
    assert retry_after_seconds(headers, 60.0) == seconds


@given(st.text(max_size=40))
def test_no_header_breaks_us(text: str) -> None:
    seconds = retry_after_seconds({"retry-after": text, "retry-after-ms": text}, 0.0)
    assert seconds is None or seconds >= 0


# -- deadlines ------------------------------------------------------------------------------------


class Slow:
    """A model that stays silent after some deltas."""

    maker = "fake"
    name = "slow"

    def __init__(self, *deltas: Delta, again: bool = False) -> None:
        self.deltas = deltas
        self.again = again
        self.closed = False

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        try:
            for delta in self.deltas:
                yield delta
            while self.again:
                await asyncio.sleep(0.01)
                yield self.deltas[-1]
            await asyncio.Event().wait()
        finally:
            self.closed = True

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("slow", "deadlines", "words"),
    [
        (Slow(), Deadlines(first_event=0.05), "did not begin"),
        (Slow(Text("a")), Deadlines(idle=0.05), "fell silent"),
        (Slow(Text("a"), again=True), Deadlines(call=0.1), "was not done"),
    ],
)
async def test_each_deadline_says_which_it_was(slow: Slow, deadlines: Deadlines, words: str) -> None:
    """F-P08, F-P09: and the call below is really closed."""
    started = time.monotonic()
    error = await fails(Bounded(slow, deadlines))
    assert error.kind == "timeout"
    assert words in error.message
    assert time.monotonic() - started < 0.6
    assert slow.closed


def hold_the_loop(seconds: float) -> None:
    """Keep everything waiting, as a screen that draws too long."""
    time.sleep(seconds)


async def test_a_slow_reader_does_not_run_the_deadline_down() -> None:
    """Only the model's silence counts, not the time the screen takes between two deltas."""
    model = Bounded(Flaky((Text("a"), Text("b"), Finish("stop"))), Deadlines(first_event=0.05, idle=0.05))
    seen = 0
    async for _ in model.stream(Request(model="m", messages=[])):
        hold_the_loop(0.08)
        seen += 1
    assert seen == 3
