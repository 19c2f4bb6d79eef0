"""E57 (ASTM E2807), the exchange format of terrestrial scanners, through pye57 (extra ``e57``).

One scan with Cartesian coordinates in double precision, intensity, and for every point its time [s], the laser that
measured it (``rowIndex``: a scanner's rows are what a LIDAR's rings are), which return of its pulse it is and of how many
(``returnIndex`` from 0, ``returnCount``). A sensor that stood still has its pose in the file, so that viewers put the scan
into the world. Labels and the other fields have no place in it. The same frame gives the
same bytes: its GUIDs are made from what it holds.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import shutil
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.files.contents import Contents
from tussock.files.file_format import Format
from tussock.limits import check_memory

__all__ = ["E57"]

_INTEGERS = {"rowIndex": "laser", "returnIndex": "return_number", "returnCount": "return_count"}
"""fields of the standard, and ours"""

_SPACE = uuid.UUID("b1a6a4e6-4f5e-5c0e-9a39-1d2f0c7c57e5")
_naming = threading.Lock()


def save(contents: Contents, path: Path) -> None:
    pye57 = load_extra("pye57", extra="e57", purpose="an E57 file")
    data: dict[str, NDArray[Any]] = {
        f"cartesian{axis.upper()}": contents.fields[axis].astype(np.float64) for axis in "xyz"
    }
    if not all(np.isfinite(values).all() for values in data.values()):
        raise InputError("E57 holds no pulses without return; leave out --misses")
    if not contents.rows:
        raise InputError("E57 holds at least one point; this frame has none")
    # The library refuses infinity, and numbers at the very end of single precision.
    data["intensity"] = np.clip(np.nan_to_num(contents.fields["intensity"].astype(np.float32)), -1e30, 1e30)
    data["timeStamp"] = np.nan_to_num(contents.fields["time"].astype(np.float64))
    for name, ours in _INTEGERS.items():
        data[name] = contents.fields[ours].astype(np.uint16)
    data["returnIndex"] = np.maximum(data["returnIndex"], 1) - np.uint16(1)
    try:
        with _named_by(contents, pye57):
            file = pye57.E57(str(path), mode="w")
            try:
                _write(pye57.libe57, file, data, *_pose(contents.document))
                file.close()
            finally:
                file.close = _nothing  # it closes once more as it is deleted, and complains once more
    except pye57.libe57.E57Exception as error:
        # The library says only that writing failed.
        full = shutil.disk_usage(path.parent).free < 2 * sum(values.nbytes for values in data.values())
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error).splitlines()[0]) from None


def _write(lib: Any, file: Any, data: dict[str, NDArray[Any]], position: Any, rotation: Any) -> None:
    """One scan of the standard's structure; pye57's own writer knows neither time nor returns."""
    image = file.image_file

    def tree(**leaves: Any) -> Any:
        node = lib.StructureNode(image)
        for name, value in leaves.items():
            node.set(name, value)
        return node

    def real(value: float, low: float | None = None, high: float | None = None, single: bool = False) -> Any:
        if low is None:
            return lib.FloatNode(image, float(value))
        return lib.FloatNode(
            image, float(value), lib.E57_SINGLE if single else lib.E57_DOUBLE, float(low), float(high or 0.0)
        )

    def whole(value: int, low: int = 0, high: int = 0) -> Any:
        return (
            lib.IntegerNode(image, int(value), int(low), int(high))
            if high or low
            else lib.IntegerNode(image, int(value))
        )

    low = {name: values.min() for name, values in data.items()}
    high = {name: values.max() for name, values in data.items()}
    digest = hashlib.blake2b(
        b"".join(np.ascontiguousarray(values).tobytes() for values in data.values()), digest_size=16
    )
    scan = tree(
        guid=lib.StringNode(image, f"{{{uuid.UUID(bytes=digest.digest())}}}"),  # the same points, the same file
        name=lib.StringNode(image, "tussock"),
        pose=tree(
            rotation=tree(**{axis: real(value) for axis, value in zip("wxyz", rotation, strict=True)}),
            translation=tree(**{axis: real(value) for axis, value in zip("xyz", position, strict=True)}),
        ),
        indexBounds=tree(
            rowMinimum=whole(low["rowIndex"]), rowMaximum=whole(high["rowIndex"]),
            returnMinimum=whole(low["returnIndex"]), returnMaximum=whole(high["returnIndex"]),
        ),
        cartesianBounds=tree(**{
            f"{axis}{end}": real(bound[f"cartesian{axis.upper()}"])
            for axis in "xyz" for end, bound in (("Minimum", low), ("Maximum", high))
        }),
        intensityLimits=tree(intensityMinimum=real(low["intensity"]), intensityMaximum=real(high["intensity"])),
    )  # fmt: skip
    prototype = lib.StructureNode(image)
    for name, values in data.items():
        if values.dtype.kind == "u":
            prototype.set(name, lib.IntegerNode(image, int(low[name]), int(low[name]), int(high[name])))
        else:
            prototype.set(name, real(low[name], low[name], high[name], single=values.dtype == np.float32))
    rows = len(data["cartesianX"])
    held = {name: np.ascontiguousarray(values) for name, values in data.items()}
    buffers = lib.VectorSourceDestBuffer()
    for name, values in held.items():
        buffers.append(lib.SourceDestBuffer(image, name, values, rows, True, True))
    points = lib.CompressedVectorNode(image, prototype, lib.VectorNode(image, True))
    scan.set("points", points)
    file.data3d.append(scan)
    writer = points.writer(buffers)
    writer.write(rows)
    writer.close()


def _nothing() -> None:
    pass


@contextmanager
def _named_by(contents: Contents, pye57: Any) -> Iterator[None]:
    """Within the block pye57 makes the GUIDs of file and scan from what they hold, not from chance."""
    digest = hashlib.blake2b(contents.document.encode() if contents.document else b"", digest_size=16)
    for name, column in contents.fields.items():
        digest.update(name.encode() + np.ascontiguousarray(column).tobytes())
    names = (uuid.uuid5(_SPACE, f"{digest.hexdigest()} {number}") for number in itertools.count())
    with _naming:
        module = sys.modules[pye57.E57.__module__]
        before = module.__dict__["uuid"]
        module.__dict__["uuid"] = SimpleNamespace(uuid4=lambda: next(names))
        try:
            yield
        finally:
            module.__dict__["uuid"] = before


def _pose(document: str | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position [m] and quaternion (w, x, y, z) of a sensor that stood, else those of the origin."""
    told: dict[str, Any] = json.loads(document) if document else {}
    path = told.get("trajectory")
    if told.get("coords") == "sensor" and path and len(path["times"]) == 1:
        x, y, z, w = path["quaternions"][0]
        return np.array(path["positions"][0]), np.array([w, x, y, z])
    return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def load(path: Path) -> Contents:
    pye57 = load_extra("pye57", extra="e57", purpose="an E57 file")
    file = pye57.E57(str(path))
    try:
        if file.scan_count != 1:
            raise InputError(f"holds {file.scan_count} scans; only files of one can be read")
        header = file.get_header(0)
        check_memory(header.point_count * len(header.point_fields) * 8, path.stat().st_size)
        data = _read(pye57.libe57, file, header)
    finally:
        file.close()
    if "cartesianX" not in data:
        raise InputError("has no Cartesian coordinates")
    valid = data.get("cartesianInvalidState", np.zeros(len(data["cartesianX"]))) == 0
    fields = {axis: data[f"cartesian{axis.upper()}"][valid] for axis in "xyz"}
    for name, ours in {"intensity": "intensity", "timeStamp": "time", "rowIndex": "laser"}.items():
        if name in data and (ours != "laser" or 0 <= data[name].min(initial=0) <= data[name].max(initial=0) <= 65535):
            fields[ours] = data[name][valid]
    return Contents(fields, None)


def _read(lib: Any, file: Any, header: Any) -> dict[str, NDArray[Any]]:
    wanted = {
        "cartesianX": "f8", "cartesianY": "f8", "cartesianZ": "f8", "cartesianInvalidState": "i1", "intensity": "f4",
        "timeStamp": "f8", **dict.fromkeys(_INTEGERS, "f8"),
    }  # fmt: skip
    data = {name: np.zeros(header.point_count, kind) for name, kind in wanted.items() if name in header.point_fields}
    buffers = lib.VectorSourceDestBuffer()
    for name, values in data.items():
        buffers.append(lib.SourceDestBuffer(file.image_file, name, values, header.point_count, True, True))
    header.points.reader(buffers).read()
    return data


E57 = Format(".e57", "E57", save, load, exact=False)
