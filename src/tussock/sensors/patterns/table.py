"""A pattern from the user's own table: a CSV file of angles and times.

Columns ``azimuth_deg`` (counter-clockwise from x), ``elevation_deg``, ``time_s`` since the start of a frame, and
optionally ``laser`` (a whole number; 0 where the column is missing). Rows are pulses in firing order. Every frame
repeats the table. A frame lasts ``frame_period_s``, or one mean step longer than the last time.

With ``cut_every_s`` the table is a longer stream that frames are cut out of, one behind the other, and that begins
again at its end: a non-repetitive pattern that was recorded or published as a table. The heading of those in
livox_laser_simulation (``Time/s,Azimuth/deg,Zenith/deg``; zenith counts down from straight up) is understood.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from tussock.errors import InputError, cause
from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import Pattern, decimal, pulses_from_angles
from tussock.sensors.pulses import Pulses

__all__ = ["TablePattern"]

COLUMNS = ("azimuth_deg", "elevation_deg", "time_s")
_LIVOX = {"Time/s": "time_s", "Azimuth/deg": "azimuth_deg", "Zenith/deg": "zenith_deg"}
_ROUNDING = 1e-9  # [s] a pulse that is meant to be on a cut must not miss it by a rounding error


class TablePattern(Pattern):
    """The pulses of a CSV file, frame after frame.

    >>> table = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.05]])
    >>> np.savetxt("two.csv", table, delimiter=",", header="azimuth_deg,elevation_deg,time_s", comments="")
    >>> len(tussock.TablePattern(file="two.csv", frame_period_s=0.1).pulses(0))
    2
    """

    kind: Literal["table"] = "table"
    file: Path
    """in a sensor file: relative to that file"""
    frame_period_s: Positive | None = None
    """from the start of the table to its next start"""
    cut_every_s: Positive | None = None
    """length of the frames that are cut out of a long table"""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        last = float(self._pulses.offsets[-1])
        if self.frame_period_s is not None and self.frame_period_s < last:
            raise ValueError(f"frame_period_s must not end before the last pulse, at {last:g} s")
        if self.frame_period_s is None and last == 0:
            raise ValueError("frame_period_s is needed where all pulses fire at time 0")
        if self.cut_every_s is not None:
            steps = np.diff(self._pulses.offsets, append=self._table_period)
            if steps.max() >= self.cut_every_s:
                raise ValueError(f"cut_every_s must be longer than the longest pause between pulses, {steps.max():g} s")
        return self

    @property
    def _pulses(self) -> Pulses:
        return _read(self.file, *self._state)

    @property
    def _state(self) -> tuple[int, int]:
        """Time of change [ns] and size [bytes] of the file."""
        try:
            state = self.file.stat()
        except OSError:
            raise InputError(f"{self.file}: no such file") from None
        return state.st_mtime_ns, state.st_size

    def told(self) -> dict[str, Any]:
        return super().told() | {"file": self.file.name, "sha256": _digest(self.file, *self._state)}

    @property
    def frame_period(self) -> float:
        return self._table_period if self.cut_every_s is None else self.cut_every_s

    @property
    def _table_period(self) -> float:
        if self.frame_period_s is not None:
            return self.frame_period_s
        offsets = self._pulses.offsets
        return float(offsets[-1]) * len(offsets) / (len(offsets) - 1)

    @property
    def lasers(self) -> int:
        return int(self._pulses.lasers.max()) + 1

    def pulses(self, frame: int) -> Pulses:
        return self._pulses if self.cut_every_s is None else self._piece(frame)

    def _piece(self, frame: int) -> Pulses:
        """The rows of one frame's time, of a table that begins again at its end."""
        table, period = self._pulses, decimal(self._table_period)
        assert self.cut_every_s is not None
        length = decimal(self.cut_every_s)
        start = frame * length
        parts: list[NDArray[np.int64]] = []
        offsets: list[NDArray[np.float64]] = []
        for turn in range(int(start // period), int(-(-(start + length) // period))):
            begin = float(start - turn * period)
            rows = np.arange(*np.searchsorted(table.offsets, [begin - _ROUNDING, begin + float(length) - _ROUNDING]))
            parts.append(rows)
            offsets.append(np.maximum(table.offsets[rows] - begin, 0.0))
        rows = np.concatenate(parts)
        return Pulses(
            table.directions[rows], None, np.concatenate(offsets), table.lasers[rows], table.azimuths[rows],
            table.elevations[rows],
        )  # fmt: skip


@lru_cache(maxsize=8)
def _digest(path: Path, changed_ns: int, size: int) -> str:
    """Of the table's bytes; time of change and size are there to read a changed file anew."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=8)
def _read(path: Path, changed_ns: int, size: int) -> Pulses:
    """The table; time of change and size are there to read a changed file anew."""
    columns = _columns(path)
    line = np.arange(len(columns["time_s"])) + 2
    if len(line) == 0:
        raise InputError("holds no pulses; give one row a pulse below the heading", source=path)
    for name, values in columns.items():
        _refuse(path, name, ~np.isfinite(values), line, values, "must be a number in every row")
    time, elevation = columns["time_s"], columns["elevation_deg"]
    laser = columns.get("laser", np.zeros(len(line)))
    _refuse(path, "time_s", time < 0, line, time, "must not be negative")
    _refuse(path, "time_s", np.diff(time, prepend=0) < 0, line, time, "must not decrease; sort the rows by time")
    _refuse(path, "elevation_deg", np.abs(elevation) > 90, line, elevation, "must lie within -90 and 90")
    wrong = (laser != np.floor(laser)) | (laser < 0) | (laser > 65535)
    _refuse(path, "laser", wrong, line, laser, "must be a whole number from 0 to 65535")
    azimuth = np.deg2rad(columns["azimuth_deg"])
    return pulses_from_angles(azimuth, np.deg2rad(elevation), time, laser.astype(np.uint16))


def _columns(path: Path) -> dict[str, NDArray[np.float64]]:
    """The known columns as numbers; an empty cell is NaN."""
    from pyarrow import ArrowInvalid, csv, float64

    known = (*COLUMNS, "laser")
    try:
        table: Any = csv.read_csv(
            path, convert_options=csv.ConvertOptions(column_types=dict.fromkeys((*known, *_LIVOX), float64()))
        )
    except (OSError, ArrowInvalid) as error:
        raise InputError(f"cannot be read as a CSV table of numbers: {cause(error, 300)}", source=path) from None
    names = [_LIVOX.get(name.strip(), name.strip()) for name in table.column_names]
    if "zenith_deg" in names:
        at = names.index("zenith_deg")
        from pyarrow import compute

        table = table.set_column(at, "elevation_deg", compute.subtract(90.0, table.column(at)))
        names[at] = "elevation_deg"
    for name in COLUMNS:
        if name not in names:
            found = ", ".join(names)
            raise InputError(f"the column {name} is missing; the heading has: {found}", source=path)
    for name in names:
        if name not in known:
            raise InputError(f"unknown column {name!r}; known: {', '.join(known)}", source=path)
    return {name: table.column(at).to_numpy().astype(np.float64, copy=False) for at, name in enumerate(names)}


def _refuse(
    path: Path,
    name: str,
    wrong: NDArray[np.bool_],
    line: NDArray[np.integer],
    values: NDArray[np.float64],
    rule: str,
) -> None:
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError.of(f"line {line[at]}: {name}", rule, float(values[at]), source=path)
