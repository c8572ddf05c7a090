"""The note a crash leaves: where it happened, never what values were around."""

from __future__ import annotations

import os
import time
import traceback
from pathlib import Path

from roamtui import __version__, paths
from roamtui.text import redact


def write_note(error: BaseException) -> Path | None:
    """Write the traceback, without any local values, to a private file; None when that is impossible.

    Secrets the program knows of are taken out of the text.
    """
    text = redact("".join(traceback.format_exception(error)))
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    path = paths.state_dir() / f"crash-{stamp}-{os.getpid()}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"roamtui {__version__}\n{text}")
    except OSError:
        return None
    return path
