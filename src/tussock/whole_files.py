"""Files appear whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tussock.errors import OutputError

__all__ = ["check_folder", "check_writable", "whole_file", "whole_folder"]


def check_writable(path: Path, *, force: bool = False) -> None:
    """Refuse early what `whole_file` would refuse late: an existing file, a missing or closed folder."""
    folder = path.parent
    try:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file in it")
        if path.exists() and not path.is_file():
            # Renaming a file over it would replace the device itself.
            raise OutputError(f"{path}: is a device or a pipe; name a plain file")
        if path.exists() and not force:
            raise OutputError(f"{path}: exists already; choose another name or pass --force")
        if not folder.is_dir():
            raise OutputError(f"{folder}: no such folder; create it first")
    except OSError as error:  # a folder above is closed, the name is too long
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder}: this folder cannot be written; choose another")


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; it takes its final name when the block ends without error."""
    check_writable(path, force=force)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        why = "no space left on the disk" if error.errno == errno.ENOSPC else str(error)
        raise OutputError(f"{path}: cannot be written ({why})") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_folder(path: Path, *, force: bool = False) -> None:
    """Refuse early what `whole_folder` would refuse late."""
    if not path.is_dir():
        check_writable(path)
    elif not force:
        raise OutputError(f"{path}: exists already; choose another name or pass --force")
    elif not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path.parent}: this folder cannot be written; choose another")


@contextmanager
def whole_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a path (not made yet) for a folder that takes the place of ``path`` when the block ends without error.

    The folder has its final name from the start, inside a hidden one beside ``path``: some formats write their
    own name into their files. With ``force`` an older folder is replaced.
    """
    check_folder(path, force=force)
    hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        hidden.mkdir()
        yield hidden / path.name
        if path.is_dir():
            path.rename(hidden / "replaced")
        (hidden / path.name).rename(path)
    except OSError as error:
        why = "no space left on the disk" if error.errno == errno.ENOSPC else str(error)
        raise OutputError(f"{path}: cannot be written ({why})") from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
