"""Beams from files of points: KITTI, LAS and LAZ, and every format that a frame can be read from.

A point alone is no beam; where it was measured from must be known. In the files of Tussock it is; in others it is one
``origin`` for all points (the sensor's own, zero, unless given), the columns ``origin_x, origin_y, origin_z`` of a
Parquet file, or a ``trajectory`` at the times of the points. With origins or a trajectory the points are taken to be
in the world, otherwise in the sensor's frame.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.beams import Beams, beams_of
from tussock.poses import Trajectory
from tussock.write.formats import load_frame

__all__ = ["read_frame_file", "read_kitti", "read_las"]

# Median elevations of the 64 rings in frames of the KITTI data set, from the highest down [deg].
_KITTI_RINGS_DEG = (
    2.772, 2.407, 2.13, 1.694, 1.399, 1.002, 0.727, 0.371, 0.02, -0.385, -0.678, -1.017, -1.393, -1.703, -2.017,
    -2.369, -2.67, -3.048, -3.321, -3.668, -3.975, -4.295, -4.649, -5.0, -5.386, -5.713, -6.018, -6.289, -6.697,
    -7.068, -7.302, -7.7, -8.346, -8.868, -9.334, -9.72, -10.183, -10.796, -11.297, -11.729, -12.178, -12.6, -13.117,
    -13.641, -14.208, -14.646, -15.142, -15.502, -16.111, -16.639, -17.196, -17.655, -18.144, -18.544, -18.991,
    -19.532, -20.038, -20.651, -21.131, -21.535, -21.991, -22.626, -23.139, -23.617,
)  # fmt: skip


def read_kitti(path: Path, *, reach: float | None = None) -> Beams:
    """A scan of the KITTI data set (x, y, z, reflectance as float32), each point given the ring nearest in elevation."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if len(raw) == 0 or len(raw) % 16:
        raise InputError.of(str(path), "must hold four 32-bit floats a point", f"{len(raw)} bytes")
    table = np.frombuffer(raw, "<f4").reshape(-1, 4).astype(np.float64)
    if not np.isfinite(table).all() or np.abs(table[:, :3]).max() > 1e5:
        raise InputError(f"{path}: not a KITTI scan: it holds numbers that are no coordinates")
    points = table[:, :3]
    distance = np.linalg.norm(points, axis=1)
    if (distance == 0).any():
        points, table, distance = points[distance > 0], table[distance > 0], distance[distance > 0]
    elevation = np.degrees(np.arcsin(points[:, 2] / distance))
    # From the lowest ring up, as other sensors number theirs.
    levels = np.array(_KITTI_RINGS_DEG[::-1])
    rings = np.searchsorted((levels[1:] + levels[:-1]) / 2, elevation)
    intensity = np.clip(table[:, 3], 0, 1)
    return Beams.of(np.zeros(3), points, distance, intensity=intensity, rings=rings, reach=reach)


def read_las(
    path: Path, *, origin: NDArray[np.float64] | None = None, trajectory: Trajectory | None = None,
    reach: float | None = None,
) -> Beams:  # fmt: skip
    """A LAS or LAZ file, from one origin or along a trajectory at the points' GPS times."""
    try:
        import laspy
    except ImportError:
        raise InputError("LAS: needs laspy; install it with `pip install 'tussock[las]'`") from None
    try:
        cloud = laspy.read(path)
        points = np.stack([np.asarray(cloud.x), np.asarray(cloud.y), np.asarray(cloud.z)], 1)
        names = set(cloud.point_format.dimension_names)
        intensity = np.asarray(cloud.intensity) / 65535.0 if "intensity" in names else None
        times = np.asarray(cloud.gps_time) if "gps_time" in names else None
    except Exception as error:  # a damaged file can make a parser stumble in any way
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{path}: not a readable LAS file ({why})") from None
    return _from_points(path, points, times, intensity, None, origin, trajectory, reach)


def read_frame_file(
    path: Path, *, origin: NDArray[np.float64] | None = None, trajectory: Trajectory | None = None,
    reach: float | None = None,
) -> Beams:  # fmt: skip
    """A file that `tussock.load_frame` reads: a frame of Tussock, or points from elsewhere."""
    columns = _parquet_origins(path) if path.suffix.lower() == ".parquet" else None
    frame = load_frame(path)
    if columns is not None:
        points = frame.xyz.astype(np.float64)
        return _from_points(path, points, None, frame.intensity, frame.laser, columns, None, reach)
    if frame.trajectory is not None or (origin is None and trajectory is None):
        return beams_of(frame, reach=reach)
    return _from_points(
        path, frame.xyz.astype(np.float64), frame.time, frame.intensity, frame.laser, origin, trajectory, reach
    )


def _parquet_origins(path: Path) -> NDArray[np.float64] | None:
    """The origins in a Parquet file [m], shape (n, 3), None where it has no such columns."""
    from pyarrow import ArrowException, parquet

    wanted = ["origin_x", "origin_y", "origin_z"]
    try:
        if not path.is_file() or not set(wanted) <= set(parquet.read_schema(path).names):
            return None
        table = parquet.read_table(path, columns=wanted)
    except (OSError, ArrowException):
        return None  # the reader of frames says what is wrong
    return np.stack([table.column(name).to_numpy().astype(float) for name in wanted], 1)


def _from_points(
    path: Path, points: NDArray[np.float64], times: NDArray[Any] | None, intensity: NDArray[Any] | None,
    rings: NDArray[Any] | None, origin: NDArray[np.float64] | None, trajectory: Trajectory | None,
    reach: float | None,
) -> Beams:  # fmt: skip
    start: NDArray[np.float64] = np.zeros(3) if origin is None else origin
    if trajectory is not None:
        if times is None or not np.ptp(times) > 0:
            raise InputError(f"{path}: has no times, so a trajectory does not say where its points were measured from")
        if trajectory.moving and (
            times.min() < trajectory.times[0] - 1e-6 or times.max() > trajectory.times[-1] + 1e-6
        ):
            raise InputError.of(
                "trajectory", f"must cover the points' times, {times.min():g} s to {times.max():g} s",
                f"{trajectory.times[0]:g} s to {trajectory.times[-1]:g} s",
            )  # fmt: skip
        start, _ = trajectory.at(times)
    way = points - start
    distance = np.linalg.norm(way, axis=1)
    good = np.isfinite(distance) & (distance > 0)
    if not good.any():
        raise InputError(f"{path}: holds no points away from the sensor")
    start = np.broadcast_to(start, points.shape)[good]
    pick = [None if column is None else np.asarray(column)[good] for column in (intensity, rings)]
    bright = None if pick[0] is None else np.clip(pick[0], 0, 1)
    return Beams.of(start, way[good], distance[good], intensity=bright, rings=pick[1], reach=reach)
