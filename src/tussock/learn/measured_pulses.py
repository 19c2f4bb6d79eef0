"""Measured pulses: those whose origin, direction and outcome are known, from a real scan or a simulated one.

A pulse without return is one too: it says that nothing stands in its way (Deschaud et al. 2012, section III.C).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tussock.arrays import shown
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.kernels import borrowed, kernel
from tussock.learn.box import box_corners
from tussock.learn.range_noise import NO_NOISE, RangeNoise, told_noise
from tussock.poses import Pose, Trajectory
from tussock.shown import Shown
from tussock.threads import run_jobs

__all__ = ["UNKNOWN_INTENSITY", "MeasuredPulses", "join_pulses", "measured_pulses"]

UNKNOWN_INTENSITY = 0.3
"""relative intensity of returns whose own was not recorded: about that of leaves and soil at 905 nm"""

_GREY, _FAR_WALL = np.array([UNKNOWN_INTENSITY]), np.array([20.0])  # what sensors' noise is compared by
_POSE_STEP = 0.002  # [s]
_FAR = 1000.0  # [m] further from zero, single precision is too coarse for the means of volumes


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredPulses(Shown):
    """One row a pulse, in one fixed frame (the world's, or the sensor's where it stands).

    >>> pulses = tussock.MeasuredPulses.of([0, 0, 0], [[1, 0, 0], [0, 1, 0]], [4.0, np.nan], reach=20)
    >>> pulses.hit.tolist()
    [True, False]
    """

    origins: NDArray[np.float64]
    """[m], shape (n, 3)"""
    directions: NDArray[np.float64]
    """unit vectors, shape (n, 3)"""
    ranges: NDArray[np.float64]
    """[m], NaN for a pulse without return, shape (n,)"""
    intensity: NDArray[np.float32]
    """relative, 0 to 1, shape (n,); 0 where there is no return"""
    rings: NDArray[np.uint16]
    """which laser, from the lowest up where the source numbers them so, shape (n,)"""
    azimuths: NDArray[np.float64]
    """[rad], as the sensor reports it, counter-clockwise from x, shape (n,)"""
    turns: NDArray[np.int64]
    """number of the revolution or scan, from 0, shape (n,)"""
    reach: float
    """[m] as far as a pulse without return has certainly met nothing"""
    complete: bool = True
    """whether the pulses without return are among the rows; many files of points do not hold them"""
    others: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """[m] range of a pulse's other return, NaN where it has one or none, shape (n,); NaN if not given"""
    noise: RangeNoise = NO_NOISE
    """what the sensor's range noise is, as far as it is known"""
    labels: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    """of the returns, shape (n,); 0 if not given"""
    label_names: dict[int, str] = field(default_factory=dict)
    """what labels are called, where that is known"""
    colors: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 4), np.uint8))
    """of the returns: red, green and blue (sRGB), and 255 where they are known, else four zeros, shape (n, 4); zeros if
    not given"""

    def __post_init__(self) -> None:
        n = len(np.asarray(self.ranges))
        shapes = {"origins": (n, 3), "directions": (n, 3), "colors": (n, 4)}
        if not len(self.others) and n:
            object.__setattr__(self, "others", np.full(n, np.nan, np.float32))
        if not len(self.labels) and n:
            object.__setattr__(self, "labels", np.zeros(n, np.uint16))
        if not len(self.colors) and n:
            object.__setattr__(self, "colors", np.zeros((n, 4), np.uint8))
        for name, dtype in _COLUMNS.items():
            array = np.ascontiguousarray(getattr(self, name), dtype)
            if array.shape != shapes.get(name, (n,)):
                raise InputError.of(f"pulses {name}", f"must have the shape {shapes.get(name, (n,))}", array.shape)
            object.__setattr__(self, name, shown(array))
        if n == 0:
            raise InputError("pulses: there are none; check the file, the box and the chosen revolutions")
        finite, unit = _looked_through(self.origins, self.directions)
        if not finite:
            raise InputError("pulses origins and directions: must be finite, got NaN or infinity")
        if not unit:
            raise InputError("pulses directions: must be unit vectors")
        if not (np.isfinite(self.reach) and self.reach > 0):
            raise InputError.of("pulses reach", "must be a length above 0 [m]", self.reach)
        if np.nanmin(self.ranges, initial=np.inf) < 0:
            raise InputError("pulses ranges: must not be negative")

    @classmethod
    def of(
        cls, origins: ArrayLike, directions: ArrayLike, ranges: ArrayLike, *, intensity: ArrayLike | None = None,
        rings: ArrayLike | None = None, azimuths: ArrayLike | None = None, turns: ArrayLike | None = None,
        reach: float | None = None, complete: bool = True, others: ArrayLike | None = None, noise: RangeNoise = NO_NOISE,
    ) -> MeasuredPulses:  # fmt: skip
        """From plain arrays; one origin serves all, directions get unit length, the rest has defaults."""
        way = np.atleast_2d(np.asarray(directions, float))
        n = len(way)
        if way.shape != (n, 3):
            raise InputError.of("pulses directions", f"must have the shape {(n, 3)}", way.shape)
        given, way = np.ascontiguousarray(way), np.empty((n, 3))
        if not _make_unit(given, way):
            raise InputError("pulses directions: must not be zero")
        measured = np.asarray(ranges, float)
        measured = np.where(np.isfinite(measured), measured, np.nan)
        hit = np.isfinite(measured)
        zero = np.zeros(n)
        return cls(
            np.broadcast_to(np.asarray(origins, float), (n, 3)),
            way,
            measured,
            np.where(hit, UNKNOWN_INTENSITY if intensity is None else intensity, 0).astype(np.float32),
            np.asarray(zero if rings is None else rings).astype(np.uint16),
            np.arctan2(way[:, 1], way[:, 0]) if azimuths is None else np.asarray(azimuths, float),
            np.asarray(zero if turns is None else turns).astype(np.int64),
            float(reach if reach is not None else (np.nanmax(measured) if hit.any() else 100.0)),
            complete,
            np.zeros(0, np.float32) if others is None else np.asarray(others).astype(np.float32),
            noise,
        )

    def __len__(self) -> int:
        return len(self.ranges)

    @property
    def hit(self) -> NDArray[np.bool_]:
        """whether a pulse had a return, shape (n,)"""
        return np.isfinite(self.ranges)

    @property
    def points(self) -> NDArray[np.float64]:
        """where pulses ended [m], NaN without return, shape (n, 3)"""
        return self.origins + self.directions * self.ranges[:, None]

    def shifted(self, by: ArrayLike) -> MeasuredPulses:
        """The same pulses ``by`` [m] further along x, y and z."""
        return self._with(origins=shown(self.origins + np.asarray(by, np.float64)))

    def with_reach(self, reach: float) -> MeasuredPulses:
        """The same pulses, those without return having met nothing within ``reach`` [m]."""
        return self._with(reach=reach)

    def numbered(self, turns: NDArray[np.int64]) -> MeasuredPulses:
        """The same pulses of scans with other numbers, shape (n,)."""
        return self._with(turns=shown(np.ascontiguousarray(turns, np.int64)))

    def _with(self, **changed: Any) -> MeasuredPulses:
        """The same pulses but for what cannot have become wrong, so that they are not looked through again."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changed)
        return made

    def placed(self, path: Pose | Trajectory, times: NDArray[np.float64] | None = None) -> MeasuredPulses:
        """The same pulses, of a sensor that stands at a pose or moves along a path by the ``times`` [s] of each."""
        if isinstance(path, Pose):
            return replace(self, origins=path.apply(self.origins), directions=self.directions @ path.rotation.T)
        assert times is not None
        origins, directions = np.empty_like(self.origins), np.empty_like(self.directions)
        _place(self.origins, self.directions, times, _knots(path, times), (origins, directions))
        return self._with(origins=shown(origins), directions=shown(directions))

    @property
    def middle(self) -> NDArray[np.float64]:
        """[m] whole metres near where the pulses ended, 0 along axes that are within a kilometre of zero, shape (3,)"""
        points = self.points[self.hit]
        if not len(points):
            return np.zeros(3)
        middle = np.median(points, axis=0)
        return np.where(np.abs(middle) > _FAR, np.round(middle), 0.0)

    def select(self, rows: Any) -> MeasuredPulses:
        """The chosen rows (a mask or indices)."""
        chosen = {name: shown(np.ascontiguousarray(getattr(self, name)[rows])) for name in _COLUMNS}
        if not len(chosen["ranges"]):
            raise InputError("pulses: there are none; check the file, the box and the chosen revolutions")
        return self._with(**chosen)

    def inside(self, box: Sequence[float]) -> NDArray[np.bool_]:
        """Whether a pulse ended in a box (x, y, z of the lowest corner, then of the highest) [m], shape (n,)."""
        low, high = box_corners(box)
        points = self.points
        found: NDArray[np.bool_] = np.all((points >= low) & (points < high), axis=1)
        if not found.any():
            seen = points[self.hit]
            extent = (
                f"the points lie within {np.round(seen.min(0), 1).tolist()} and {np.round(seen.max(0), 1).tolist()}"
                if len(seen)
                else "no pulse has a return"
            )
            raise InputError.of("box", "no points in the box", [*low.tolist(), *high.tolist()], extent)
        return found


@kernel
def _make_unit(vectors: Any, units: Any) -> bool:
    """Fill in vectors (n, 3) of the same directions and the length 1; False where one has no length."""
    vectors, units = borrowed((vectors, units))
    for p in range(len(vectors)):
        x, y, z = vectors[p, 0], vectors[p, 1], vectors[p, 2]
        length = math.sqrt(x * x + y * y + z * z)
        if not length > 0:
            return False
        units[p, 0], units[p, 1], units[p, 2] = x / length, y / length, z / length
    return True


@kernel
def _looked_through(origins: Any, directions: Any) -> Any:
    """Whether vectors (n, 3) are finite, all of them, and whether the directions are of unit length, to a thousandth."""
    origins, directions = borrowed((origins, directions))
    finite, unit = True, True
    for p in range(len(directions)):
        x, y, z = directions[p, 0], directions[p, 1], directions[p, 2]
        for a in range(3):
            finite = finite and abs(origins[p, a]) < math.inf and abs(directions[p, a]) < math.inf
        unit = unit and abs(math.sqrt(x * x + y * y + z * z) - 1) <= 1e-3
    return finite, unit


def _knots(path: Trajectory, times: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Times (k,) [s], positions (k, 3) and rotation matrices (k, 3, 3) between which a sensor moves on straight lines.

    At whole 2 ms: many pulses share such a piece, and in 2 ms even a sensor that turns by 90° a second turns by less than
    its lines bend.
    """
    low, high = float(times.min()), float(times.max())
    first, last = int(np.floor(low / _POSE_STEP)) - 1, int(np.ceil(high / _POSE_STEP)) + 1
    even = np.arange(first, last + 1) * _POSE_STEP  # the same poses whatever part of the pulses is asked for
    knots = np.unique(np.concatenate([even, path.times[(path.times > even[0]) & (path.times < even[-1])]]))
    positions, quaternions = path.at(knots)
    return knots, np.ascontiguousarray(positions), np.ascontiguousarray(Rotation.from_quat(quaternions).as_matrix())


@kernel
def _place(origins: Any, directions: Any, times: Any, path: Any, out: Any) -> None:
    """Pulses as they lie in the world; ``path`` is what `_knots` gives, ``out`` the origins and directions to fill."""
    origins, directions, times = borrowed((origins, directions, times))
    knots, positions, turns = borrowed(path)
    placed, ways = borrowed(out)
    k = 0
    for p in range(len(times)):
        t = times[p]
        if not (knots[k] <= t and (k + 2 >= len(knots) or t < knots[k + 1])):
            k = min(max(np.searchsorted(knots, t, side="right") - 1, 0), max(len(knots) - 2, 0))
        after = min(k + 1, len(knots) - 1)
        share = (t - knots[k]) / max(knots[after] - knots[k], 1e-12)
        length = 0.0
        for a in range(3):
            at = positions[k, a] + share * (positions[after, a] - positions[k, a])
            way = 0.0
            for b in range(3):
                turn = turns[k, a, b] + share * (turns[after, a, b] - turns[k, a, b])
                at += turn * origins[p, b]
                way += turn * directions[p, b]
            placed[p, a], ways[p, a] = at, way
            length += way * way
        length = math.sqrt(length)
        for a in range(3):
            ways[p, a] /= length


_COLUMNS = {
    "origins": np.float64, "directions": np.float64, "ranges": np.float64, "intensity": np.float32, "rings": np.uint16,
    "azimuths": np.float64, "turns": np.int64, "others": np.float32,
    "labels": np.uint16, "colors": np.uint8,
}  # fmt: skip
"""what has a row a pulse"""


def measured_pulses(frame: Frame, *, reach: float | None = None) -> MeasuredPulses:
    """The pulses of a frame, in the world where it has a trajectory; scan with ``keep_misses`` to have them all.

    Of several returns of a pulse the first row is taken: it is the one that the permeability was made for. The second is
    that it had another.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> bool(tussock.measured_pulses(frame, reach=100).hit.any())
    True
    """
    first = frame.return_number <= 1
    rows = frame.select(first) if not first.all() else frame
    way = np.stack(
        [
            np.cos(rows.elevation) * np.cos(rows.azimuth),
            np.cos(rows.elevation) * np.sin(rows.azimuth),
            np.sin(rows.elevation),
        ],
        1,
    ).astype(np.float64)
    start = np.where(rows.hit[:, None], rows.xyz - rows.range[:, None] * way, 0.0).astype(np.float64)
    _fill_origins(start, rows)
    if rows.trajectory is not None:
        positions, quaternions = rows.trajectory.at(rows.time)
        turn = Rotation.from_quat(quaternions)
        start, way = turn.apply(start) + positions, turn.apply(way)
    pulses = MeasuredPulses.of(
        start, way, np.where(rows.hit, rows.range, np.nan), intensity=np.clip(rows.intensity, 0, 1),
        rings=_rings(rows), azimuths=rows.azimuth, turns=np.full(len(rows), rows.meta.get("frame", 0)),
        reach=reach or _told_reach(rows), complete=len(rows) >= frame.pulses, others=_others(frame, rows),
        noise=told_noise(frame.meta.get("sensor")),
    )  # fmt: skip
    return replace(pulses, labels=np.where(rows.hit, rows.label, 0).astype(np.uint16), label_names=_label_names(frame))


def _label_names(frame: Frame) -> dict[int, str]:
    """What the frame's labels are called; what a file says may be anything."""
    told = frame.meta.get("labels")
    pairs = told.items() if isinstance(told, dict) else ()
    found = ((number, name) if isinstance(number, int) else (name, number) for name, number in pairs)
    return {int(number): str(name) for number, name in found if str(number).isdigit()}


def _told_reach(frame: Frame) -> float | None:
    """[m] how far the sensor measures, where the frame tells it; what a file says may be anything."""
    told: Any = frame.meta
    for key in ("sensor", "receiver", "max_range_m"):
        told = told.get(key) if isinstance(told, dict) else None
    return float(told) if isinstance(told, int | float) and 0 < told < np.inf else None


def _others(frame: Frame, rows: Frame) -> NDArray[np.float32] | None:
    """The range of the second row of each pulse, NaN where there is none or it is the first again, shape (rows,)."""
    second = frame.return_number == 2
    if not second.any():
        return None
    order = np.argsort(frame.pulse[second], kind="stable")
    pulses, ranges = frame.pulse[second][order], frame.range[second][order]
    place = np.searchsorted(pulses, rows.pulse, side="right") - 1  # a damaged file may number pulses anyhow
    others = np.where(pulses[place] == rows.pulse, ranges[place], np.float32(np.nan))
    return np.where(others == rows.range, np.float32(np.nan), others)


def _rings(frame: Frame) -> NDArray[np.int64]:
    """The lasers numbered from the lowest elevation up, as recordings are, whatever the order of firing; shape (n,)."""
    _, laser, count = np.unique(frame.laser, return_inverse=True, return_counts=True)
    mean = np.bincount(laser, frame.elevation) / count
    rank: NDArray[np.int64] = np.argsort(np.argsort(mean, kind="stable"), kind="stable")
    return rank[laser]


def _fill_origins(start: NDArray[np.float64], frame: Frame) -> None:
    """Pulses without return leave from where the others of their laser do."""
    lasers = int(frame.laser.max(initial=0)) + 1
    hit = frame.hit
    count = np.bincount(frame.laser[hit], minlength=lasers)
    total = np.stack([np.bincount(frame.laser[hit], start[hit, a], lasers) for a in range(3)], 1)
    mean = total / np.maximum(count, 1)[:, None]
    start[~hit] = mean[frame.laser[~hit]]


def join_pulses(
    parts: Sequence[MeasuredPulses], *, rows: Sequence[NDArray[np.bool_]] | None = None, threads: int = 1
) -> MeasuredPulses:
    """Several sets of pulses as one, their scans numbered on; of each the chosen ``rows``, or all.

    >>> one = tussock.MeasuredPulses.of([0, 0, 0], [[1, 0, 0]], [4.0])
    >>> len(tussock.join_pulses([one, one]))
    2
    """
    if not parts:
        raise InputError("pulses: cannot be joined from no parts")
    chosen = None if rows is None else [np.flatnonzero(some) for some in rows]
    if chosen is not None and not any(map(len, chosen)):
        raise InputError("pulses: there are none; check the file, the box and the chosen revolutions")

    def joined(name: str) -> NDArray[Any]:
        arrays = [getattr(part, name) for part in parts]
        ends = np.cumsum([0] + [int(part.turns.max()) + 1 for part in parts]) if name == "turns" else None
        if chosen is not None:
            arrays = [np.take(array, some, axis=0) for array, some in zip(arrays, chosen, strict=True)]
        if ends is not None:
            arrays = [array + end for array, end in zip(arrays, ends, strict=False)]
        return np.concatenate(arrays)

    columns = dict(zip(_COLUMNS, run_jobs([partial(joined, name) for name in _COLUMNS], threads), strict=True))
    # Of several sensors, what the one with the least noise adds is in all of their ranges.
    noise = min((part.noise for part in parts), key=lambda law: float(law.variances(_GREY, _FAR_WALL)[0]))
    return parts[0]._with(
        **{name: shown(column) for name, column in columns.items()},
        reach=max(part.reach for part in parts),
        complete=all(part.complete for part in parts),
        noise=noise,
        label_names={number: name for part in parts for number, name in part.label_names.items()},
    )
