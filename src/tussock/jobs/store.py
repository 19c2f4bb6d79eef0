"""Where a data set goes: a folder, or any place that fsspec knows (``s3://…``, ``memory://…``).

A file appears whole or not at all: in a folder it is written into ``.parts`` and renamed, elsewhere it is put in one
request, which object stores make visible at once. Two workers may write the same file, of the same bytes, at the same
time; what a killed one leaves lies in ``.parts``, where it is found without looking through a million files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from tussock.errors import InputError, OutputError, cause
from tussock.extras import load_extra
from tussock.reach import is_inside, refuse_special
from tussock.whole_files import clear_parts, whole_file

__all__ = ["Store", "Stored"]

_PARTS = ".parts"


class Stored(NamedTuple):
    """A file of the data set."""

    path: str
    """below the root, with slashes"""
    size: int
    """bytes"""
    sha256: str


class Store:
    """The files below one root; it can be sent to other processes, which open it anew."""

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)
        if "\0" in self.root:
            raise InputError.of("folder", "must not hold the character NUL", self.root)
        self._remote = "://" in self.root and not self.root.startswith("file://")
        self._folder = Path(self.root.removeprefix("file://"))
        self._fs: Any = None
        self._inside: set[str] = set()
        """folders of it that were found to lie below its root"""

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["root"])  # type: ignore[misc]

    def _place(self, path: str) -> Path:
        """Where a file lies, which must be below the root, links followed: somebody else may have made the data set."""
        folder, place = path.rpartition("/")[0], self._folder / path
        try:
            if folder not in self._inside:
                if path.startswith("/") or not is_inside(self._folder / folder, self._folder):
                    raise ValueError
                self._inside.add(folder)
            if "\0" in path or (place.is_symlink() and not is_inside(place, self._folder)):
                raise ValueError
        except ValueError:
            raise InputError.of(f"{self.root}: file name", "must not lead out of the data set", path) from None
        refuse_special(place)
        return place

    def put(self, path: str, data: bytes | memoryview) -> Stored:
        """Write one file."""
        if self._remote:
            self._reach(lambda fs, at: fs.pipe_file(f"{at}/{path}", bytes(data)))
        else:
            target, parts = self._place(path), self._folder / _PARTS
            for folder in (target.parent, parts):
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise OutputError(f"{folder}: cannot be made a folder ({error.strerror})") from None
            with whole_file(target, force=True, counts=False, within=parts) as part:
                part.write_bytes(data)
        return Stored(path, len(data), hashlib.sha256(data).hexdigest())

    def get(self, path: str) -> bytes | None:
        """The contents of a file; None where there is none."""
        if self._remote:
            return self._reach(lambda fs, at: fs.cat_file(f"{at}/{path}") if fs.exists(f"{at}/{path}") else None)
        place = self._place(path)
        try:
            return place.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{place}: cannot be read ({error.strerror})") from None

    def open(self, path: str) -> BinaryIO:
        """A file to read parts of."""
        try:
            if self._remote:
                return cast("BinaryIO", self._reach(lambda fs, at: fs.open(f"{at}/{path}", "rb")))
            return self._place(path).open("rb")
        except OSError as error:
            raise InputError(f"{self.root}/{path}: cannot be read ({error.strerror})") from None

    def names(self, folder: str) -> list[str]:
        """Names of the files directly in a folder, sorted; none where it does not exist."""
        if self._remote:

            def listed(fs: Any, at: str) -> list[str]:
                try:
                    return sorted(str(name).rsplit("/", 1)[-1] for name in fs.ls(f"{at}/{folder}", detail=False))
                except FileNotFoundError:
                    return []

            return self._reach(listed)
        try:
            return sorted(entry.name for entry in os.scandir(self._folder / folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{self._folder / folder}: cannot be read ({error.strerror})") from None

    def drop(self, path: str) -> None:
        """Remove a file, if it is there."""
        if self._remote:
            self._reach(lambda fs, at: fs.rm_file(f"{at}/{path}") if fs.exists(f"{at}/{path}") else None)
        else:
            self._place(path).unlink(missing_ok=True)

    def clear_parts(self) -> None:
        """Remove what killed writers left; what is being written stays."""
        if not self._remote:
            clear_parts(self._folder / _PARTS)
            self.clear_folders([_PARTS])

    def clear_folders(self, folders: Iterable[str]) -> None:
        """Remove empty folders; object stores have none."""
        if not self._remote:
            for folder in folders:
                with suppress(OSError):
                    (self._folder / folder).rmdir()

    def open_fs(self) -> tuple[Any, str]:
        """fsspec's file system and the root in it."""
        if self._fs is None:
            fsspec = load_extra("fsspec", extra="jobs", purpose=f"{self.root}: a data set at a URL")
            try:
                self._fs = fsspec.core.url_to_fs(self.root)
            except (ValueError, ImportError) as error:
                raise InputError(f"{self.root}: cannot be opened ({cause(error)})") from None
        return self._fs

    def _reach(self, use: Any) -> Any:
        fs, at = self.open_fs()
        try:
            return use(fs, at.rstrip("/"))
        except (InputError, OutputError):
            raise
        except Exception as error:  # each store has errors of its own: no credentials, no bucket, no network
            raise OutputError(f"{self.root}: cannot be reached ({cause(error)})") from None
