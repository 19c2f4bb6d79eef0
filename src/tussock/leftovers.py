"""What must not stay behind when the process has to end at once.

Files that are being written, shared memory and unpacked folders are removed by whoever made them, as their blocks end.
Where a process cannot wait for that, `remove_leftovers` does it. What finished files there are is counted here too,
so that somebody who stops a command can be told what it has left.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Finished", "finished_files", "left_until", "note_finished", "remove_leftovers"]

_lock = threading.Lock()
_leftovers: dict[int, Path] = {}
_next = 0


@dataclass
class Finished:
    """Files that this process has finished."""

    count: int = 0
    last: Path | None = None


_finished = Finished()


@contextlib.contextmanager
def left_until(path: Path) -> Iterator[None]:
    """Have ``path``, a file or a folder, removed if the process ends at once before the block does."""
    global _next
    with _lock:
        _next += 1
        number = _next
        _leftovers[number] = path
    try:
        yield
    finally:
        with _lock:
            _leftovers.pop(number, None)


def remove_leftovers() -> None:
    """Remove everything that is in the making; only for a process that ends now: nothing can be begun any more."""
    _lock.acquire(timeout=0.2)
    for _ in range(20):  # a library may be writing into a folder
        for path in _leftovers.values():
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
        if not any(path.exists() for path in _leftovers.values()):
            break


def note_finished(path: Path) -> None:
    """Count a file that is whole."""
    with _lock:
        _finished.count += 1
        _finished.last = path


def finished_files() -> Finished:
    """What `note_finished` has counted."""
    return _finished
