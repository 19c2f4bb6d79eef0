"""Files appear whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tussock.errors import OutputError
from tussock.whole_files import check_writable, clear_parts, named_together, part_of, whole_file, whole_folder


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as part:
        part.write_text("text")
        assert part.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "text"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "a.txt") as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path, force=True) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_needs_force(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OutputError, match="exists already; choose another name or pass force=True"), whole_file(path):
        raise AssertionError("must not get here")
    with whole_file(path, force=True) as part:
        part.write_text("new")
    assert path.read_text() == "new"


@pytest.mark.parametrize(
    ("code", "why"), [(errno.ENOSPC, "no space left on the disk"), (errno.EIO, os.strerror(errno.EIO))]
)
def test_a_failing_disk_is_said(tmp_path, code, why):
    with (
        pytest.raises(OutputError, match=f"a.txt: cannot be written .*{why}"),
        whole_file(tmp_path / "a.txt") as part,
    ):
        part.write_text("half")
        raise OSError(code, os.strerror(code))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_the_file_is_said(tmp_path):
    with pytest.raises(OutputError, match="is a folder"):
        check_writable(tmp_path, force=True)


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(OutputError, match="no such folder; create it first"):
        check_writable(tmp_path / "no" / "a.txt")


def test_a_file_in_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "no").write_text("")
    with pytest.raises(OutputError, match=r"no such folder|cannot be written"):
        check_writable(tmp_path / "no" / "a.txt")


def test_a_closed_folder_is_said(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.geteuid() == 0:  # the superuser may write everywhere
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != closed)
    with pytest.raises(OutputError, match="closed: this folder cannot be written"):
        check_writable(closed / "a.txt")


def test_a_device_is_never_replaced():
    with pytest.raises(OutputError, match="is a device or a pipe"):
        check_writable(Path(os.devnull), force=True)


def test_a_name_that_is_too_long_is_said(tmp_path):
    with pytest.raises(OutputError, match=r"cannot be written \(the name is too long\)"):
        check_writable(tmp_path / ("a" * 300))
    with pytest.raises(OutputError, match="must not hold the character NUL"):
        check_writable(tmp_path / "a\0b")


@pytest.mark.parametrize("name", ["a" * 249, "a" * 255, "ä" * 127])
def test_the_longest_names_can_be_written(name, tmp_path):
    for whole in (whole_file, whole_folder):
        with whole(tmp_path / name) as part:
            part.write_text("x") if whole is whole_file else part.mkdir()
        assert [path.name for path in tmp_path.iterdir()] == [name]
        (tmp_path / name).unlink() if whole is whole_file else (tmp_path / name).rmdir()


KILLED = """
import os, signal, sys
from pathlib import Path
from tussock.whole_files import whole_file, whole_folder
with whole_file(Path(sys.argv[1])) as part, whole_folder(Path(sys.argv[2])) as folder:
    part.write_text("half")
    folder.mkdir()
    (folder / "a").write_text("half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_cleared_and_what_lives_is_not(tmp_path):
    file, folder = tmp_path / "f[ab].txt", tmp_path / "bag"
    other = part_of(tmp_path / "fa.txt")
    other.write_text("somebody else's")
    command = [sys.executable, "-c", KILLED, str(file), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    for whole, path in ((whole_file, file), (whole_folder, folder)):
        with pytest.raises(OutputError, match="is being written by another process"), whole(path):
            raise AssertionError("must not get here")
    clear_parts(tmp_path)
    assert part_of(file).exists() and (part_of(folder) / "bag" / "a").exists(), "their writer lives"
    assert not other.exists()
    other.write_text("somebody else's")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    with whole_file(file) as part, whole_folder(folder) as inside:
        assert part.read_text() == ""
        inside.mkdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".fa.txt.tussock.part", "bag", "f[ab].txt"]
    assert list(folder.iterdir()) == []


def test_a_link_in_the_way_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    part_of(tmp_path / "a.txt").symlink_to(precious)
    with pytest.raises(OutputError), whole_file(tmp_path / "a.txt"):
        raise AssertionError("must not get here")
    assert precious.read_text() == "mine"


def test_a_folder_is_replaced_at_once(tmp_path, monkeypatch):
    path = tmp_path / "bag"
    for swaps in (True, False):
        for text in ("old", "new"):
            with whole_folder(path, force=True) as part:
                part.mkdir()
                (part / "a").write_text(text)
                if not swaps:
                    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
        assert (path / "a").read_text() == "new"
        assert list(tmp_path.iterdir()) == [path]


ENDED = """
import os, sys
from pathlib import Path
from tussock.leftovers import remove_leftovers
from tussock.whole_files import whole_file, whole_folder
with whole_file(Path("a")) as part, whole_folder(Path("b")) as folder:
    part.write_text("half")
    folder.mkdir()
    (folder / "c").write_text("half")
    remove_leftovers()
    os._exit(7)
"""


def test_a_process_that_ends_at_once_leaves_nothing(tmp_path):
    assert subprocess.run([sys.executable, "-c", ENDED], cwd=tmp_path, check=False).returncode == 7
    assert list(tmp_path.iterdir()) == []


def test_files_of_one_command_get_their_names_together(tmp_path):
    """A scan and its picture: killed while the picture was drawn, the scan stood there and could not be made again."""
    first, second, folder = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c"
    with named_together():
        with whole_file(first) as part:
            part.write_text("a")
        with named_together(), whole_folder(folder) as place:
            place.mkdir()
        assert not first.exists() and not folder.exists()
        with pytest.raises(OutputError, match="is being written by another process"), whole_file(first):
            pass
        with whole_file(second) as part:
            part.write_text("b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "c"]


@pytest.mark.parametrize("stop", [ZeroDivisionError, KeyboardInterrupt])
def test_files_of_a_command_that_fails_later_are_none(stop, tmp_path):
    with pytest.raises(stop), named_together():
        with whole_file(tmp_path / "a.txt") as part:
            part.write_text("a")
        raise stop
    assert list(tmp_path.iterdir()) == []
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("again")
    assert (tmp_path / "a.txt").read_text() == "again"


def test_a_kill_between_the_files_of_a_command_leaves_none(tmp_path):
    code = """
import os, signal, sys
from pathlib import Path
from tussock.whole_files import named_together, whole_file
with named_together():
    with whole_file(Path("a.txt")) as part:
        part.write_text("a")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "a.txt").exists()
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("again")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
