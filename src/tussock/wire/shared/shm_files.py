"""The file behind a shared segment: who may make it, who lives, what was left behind.

A simulator holds an exclusive `flock` on its segment for as long as it lives; the system takes it away with the
process, however that ends. So a segment without that lock is stale, and whoever replaces it first takes the lock, so
that two simulators started at once cannot both think that they did.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path

import numpy as np

from tussock.errors import InputError, OutputError
from tussock.wire.shared.shm_layout import HEADER, MAGIC, VERSION

__all__ = ["is_locked", "new_file", "open_live", "process_start", "same_file", "segment_path"]

FOLDER = Path("/dev/shm")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def segment_path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise InputError.of("shared memory name", "must be letters, digits, '.', '_' and '-'", name)
    if not FOLDER.is_dir():
        raise OutputError(f"shared memory {name!r}: this system has no {FOLDER}; it needs Linux")
    return FOLDER / name


def new_file(path: Path, name: str) -> int:
    """A new locked file at ``path``, in place of one that a killed simulator left behind."""
    for _ in range(50):
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            _remove_stale(path, name)
            continue
        except OSError as error:
            raise OutputError(f"shared memory {name!r}: cannot be made ({error.strerror})") from None
        fcntl.flock(fd, fcntl.LOCK_EX)
        if same_file(path, fd):
            return fd
        os.close(fd)  # another simulator took it for stale before it was locked
    raise OutputError(f"shared memory {name!r}: another simulator is being started under this name")


def _remove_stale(path: Path, name: str) -> None:
    """Unlink a segment without simulator; an `OutputError` where it has one, or is not ours."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"shared memory {name!r}: is taken and cannot be looked at ({error.strerror})") from None
    try:
        for attempt in range(20):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # A reader that looks whether its simulator lives holds the lock for a moment.
                if attempt == 19:
                    pid = int(np.frombuffer(os.pread(fd, HEADER.itemsize, 0), HEADER)["simulator_pid"][0])
                    raise OutputError(
                        f"shared memory {name!r}: is in use by process {pid}; choose another name"
                    ) from None
                time.sleep(0.002)
        head = os.pread(fd, 8, 0)
        if head not in (MAGIC, bytes(8), b""):
            raise OutputError(f"shared memory {name!r}: belongs to another program; choose another name")
        if same_file(path, fd):
            path.unlink(missing_ok=True)
    finally:
        os.close(fd)


def open_live(path: Path) -> tuple[int | None, str]:
    """A descriptor of a segment with a living simulator, or why there is none."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, "there is no such segment"
    except OSError as error:
        raise InputError(f"shared memory {path.name!r}: cannot be opened ({error.strerror})") from None
    why = ""
    head = os.pread(fd, HEADER.itemsize, 0)
    if len(head) < HEADER.itemsize or head[:8] != MAGIC:
        why = "it is not (yet) a segment of Tussock"
    elif int(np.frombuffer(head, HEADER)["version"][0]) != VERSION:
        os.close(fd)
        raise InputError(f"shared memory {path.name!r}: has another layout version; update both sides")
    elif not is_locked(fd):
        why = "its simulator has gone"
    if why:
        os.close(fd)
        return None, why
    return fd, ""


def is_locked(fd: int) -> bool:
    """Whether another open file holds the exclusive lock."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def same_file(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def process_start(pid: int) -> int:
    """[clock ticks since boot] when a process started: with its number, it is that process and no later one."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
