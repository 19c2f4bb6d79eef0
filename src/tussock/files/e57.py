"""E57 (ASTM E2807), the exchange format of terrestrial scanners, through pye57 (extra ``e57``).

One scan with Cartesian coordinates in double precision and intensity. A sensor that stood still has its pose in the
file, so that viewers put the scan into the world. Times, labels and the other fields have no place in it.
"""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.files.contents import Contents
from tussock.files.file_format import Format
from tussock.limits import check_memory

__all__ = ["E57"]


def save(contents: Contents, path: Path) -> None:
    pye57 = load_extra("pye57", extra="e57", purpose="an E57 file")
    data = {f"cartesian{axis.upper()}": contents.fields[axis].astype(np.float64) for axis in "xyz"}
    if not all(np.isfinite(values).all() for values in data.values()):
        raise InputError("E57 holds no pulses without return; leave out --misses")
    if not contents.rows:
        raise InputError("E57 holds at least one point; this frame has none")
    # The library refuses infinity, and numbers at the very end of single precision.
    data["intensity"] = np.clip(np.nan_to_num(contents.fields["intensity"].astype(np.float32)), -1e30, 1e30)
    position, rotation = _pose(contents.document)
    try:
        file = pye57.E57(str(path), mode="w")
        try:
            file.write_scan_raw(data, name="tussock", rotation=rotation, translation=position)
        finally:
            file.close()
    except pye57.libe57.E57Exception as error:
        # The library says only that writing failed.
        full = shutil.disk_usage(path.parent).free < 2 * sum(values.nbytes for values in data.values())
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error).splitlines()[0]) from None


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
        data = file.read_scan_raw(0, ignore_unsupported_fields=True)
    finally:
        file.close()
    if "cartesianX" not in data:
        raise InputError("has no Cartesian coordinates")
    valid = data.get("cartesianInvalidState", np.zeros(len(data["cartesianX"]))) == 0
    fields = {axis: data[f"cartesian{axis.upper()}"][valid] for axis in "xyz"}
    if "intensity" in data:
        fields["intensity"] = data["intensity"][valid]
    return Contents(fields, None)


E57 = Format(".e57", "E57", save, load, exact=False)
