"""Is a data set whole? Every file is there with its size and checksum, is readable, and holds what it says.

Data sets of plans (`tussock run`) and of rigs (`tussock dataset`) are checked alike. Points, labels and what the plain
data say of each frame are counted independently and must agree.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tussock.datasets.labeller import scheme_table
from tussock.datasets.progress import FORMAT as RIG_FORMAT
from tussock.errors import InputError, cause
from tussock.jobs.ledger import SUMMARY, read_manifest
from tussock.jobs.store import Store

__all__ = ["Checked", "check_dataset"]


class Checked(NamedTuple):
    files: int
    bytes: int
    frames: int
    returns: int
    classes: dict[str, int]
    """returns of every class"""
    wrong: list[str]
    """one line a fault; empty: the data set is whole"""


def check_dataset(out: str, *, on_file: Callable[[int, int], None] | None = None) -> Checked:
    """Check a finished data set at a folder or a URL.

    >>> tussock.check_dataset("grassland").wrong  # doctest: +SKIP
    []
    """
    store = Store(out)
    rows = _files_of_a_rig(store)
    by_rig = rows is not None
    if rows is None:
        rows = read_manifest(store).to_pylist()
    wrong: list[str] = []
    size, tally = 0, _Tally()
    for number, row in enumerate(rows):
        data = store.get(row["path"])
        if data is None:
            wrong.append(f"{row['path']}: is missing")
        elif len(data) != row["size"]:
            wrong.append(f"{row['path']}: has {len(data)} bytes where the manifest says {row['size']}")
        elif hashlib.sha256(data).digest() != row["sha256"]:
            wrong.append(f"{row['path']}: differs from its checksum in the manifest")
        else:
            size += len(data)
            try:
                tally.take(row["path"], data)
            except (ValueError, KeyError, OSError, SyntaxError, tarfile.TarError) as error:
                wrong.append(f"{row['path']}: cannot be read ({cause(error, 120)})")
        if on_file is not None:
            on_file(number + 1, len(rows))
    if not wrong:
        wrong = tally.contradictions(without_data=by_rig)
    return Checked(len(rows), size, len(tally.points), sum(tally.points.values()), tally.named_classes(), wrong)


@dataclass
class _Tally:
    """What the files of a data set hold, by frame."""

    points: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    """returns of a frame by the plain data about it"""
    classes: Counter[str] = field(default_factory=Counter)
    """by the plain data"""
    numbers: Counter[int] = field(default_factory=Counter)
    """returns of every class number in SemanticKITTI's label files"""

    def take(self, path: str, data: bytes) -> None:
        stem, _, ending = path.rpartition(".")
        if ending == "tar":
            self._shard(path, data)
        elif ending == "parquet":
            self._table(stem, data)
        elif ending == "bin":
            self._points(_frame(stem), data)
        elif ending == "label":
            labels = np.frombuffer(data, "<u4")
            self.labels[_frame(stem)] = len(labels)
            self.numbers.update(dict(enumerate(np.bincount(labels & np.uint32(0xFFFF)).tolist())))
        elif ending == "json":
            for number, about in enumerate(json.loads(data)["frames"]):
                name = f"{stem.rpartition('/')[0]}/{number:06d}" if stem.endswith("/about") else f"{stem}/{number}"
                self._about(name, about)
        elif ending == "png":
            from PIL import Image

            Image.open(io.BytesIO(data)).verify()

    def contradictions(self, *, without_data: bool) -> list[str]:
        """Frames whose points, labels and plain data do not agree in number."""
        wrong = []
        for frame, points in self.points.items():
            said = self.said.get(frame, points if without_data else None)
            if said != points:
                wrong.append(f"{frame}: holds {points} points where it says {said}")
            if self.labels.get(frame, points) != points:
                wrong.append(f"{frame}: has {self.labels[frame]} labels for {points} points")
        return wrong + [f"{frame}: has no points" for frame in self.said if frame not in self.points]

    def named_classes(self) -> dict[str, int]:
        if self.classes or not self.numbers:
            return dict(sorted(self.classes.items()))
        names = {number: name for name, number in scheme_table("semantickitti")["classes"].items()}
        return {names.get(number, str(number)): count for number, count in sorted(self.numbers.items()) if count}

    def _shard(self, path: str, data: bytes) -> None:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                key, _, ending = member.name.partition(".")
                body = tar.extractfile(member)
                content = b"" if body is None else body.read()
                frame = f"{path}/{key}"
                if ending == "points.bin":
                    self._points(frame, content)
                elif ending == "label.bin":
                    self.labels[frame] = len(content) // 4
                elif ending == "about.json":
                    self._about(frame, json.loads(content))

    def _table(self, stem: str, data: bytes) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(io.BytesIO(data))
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                self.points[f"{stem}/{group}"] = len(table["x"])
                self.labels[f"{stem}/{group}"] = len(table["label"])
        except pa.ArrowInvalid as error:
            raise ValueError(str(error)) from None

    def _points(self, frame: str, data: bytes) -> None:
        points = np.frombuffer(data, "<f4").reshape(-1, 4)
        if not np.isfinite(points).all():
            raise ValueError("holds numbers that are not finite")
        self.points[frame] = len(points)

    def _about(self, frame: str, about: dict[str, Any]) -> None:
        self.said[frame] = int(about["returns"])
        self.classes.update(about["classes"])


def _frame(stem: str) -> str:
    """``sequences/00/velodyne/000007`` and ``sequences/00/labels/000007`` are one frame."""
    folder, _, number = stem.rpartition("/")
    return f"{folder.rpartition('/')[0]}/{number}"


def _files_of_a_rig(store: Store) -> list[dict[str, Any]] | None:
    """The files of a data set that a rig made, as rows of a manifest; None where it is another."""
    try:
        about = json.loads(store.get(SUMMARY) or b"{}")
        if about.get("format") != RIG_FORMAT:
            return None
        return [
            {"path": path, "size": file["bytes"], "sha256": bytes.fromhex(file["sha256"])}
            for path, file in about["files"].items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{store.root}/{SUMMARY}: cannot be read ({cause(error, 120)})") from None
