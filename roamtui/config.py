"""Settings: file < environment < flags, each value with where it came from.

The file is `config.toml` in the user's own configuration folder and nowhere else: nothing is ever read
from the working folder or from beside a document.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from roamtui import paths
from roamtui.errors import ConfigError
from roamtui.text import one_line, redact

Source = Literal["default", "file", "environment", "flag"]
CacheMode = Literal["on", "off", "refresh", "only"]

_MAX_FILE = 256 * 1024
"""Bytes of a settings file; a hand-written one is a hundred times smaller."""
_SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_SECRET_ACCESS_KEY", "_CREDENTIALS")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user can set. Names are the keys of the file, `ROAMTUI_` + NAME in the environment."""

    model: Annotated[str, Meta(min_length=1, max_length=200)] = "guide"
    """Model name as litellm spells it, `scripted:FILE`, or `guide`, which needs no model."""
    base_url: Annotated[str, Meta(max_length=2000)] = ""
    """Address of an OpenAI-compatible server; empty: the provider's own."""
    strategy: Literal["roam"] = "roam"
    """How the agent walks the document."""
    cache: CacheMode = "on"
    """Whether answers of models are kept on disk and used again."""
    cache_bytes: Annotated[int, Meta(ge=1_000_000, le=100_000_000_000)] = 200_000_000
    """Size the response cache may reach on disk."""
    max_steps: Annotated[int, Meta(ge=1, le=200)] = 12
    """Model calls per question."""
    max_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0
    """Wall clock per question."""
    max_tokens: Annotated[int, Meta(ge=200, le=100_000_000)] | None = None
    """Tokens of document text delivered per question; None: no cap beyond the steps."""
    call_tokens: Annotated[int, Meta(ge=200, le=1_000_000)] = 6000
    """Tokens of document text delivered per tool call."""
    part_tokens: Annotated[int, Meta(ge=200, le=1_000_000)] = 3000
    """Tokens of one part of a section too large to be delivered whole."""
    outline_tokens: Annotated[int, Meta(ge=200, le=1_000_000)] = 4000
    """Budget of the abridged outline."""
    always_roam: bool = False
    """Show an outline even where the document is small enough to be sent whole."""
    window: Annotated[int, Meta(ge=1000, le=100_000_000)] | None = None
    """The model's context window in tokens; None: from the table of models, 32,768 for unknown ones."""
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Seed sent to providers that take one."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """Sampling temperature; None: the provider's default."""
    max_bytes: Annotated[int, Meta(ge=1, le=10_000_000_000)] = 64_000_000
    """Largest document file that is read."""
    theme: Annotated[str, Meta(max_length=100)] = ""
    """Name of a colour theme; empty: the first one."""
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    """Command id to key, for commands whose key should differ from the default."""


_FIELDS: dict[str, msgspec.inspect.Field] = {}


def fields() -> Mapping[str, msgspec.inspect.Field]:
    """Return the settings' fields by name, with their types and bounds."""
    if not _FIELDS:
        info = msgspec.inspect.type_info(Settings)
        assert isinstance(info, msgspec.inspect.StructType)
        _FIELDS.update((field.name, field) for field in info.fields)
    return _FIELDS


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings with where each value came from."""

    settings: Settings
    sources: Mapping[str, Source]
    """Origin of every setting."""


def load_settings(flags: Mapping[str, object], environ: Mapping[str, str] | None = None) -> Resolved:
    """Return the settings of this run; a flag that is None was not given.

    Also teaches the program's redactor the values of all key variables. Raises `ConfigError`.
    """
    environ = os.environ if environ is None else environ
    learn_secrets(environ)
    values: dict[str, Any] = {}
    sources: dict[str, Source] = dict.fromkeys(fields(), "default")
    for name, value in _read_file(paths.settings_file()).items():
        values[name] = _checked(name, value, where=f"{name} in the settings file", strict=True)
        sources[name] = "file"
    for name in fields():
        variable = f"ROAMTUI_{name.upper()}"
        if name != "keys" and environ.get(variable, ""):
            values[name] = _checked(name, environ[variable], where=variable, strict=False)
            sources[name] = "environment"
    for name, value in flags.items():
        if value is not None:
            values[name] = _checked(name, value, where="--" + name.replace("_", "-"), strict=True)
            sources[name] = "flag"
    return Resolved(Settings(**values), sources)


def learn_secrets(environ: Mapping[str, str]) -> None:
    """Teach the redactor every value in `environ` whose name says that it is a key."""
    for name, value in environ.items():
        if name.upper().endswith(_SECRET_NAMES):
            redact.add(value)


def describe(name: str) -> str:
    """Say in words what a setting takes."""
    return _words(fields()[name].type)


def _words(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.UnionType(types=types):
            return _words(next(item for item in types if not isinstance(item, msgspec.inspect.NoneType)))
        case msgspec.inspect.LiteralType(values=values):
            return ", ".join(str(value) for value in values[:-1]) + (" or " if values[1:] else "") + str(values[-1])
        case msgspec.inspect.IntType(ge=low, le=high):
            return f"a whole number from {low:,} to {high:,}"
        case msgspec.inspect.FloatType(ge=low, le=high):
            return f"a number from {low:,g} to {high:,g}"
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.DictType():
            return "a table of command ids and keys"
        case _:
            return "text"


def _checked(name: str, value: object, *, where: str, strict: bool) -> object:
    """Return `value` as the setting's type; text is read as a number where `strict` is off."""
    try:
        converted: object = getattr(msgspec.convert({name: value}, Settings, strict=strict), name)
    except msgspec.ValidationError:
        shown = one_line(redact(str(value)))[:80]
        raise ConfigError(f"{where} is {shown!r}.", f"It takes {describe(name)}.") from None
    return converted


# -- the file ---------------------------------------------------------------------------------------


def _read_file(path: Path) -> dict[str, Any]:
    """Return the settings file as plain data with known keys only; empty when there is no file."""
    data = _read_bytes(path)
    shown = one_line(str(path))
    hint = "Correct the file or move it away."
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError(f"{shown} is not UTF-8 text.", hint) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{shown} is not valid TOML: {one_line(str(error))}.", hint) from None
    except RecursionError:
        raise ConfigError(f"{shown} is nested too deeply.", hint) from None
    for name in table:
        if name not in fields():
            raise ConfigError(f"{shown} has an unknown key: {one_line(name)[:80]}.", _nearest(name))
    return table


def _nearest(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, fields(), n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else "Known keys: " + ", ".join(fields()) + "."


def _read_bytes(path: Path) -> bytes:
    shown = one_line(str(path))
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ConfigError(f"{shown} cannot be read: {reason}.", "Check its permissions.") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ConfigError(f"{shown} is not a regular file.", "Move it away.")
    with os.fdopen(handle, "rb") as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise ConfigError(f"{shown} is larger than {_MAX_FILE:,} bytes.", "Move it away.")
    return data
