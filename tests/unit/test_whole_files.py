"""Files appear whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tussock.errors import OutputError
from tussock.whole_files import check_writable, whole_file


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
    with pytest.raises(OutputError, match="exists already; choose another name or pass --force"), whole_file(path):
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
    with pytest.raises(OutputError, match="cannot be written"):
        check_writable(tmp_path / ("a" * 300))
