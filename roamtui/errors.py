"""The errors a person may meet: each has a sentence, a hint and an exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    """The command did what it was asked."""
    FAILED = 1
    """Something broke on the way: the model, the network, the disk."""
    USAGE = 2
    """Wrong usage, or a document that cannot be read."""
    NOT_FOUND = 3
    """`ask`: the document does not hold the answer."""
    LIMIT = 4
    """`ask`: a cap was reached; what was found so far is printed."""
    UNSUPPORTED = 5
    """`ask --require-verified`: a claim stayed without evidence."""
    CHECK_FAILED = 6
    """A check did not hold (`lint`, `eval --check`)."""
    CANCELLED = 130
    """The user stopped it."""
    BROKEN_PIPE = 141
    """The reader of our output went away."""


class RoamError(Exception):
    """Base of all errors shown to people."""

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        """What happened, in one sentence."""
        self.hint = hint
        """What to do about it; empty when there is nothing to do."""


class UsageError(RoamError):
    """The command or an option does not make sense."""

    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    """The settings file, the environment or a theme is wrong."""


class DocumentError(RoamError):
    """A document cannot be read."""

    exit_code = ExitCode.USAGE


class BudgetError(RoamError):
    """A request cannot fit the model's window; raised before any call."""


class ModelError(RoamError):
    """A model call failed. `kind` says how, for retry policy and for tests."""

    def __init__(
        self,
        kind: str,
        message: str,
        hint: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        """One of `MODEL_ERROR_KINDS`."""
        self.status = status
        """HTTP status, when there was one."""
        self.retry_after = retry_after
        """Seconds the provider asked us to wait, when it did."""


MODEL_ERROR_KINDS = frozenset(
    {
        "auth",  # key refused or missing
        "bad_request",  # the provider did not accept the request; unknown model
        "rate_limit",
        "overloaded",  # 5xx, 529
        "context",  # prompt longer than the window
        "connection",
        "timeout",  # a deadline of ours ran out
        "truncated",  # the stream ended without a finish reason
        "bad_reply",  # not what the protocol says: garbage, HTML, broken JSON
        "too_large",  # a reply beyond our byte caps
        "refused",  # content filter
        "not_cached",  # --cache only and no entry
        "unavailable",  # a maker that cannot run here (package missing)
    }
)
"""Every `ModelError.kind`."""

RETRYABLE_KINDS = frozenset({"rate_limit", "overloaded", "connection", "truncated"})
"""Kinds worth another try; all others fail at once."""
