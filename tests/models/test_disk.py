"""The hardened disk: whatever somebody plants, breaks or locks there, it gives back what was stored, or nothing."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.models.disk import FAILURES, MAX_VALUE, Damaged, SafeDisk, Store, is_damage
from tests.benchmarks.soak_cache import soak

pytestmark = pytest.mark.faults

SMALL, LARGE = b"small value", b"L" * 100_000
"""One is kept in its row, the other in a file beside the database."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder that holds both kinds of values, closed; not to be changed."""
    path = tmp_path_factory.mktemp("filled") / "responses"
    store = Store(path, 10_000_000)
    assert store.put("small", SMALL)
    assert store.put("large", LARGE)
    store.close()
    return path


@pytest.fixture
def folder(tmp_path: Path, filled: Path) -> Path:
    """Return a copy of the filled folder."""
    path = tmp_path / "cache" / "responses"
    shutil.copytree(filled, path)
    return path


@pytest.fixture
def reopened(folder: Path) -> Iterator[Callable[[], Store]]:
    """Open the folder again, any number of times."""
    stores: list[Store] = []

    def reopen() -> Store:
        stores.append(Store(folder, 10_000_000))
        return stores[-1]

    yield reopen
    for store in stores:
        store.close()


def execute(folder: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Change the database behind the cache's back."""
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement, values)


def value_file(folder: Path) -> Path:
    """Return the file of the large value."""
    (file,) = folder.rglob("*.val")
    return file


def put_aside(folder: Path) -> list[Path]:
    """Return the folders put aside."""
    return list(folder.parent.glob("responses.bad-*"))


Reopen = Callable[[], Store]


def test_values_come_back(reopened: Reopen) -> None:
    store = reopened()
    assert (store.get("small"), store.get("large"), store.get("other")) == (SMALL, LARGE, None)
    assert store.count() == 2


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    """F-C16: whatever the umask."""
    before = os.umask(0)
    try:
        store = Store(tmp_path / "a" / "responses", 10_000_000)
        store.put("large", LARGE)
        paths = list((tmp_path / "a").rglob("*"))
        modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in paths}
        store.close()
    finally:
        os.umask(before)
    assert any(name.endswith(".val") for name in modes)
    assert any(name.endswith("-wal") for name in modes)
    assert not [name for name, mode in modes.items() if mode & 0o077]


def test_permissions_that_were_opened_are_closed_again(folder: Path, reopened: Reopen) -> None:
    folder.chmod(0o755)
    (folder / "cache.db").chmod(0o644)
    assert reopened().get("small") == SMALL
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "cache.db").stat().st_mode) == 0o600


# -- planted entries ------------------------------------------------------------------------------


class Bomb:
    """Its pickle would create a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.mark),)


def missed(store: Store, key: str) -> bool:
    """Tell whether a key has no value, or its row makes the cache be put aside as damaged."""
    try:
        return store.get(key) is None
    except FAILURES as error:
        return is_damage(error)


PLANTED = [
    "UPDATE Cache SET mode = 4, filename = NULL, value = ? WHERE key = 'small'",
    "UPDATE Cache SET mode = 3, filename = NULL, value = ? WHERE key = 'small'",
    "UPDATE Cache SET mode = 99, value = ? WHERE key = 'small'",
    "UPDATE Cache SET mode = 1, value = CAST(? AS TEXT) WHERE key = 'small'",
    "UPDATE Cache SET mode = 1, value = 42 WHERE key = 'small' AND ? IS NOT NULL",
    "UPDATE Cache SET mode = NULL, value = ? WHERE key = 'small'",
    "UPDATE Cache SET expire_time = 'x', value = ? WHERE key = 'small'",
]


@pytest.mark.parametrize("statement", PLANTED)
def test_planted_values_are_misses_and_never_run(
    folder: Path, reopened: Reopen, tmp_path: Path, statement: str
) -> None:
    """F-C11."""
    mark = tmp_path / "executed"
    execute(folder, statement, values=(pickle.dumps(Bomb(mark)),))
    assert missed(reopened(), "small")
    assert not mark.exists()


def test_a_planted_pickle_key_is_never_run(folder: Path, reopened: Reopen, tmp_path: Path) -> None:
    """F-C11: also when the cache is counted and cleared."""
    mark = tmp_path / "executed"
    insert = "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 1, x'00')"
    execute(folder, insert, values=(pickle.dumps(Bomb(mark)),))
    store = reopened()
    assert store.count() == 3
    store.clear()
    assert store.count() == 0
    assert not mark.exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "../../precious", "..", "ab/cd/../../../../precious", "x\0y", ""])
def test_planted_file_names_lead_nowhere(folder: Path, reopened: Reopen, name: str) -> None:
    """F-C12: neither read nor deleted."""
    precious = folder.parent.parent / "precious"
    precious.write_bytes(b"p" * 60)
    execute(folder, "UPDATE Cache SET mode = 2, value = NULL, filename = ? WHERE key = 'small'", values=(name,))
    store = reopened()
    assert store.get("small") is None
    store.clear()
    store.put("small", LARGE)
    assert precious.read_bytes() == b"p" * 60
    assert Path("/etc/passwd").exists()


@pytest.mark.parametrize("part", [0, 1, 2])
def test_links_on_the_way_to_a_value_are_not_followed(folder: Path, reopened: Reopen, part: int) -> None:
    """F-C12: the folder, the folder in it, and the file."""
    file = value_file(folder)
    linked = [file.parent.parent, file.parent, file][part]
    outside = folder.parent.parent / "outside"
    shutil.move(linked, outside)
    linked.symlink_to(outside)
    store = reopened()
    assert store.get("large") is None
    store.clear()
    assert outside.exists()
    assert not outside.is_dir() or list(outside.rglob("*.val"))


def _is_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _is_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _is_a_link(file: Path) -> None:
    shutil.move(file, file.with_name("moved"))
    file.symlink_to(file.with_name("moved"))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "truncated": lambda file: os.truncate(file, 50_000),
    "emptied": lambda file: os.truncate(file, 0),
    "swapped": lambda file: file.write_bytes(b"S" * 100_032),
    "a pipe": _is_a_pipe,
    "a folder": _is_a_folder,
    "far too large": lambda file: os.truncate(file, MAX_VALUE * 20),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_value_files_are_misses(folder: Path, reopened: Reopen, damage: str) -> None:
    """F-C10, F-C14."""
    DAMAGE[damage](value_file(folder))
    store = reopened()
    assert store.get("large") is None
    assert store.get("small") == SMALL


def test_one_entry_in_the_place_of_another_is_a_miss(folder: Path, reopened: Reopen) -> None:
    """F-C10: the seal covers the key."""
    execute(folder, "UPDATE Cache SET key = 'x' WHERE key = 'small'")
    assert reopened().get("x") is None


def test_any_changed_byte_is_a_miss(tmp_path: Path) -> None:
    """F-C15: each of them."""
    store = Store(tmp_path / "responses", 10_000_000)
    store.put("k", bytes(range(256)) * 4)
    with closing(sqlite3.connect(tmp_path / "responses" / "cache.db", isolation_level=None)) as database:
        ((value,),) = database.execute("SELECT value FROM Cache").fetchall()
        database.execute("PRAGMA synchronous = OFF")
        for place in range(len(value)):
            broken = value[:place] + bytes([value[place] ^ (1 << place % 8)]) + value[place + 1 :]
            database.execute("UPDATE Cache SET value = ?", (broken,))
            assert store.get("k") is None
    store.close()


# -- planted settings and schema ------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE Settings SET value = 'none' WHERE key = 'eviction_policy'",
        "UPDATE Settings SET value = 'off' WHERE key = 'sqlite_journal_mode'",
        "UPDATE Settings SET value = 99999999 WHERE key = 'sqlite_mmap_size'",
        "UPDATE Settings SET value = 1 WHERE key = 'size_limit'",
        "UPDATE Settings SET value = 'x' WHERE key = 'cull_limit'",
        "DELETE FROM Settings WHERE key = 'statistics'",
    ],
)
def test_planted_settings_are_overridden(folder: Path, reopened: Reopen, statement: str) -> None:
    """F-C13."""
    execute(folder, statement)
    store = reopened()
    assert store.get("small") == SMALL
    assert store.put("more", LARGE)
    assert not put_aside(folder)
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        rows = dict(database.execute("SELECT key, value FROM Settings"))
    assert (rows["eviction_policy"], rows["sqlite_mmap_size"], rows["cull_limit"]) == ("least-recently-stored", 0, 10)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO Settings VALUES ('disk_directory', '/')",
        "INSERT INTO Settings VALUES ('set', 5)",
        "INSERT INTO Settings VALUES ('sqlite_writable_schema', 1)",
        "CREATE TRIGGER planted AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END",
        "CREATE VIEW planted AS SELECT 1",
        "ALTER TABLE Cache ADD COLUMN planted",
        "DROP TABLE Settings",
    ],
)
def test_a_foreign_database_is_put_aside(folder: Path, reopened: Reopen, statement: str) -> None:
    """F-C13, F-C17."""
    execute(folder, statement)
    store = reopened()
    assert store.put("new", SMALL)
    assert store.get("new") == SMALL
    assert "Settings" in statement or put_aside(folder)


BROKEN: dict[str, Callable[[Path], object]] = {
    "garbage at its head": lambda db: db.write_bytes(b"garbage!" * 100 + db.read_bytes()[800:]),
    "all garbage": lambda db: db.write_bytes(os.urandom(40_000)),
    "truncated": lambda db: os.truncate(db, 3_000),
    "empty": lambda db: os.truncate(db, 0),
    "a folder": _is_a_folder,
    "a link": _is_a_link,
    "a pipe": _is_a_pipe,
    "a second name of another file": lambda db: os.link(db, db.with_name("twin")),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_database_is_put_aside_and_the_cache_begins_anew(folder: Path, reopened: Reopen, how: str) -> None:
    """F-C09."""
    BROKEN[how](folder / "cache.db")
    store = reopened()
    assert store.get("small") is None
    assert store.put("new", SMALL)
    assert store.get("new") == SMALL


def test_a_write_ahead_log_of_garbage_is_ignored(folder: Path, reopened: Reopen) -> None:
    """F-C09."""
    (folder / "cache.db-wal").write_bytes(os.urandom(5_000))
    assert reopened().get("small") == SMALL


def test_garbage_in_the_middle_never_gives_a_wrong_value(folder: Path) -> None:
    """F-C09."""
    database = folder / "cache.db"
    data = bytearray(database.read_bytes())
    data[4_096 : len(data) - 100] = b"\xaa" * (len(data) - 4_196)
    database.write_bytes(bytes(data))
    try:
        store = Store(folder, 10_000_000)
    except FAILURES:
        return
    try:
        assert store.get("large") in (None, LARGE)
    except FAILURES:
        pass
    finally:
        store.close()


def test_only_the_newest_folder_put_aside_is_kept(folder: Path) -> None:
    old = folder.with_name("responses.bad-19990101-000000")
    shutil.copytree(folder, old)
    (folder / "cache.db").write_bytes(b"garbage" * 1_000)
    Store(folder, 10_000_000).close()
    assert len(put_aside(folder)) == 1
    assert not old.exists()


@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_a_folder_that_is_none_is_refused(folder: Path, kind: str) -> None:
    """F-C08."""
    moved = folder.with_name("elsewhere")
    shutil.move(folder, moved)
    if kind == "a link":
        folder.symlink_to(moved)
    else:
        folder.write_text("x")
    with pytest.raises(OSError, match="not a folder"):
        Store(folder, 10_000_000)


def test_a_name_with_variables_in_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEWHERE", "/tmp")
    with pytest.raises(OSError, match="variables"):
        Store(tmp_path / "$SOMEWHERE", 10_000_000)


def test_it_stays_below_its_limit(tmp_path: Path) -> None:
    """F-C19."""
    store = Store(tmp_path / "responses", 2_000_000)
    for number in range(120):
        assert store.put(f"k{number}", os.urandom(50_000))
    assert store.volume() <= 2_000_000 + 60_000
    assert store.get("k119") is not None
    assert store.get("k0") is None
    store.close()


def test_values_beyond_the_limit_are_not_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "responses", 100_000_000)
    assert not store.put("k", b"x" * (MAX_VALUE + 1))
    assert store.get("k") is None
    store.close()


def test_clearing_deletes_the_caches_files_and_nothing_else(folder: Path, reopened: Reopen) -> None:
    (folder / "notes.txt").write_text("mine")
    foreign = folder / "ab" / "cd"
    foreign.mkdir(parents=True)
    (foreign / "letter.txt").write_text("mine too")
    store = reopened()
    store.clear()
    assert store.count() == 0
    assert not list(folder.rglob("*.val"))
    assert (folder / "notes.txt").exists()
    assert (foreign / "letter.txt").exists()


def test_keys_and_values_of_other_kinds_are_refused() -> None:
    disk = SafeDisk("/nowhere")
    for key in (1, b"x", ("a",), None):
        with pytest.raises(TypeError):
            disk.put(key)
    for value in ("text", 1, ["x"], None):
        with pytest.raises(TypeError):
            disk.store(value, False)
    with pytest.raises(Damaged):
        disk.get(b"x", 0)


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """F-C01, in short; tests/benchmarks/soak_cache.py does it a thousand times."""
    result = soak(3, tmp_path / "responses")
    assert result.acknowledged >= 3
    assert (result.lost, result.wrong) == (0, 0)
