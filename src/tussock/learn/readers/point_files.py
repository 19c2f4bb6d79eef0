"""Pulses from files of points: KITTI scans, PCD, PLY, LAS and LAZ, Parquet, CSV, NPZ, and frames of Tussock.

A point alone is no measured pulse; where it was measured from must be known. A frame of Tussock knows. A KITTI scan is in the
sensor's own coordinates. For any other file it is

- the fields ``origin_x, origin_y, origin_z`` of the file, one origin a point, or
- a ``trajectory`` at the points' times (``time``, or the GPS time of LAS), or
- one ``origin`` for all, zero unless given: then the points are in the sensor's own coordinates.

Rows without a point (x, y, z not finite) are pulses without return where the file says where they went, by
``direction_x, direction_y, direction_z``; a frame of Tussock says it by its angles. Otherwise they are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, cause
from tussock.files.contents import FARTHEST, SHARED_FIELDS, Contents, frame_of
from tussock.files.formats import FORMATS, format_of
from tussock.learn.measured_pulses import UNKNOWN_INTENSITY, MeasuredPulses, measured_pulses
from tussock.learn.readers.point_colors import point_colors
from tussock.poses import Trajectory
from tussock.scene.label_map import load_label_map
from tussock.scene.labels import LABELS
from tussock.wire.captures.datagrams import warn

__all__ = ["pulses_of_kitti", "pulses_of_points"]

Fields = dict[str, NDArray[Any]]
_NAMES = {number: name for name, number in LABELS.items()}

# Median elevations of the 64 rings in frames of the KITTI data set, from the highest down [deg].
_KITTI_RINGS_DEG = (
    2.772, 2.407, 2.13, 1.694, 1.399, 1.002, 0.727, 0.371, 0.02, -0.385, -0.678, -1.017, -1.393, -1.703, -2.017,
    -2.369, -2.67, -3.048, -3.321, -3.668, -3.975, -4.295, -4.649, -5.0, -5.386, -5.713, -6.018, -6.289, -6.697,
    -7.068, -7.302, -7.7, -8.346, -8.868, -9.334, -9.72, -10.183, -10.796, -11.297, -11.729, -12.178, -12.6, -13.117,
    -13.641, -14.208, -14.646, -15.142, -15.502, -16.111, -16.639, -17.196, -17.655, -18.144, -18.544, -18.991,
    -19.532, -20.038, -20.651, -21.131, -21.535, -21.991, -22.626, -23.139, -23.617,
)  # fmt: skip


def pulses_of_kitti(path: Path, *, reach: float | None = None) -> MeasuredPulses:
    """A scan of the KITTI data set, each point given the ring nearest in elevation, 0 the lowest."""
    fields = _load(path).fields
    points = _xyz(fields)
    distance = np.linalg.norm(points, axis=1)
    if np.median(distance) > FARTHEST:
        raise InputError("is in world coordinates; learn from a scan in the sensor's", source=path)
    kept = distance > 0
    if not kept.any():
        raise InputError("holds no point away from the sensor", source=path)
    points, distance = points[kept], distance[kept]
    levels = np.array(_KITTI_RINGS_DEG[::-1])
    elevation = np.degrees(np.arcsin(points[:, 2] / distance))
    rings = np.searchsorted((levels[1:] + levels[:-1]) / 2, elevation)
    intensity = np.clip(fields["intensity"][kept], 0, 1)
    pulses = MeasuredPulses.of(
        np.zeros(3), points, distance, intensity=intensity, rings=rings, reach=reach, complete=False
    )
    if "label" not in fields:
        return pulses
    names = {number: name for name, number in load_label_map("semantic-kitti").classes.items()} | _NAMES
    return replace(pulses, labels=fields["label"][kept], label_names=names)


def pulses_of_points(
    path: Path, *, origin: NDArray[np.float64] | None = None, trajectory: Trajectory | None = None,
    reach: float | None = None, say: Callable[[str], None] = warn,
) -> MeasuredPulses:  # fmt: skip
    """Every pulse of a file that is a frame of Tussock, or points from elsewhere; what it lacks is told to ``say``."""
    contents = _load(path)
    if contents.document is not None or "true_range" in contents.fields:
        frame = frame_of(contents, path)
        if origin is not None:
            raise InputError(f"origin: {path.name} is a frame of Tussock and knows its own; leave it out")
        if trajectory is not None:
            if frame.trajectory is not None:
                raise InputError(f"trajectory: {path.name} is a frame of Tussock and has its own; leave it out")
            frame = replace(frame, trajectory=trajectory)
        if not len(frame):
            raise InputError("holds no returns", source=path)
        return measured_pulses(frame, reach=reach)
    if not np.any(contents.fields.get("intensity", 1)):
        # LAS has the field whether or not anything was measured; 0 everywhere would never be detected again.
        del contents.fields["intensity"]
        say(f"{path.name}: every intensity is 0, as where none was recorded; {UNKNOWN_INTENSITY} is taken for all")
    return _from_elsewhere(path, contents.fields, origin, trajectory, reach)


def _load(path: Path) -> Contents:
    """The fields of a file as it has them, in its own precision."""
    format = format_of(path)
    if format.load is None:
        loadable = ", ".join(sorted([".pcap", *(f.suffix for f in FORMATS.values() if f.load)]))
        raise InputError(f"{format.name} files cannot be read; readable: {loadable}", source=path)
    try:
        return format.load(path)
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:  # a damaged file can make a parser stumble in any way
        raise InputError(f"not a readable {format.name} file ({cause(error)})", source=path) from None


def _from_elsewhere(
    path: Path, fields: Fields, origin: NDArray[np.float64] | None, trajectory: Trajectory | None, reach: float | None
) -> MeasuredPulses:
    missing = [axis for axis in "xyz" if axis not in fields]
    if missing:
        raise InputError(f"has no field {missing[0]!r}; points need x, y and z", source=path)
    points = _xyz(fields)
    known: Fields = {}
    for name, array in fields.items():
        if (column := SHARED_FIELDS.get(name.lower())) is not None:
            known.setdefault(column, array)
    start = _origins(path, fields, known.get("time"), origin, trajectory)
    way = points - start
    distance = np.linalg.norm(way, axis=1)
    if np.nanmedian(np.where(np.isfinite(distance), distance, np.nan)) > FARTHEST:
        rule, remedy = (
            f"must be within {FARTHEST:g} m of the points",
            "give --origin or --trajectory in their coordinates",
        )
        raise InputError.of("origin", rule, f"{np.nanmedian(distance):.0f} m", remedy, source=path)
    hit = np.isfinite(distance) & (distance > 0)
    kept = hit.copy()
    aimed = _xyz(fields, "direction_")
    if aimed is not None:
        way = np.where(hit[:, None], way, aimed)
        kept |= ~np.isfinite(distance) & np.isfinite(way).all(1) & (way != 0).any(1)
    if not hit.any():
        raise InputError("holds no point away from where it was measured from", source=path)
    start = np.broadcast_to(start, points.shape)[kept]
    bright = None if "intensity" not in known else _relative(known["intensity"][kept])
    pulses = MeasuredPulses.of(
        start, way[kept], np.where(hit, distance, np.nan)[kept], intensity=bright,
        rings=_rings(path, known["laser"][kept]) if "laser" in known else None, reach=reach,
        complete=not hit[kept].all(),
    )  # fmt: skip
    colors = point_colors(fields)
    if colors is not None:
        pulses = replace(pulses, colors=np.where(hit[:, None], colors, 0).astype(np.uint8)[kept])
    if "label" in known:
        labels = _whole(path, "label", np.where(hit, known["label"], 0))[kept]
        pulses = replace(pulses, labels=labels, label_names=_NAMES)
    return pulses


def _origins(
    path: Path, fields: Fields, times: NDArray[Any] | None, origin: NDArray[np.float64] | None,
    trajectory: Trajectory | None,
) -> NDArray[np.float64]:  # fmt: skip
    """Where each point was measured from [m], shape (n, 3), or (3,) for all."""
    own = _xyz(fields, "origin_")
    if own is not None:
        if origin is not None or trajectory is not None:
            given = "origin" if origin is not None else "trajectory"
            raise InputError(f"{given}: {path.name} has fields origin_x, origin_y, origin_z; leave it out")
        if not np.isfinite(own).all():
            raise InputError("origin_x, origin_y, origin_z: must be finite, got NaN or infinity", source=path)
        return own
    if trajectory is None:
        return np.zeros(3) if origin is None else origin
    if times is None or not np.isfinite(times).all():
        raise InputError("has no times, so a trajectory does not say where its points were measured from", source=path)
    trajectory.check_covers("the points' times", times.min(), times.max(), slack=1e-6)
    return trajectory.at(times)[0]


def _xyz(fields: Fields, prefix: str = "") -> Any:
    """Three fields as one array (n, 3), None where one is missing."""
    names = [prefix + axis for axis in "xyz"]
    if any(name not in fields for name in names):
        return None
    return np.stack([fields[name].astype(np.float64) for name in names], 1)


def _relative(intensity: NDArray[Any]) -> NDArray[np.float64]:
    """0 to 1, from numbers that may as well be bytes or 16 bits."""
    values = np.nan_to_num(intensity.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    most = float(values.max(initial=0.0))
    return np.clip(values / (1.0 if most <= 1 else 255.0 if most <= 255 else 65535.0), 0, 1)


def _rings(path: Path, rings: NDArray[Any]) -> NDArray[np.uint16]:
    return _whole(path, "ring", rings)


def _whole(path: Path, name: str, values: NDArray[Any]) -> NDArray[np.uint16]:
    numbers = values.dtype.kind in "iuf"
    if not numbers or not ((values >= 0) & (values <= 65535) & (values == np.floor(values))).all():
        raise InputError(f"{name}: must hold whole numbers from 0 to 65535", source=path)
    return values.astype(np.uint16)
