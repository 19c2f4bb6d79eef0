"""A frame: what a sensor reports of one revolution or one image, with the truth beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.arrays import shown
from tussock.errors import InputError, nearest
from tussock.frames.columns import COLUMNS
from tussock.frames.waveforms import Waveforms
from tussock.poses import Trajectory
from tussock.shown import Shown

__all__ = ["Frame"]


_SHAPES = [(c.name, np.dtype(c.dtype), () if c.width == 1 else (c.width,)) for c in COLUMNS]
"""of every column its type, and its shape beside the rows"""


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Shown):
    """One row per return, in firing order; `tussock.frames.columns` says what each column means.

    Columns are read-only: copy one to change it, and `dataclasses.replace` makes a frame of the copy.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> seen = frame.select(frame.hit)
    >>> len(seen) < len(frame) == frame.pulses
    True
    """

    time: NDArray[np.float64]
    pulse: NDArray[np.uint32]
    laser: NDArray[np.uint16]
    azimuth: NDArray[np.float32]
    elevation: NDArray[np.float32]
    true_range: NDArray[np.float32]
    range: NDArray[np.float32]
    true_xyz: NDArray[np.float32]
    xyz: NDArray[np.float32]
    intensity: NDArray[np.float32]
    object_id: NDArray[np.uint32]
    placement: NDArray[np.uint32]
    label: NDArray[np.uint16]
    material: NDArray[np.uint16]
    return_number: NDArray[np.uint8]
    return_count: NDArray[np.uint8]
    return_kind: NDArray[np.uint8]
    # What is not measured everywhere: NaN where it is not given.
    signal: NDArray[np.float32] = None  # type: ignore[assignment]
    true_speed: NDArray[np.float32] = None  # type: ignore[assignment]
    speed: NDArray[np.float32] = None  # type: ignore[assignment]
    near_infrared: NDArray[np.float32] = None  # type: ignore[assignment]
    meta: dict[str, Any] = field(default_factory=dict)
    """plain data, ready for JSON: version, seed, sensor settings, frame index and start time, number of
    pulses fired, names of objects, labels and materials"""
    trajectory: Trajectory | None = None
    """``T_world_sensor`` over the frame, where it is known"""
    waveforms: Waveforms | None = None
    """the received signal of every pulse, where it was asked for"""

    def __post_init__(self) -> None:
        rows, values = len(self.time), vars(self)
        for name, dtype, more in _SHAPES:
            given, shape = values[name], (rows, *more)
            array = np.full(rows, np.nan, dtype) if given is None else np.asarray(given, dtype)
            if array.shape != shape:
                raise InputError.of(f"frame column {name}", f"must have the shape {shape}", array.shape)
            values[name] = shown(array)

    def __len__(self) -> int:
        return len(self.time)

    _pictured = True

    def _facts(self) -> dict[str, object]:
        told = self.meta
        sensor = told.get("sensor")
        facts: dict[str, object] = {
            "sensor": sensor.get("name") if isinstance(sensor, dict) else sensor,
            "scene": told.get("scene"),
            "returns": f"{int(self.hit.sum()):,} of {self.pulses:,} pulses",
            "time": f"{self.time.min():.3f} s to {self.time.max():.3f} s" if len(self) else None,
            "range": f"{np.nanmin(self.range):.2f} m to {np.nanmax(self.range):.2f} m" if self.hit.any() else None,
            "frame": str(told["frame"]) if "frame" in told else None,
            "seed": str(told["seed"]) if "seed" in told else None,
        }
        return {name: value for name, value in facts.items() if value is not None}

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column by name, in the order of the table."""
        return {column.name: getattr(self, column.name) for column in COLUMNS}

    def column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise InputError(f"column {name!r}: no such column; {nearest(name, self.columns)}")
        return self.columns[name]

    @property
    def hit(self) -> NDArray[np.bool_]:
        """True for rows that are returns, False for pulses kept without one."""
        return self.return_number > 0

    @property
    def pulses(self) -> int:
        """How many pulses were fired, with or without return."""
        known = self.meta.get("pulses")
        return len(np.unique(self.pulse)) if known is None else int(known)

    def select(self, rows: Any) -> Frame:
        """The chosen rows (a mask or indices) as a frame of their own."""
        kept = {name: array[rows] for name, array in self.columns.items()}
        return Frame(**kept, meta=self.meta, trajectory=self.trajectory, waveforms=self.waveforms)

    def world_xyz(self, *, true: bool = False) -> NDArray[np.float64]:
        """Points in the world [m], shape (n, 3), each moved by the pose of the sensor at its own time."""
        points = (self.true_xyz if true else self.xyz).astype(np.float64)
        if self.trajectory is None:
            raise InputError("frame: has no trajectory, so its points cannot be put into the world")
        positions, quaternions = self.trajectory.at(self.time)
        return Rotation.from_quat(quaternions).apply(points) + positions

    def identical(self, other: Frame) -> bool:
        """Whether every column has the same bits."""
        return all(
            np.array_equal(a.view(np.uint8), b.view(np.uint8)) if a.shape == b.shape else False
            for a, b in zip(
                map(np.ascontiguousarray, self.columns.values()),
                map(np.ascontiguousarray, other.columns.values()),
                strict=True,
            )
        )


assert [f.name for f in fields(Frame)][: len(COLUMNS)] == [c.name for c in COLUMNS]
