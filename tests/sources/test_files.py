"""Files anybody may have made: opened, or refused in one sentence at once."""

from __future__ import annotations

import hashlib
import io
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from roamtui.document.model import Document
from roamtui.errors import DocumentError, ExitCode
from roamtui.sources.files import MAX_BYTES, read_file
from roamtui.sources.open import changed_on_disk, open_document, open_library
from roamtui.sources.samples import sample_names
from roamtui.text import is_displayable

TEXT = "# Title\n\nWords.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "book.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def refusal(address: str, max_bytes: int = MAX_BYTES) -> DocumentError:
    """Return the error that opening an address gives, which is at once and can be shown."""
    started = time.monotonic()
    with pytest.raises(DocumentError) as caught:
        open_document(address, max_bytes=max_bytes)
    assert time.monotonic() - started < 0.5
    error = caught.value
    assert error.exit_code is ExitCode.USAGE
    assert error.message.endswith((".", ".md."))
    assert is_displayable(error.message + error.hint)
    assert "\n" not in error.message + error.hint
    assert len(error.message) < 300
    return error


def test_a_file_is_read_as_it_is(file: Path) -> None:
    found = open_document(str(file))
    assert found.source == TEXT.encode()
    assert found.name == "book.md"
    assert found.origin.address == str(file)
    assert found.origin.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (found.origin.encoding, found.origin.notices) == ("utf-8", ())
    assert [section.title for section in found.sections] == ["Title"]


def test_several_files_make_one_library(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "book.md"
    other.parent.mkdir()
    other.write_text(TEXT, encoding="utf-8")
    calls: list[tuple[int, int]] = []
    found = open_library([str(file), str(other)], progress=lambda done, sections: calls.append((done, sections)))
    refs = [ref for ref, _ in found.places()]
    assert len(set(refs)) == 2
    assert all(found.find(ref) for ref in refs)
    assert calls[-1] == (2 * len(TEXT), 2)


def test_samples_open_by_name() -> None:
    assert "manual" in sample_names()
    found = open_library(["sample:manual"]).documents[0]
    assert found.origin.address == "sample:manual"
    assert len(found.sections) > 5


@pytest.mark.parametrize("name", ["nothing", "", "../pyproject", "manual.md", "a/b", "/etc/passwd", "\x1b[31m"])
def test_a_sample_there_is_not(name: str) -> None:
    assert "manual" in refusal(f"sample:{name}").hint


# -- what is no file ---------------------------------------------------------------------------------


@pytest.mark.faults
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "No document was named"),
        ("missing.md", "does not exist"),
        ("x" * 5_000, "too long"),
        ("a\0b", "is no file name"),
        ("\ud800", "is no file name"),
        ("~nosuchuser/book.md", "does not exist"),
        ("esc\x1b[31m\nbidi\u202e.md", "does not exist"),
        ("bad\udcff.md", "does not exist"),
        ("https://docs.example/llms.txt", "does not exist"),
        ("/", "is a folder"),
        ("/dev/zero", "is a device"),
        ("/dev/null", "is a device"),
        ("/dev/tty", ""),
    ],
)
def test_addresses_that_name_no_file(address: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refusal(address).message


@pytest.mark.faults
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    assert "is a pipe" in refusal(str(pipe)).message
    link = tmp_path / "link.md"
    link.symlink_to(pipe)
    assert "is a pipe" in refusal(str(link)).message


@pytest.mark.faults
def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("door")
        assert "is a socket" in refusal("door").message


@pytest.mark.faults
def test_links_are_followed_where_they_lead_somewhere(file: Path, tmp_path: Path) -> None:
    for name, target in (("good", file), ("dangling", tmp_path / "nowhere"), ("loop", tmp_path / "loop")):
        (tmp_path / name).symlink_to(target)
    assert open_document(str(tmp_path / "good")).source == TEXT.encode()
    assert "does not exist" in refusal(str(tmp_path / "dangling")).message
    assert "round in circles" in refusal(str(tmp_path / "loop")).message


@pytest.mark.faults
def test_a_file_without_permission(file: Path) -> None:
    if os.geteuid():
        file.chmod(0)
        assert "permission denied" in refusal(str(file)).message
        return
    file.chmod(0o600)
    program = (
        "import os, sys\n"
        "from roamtui.errors import DocumentError\n"
        "from roamtui.sources.open import open_document\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: open_document(sys.argv[1])\n"
        "except DocumentError as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True)
    assert "permission denied" in done.stdout


# -- how much ------------------------------------------------------------------------------------------


def test_the_cap_is_kept_to_the_byte(file: Path) -> None:
    assert open_document(str(file), max_bytes=len(TEXT)).source == TEXT.encode()
    error = refusal(str(file), max_bytes=len(TEXT) - 1)
    assert "is larger than" in error.message
    assert "--max-bytes" in error.hint


@pytest.mark.faults
def test_a_sparse_terabyte_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "sparse.md"
    with path.open("wb") as handle:
        handle.truncate(1 << 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "is larger than 64 MB" in refusal(str(path)).message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.faults
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_a_file_that_claims_to_be_empty_is_read_to_the_cap() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    assert open_document("/proc/self/status").source
    assert "is larger than" in refusal("/proc/self/status", max_bytes=10).message


# -- what changes ----------------------------------------------------------------------------------------


def test_a_document_is_a_snapshot_and_tells_when_its_file_changed(file: Path) -> None:
    found = open_document(str(file))
    assert changed_on_disk(found) == ""
    os.utime(file, (1, 1))
    assert changed_on_disk(found) == ""  # touched, not changed
    file.write_text(TEXT + "More.\n", encoding="utf-8")
    assert changed_on_disk(found) == "changed"
    os.truncate(file, 3)
    assert changed_on_disk(found) == "changed"
    assert found.own_text(found.sections[0]) == "\nWords.\n"
    file.unlink()
    assert changed_on_disk(found) == "gone"
    file.mkdir()
    assert changed_on_disk(found) == "changed"
    assert found.source == TEXT.encode()


def test_what_came_from_no_file_never_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert changed_on_disk(open_document("-")) == ""


@pytest.mark.faults
def test_a_file_that_is_replaced_again_and_again_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "busy.md"
    versions = [f"# Version {number}\n\n{str(number) * 200_000}\n".encode() for number in range(2)]
    path.write_bytes(versions[0])
    stop = threading.Event()

    def rewrite() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            fresh = tmp_path / f"fresh{number % 4}"
            fresh.write_bytes(versions[number % 2])
            fresh.replace(path)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = {open_document(str(path)).source for _ in range(50)}
    finally:
        stop.set()
        writer.join()
    assert seen <= set(versions)


@pytest.mark.faults
def test_a_deleted_folder_is_no_obstacle(file: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "from roamtui.sources.open import open_document\n"
        "print(open_document(sys.argv[2]).name)\n"
    )
    arguments = [sys.executable, "-P", "-c", program, str(gone), str(file)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "book.md\n"


# -- names and standard input ------------------------------------------------------------------------------


@pytest.mark.faults
@pytest.mark.parametrize("name", [b"esc\x1b[31m.md", b"line\nend.md", "rtl\u202e.md".encode(), b"bad\xff.md"])
def test_a_hostile_name_opens_and_no_surrogate_leaves_the_reader(name: bytes, tmp_path: Path) -> None:
    path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
    Path(path).write_bytes(b"intro\n\n# A\n")
    found = open_document(path)
    for text in (found.name, found.origin.address, found.sections[0].title):
        text.encode("utf-8")
    assert found.sections[0].kind == "preamble"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def piped(data: bytes, monkeypatch: pytest.MonkeyPatch, max_bytes: int = MAX_BYTES) -> Document:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return open_document("-", max_bytes=max_bytes)


def test_standard_input_is_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    found = piped(TEXT.encode(), monkeypatch)
    assert (found.name, found.origin.address, found.source) == ("standard input", "-", TEXT.encode())
    with pytest.raises(DocumentError, match="larger than"):
        piped(TEXT.encode(), monkeypatch, max_bytes=3)


@pytest.mark.parametrize("stdin", [_Terminal(), None])
def test_a_terminal_is_no_document(stdin: io.StringIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "is a terminal" in refusal("-").message


def test_standard_input_is_read_once() -> None:
    with pytest.raises(DocumentError, match="only once"):
        open_library(["-", "-"])
    with pytest.raises(DocumentError, match="No document"):
        open_library([])


def test_nothing_maps_files_into_memory() -> None:
    folder = Path(read_file.__code__.co_filename).parent
    for path in folder.glob("*.py"):
        assert not re.search(r"\bmmap\b|read_text\(|read_bytes\(", path.read_text(encoding="utf-8")), path.name
