"""Files appear whole or not at all, and nothing is overwritten unasked.

What is written has a name of its own, ``.NAME.tussock.part``, beside the name that it gets when it is whole. Its
writer holds a lock on it, which the system takes away with the process, however that ends. So a part without a lock was
left behind by a killed process, and whoever writes the same name next clears it away; and two processes never write
one name at the same time. Several files of one command get their names one right after the other (`named_together`),
so that a process killed in between has left none of them.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from tussock.errors import OutputError, reason, shorten
from tussock.leftovers import left_until, note_finished

__all__ = [
    "TemporaryFolder",
    "check_folder",
    "check_writable",
    "clear_left",
    "clear_parts",
    "named_together",
    "part_of",
    "scratch_folder",
    "whole_file",
    "whole_folder",
]

_SUFFIX = ".tussock.part"
_LONGEST_NAME = 255  # [bytes] of every common file system
_SWAP = 2  # RENAME_EXCHANGE


def check_writable(path: Path, *, force: bool = False) -> None:
    """Refuse early what `whole_file` would refuse late: an existing file, a missing or closed folder."""
    folder = path.parent
    if "\0" in str(path):
        raise OutputError(f"file name: must not hold the character NUL, got {shorten(str(path))}")
    try:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file in it")
        if path.exists() and not path.is_file():
            # Renaming a file over it would replace the device itself.
            raise OutputError(f"{path}: is a device or a pipe; name a plain file")
        if path.exists() and not force:
            clear_left(path)
            raise OutputError(f"{path}: exists already; choose another name or pass force=True")
        if not folder.is_dir():
            raise OutputError(f"{folder}: no such folder; create it first")
    except OSError as error:  # a folder above is closed, the name is too long
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder}: this folder cannot be written; choose another")


def part_of(path: Path) -> Path:
    """Where ``path`` is written until it is whole."""
    name = f".{path.name}{_SUFFIX}"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:32]}{_SUFFIX}"
    return path.with_name(name)


@contextmanager
def whole_file(path: Path, *, force: bool = False, counts: bool = True, within: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; it takes its final name when the block ends without error.

    ``counts``: whether it is one of the files that somebody asked for (`tussock.leftovers`), not of a cache.
    ``within``: a folder of the same file system for the temporary path, under a name that no other writer has; several
    may then write one ``path``, and the last one's stays.
    """
    check_writable(path, force=force)
    part = part_of(path if within is None else within / uuid.uuid4().hex)
    with ExitStack() as held:
        try:
            held.enter_context(left_until(part))
            held.callback(_let_go, part, _new_file(part, path))
            yield part
            _name(_Whole(path, lambda: part.replace(path), counts), held)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


class _Whole(NamedTuple):
    """A file or folder that is written and waits for its name."""

    path: Path
    put: Callable[[], object]
    """gives it its name"""
    counts: bool


_waiting: ContextVar[list[tuple[_Whole, ExitStack]] | None] = ContextVar("waiting", default=None)
"""what waits for the end of `named_together`, with what it holds until then"""


@contextmanager
def named_together() -> Iterator[None]:
    """Files and folders that are finished in the block get their names when it ends without error, all at once.

    >>> from pathlib import Path
    >>> with named_together():
    ...     with whole_file(Path("a.txt")) as part:
    ...         _ = part.write_text("a")
    ...     there = Path("a.txt").exists()
    >>> there, Path("a.txt").exists()
    (False, True)
    """
    if _waiting.get() is not None:  # a larger block has its end
        yield
        return
    whole: list[tuple[_Whole, ExitStack]] = []
    token = _waiting.set(whole)
    try:
        try:
            yield
        finally:
            _waiting.reset(token)
        for one, held in whole:
            _name(one, held)
    finally:
        for _, held in whole:
            held.close()


def _name(one: _Whole, held: ExitStack) -> None:
    """Give what is whole its name, now or at the end of `named_together`."""
    waiting = _waiting.get()
    if waiting is not None:
        waiting.append((one, held.pop_all()))
        return
    try:
        one.put()
    except OSError as error:
        raise OutputError(f"{one.path}: cannot be written ({reason(error)})") from None
    if one.counts:
        note_finished(one.path)


def check_folder(path: Path, *, force: bool = False) -> None:
    """Refuse early what `whole_folder` would refuse late."""
    if not path.is_dir():
        check_writable(path)
    elif not force:
        clear_left(path)
        raise OutputError(f"{path}: exists already; choose another name or pass force=True")
    elif not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path.parent}: this folder cannot be written; choose another")


@contextmanager
def whole_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a path (not made yet) for a folder that takes the place of ``path`` when the block ends without error.

    The folder has its final name from the start, inside a hidden one beside ``path``: some formats write their
    own name into their files. With ``force`` an older folder is replaced.
    """
    check_folder(path, force=force)
    part = part_of(path)
    with ExitStack() as held:
        try:
            held.enter_context(left_until(part))
            held.callback(_let_go, part, _new_folder(part, path))
            yield part / path.name
            _name(_Whole(path, lambda: _put_in_place(part / path.name, path), counts=True), held)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


def _scratch_of(path: Path) -> Path:
    return part_of(path.with_name(f"{path.name}.scratch"))


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` for what is needed while it is made; it goes with the block, or with the next maker."""
    part = _scratch_of(path)
    with ExitStack() as held:
        try:
            held.enter_context(left_until(part))
            held.callback(_let_go, part, _new_folder(part, path))
            yield part
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


class TemporaryFolder:
    """A folder among the system's temporary files, that goes when it is closed, or when the next one is made."""

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        for old in place.glob(f"tussock-*{_SUFFIX}"):
            with suppress(OSError, OutputError):
                _clear(old)
        for _ in range(50):
            self.path = Path(tempfile.mkdtemp(prefix="tussock-", suffix=_SUFFIX, dir=place))
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            _lock(self._lock)
            if _same(self.path, self._lock):
                break
            os.close(self._lock)  # another process took it for a leftover before it was locked
        self._left = left_until(self.path)
        self._left.__enter__()

    def close(self) -> None:
        self._left.__exit__(None, None, None)
        _let_go(self.path, self._lock)


def clear_left(path: Path) -> None:
    """Remove what a process left that was killed right after ``path`` had its name: nobody else will write there again."""
    for part in (part_of(path), _scratch_of(path)):
        with suppress(OSError, OutputError):
            _clear(part)


def clear_parts(folder: Path) -> None:
    """Remove what killed processes have left anywhere below ``folder``; what is being written stays."""
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            if name.startswith(".") and name.endswith(_SUFFIX):
                with suppress(OSError):
                    _clear(Path(place, name))


def _new_file(part: Path, path: Path) -> int:
    """A new file at ``part``, and the lock on it, in place of one that was left behind."""
    return _locked(part, path, lambda: os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))


def _new_folder(part: Path, path: Path) -> int:
    def make() -> int:
        part.mkdir()
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    return _locked(part, path, make)


def _locked(part: Path, path: Path, make: Callable[[], int]) -> int:
    for _ in range(50):
        try:
            lock = make()
        except FileExistsError:
            if not _clear(part):
                raise OutputError(f"{path}: is being written by another process; choose another name or wait") from None
            continue
        _lock(lock)
        if _same(part, lock):
            return lock
        os.close(lock)  # another process took it for a leftover before it was locked
    raise OutputError(f"{path}: is being written by another process; choose another name or wait")


def _clear(part: Path) -> bool:
    """Remove what was left behind at ``part``; False where somebody is still writing it."""
    try:
        kind = part.stat(follow_symlinks=False).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise OutputError(f"{part}: is in the way; remove it")
        lock = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        if not _lock(lock):
            return False
        if _same(part, lock):
            _remove(part)
        return True
    finally:
        os.close(lock)


def _lock(descriptor: int) -> bool:
    """Whether the lock could be had; a file system without locks gives it to everybody."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _let_go(part: Path, lock: int) -> None:
    """Remove what is left of a part that this process was writing."""
    with suppress(OSError):
        _remove(part)
    os.close(lock)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)


def _put_in_place(new: Path, path: Path) -> None:
    """Give a folder its name, at once also where there is one of that name, which then lies where the new one was."""
    if not path.is_dir():
        new.rename(path)
        return
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    at_cwd = -100
    if swap is None or swap(at_cwd, os.fsencode(new), at_cwd, os.fsencode(path), _SWAP) != 0:
        path.rename(new.with_name("replaced"))
        new.rename(path)
