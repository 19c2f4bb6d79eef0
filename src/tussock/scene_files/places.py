"""Where the objects of a scene file stand and how they move.

Turns in files are degrees: ``yaw_deg`` about z, or ``rotation_deg`` = roll, pitch, yaw about x, then y, then z of
the world. Long lists live in a file of their own:

- CSV with the columns ``x, y, z`` [m] and, where wanted, ``roll_deg, pitch_deg, yaw_deg`` and ``scale`` or
  ``scale_x, scale_y, scale_z``;
- NPZ with arrays named like the keys here (``positions_m``, ``yaw_deg``, ``rotation_deg``, ``scale``), or
  ``matrices`` of shape (n, 3, 4).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tussock.errors import InputError, nearest
from tussock.numpy_files import load_npz
from tussock.poses import Trajectory
from tussock.quantities import Triple
from tussock.reach import Reach
from tussock.scene.forms import Forms
from tussock.scene.placements import Placements
from tussock.scene_files.mesh_files import load_mesh
from tussock.settings import Settings

__all__ = ["FormsTable", "MotionTable", "PlacementTable", "placements_of"]

Row = tuple[float, float, float, float]

_KEYS = ("positions_m", "yaw_deg", "rotation_deg", "scale", "matrices")
_CSV_COLUMNS = ("x", "y", "z", "roll_deg", "pitch_deg", "yaw_deg", "scale", "scale_x", "scale_y", "scale_z")


class PlacementTable(Settings):
    """``[objects.placements]``: many copies of one shape."""

    positions_m: list[Triple] | None = None
    yaw_deg: float | list[float] | None = None
    rotation_deg: list[Triple] | None = None
    scale: float | list[float | Triple] | None = None
    """one number, or a list with one number or three for each placement"""
    matrices: list[tuple[Row, Row, Row]] | None = None
    """whole transforms: three rows of four"""
    file: Path | None = None

    def build(self, reach: Reach) -> Placements:
        given: dict[str, Any] = {key: v for key in _KEYS if (v := getattr(self, key)) is not None}
        if self.file is None:
            return placements_of(given)
        if given:
            raise InputError(f"file: give either a file or {next(iter(given))}, not both")
        path = reach.file(self.file)
        try:
            return placements_of(_read_placements(path))
        except InputError as error:
            raise error.within(path) from None


class MotionTable(Settings):
    """``[objects.motion]``: the object's pose over time; its placements are relative to it."""

    times_s: list[float] | None = None
    positions_m: list[Triple] | None = None
    yaw_deg: list[float] | None = None
    rotation_deg: list[Triple] | None = None
    file: Path | None = None
    """TUM (``t x y z qx qy qz qw``) or CSV, see `tussock.poses.Trajectory.load`"""

    def build(self, reach: Reach) -> Trajectory:
        lists = {"times_s": self.times_s, "positions_m": self.positions_m}
        if self.file is not None:
            given = [k for k in (*lists, "yaw_deg", "rotation_deg") if getattr(self, k) is not None]
            if given:
                raise InputError(f"file: give either a file or {given[0]}, not both")
            return Trajectory.load(reach.file(self.file))
        for key, values in lists.items():
            if values is None:
                raise InputError(f"{key}: is required, or a file")
        positions = np.array(self.positions_m, float).reshape(-1, 3)
        turns = _quaternions(self.yaw_deg, self.rotation_deg, len(positions))
        if turns is None:
            turns = np.tile([0.0, 0.0, 0.0, 1.0], (len(positions), 1))
        return Trajectory(np.array(self.times_s, float), positions, turns)


class FormsTable(Settings):
    """``[objects.forms]``: the object's shape over time, a mesh file for each moment."""

    times_s: list[float]
    meshes: list[Path]

    def build(self, reach: Reach) -> Forms:
        if len(self.times_s) != len(self.meshes):
            raise InputError.of("forms", "must have one time for each mesh", (len(self.times_s), len(self.meshes)))
        return Forms(
            np.array(self.times_s, float), tuple(load_mesh(reach.file(mesh), reach=reach) for mesh in self.meshes)
        )


def placements_of(given: dict[str, Any]) -> Placements:
    """Placements from lists or arrays named as in a scene file."""
    if "matrices" in given:
        if len(given) > 1:
            raise InputError("matrices: are whole transforms; give nothing beside them")
        return Placements(np.asarray(given["matrices"], float))
    if "positions_m" not in given:
        raise InputError("positions_m: is required, or matrices, or a file")
    positions = np.asarray(given["positions_m"], float)
    if positions.ndim != 2 or positions.shape[1] != 3 or len(positions) == 0:
        raise InputError.of("positions_m", "must be a list of [x, y, z]", positions.shape)
    n = len(positions)
    scale = given.get("scale", 1.0)
    if isinstance(scale, list):
        scale = np.array([one if isinstance(one, list | tuple) else (one,) * 3 for one in scale], float)
        if len(scale) != n:
            raise InputError.of("scale", f"must be one number or {n}, one a placement", len(scale))
    yaw, rotation = given.get("yaw_deg"), given.get("rotation_deg")
    if rotation is None:
        return Placements.of(positions, yaw=None if yaw is None else np.deg2rad(yaw), scale=scale)
    return Placements.of(positions, quaternions=_quaternions(yaw, rotation, n), scale=scale)


def _quaternions(yaw: Any, rotation: Any, n: int) -> np.ndarray | None:
    if yaw is not None and rotation is not None:
        raise InputError("yaw_deg: give either yaw_deg or rotation_deg, not both")
    if yaw is None and rotation is None:
        return None
    angles = np.asarray(rotation if rotation is not None else [(0.0, 0.0, y) for y in np.atleast_1d(yaw)], float)
    if angles.shape != (n, 3):
        key = "yaw_deg" if rotation is None else "rotation_deg"
        raise InputError.of(key, f"must have {n} entries, one for each position", len(angles))
    return np.asarray(Rotation.from_euler("xyz", angles, degrees=True).as_quat())


def _read_placements(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError("no such file of placements", source=path)
    if path.suffix.lower() == ".npz":
        return _read_npz(path)
    if path.suffix.lower() == ".csv":
        return _read_csv(path)
    raise InputError("unknown kind of placement file; use .csv or .npz", source=path)


def _read_npz(path: Path) -> dict[str, Any]:
    arrays = load_npz(path)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise InputError.of(f"array {name!r}", "must hold numbers", str(array.dtype), source=path)
    for name in arrays:
        if name not in _KEYS:
            raise InputError(f"unknown array {name!r}; {nearest(name, _KEYS)}", source=path)
    return {name: float(array) if array.ndim == 0 else array.astype(float) for name, array in arrays.items()}


def _read_csv(path: Path) -> dict[str, Any]:
    from pyarrow import ArrowException, csv

    try:
        table = csv.read_csv(path)
        names = [name.strip() for name in table.column_names]
        arrays = [column.to_numpy().astype(float) for column in table.itercolumns()]
    except (ArrowException, ValueError, TypeError) as error:
        raise InputError(f"not a CSV of numbers ({' '.join(str(error).split())[:120]})", source=path) from None
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"column {twice[0]!r} stands there twice", source=path)
    columns = dict(zip(names, arrays, strict=True))
    for name in columns:
        if name not in _CSV_COLUMNS:
            raise InputError(f"unknown column {name!r}; {nearest(name, _CSV_COLUMNS)}", source=path)
    for name in "xyz":
        if name not in columns:
            raise InputError(f"column {name!r} is required", source=path)
    given: dict[str, Any] = {"positions_m": np.stack([columns[c] for c in "xyz"], 1)}
    nothing = np.zeros(table.num_rows)
    if "roll_deg" in columns or "pitch_deg" in columns:
        angles = [columns.get(c, nothing) for c in ("roll_deg", "pitch_deg", "yaw_deg")]
        given["rotation_deg"] = np.stack(angles, 1)
    elif "yaw_deg" in columns:
        given["yaw_deg"] = columns["yaw_deg"]
    if "scale" in columns:
        given["scale"] = columns["scale"]
    elif any(c.startswith("scale_") for c in columns):
        given["scale"] = np.stack([columns.get(f"scale_{axis}", nothing + 1) for axis in "xyz"], 1)
    return given
