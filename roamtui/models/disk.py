"""The hardened disk under the response cache: bytes in, the same bytes or nothing out.

diskcache 5.6.3 unpickles what it finds (CVE-2025-69872, no fixed release; its JSONDisk does not help), follows file
names from its database anywhere, and returns truncated files as they are. Here nothing is ever unpickled, every value
is sealed with a SHA-256 over key and content, files are opened inside the folder only and without following links,
and everything is readable by its owner alone. Import this module on a thread: it imports diskcache.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from diskcache import Cache, Disk, Timeout
from diskcache.core import DBNAME, DEFAULT_SETTINGS, METADATA, MODE_BINARY, MODE_RAW, UNKNOWN

MAX_VALUE = 16_000_000
"""Most bytes of one stored value."""
_VALUE_NAME = re.compile(r"([0-9a-f]{2})/([0-9a-f]{2})/([0-9a-f]{28}\.val)")
_SETTINGS = DEFAULT_SETTINGS | {"sqlite_mmap_size": 0, "sqlite_trusted_schema": 0, "disk_min_file_size": 32 << 10}
_SCHEMA_NAMES = frozenset(
    {"Settings", "Cache", "Cache_key_raw", "Cache_expire_time", "Cache_store_time"}
    | {f"Settings_{name}" for name in ("count_insert", "count_delete", "size_insert", "size_update", "size_delete")}
)
_COLUMNS = (
    *("rowid", "key", "raw", "store_time", "expire_time", "access_time", "access_count"),
    *("tag", "size", "mode", "filename", "value"),
)
_DIGEST = 32
FAILURES = (sqlite3.Error, OSError, Timeout, ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""Everything a broken, full, locked or planted cache was seen to raise."""


class Damaged(ValueError):
    """The cache on disk is not one we wrote: it is put aside."""


def is_damage(error: BaseException) -> bool:
    """Tell a broken or planted cache from one that is merely locked, full or read-only."""
    if isinstance(error, sqlite3.OperationalError):
        return any(word in str(error) for word in ("no such", "malformed", "not decode"))
    return isinstance(error, sqlite3.DatabaseError | Damaged | LookupError | TypeError | AttributeError)


class SafeDisk(Disk):
    """diskcache's storage, reduced to text keys and bytes values in two forms: in the row, or in a file beside it."""

    def put(self, key: object) -> tuple[object, bool]:
        """Return the database form of a key, which must be text."""
        if type(key) is not str:
            raise TypeError("keys are text")
        return key, True

    def get(self, key: object, raw: object) -> object:
        """Return a key from its database form; anything but text is foreign."""
        if not raw or type(key) is not str:
            raise Damaged("foreign key")
        return key

    def store(self, value: object, read: bool, key: object = UNKNOWN) -> tuple[int, int, str | None, object]:
        """Store bytes; nothing else is taken, so nothing is ever pickled."""
        if read or type(value) is not bytes:
            raise TypeError("values are bytes")
        return super().store(value, False, key=key)

    def fetch(self, mode: object, filename: object, value: object, read: bool) -> object:
        """Return stored bytes. Raises `OSError`, which diskcache reports as a miss, for any other kind of entry."""
        if mode == MODE_RAW and filename is None and type(value) is bytes and not read:
            return value
        if mode == MODE_BINARY and type(filename) is str and not read:
            with self._folder_of(filename) as (folder, name):
                return _read_regular(name, folder)
        raise OSError("foreign value")

    def remove(self, file_path: str) -> None:
        """Delete a value file, and its two folders when they are empty; never anything else."""
        match = _VALUE_NAME.fullmatch(file_path)
        if match is None:
            return
        with suppress(OSError):
            with self._folder_of(file_path) as (folder, name):
                os.unlink(name, dir_fd=folder)
            os.rmdir(os.path.join(self._directory, match[1], match[2]))
            os.rmdir(os.path.join(self._directory, match[1]))

    def _write(self, full_path: str, iterator: Iterable[bytes], mode: str, encoding: str | None = None) -> int:
        relative = os.path.relpath(full_path, self._directory)
        size = 0
        with self._folder_of(relative, create=True) as (folder, name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
                for chunk in iterator:
                    size += file.write(chunk)
        return size

    @contextmanager
    def _folder_of(self, filename: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Open a value file's folder step by step, so that no link leads out; yields its descriptor and the name."""
        match = _VALUE_NAME.fullmatch(filename)
        if match is None:
            raise OSError("foreign file name")
        opened: list[int] = []
        try:
            opened.append(os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY))
            for part in match.group(1, 2):
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=opened[-1])
                opened.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
            yield opened[-1], match[3]
        finally:
            for descriptor in opened:
                os.close(descriptor)


def _read_regular(name: str, folder: int) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        data = file.read(MAX_VALUE + _DIGEST + 1)
    if len(data) > MAX_VALUE + _DIGEST:
        raise OSError("too large")
    return data


def _seal(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode("ascii") + b"\0" + value).digest()


class Store:
    """Sealed values by key in one folder. Blocking; use it from one thread. Raises only `FAILURES`."""

    def __init__(self, folder: Path, size_limit: int) -> None:
        """Open or create the cache in `folder`, at most `size_limit` bytes; a damaged one is put aside first."""
        self.folder = folder
        self._size_limit = size_limit
        try:
            self._cache = self._open()
        except FAILURES as error:
            if not is_damage(error):
                raise
            self.put_aside()
            self._cache = self._open()

    def _open(self) -> Cache:
        _private_folder(self.folder)
        _private_database(self.folder)
        settings = _SETTINGS | {"size_limit": self._size_limit}
        return Cache(str(self.folder), disk=SafeDisk, timeout=1, **settings)

    def put_aside(self) -> Path:
        """Rename the folder to `….bad-TIME` and return its new path; an older one put aside is removed."""
        for old in self._put_aside_before():
            _remove_cache_files(old)
        bad = self.folder.with_name(f"{self.folder.name}.bad-{time.strftime('%Y%m%d-%H%M%S')}")
        os.rename(self.folder, bad)
        return bad

    def _put_aside_before(self) -> list[Path]:
        return [path for path in self.folder.parent.glob(f"{self.folder.name}.bad-*") if not path.is_symlink()]

    def get(self, key: str) -> bytes | None:
        """Return the value of `key`; None when there is none, or one that is not as it was stored."""
        data = self._cache.get(key)
        if not isinstance(data, bytes) or data[:_DIGEST] != _seal(key, data[_DIGEST:]):
            return None
        return data[_DIGEST:]

    def put(self, key: str, value: bytes) -> bool:
        """Store a value; False when it is too large or another process holds the cache."""
        if len(value) > MAX_VALUE:
            return False
        try:
            return self._cache.set(key, _seal(key, value) + value, retry=False)
        except Timeout:
            return False

    def count(self) -> int:
        """Return the number of entries."""
        return len(self._cache)

    def volume(self) -> int:
        """Return the bytes on disk."""
        return self._cache.volume()

    def clear(self) -> None:
        """Delete every entry and what was put aside, and nothing that is not the cache's own."""
        try:
            self._cache.clear(retry=False)
        except (sqlite3.Error, OSError):  # a full disk cannot even record deletions: take the files
            self._cache.close()
            _remove_cache_files(self.folder)
            self._cache = self._open()
        for old in self._put_aside_before():
            _remove_cache_files(old)

    def close(self) -> None:
        """Close the database."""
        self._cache.close()


def _private_folder(folder: Path) -> None:
    """Make sure `folder` is a real folder of ours that nobody else can read. Raises `OSError`."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{folder} is not a folder")
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    if os.path.expandvars(os.path.expanduser(folder)) != str(folder):
        raise OSError(f"{folder}: diskcache would read variables in this name")


def _private_database(folder: Path) -> None:
    """Check the database's files before SQLite sees them. Raises `Damaged` for what is not ours."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path = folder / (DBNAME + suffix)
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink != 1:
            raise Damaged(f"{path} is not a plain file of ours")
        if status.st_mode & 0o077:
            path.chmod(0o600)
    database = folder / DBNAME
    if not database.exists():  # SQLite gives its other files the permissions of this one
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        return
    _check_schema(database)


def _check_schema(database: Path) -> None:
    """Refuse settings and schema objects that diskcache did not write: they would be executed."""
    with closing(sqlite3.connect(database, timeout=0.5, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        names = {name for name in names if not str(name).startswith("sqlite_autoindex_")}
        if not names <= _SCHEMA_NAMES:
            raise Damaged("foreign schema")
        if "Settings" in names:
            try:
                keys = {row[0] for row in connection.execute("SELECT key FROM Settings")}
            except sqlite3.OperationalError:
                raise Damaged("foreign settings table") from None
            if not keys <= _SETTINGS.keys() | METADATA.keys():
                raise Damaged("foreign settings")
        if "Cache" in names:
            columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(Cache)"))
            if columns != _COLUMNS:
                raise Damaged("another version's table")


def _remove_cache_files(folder: Path) -> None:
    """Delete database and value files of a cache folder, and the folder when nothing else is in it."""
    with suppress(OSError):
        if folder.is_symlink():
            return
        for suffix in ("", "-wal", "-shm", "-journal"):
            (folder / (DBNAME + suffix)).unlink(missing_ok=True)
        disk = SafeDisk(str(folder))
        for outer in _hex_folders(folder):
            for inner in _hex_folders(outer):
                for file in inner.iterdir():
                    disk.remove(f"{outer.name}/{inner.name}/{file.name}")
        folder.rmdir()


def _hex_folders(folder: Path) -> list[Path]:
    named = [path for path in folder.iterdir() if re.fullmatch("[0-9a-f]{2}", path.name)]
    return [path for path in named if path.is_dir() and not path.is_symlink()]
