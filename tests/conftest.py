"""What every test lives in: its own folders, no keys, no network beyond this machine."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=60, database=None)
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=5_000)
hypothesis.settings.load_profile("default")

_PRIVATE = ("_API_KEY", "_API_BASE", "_BASE_URL", "_TOKEN", "_PROXY", "_proxy")


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # Unix sockets
    host = str(address[0])
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect" and not _is_loopback(arguments[1]):
        raise OSError(f"a test tried to reach {arguments[1]!r}")
    if event == "socket.getaddrinfo" and arguments[0] is not None:
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0])
        if not _is_loopback((host,)):
            raise OSError(f"a test tried to look up {host!r}")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, and no keys, proxies or settings of the person running it."""
    for name in list(os.environ):
        if name.endswith(_PRIVATE) or (name.startswith("ROAMTUI_") and name != "ROAMTUI_DEV_DATA"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for kind in ("config", "cache", "state"):
        monkeypatch.setenv(f"ROAMTUI_{kind.upper()}_DIR", str(home / kind))
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(home / "xdg" / kind))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "xdg" / "data"))
    return home


@pytest.fixture(scope="session")
def dev_data() -> Path:
    """Return the folder of the development documents, or skip the test."""
    folder = os.environ.get("ROAMTUI_DEV_DATA", "")
    if not folder:
        pytest.skip("ROAMTUI_DEV_DATA is not set: the development documents are not here")
    return Path(folder)
