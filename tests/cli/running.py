"""Running the program as a user does: in a process of its own, or in this one where only words matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from roamtui.cli.main import run


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


def process(
    *arguments: str | bytes, given: bytes = b"", environ: Mapping[str, str] | None = None, unset: tuple[str, ...] = ()
) -> Done:
    """Run `roamtui` in a process without a terminal."""
    own = {name: value for name, value in os.environ.items() if name not in unset} | dict(environ or {})
    done = subprocess.run(
        [sys.executable, "-m", "roamtui", *arguments],
        input=given,
        capture_output=True,
        env=own,
        timeout=30,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace"))


def here(capsys: pytest.CaptureFixture[str], *arguments: str) -> Done:
    """Run a command in this process."""
    capsys.readouterr()
    code = run(list(arguments))
    caught = capsys.readouterr()
    return Done(code, caught.out, caught.err)
