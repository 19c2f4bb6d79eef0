"""What is finished of a data set, so that it can be stopped at any moment and taken up again.

A moment's files get their names one after the other when all of them are written, and only then a line with their
checksums goes into ``progress.jsonl``: whatever kills the process, a moment is either on that list or will be made
again. When all are done the list becomes ``manifest.json``: settings, seeds, versions, and the SHA-256 of every
file. A folder that holds a data set with other settings is left alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tussock.errors import OutputError, cause, shorten
from tussock.reach import is_inside
from tussock.whole_files import clear_parts, whole_file

__all__ = ["MANIFEST", "Progress"]

MANIFEST, JOURNAL = "manifest.json", "progress.jsonl"
FORMAT = "tussock data set"

Checksums = dict[str, dict[str, Any]]


class Progress:
    """The finished moments of the data set in one folder."""

    def __init__(self, folder: Path, settings: dict[str, Any], *, force: bool = False) -> None:
        self._folder = folder
        self._settings: dict[str, Any] = json.loads(json.dumps(settings))
        self.finished: dict[int, Checksums] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made a folder ({error.strerror})") from None
        known = self._read(force=force)
        if known is None and any(folder.iterdir()) and not force:
            raise OutputError(f"{folder}: is not empty and holds no data set; choose another folder or pass force=True")
        if known is not None:
            self._take_up(*known, force=force)
        self._begin()

    def write(self, index: int, contents: dict[Path, bytes]) -> None:
        """Write the files of a moment, then note it as finished."""
        checksums = self.write_files(contents)
        self.finished[index] = checksums
        self._append({"moment": index, "files": checksums})

    def write_files(self, contents: dict[Path, bytes]) -> Checksums:
        """Write files below the folder, all or none; their checksums."""
        for path in contents:
            try:
                (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"{self._folder / path.parent}: cannot be made a folder ({cause(error)})") from None
        with ExitStack() as stack:
            for path, data in contents.items():
                part = stack.enter_context(whole_file(self._folder / path, force=True))
                part.write_bytes(data)
        return {
            path.as_posix(): {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, data in contents.items()
        }

    def close(self, fixed: Checksums, moments: range) -> Path:
        """Write the manifest of the whole data set."""
        files = dict(fixed)
        for index in range(len(moments)):
            files |= self.finished[index]
        manifest = {
            "format": FORMAT,
            "settings": self._settings,
            "moments": len(moments),
            "first_moment": moments[0],
            "files_of_moments": {str(index): list(self.finished[index]) for index in range(len(moments))},
            "files": files,
        }
        path = self._folder / MANIFEST
        with whole_file(path, force=True) as part:
            part.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        (self._folder / JOURNAL).unlink(missing_ok=True)
        return path

    def _read(self, *, force: bool) -> tuple[dict[str, Any], dict[int, Checksums]] | None:
        """Settings and finished moments of what is in the folder; None where nothing is that can be read."""
        settings: dict[str, Any] | None = None
        finished: dict[int, Checksums] = {}
        path = self._folder / MANIFEST
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            settings = _table(manifest["settings"])
            for index, names in manifest["files_of_moments"].items():
                finished[int(index)] = _checksums({name: manifest["files"][name] for name in names})
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if not force:
                raise OutputError(f"{path}: cannot be read ({_short(error)}); pass force=True to begin anew") from None
            settings, finished = {}, {}
        try:
            lines = (self._folder / JOURNAL).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        for line in lines:
            try:
                entry = json.loads(line)
                if "settings" in entry:
                    settings = _table(entry["settings"])
                else:
                    finished[int(entry["moment"])] = _checksums(entry["files"])
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                break  # the process was killed while it wrote this line, or somebody changed it
        for name in (name for files in finished.values() for name in files):
            if not is_inside(self._folder / name, self._folder):
                raise OutputError(
                    f"{self._folder}: the list of its files was changed: {shorten(name)} leads out of the folder; "
                    f"remove {MANIFEST} and {JOURNAL} from it, or choose another folder"
                )
        return None if settings is None else (settings, finished)

    def _take_up(self, settings: dict[str, Any], finished: dict[int, Checksums], *, force: bool) -> None:
        different = sorted(
            key for key in settings.keys() | self._settings.keys() if settings.get(key) != self._settings.get(key)
        )
        if different and not force:
            raise OutputError(
                f"{self._folder}: holds another data set (different: {', '.join(different)}); choose another folder "
                "or pass force=True"
            )
        if different or force:
            for files in finished.values():
                for name in files:
                    (self._folder / name).unlink(missing_ok=True)
        else:
            self.finished = {index: files for index, files in finished.items() if self._intact(files)}

    def _intact(self, files: Checksums) -> bool:
        for name, expected in files.items():
            path = self._folder / name
            try:
                if path.stat().st_size != expected["bytes"]:
                    return False
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != expected["sha256"]:
                        return False
            except OSError:
                return False
        return True

    def _begin(self) -> None:
        """A journal with what is already there, and no rests of an earlier run."""
        clear_parts(self._folder)
        entries: list[dict[str, Any]] = [{"settings": self._settings}]
        entries += [{"moment": index, "files": files} for index, files in sorted(self.finished.items())]
        with whole_file(self._folder / JOURNAL, force=True) as part:
            part.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        (self._folder / MANIFEST).unlink(missing_ok=True)

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            with (self._folder / JOURNAL).open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(entry) + "\n")
                journal.flush()
                os.fsync(journal.fileno())
        except OSError as error:
            raise OutputError(f"{self._folder / JOURNAL}: cannot be written ({error.strerror})") from None


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("settings are no table")
    return value


def _checksums(value: Any) -> Checksums:
    """The files of a moment as a list of finished ones has them; anything else is a `ValueError`."""
    if not isinstance(value, dict):
        raise ValueError("files are no table")
    for name, entry in value.items():
        if "\0" in name or type(entry["bytes"]) is not int or not isinstance(entry["sha256"], str):
            raise ValueError("a file without its size and checksum")
    return value


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
