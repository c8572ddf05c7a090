"""Addresses of model servers: checked, normalised, and whether they are on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit, urlunsplit

from roamtui.errors import ConfigError
from roamtui.text import one_line


def check_base_url(address: str) -> str:
    """Return the base URL of an OpenAI-compatible server without a trailing slash or endpoint.

    Raises `ConfigError` for anything but http(s), and for user info (it would end up in logs), query or fragment.
    """
    shown = one_line(address)[:200]
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        raise ConfigError("The base URL is not an address.", "It looks like http://localhost:11434/v1.") from None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"“{shown}” is not an http(s) address.", "It looks like http://localhost:11434/v1.")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            "The base URL holds a user name or password.", "Put the key into the variable ROAMTUI_API_KEY instead."
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"“{shown}” has a query or fragment.", "Give only scheme, host, port and path.")
    if not shown.isascii() or any(char.isspace() for char in address.strip()):
        raise ConfigError("The base URL holds spaces or non-ASCII characters.", "Write the host in its xn-- form.")
    host = parts.hostname.lower()
    bracketed = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return urlunsplit((parts.scheme.lower(), f"{bracketed}:{port}" if port else bracketed, path, "", ""))


def host_of(base_url: str) -> str:
    """Return host and port of an address, for people."""
    return urlsplit(base_url).netloc.rpartition("@")[2]


def is_loopback(base_url: str) -> bool:
    """Tell whether an address is on this machine; by name only `localhost`, nothing is resolved."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private(base_url: str) -> bool:
    """Tell whether an address is a literal one of a private network."""
    try:
        return ipaddress.ip_address(urlsplit(base_url).hostname or "").is_private
    except ValueError:
        return False
