"""BlenSor's table: twelve fields a measurement, and what was hit.

    timestamp, yaw, pitch, distance, distance_noisy, x, y, z, x_noisy, y_noisy, z_noisy, object_id

(Gschwandtner et al., "BlenSor: Blender sensor simulation toolbox", 2011, section 4), followed by ``class``,
``instance``, ``placement``, ``material`` and ``return_number``. Seconds, radians and metres, in the sensor's frame;
class and material by name; instance as in `tussock.scene.instances`. One row a return, in firing order; written as
CSV or Parquet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.whole_files import check_writable, whole_file

__all__ = ["BLENSOR_FIELDS", "save_truth_table"]

BLENSOR_FIELDS = (
    "timestamp", "yaw", "pitch", "distance", "distance_noisy", "x", "y", "z", "x_noisy", "y_noisy", "z_noisy",
    "object_id",
)  # fmt: skip


def save_truth_table(frame: Frame, path: Path | str, *, force: bool = False) -> None:
    """Write the table of a frame to ``path``, which ends in .csv or .parquet.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> tussock.save_truth_table(frame, "table.csv")
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError.of("suffix", "must be .csv or .parquet", path.suffix, source=path)
    check_writable(path, force=force)
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table(_columns(frame))
    with whole_file(path, force=force) as part, part.open("wb") as file:
        if path.suffix.lower() == ".csv":
            file.write((",".join(table.column_names) + "\n").encode("ascii"))
            pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=False, quoting_style="none"))
        else:
            pa.parquet.write_table(table, file, compression="zstd")


def _columns(frame: Frame) -> dict[str, Any]:
    true, noisy = frame.true_xyz.T, frame.xyz.T
    twelve = (
        frame.time, frame.azimuth, frame.elevation, frame.true_range, frame.range, *true, *noisy, frame.object_id
    )  # fmt: skip
    names = {number: name for name, number in frame.meta.get("labels", {}).items()}
    materials = dict(enumerate(frame.meta.get("materials", [])))
    return dict(zip(BLENSOR_FIELDS, twelve, strict=True)) | {
        "class": _named(frame.label, names, frame.hit),
        "instance": _instances(frame),
        "placement": frame.placement,
        "material": _named(frame.material, materials, frame.hit),
        "return_number": frame.return_number,
    }


def _named(numbers: Any, names: dict[int, str], hit: Any) -> Any:
    """Names for numbers, as text; nothing where nothing was hit, the number itself where it has no name."""
    known, place = np.unique(numbers, return_inverse=True)
    words = np.array([_plain(names.get(int(number), str(number))) for number in known] or [""], object)
    return np.where(hit, words[place], "").astype(str)


def _plain(name: str) -> str:
    """A name that fits into a CSV without quotes."""
    return "".join("_" if c in ',"\n\r' else c for c in name)


def _instances(frame: Frame) -> Any:
    first = np.asarray(frame.meta.get("first_instance", []), np.uint32)
    if not len(first):
        return np.zeros(len(frame), np.uint32)
    return np.where(frame.object_id > 0, first[frame.object_id] + frame.placement, 0).astype(np.uint32)
