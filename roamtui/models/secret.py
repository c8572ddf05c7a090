"""Keys: values that never show themselves."""

from __future__ import annotations

from collections.abc import Mapping

from roamtui.errors import ModelError
from roamtui.text import redact


class Secret:
    """A key and where it came from. Its value leaves only through `reveal()`."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        """Take `value`, known to people as `source` (an environment variable's name).

        The program's redactor learns the value. Raises `ModelError` (kind `auth`) when it cannot be an HTTP header.
        """
        value = value.strip()
        if not value:
            raise ModelError("auth", f"{source} is empty.", f"Set {source} to your key.")
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ModelError(
                "auth", f"{source} holds characters no key has (spaces, line ends or non-ASCII).", "Copy the key again."
            )
        self._value = value
        self.source = source
        """Name of the environment variable, or a word for another origin."""
        redact.add(value)

    @classmethod
    def from_environ(cls, name: str, environ: Mapping[str, str]) -> Secret | None:
        """Return the key in variable `name`, or None when it is unset or blank. Raises like the constructor."""
        value = environ.get(name, "")
        return cls(value, name) if value.strip() else None

    def reveal(self) -> str:
        """Return the value, for a request header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.source})"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not serialised")
