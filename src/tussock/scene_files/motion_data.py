"""Where the things of a scene are over time, as text: CSV with all objects, or one TUM file an object.

A row is the pose ``T_world_object`` of one placement: its position and its turn; its size is left out. CSV has the
columns ``time_s, object, placement, x, y, z, qx, qy, qz, qw``. TUM has ``t x y z qx qy qz qw`` and no room for
a name, so every placement has a file of its own.
"""

from __future__ import annotations

import csv
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError, OutputError
from tussock.poses import Trajectory
from tussock.scene.scene import Scene, SceneObject
from tussock.whole_files import check_writable, whole_file

__all__ = ["ObjectPath", "object_paths", "sample_times", "save_paths"]

_MOST_ROWS = 20_000_000


@dataclass(frozen=True, eq=False)
class ObjectPath:
    """The poses of one placement of one object."""

    object: str
    placement: int
    path: Trajectory


def sample_times(start: float, end: float, rate: float) -> NDArray[np.float64]:
    """``rate`` times a second from ``start``, up to and with ``end`` [s].

    >>> tussock.sample_times(0.0, 0.3, 10.0).round(3).tolist()
    [0.0, 0.1, 0.2, 0.3]
    """
    if not np.isfinite([start, end, rate]).all() or end < start:
        raise InputError.of("time range", "must be start <= end [s]", (start, end))
    if rate <= 0:
        raise InputError.of("rate", "must be above 0 [1/s]", rate)
    if (end - start) * rate > _MOST_ROWS:
        raise InputError.of("rate", f"must give at most {_MOST_ROWS:,} times", rate, "lower it")
    return start + np.arange(int(np.floor((end - start) * rate + 1e-9)) + 1) / rate


def object_paths(scene: Scene, times: NDArray[np.float64], objects: list[str] | None = None) -> list[ObjectPath]:
    """Poses at ``times`` [s] of the named objects; of everything that moves where none is named.

    >>> scene = tussock.Scene("road")
    >>> way = tussock.Trajectory.through([0, 1], [tussock.Pose.at(0), tussock.Pose.at(5)])
    >>> car = scene.add(tussock.box((4, 2, 1.5)), name="car", motion=way)
    >>> [path.object for path in tussock.object_paths(scene, tussock.sample_times(0.0, 1.0, 10.0))]
    ['car']
    """
    chosen = [scene[name] for name in objects] if objects else [o for o in scene.objects if o.motion is not None]
    if not chosen:
        raise InputError(f"scene {scene.name!r}: nothing moves in it; name objects to get their poses all the same")
    rows = len(times) * sum(len(thing.placements) for thing in chosen)
    if rows > _MOST_ROWS:
        raise InputError.of("objects", f"must give at most {_MOST_ROWS:,} rows", rows, "name fewer objects")
    return [path for thing in chosen for path in _paths(thing, times)]


def _paths(thing: SceneObject, times: NDArray[np.float64]) -> list[ObjectPath]:
    """The motion of the object, and in it each placement where it stands."""
    turns, shifts = _rigid(thing.placements.matrices)
    found = []
    for number in range(len(turns)):
        if thing.motion is None:
            positions = np.repeat(shifts[number][None], len(times), 0)
            quaternions = np.repeat(turns[number].as_quat()[None], len(times), 0)
        else:
            origins, body = thing.motion.at(times)
            moved = Rotation.from_quat(body)
            positions = origins + moved.apply(shifts[number].copy())
            quaternions = (moved * turns[number]).as_quat()
        found.append(ObjectPath(thing.name, number, Trajectory(times, positions, quaternions)))
    return found


def _rigid(matrices: NDArray[np.float64]) -> tuple[Rotation, NDArray[np.float64]]:
    """The turns nearest to the placements' axes (a mirrored one: after mirroring x back), and their positions."""
    axes = matrices[:, :, :3].copy()
    axes[np.linalg.det(axes) < 0, :, 0] *= -1
    left, _, right = np.linalg.svd(axes)
    return Rotation.from_matrix(left @ right), matrices[:, :, 3]


def save_paths(paths: list[ObjectPath], out: Path | str, *, force: bool = False) -> list[Path]:
    """Write ``out``: one CSV, or (``.tum``) a file a placement, named after the object; returns the files.

    >>> from pathlib import Path
    >>> scene = tussock.Scene("road")
    >>> way = tussock.Trajectory.through([0, 1], [tussock.Pose.at(0), tussock.Pose.at(5)])
    >>> car = scene.add(tussock.box((4, 2, 1.5)), name="car", motion=way)
    >>> paths = tussock.object_paths(scene, tussock.sample_times(0.0, 1.0, 10.0))
    >>> [file.name for file in tussock.save_paths(paths, Path("cars.csv"))]
    ['cars.csv']
    """
    out = Path(out)
    suffix = out.suffix.lower()
    if suffix not in (".csv", ".tum"):
        raise OutputError(f"{out}: motion is written as .csv or .tum; choose one of them")
    files = {out: paths} if suffix == ".csv" or len(paths) == 1 else {_own(out, path): [path] for path in paths}
    for file in files:
        check_writable(file, force=force)
    with ExitStack() as stack:
        for file, members in files.items():
            temporary = stack.enter_context(whole_file(file, force=force))
            if suffix == ".csv":
                _save_csv(members, temporary)
            else:
                members[0].path.save_tum(temporary)
    return list(files)


def _own(out: Path, path: ObjectPath) -> Path:
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.object)
    return out.with_stem(f"{out.stem}_{safe}" + (f"_{path.placement:06d}" if path.placement else ""))


def _save_csv(paths: list[ObjectPath], file: Path) -> None:
    with file.open("w", newline="", encoding="utf-8") as target:
        rows = csv.writer(target)
        rows.writerow(["time_s", "object", "placement", "x", "y", "z", "qx", "qy", "qz", "qw"])
        for path in paths:
            numbers = np.column_stack([path.path.positions, path.path.quaternions])
            for time, values in zip(path.path.times, numbers, strict=True):
                rows.writerow([f"{time:.9f}", path.object, path.placement, *(f"{v:.9f}" for v in values)])
