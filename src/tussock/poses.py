"""Where a body is, and where it is when.

A `Pose` is ``T_world_body``: it maps the body's coordinates to the world's. A `Trajectory` is a list of poses
with times; between them the position moves on a straight line and the rotation turns at a constant rate
(slerp). Metres, seconds and radians; x forward, y left, z up; quaternions are (x, y, z, w).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation, Slerp

from tussock.arrays import FloatArray, read_only, sealed
from tussock.errors import InputError, nearest
from tussock.limits import read_text
from tussock.once import once_for_each
from tussock.sbet import SBET_SUFFIXES, read_sbet
from tussock.shown import Shown

__all__ = ["Pose", "Trajectory", "check_covered"]


_TUM = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")
_AT_ZERO = sealed(np.zeros(1))
_ANGLES = ("roll_deg", "pitch_deg", "yaw_deg")
_CSV = ("time_s", *_TUM[1:], *_ANGLES)


@dataclass(frozen=True, eq=False)
class Pose:
    """One placement in space: ``x_world = rotation @ x_body + position``.

    >>> pose = tussock.Pose.at(1, 2, 3, yaw=np.pi / 2)
    >>> pose.apply([[1.0, 0.0, 0.0]]).round(6).tolist()
    [[1.0, 3.0, 3.0]]
    """

    position: FloatArray = field(default_factory=lambda: np.zeros(3))
    """[m], world, shape (3,)"""
    quaternion: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))
    """unit quaternion (x, y, z, w), shape (4,)"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", read_only(_finite("pose position", self.position, (3,))))
        quaternion = _finite("pose quaternion", self.quaternion, (4,))
        _check_lengths("pose quaternion", quaternion)
        object.__setattr__(self, "quaternion", read_only(_unit(quaternion)))

    @classmethod
    def at(cls, x: float = 0, y: float = 0, z: float = 0, *, roll: float = 0, pitch: float = 0, yaw: float = 0) -> Pose:
        """A pose by position [m] and roll, pitch, yaw [rad], applied about x, then y, then z."""
        turn = Rotation.from_euler("xyz", [roll, pitch, yaw])
        return cls(np.array([x, y, z], float), turn.as_quat())

    @classmethod
    def parse(cls, text: str) -> Pose:
        """Read ``x,y,z`` or ``x,y,z,roll,pitch,yaw`` (metres, degrees), as the command line gives it."""
        try:
            numbers = [float(part) for part in text.replace(" ", "").split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (3, 6) or not np.isfinite(numbers).all():
            raise InputError.of("pose", "must be x,y,z or x,y,z,roll,pitch,yaw (m, deg)", text)
        roll, pitch, yaw = np.deg2rad(numbers[3:]) if len(numbers) == 6 else (0.0, 0.0, 0.0)
        return cls.at(*numbers[:3], roll=roll, pitch=pitch, yaw=yaw)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """From a 3×4 or 4×4 rigid transform."""
        m = np.asarray(matrix, float)
        if m.shape not in ((3, 4), (4, 4)) or not np.isfinite(m).all():
            raise InputError.of("pose matrix", "must be 3×4 or 4×4 finite numbers", m.tolist())
        turn = m[:3, :3]
        if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) or np.linalg.det(turn) < 0:
            raise InputError.of("pose matrix", "must turn and shift, not scale or mirror", turn.tolist())
        return cls(m[:3, 3], Rotation.from_matrix(m[:3, :3]).as_quat())

    @property
    def rotation(self) -> FloatArray:
        """shape (3, 3)"""
        return Rotation.from_quat(self.quaternion).as_matrix()

    @property
    def matrix(self) -> FloatArray:
        """shape (4, 4)"""
        m = np.eye(4)
        m[:3, :3], m[:3, 3] = self.rotation, self.position
        return m

    def __matmul__(self, other: Pose) -> Pose:
        """``T_world_a @ T_a_b`` is ``T_world_b``."""
        return Pose.from_matrix(self.matrix @ other.matrix)

    def inverse(self) -> Pose:
        back = self.rotation.T
        return Pose(-back @ self.position, Rotation.from_matrix(back).as_quat())

    def apply(self, points: ArrayLike) -> FloatArray:
        """Body points (n, 3) in world coordinates."""
        return np.asarray(points, float) @ self.rotation.T + self.position


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shown):
    """Poses with times; before the first and after the last the body stands still.

    >>> way = tussock.Trajectory.through([0, 2], [tussock.Pose.at(0), tussock.Pose.at(10)])
    >>> float(way.pose(1.0).position[0])
    5.0
    """

    times: FloatArray
    """[s], strictly increasing, shape (n,)"""
    positions: FloatArray
    """[m], world, shape (n, 3)"""
    quaternions: FloatArray
    """(x, y, z, w), shape (n, 4)"""

    def __post_init__(self) -> None:
        times = _floats("trajectory times", self.times)
        if times.ndim != 1:
            raise InputError.of("trajectory times", "must have the shape (n,)", times.shape)
        n = len(times)
        if n == 0:
            raise InputError("trajectory: needs at least one pose, got none")
        if not np.isfinite(times).all():
            raise InputError("trajectory times: must be finite")
        if (np.diff(times) <= 0).any():
            k = int(np.argmax(np.diff(times) <= 0))
            raise InputError.of(
                "trajectory times",
                "must increase",
                f"{times[k]:g} s then {times[k + 1]:g} s",
                "sort the rows",
            )
        quaternions = _finite("trajectory quaternions", self.quaternions, (n, 4))
        _check_lengths("trajectory quaternions", quaternions)
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "positions", read_only(_finite("trajectory positions", self.positions, (n, 3))))
        object.__setattr__(self, "quaternions", read_only(_unit(quaternions)))

    @classmethod
    def standing(cls, pose: Pose) -> Trajectory:
        """At one pose, always."""
        if not isinstance(pose, Pose):
            raise InputError.of("pose", "must be a Pose or a Trajectory", pose, "for example tussock.Pose.at(0, 0, 2)")
        return _standing(pose)

    @classmethod
    def through(cls, times: ArrayLike, poses: list[Pose]) -> Trajectory:
        return cls(
            np.asarray(times, float),
            np.array([p.position for p in poses]).reshape(-1, 3),
            np.array([p.quaternion for p in poses]).reshape(-1, 4),
        )

    @classmethod
    def level(cls, times: ArrayLike, positions: ArrayLike, yaw: ArrayLike) -> Trajectory:
        """Through ``positions`` (n, 3) [m] upright, each turned by its ``yaw`` (n,) [rad] about z."""
        half = np.asarray(yaw, float) / 2
        nought = np.zeros_like(half)
        return cls(
            np.asarray(times, float), np.asarray(positions, float),
            np.stack([nought, nought, np.sin(half), np.cos(half)], -1),
        )  # fmt: skip

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a TUM file (``t x y z qx qy qz qw``), a CSV file with a header, or an SBET file (.sbet, .out; UTM).

        The columns of a CSV file are time_s (or t), x, y, z, and qx, qy, qz, qw or any of roll_deg, pitch_deg,
        yaw_deg.
        """
        if Path(path).suffix.lower() in SBET_SUFFIXES:
            return cls(*read_sbet(Path(path)))
        text = read_text(Path(path))
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if not lines:
            raise InputError("holds no poses", source=path)
        first = lines[0].replace(",", " ").split()
        try:
            if first and not _is_number(first[0]):
                return cls._from_csv(lines)
            rows = _numbers([line.replace(",", " ").split() for line in lines], _TUM)
            return cls(rows[:, 0], rows[:, 1:4], rows[:, 4:8])
        except InputError as error:
            raise error.within(path) from None

    @classmethod
    def _from_csv(cls, lines: list[str]) -> Trajectory:
        header, *table = csv.reader(lines, skipinitialspace=True)
        names = ["time_s" if name.strip() == "t" else name.strip() for name in header]
        for name in names:
            if name not in _CSV:
                raise InputError(f"column {name!r}: unknown column; {nearest(name, _CSV)}")
        turned = [name for name in _TUM[4:] if name in names]
        needed = ["time_s", "x", "y", "z", *(_TUM[4:] if turned else [])]
        for name in needed:
            if name not in names:
                raise InputError(f"column {name!r}: is missing; it needs " + ", ".join(needed))
        if not table:
            raise InputError("holds no poses")
        values = dict(zip(names, _numbers(table, names).T, strict=True))
        positions = np.stack([values[name] for name in "xyz"], 1)
        if turned:
            quaternions = np.stack([values[name] for name in _TUM[4:]], 1)
        else:
            still = np.zeros(len(table))
            angles = np.stack([values.get(name, still) for name in _ANGLES], 1)
            quaternions = Rotation.from_euler("xyz", angles, degrees=True).as_quat()
        return cls(values["time_s"], positions, quaternions)

    def save_tum(self, path: Path | str) -> None:
        """Write ``t x y z qx qy qz qw`` rows, each number with the fewest digits that give back all its bits."""
        rows = np.column_stack([self.times, self.positions, self.quaternions]).tolist()
        lines = ["# " + " ".join(_TUM), *(" ".join(map(repr, row)) for row in rows)]
        Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")

    def check_covers(self, what: str, start: float, end: float, remedy: str = "", *, slack: float = 1e-9) -> None:
        """Refuse a path that moves and does not reach over ``what``, from ``start`` to ``end`` [s]."""
        if self.moving:
            check_covered("trajectory", (self.times[0], self.times[-1]), what, start, end, remedy, slack=slack)

    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"poses": f"{len(self.times):,}"}
        if self.moving:
            facts["time"] = f"{self.times[0]:g} s to {self.times[-1]:g} s"
        start, end = (", ".join(f"{x:g}" for x in position) for position in self.positions[[0, -1]])
        return facts | {"from": f"({start}) m"} | ({"to": f"({end}) m"} if self.moving else {})

    @property
    def moving(self) -> bool:
        return len(self.times) > 1

    def at(self, times: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Positions (n, 3) and unit quaternions (n, 4) at ``times`` [s]."""
        t = np.atleast_1d(np.asarray(times, float))
        if not self.moving:
            return np.repeat(self.positions, len(t), 0), np.repeat(self.quaternions, len(t), 0)
        clamped = np.clip(t, self.times[0], self.times[-1])
        # Of a long path only the poses about these times are looked at: what lies between two depends on no other.
        low, high = (clamped.min(), clamped.max()) if len(t) else (self.times[0], self.times[0])
        first = max(int(np.searchsorted(self.times, low, side="right")) - 2, 0)
        near = slice(first, int(np.searchsorted(self.times, high)) + 2)
        known = self.times[near]
        positions = np.stack([np.interp(clamped, known, self.positions[near, i]) for i in range(3)], 1)
        turns = Slerp(known, Rotation.from_quat(self.quaternions[near]))(clamped)
        return positions, turns.as_quat()

    def pose(self, time: float) -> Pose:
        positions, quaternions = self.at([time])
        return Pose(positions[0], quaternions[0])

    def matrices(self, times: ArrayLike) -> FloatArray:
        """Rigid transforms (n, 3, 4) at ``times`` [s]."""
        positions, quaternions = self.at(times)
        return np.concatenate([Rotation.from_quat(quaternions).as_matrix(), positions[:, :, None]], 2)

    def mounted(self, mount: Pose) -> Trajectory:
        """The trajectory of a sensor fixed to this body at ``mount`` (``T_body_sensor``).

        Where the body turns, the sensor moves on an arc: poses are added until their chords leave it by less than
        1e-5 of the sensor's distance from the body's origin.
        """
        times = self._turning_little()
        positions, quaternions = self.at(times)
        turns = Rotation.from_quat(quaternions)
        return Trajectory(
            times,
            positions + turns.apply(mount.position.copy()),
            (turns * Rotation.from_quat(mount.quaternion)).as_quat(),
        )

    def _turning_little(self) -> FloatArray:
        """Times [s], the path's own among them, between which the body turns by at most 0.008 rad."""
        if not self.moving:
            return self.times
        turns = Rotation.from_quat(self.quaternions)
        angles = (turns[:-1].inv() * turns[1:]).magnitude()
        counts = np.maximum(np.ceil(angles / 0.008).astype(int), 1)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        share = (np.arange(counts.sum()) - first) / np.repeat(counts, counts)
        low, high = np.repeat(self.times[:-1], counts), np.repeat(self.times[1:], counts)
        return np.append(low + share * (high - low), self.times[-1])


@once_for_each
def _standing(pose: Pose) -> Trajectory:
    made = object.__new__(Trajectory)  # what a pose holds is checked already
    object.__setattr__(made, "times", _AT_ZERO)
    object.__setattr__(made, "positions", read_only(pose.position[None]))
    object.__setattr__(made, "quaternions", sealed(_unit(pose.quaternion[None])))
    return made


def check_covered(
    field: str, span: tuple[float, float], what: str, start: float, end: float, remedy: str = "", *, slack: float = 1e-9
) -> None:
    """Refuse that ``what``, from ``start`` to ``end`` [s], lasts longer than the ``span`` of something [s]."""
    low, high = span
    slack = max(slack, 2 * float(np.spacing(max(abs(start), abs(end)))))  # at UNIX times a double has steps of 0.2 µs
    if start < low - slack or end > high + slack:
        rule = f"must cover {what} from {start:.12g} s to {end:.12g} s"
        raise InputError.of(field, rule, f"{low:.12g} s to {high:.12g} s", remedy)


def _check_lengths(name: str, quaternions: FloatArray) -> None:
    """Refuse quaternions that no rotation can be read from."""
    with np.errstate(over="ignore"):
        lengths = np.atleast_1d(np.linalg.norm(quaternions, axis=-1))
    if (lengths < 1e-9).any():
        raise InputError.of(name, "must not be zero", np.atleast_2d(quaternions)[np.argmin(lengths)].tolist())
    if not (lengths < 1e9).all():
        raise InputError.of(name, "must be of length 1", np.atleast_2d(quaternions)[np.argmax(lengths)].tolist())


def _unit(quaternions: FloatArray) -> FloatArray:
    """Quaternions of length 1; what has it already keeps its bits, so that files round-trip."""
    lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return np.where(np.abs(lengths - 1.0) < 4e-16, quaternions, quaternions / lengths)


def _finite(what: str, values: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    array = _floats(what, values)
    if array.shape != shape:
        raise InputError.of(what, f"must have the shape {shape}", array.shape)
    if not np.isfinite(array).all():
        raise InputError(f"{what}: must be finite, got NaN or infinity")
    return array


def _floats(what: str, values: ArrayLike) -> FloatArray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise InputError.of(what, "must be numbers", values) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(table: list[list[str]], names: Sequence[str]) -> FloatArray:
    """The cells of a table as numbers, shape (rows, columns); a bad row is named as it counts, from 1."""
    for number, row in enumerate(table, 1):
        if len(row) != len(names) or not all(map(_is_number, row)):
            raise InputError.of(f"pose {number}", f"must be {len(names)} numbers ({' '.join(names)})", " ".join(row))
    return np.array(table, float)
