"""What a file of a frame holds: flat fields of numbers, and one JSON document about them.

Formats know neither frames nor columns. They store the fields of a `Contents`, one value per row, and its
document where they have room for text. Vectors are three fields: ``xyz`` is x, y, z and ``true_xyz`` is
true_x, true_y, true_z. The fields that other programs look for (x, y, z, intensity) come first.

A file without our document or columns is a point cloud from elsewhere. Of its fields only those with a
meaning that everybody shares are taken; range and angles are computed from x, y, z, since elsewhere they may
be in millimetres or degrees. What cannot be known is filled: the truth with NaN, everything else with zero,
and each finite point is the only return of a pulse of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.files.document import Document
from tussock.frames.columns import COLUMNS, Column
from tussock.frames.frame import Frame
from tussock.frames.waveforms import Waveforms
from tussock.poses import Trajectory
from tussock.return_modes import ReturnKind

__all__ = ["FIELD_TYPES", "SHARED_FIELDS", "Contents", "Coords", "contents_of", "field_names", "frame_of"]

Coords = Literal["sensor", "world"]
Fields = dict[str, NDArray[Any]]

SHARED_FIELDS: dict[str, str] = {
    "intensity": "intensity",
    "reflectivity": "intensity",
    "reflectance": "intensity",
    "scalar_intensity": "intensity",
    "laser": "laser",
    "ring": "laser",
    "time": "time",
    "timestamp": "time",
    "label": "label",
}
"""Fields of point clouds from elsewhere, in small letters, and the columns that they fill."""

FARTHEST = 1e5
"""[m] beyond this, single precision is coarser than 8 mm: too coarse for a sensor's frame"""


@dataclass(frozen=True, eq=False)
class Contents:
    """The fields of a file by name, each of shape (n,), its JSON document and its waveforms where it has them."""

    fields: Fields
    document: str | None = None
    waveforms: Waveforms | None = None
    directions: NDArray[np.float64] | None = None
    """which way the pulse of each row went, unit vectors in the coordinates of the points (n, 3), with waveforms"""

    @property
    def rows(self) -> int:
        return len(next(iter(self.fields.values()), ()))


def field_names(column: Column) -> tuple[str, ...]:
    """The scalar fields that a column is stored as."""
    if column.width == 1:
        return (column.name,)
    prefix = column.name.removesuffix("xyz") if column.name.endswith("xyz") else f"{column.name}_"
    return tuple(f"{prefix}{axis}" for axis in "xyz")


FIELD_TYPES: dict[str, str] = {name: column.dtype for column in COLUMNS for name in field_names(column)}
"""Every scalar field and its type in the sensor's frame."""


def contents_of(frame: Frame, coords: Coords = "sensor") -> Contents:
    """A frame as a file holds it; in world coordinates the points are double precision."""
    columns = frame.columns
    if coords == "world":
        columns |= {"xyz": frame.world_xyz(), "true_xyz": frame.world_xyz(true=True)}
    fields: Fields = {}
    for column in sorted(COLUMNS, key=lambda c: ("xyz", "intensity", c.name).index(c.name)):
        array = columns[column.name]
        parts = [array] if column.width == 1 else list(array.T)
        fields |= dict(zip(field_names(column), parts, strict=True))
    document = Document(rows=len(frame), coords=coords, meta=frame.meta, trajectory=frame.trajectory)
    directions = None if frame.waveforms is None else _directions(frame, coords)
    return Contents(fields, document.text(), frame.waveforms, directions)


def _directions(frame: Frame, coords: Coords) -> NDArray[np.float64]:
    """Nominal directions of the pulses, unit vectors, shape (n, 3)."""
    azimuth, elevation = frame.azimuth.astype(np.float64), frame.elevation.astype(np.float64)
    flat = np.cos(elevation)
    directions = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], 1)
    if coords == "world" and frame.trajectory is not None:
        directions = Rotation.from_quat(frame.trajectory.at(frame.time)[1]).apply(directions)
    return directions


def frame_of(contents: Contents, path: Path) -> Frame:
    """The frame in a file, in the sensor's frame whatever the file's; ``path`` is for errors."""
    document = None if contents.document is None else Document.parse(contents.document, path)
    if document is not None and document.rows != contents.rows:
        raise InputError(
            f"holds {contents.rows} rows where its own description says {document.rows}",
            remedy="the file was cut or changed",
            source=path,
        )
    missing = [axis for axis in "xyz" if axis not in contents.fields]
    if missing:
        raise InputError(f"has no field {missing[0]!r}; a frame needs x, y and z", source=path)

    if document is None and "true_range" not in contents.fields:
        given = _from_elsewhere(contents.fields, path)
    else:
        given = _stacked(contents.fields)
        if document is not None and document.coords == "world":
            _to_sensor(given, document.trajectory, path)
    columns = _defaults(given["xyz"]) | given
    return Frame(
        **{c.name: _cast(columns[c.name], c, path) for c in COLUMNS},
        meta=document.meta if document else {},
        trajectory=document.trajectory if document else None,
        waveforms=contents.waveforms,
    )


def _stacked(fields: Fields) -> Fields:
    """The columns whose fields are all there."""
    present = [column for column in COLUMNS if all(name in fields for name in field_names(column))]
    return {
        column.name: fields[column.name]
        if column.width == 1
        else np.stack([fields[name] for name in field_names(column)], axis=1)
        for column in present
    }


def _from_elsewhere(fields: Fields, path: Path) -> Fields:
    given = {"xyz": np.stack([fields[axis] for axis in "xyz"], axis=1)}
    for name, array in fields.items():
        if (column := SHARED_FIELDS.get(name.lower())) is not None:
            given.setdefault(column, array)
    farthest = np.max(np.abs(given["xyz"]), initial=0.0, where=np.isfinite(given["xyz"]))
    if given["xyz"].dtype.itemsize > 4 and farthest > FARTHEST:
        raise InputError.of(
            "x, y, z",
            f"must lie within {FARTHEST:g} m of the sensor",
            f"{farthest:.0f} m",
            "subtract an offset first",
            source=path,
        )
    return given


def _to_sensor(columns: Fields, trajectory: Trajectory | None, path: Path) -> None:
    """Undo `Frame.world_xyz` for both vectors of points."""
    if trajectory is None or "time" not in columns:
        raise InputError("is in world coordinates, but holds no trajectory and times to undo them", source=path)
    positions, quaternions = trajectory.at(columns["time"])
    turns = Rotation.from_quat(quaternions)
    for name in {"xyz", "true_xyz"} & columns.keys():
        columns[name] = turns.apply(columns[name] - positions, inverse=True)


def _defaults(xyz: NDArray[Any]) -> Fields:
    """Every column but the points themselves, as far as points alone can tell."""
    rows = len(xyz)
    x, y, z = xyz.astype(np.float64).T
    hit = np.isfinite(xyz).all(axis=1)
    columns: Fields = {c.name: np.zeros((rows, c.width) if c.width > 1 else rows, c.dtype) for c in COLUMNS}
    return columns | {
        "pulse": np.arange(rows, dtype=np.uint32),
        "azimuth": np.arctan2(y, x),
        "elevation": np.arctan2(z, np.hypot(x, y)),
        "range": np.sqrt(x * x + y * y + z * z),
        "true_range": np.full(rows, np.nan),
        "signal": np.full(rows, np.nan),
        "true_speed": np.full(rows, np.nan),
        "speed": np.full(rows, np.nan),
        "near_infrared": np.full(rows, np.nan),
        "true_xyz": np.full((rows, 3), np.nan),
        "return_number": hit,
        "return_count": hit,
        "return_kind": np.where(hit, ReturnKind.STRONGEST, ReturnKind.NONE),
    }


def _cast(array: NDArray[Any], column: Column, path: Path) -> NDArray[Any]:
    """The column in its own type; whole numbers must stay what they are."""
    wanted = np.dtype(column.dtype)
    if array.dtype.kind not in "biuf":
        raise InputError.of(f"column {column.name}", "must hold numbers", str(array.dtype), source=path)
    if wanted.kind == "u" and array.dtype.kind != "b" and array.dtype != wanted:
        limit = np.iinfo(wanted).max
        # written so that NaN is refused too
        wrong = ~((array >= 0) & (array <= limit))
        if array.dtype.kind == "f":
            wrong |= array != np.floor(array)
        if wrong.any():
            raise InputError.of(
                f"column {column.name}",
                f"must hold whole numbers from 0 to {limit}",
                array[wrong][0].item(),
                source=path,
            )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=wanted)
