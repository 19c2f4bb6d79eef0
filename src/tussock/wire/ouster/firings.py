"""Every firing in the packets of an Ouster, with or without return.

All lasers of a column fire together; a column that did not come, or is marked as bad, was not fired as far as anybody
knows and is left out. Of two returns the first is the strongest.

A packet holds up to 2,048 pulses and tells 12 bytes of each; 84 describe it. Read are ranges and intensities, in one pass
from the bytes of the capture. What follows from a pulse's column and laser alone, `OusterFirings` makes when asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.frames.memory import reused
from tussock.kernels import Array, loop_kernel
from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.firings import Firings
from tussock.wire.ouster.decode import Columns, OusterScan, beam_table, read_columns
from tussock.wire.ouster.encode import WHITE
from tussock.wire.ouster.profiles import PROFILES
from tussock.wire.ouster.read import lidar_datagrams

__all__ = ["OusterFirings", "firings_of_scans", "ouster_firings"]

_AT_ONCE = 4_000_000_000  # [ns] device clocks that are this near to the recorder's are the same clock


def ouster_firings(found: Datagrams, unit: OusterUnit, sender: str | None, say: Callable[[str], None]) -> Firings:
    """All pulses of one unit in a capture; what is missing is told to ``say``."""
    chosen = lidar_datagrams(found, unit, sender)
    for note in found.losses.notes(found.path):
        say(note)
    columns = read_columns(chosen.data, chosen.start, unit)
    stamps = columns.timestamp[:, 0].astype(np.int64)
    # A packet leaves when its last column is measured.
    lasts = round(1e9 * unit.columns_per_packet / (unit.columns * unit.rate_hz))
    apart = int(np.median(chosen.time_ns - lasts - stamps))
    return _fired(chosen, columns, unit, 0 if abs(apart) < _AT_ONCE else apart, _Saying(found.path, say))


class _Saying(NamedTuple):
    """Whom to tell what is missing, and of which file."""

    path: Path
    say: Callable[[str], None]


def _fired(chosen: Datagrams, columns: Columns, unit: OusterUnit, offset_ns: int, saying: _Saying) -> OusterFirings:
    """The pulses of all good columns, in the order of frames and of columns in them, each once."""
    profile = PROFILES[unit.profile]
    first = int(columns.number.min())
    frames = np.broadcast_to((columns.number - first)[:, None], columns.measurement.shape)
    place = frames * unit.columns + columns.measurement
    good = np.flatnonzero(columns.good.ravel())
    place = place.ravel()[good]
    if (np.diff(place) <= 0).any():
        _say_mixed(place, good // unit.columns_per_packet, saying)
        order = np.argsort(place, kind="stable")
        # Of a column that came twice the later one counts.
        order = order[np.append(np.diff(place[order]) > 0, True)]
        good, place = good[order], place[order]
    turns, measured = np.divmod(place, unit.columns)
    _say_missing(turns, measured, np.unique(columns.number) - first, unit, saying)
    packet, within = np.divmod(good, unit.columns_per_packet)
    times = (columns.timestamp.ravel()[good].astype(np.int64) + offset_ns) / 1e9
    first = chosen.start[packet] + profile.header + profile.column_header + within * profile.column(unit.lasers)
    shape = (len(good) * unit.lasers, profile.returns)
    ranges = reused(8 * shape[0] * shape[1]).view(np.float64)
    intensity = reused(4 * shape[0] * shape[1]).view(np.float32)
    column = _Column(np.empty(shape[1] * unit.lasers, np.int32), np.empty(shape[1] * unit.lasers, np.uint8))
    _read_pixels(chosen.data, first, _fields(unit), column, ranges, intensity)
    return OusterFirings(
        unit, _Fired(measured, turns.astype(np.int32), times), ranges.reshape(shape), intensity.reshape(shape)
    )


def _say_mixed(place: NDArray[np.int64], packet: NDArray[np.int64], saying: _Saying) -> None:
    """Count what came in another order than it was measured, or twice: the places of good columns as they came."""
    begins = np.flatnonzero(np.diff(packet, prepend=-1))
    order = np.argsort(place[begins], kind="stable")
    mixed = int((np.diff(order) < 0).sum())
    if mixed:
        saying.say(f"{saying.path}: {mixed} data packets came in another order than they were sent")
    again = len(place) - len(np.unique(place))
    if again:
        saying.say(f"{saying.path}: {again} columns came twice")


def _say_missing(
    turns: NDArray[np.int64], measured: NDArray[np.int64], seen: NDArray[np.int64], unit: OusterUnit, saying: _Saying
) -> None:  # fmt: skip
    """Count what did not come between the first column and the last; ``seen`` are the frames of which some packet did."""
    low, high = unit.window
    wanted = (high - low) % unit.columns + 1
    # How many columns of a revolution are measured up to each.
    so_far = np.cumsum((np.arange(unit.columns) - low) % unit.columns < wanted)
    missing = 0
    if len(turns):
        first, last = (np.searchsorted(seen, turns[at]) * wanted + so_far[measured[at]] for at in (0, -1))
        missing = int(last - first) + 1 - len(turns)
    for count, text in (
        (missing, "columns are missing"),
        (int((np.diff(seen) - 1).sum()), "revolutions are missing"),
    ):
        if count > 0:
            saying.say(f"{saying.path}: {count} {text}")


class _Fired(NamedTuple):
    """The columns that were fired, in order, each of shape (n,)."""

    measured: NDArray[np.int64]
    """number of the column in a revolution"""
    turns: NDArray[np.int32]
    times: NDArray[np.float64]
    """[s]"""


class OusterFirings(Firings):
    """Firings whose directions, origins, times and numbers are made when they are first asked for."""

    _unit: OusterUnit
    _fired: _Fired

    def __init__(
        self, unit: OusterUnit, fired: _Fired, ranges: NDArray[np.float64], intensity: NDArray[np.float32]
    ) -> None:
        kinds = ("strongest", "echo")[: ranges.shape[1]]
        self.__dict__ |= {
            "sensor": unit.product.lower(), "kinds": kinds, "ranges": ranges, "intensity": intensity, "complete": True,
            "_unit": unit, "_fired": fired,
        }  # fmt: skip

    @cached_property
    def times(self) -> NDArray[np.float64]:
        return np.repeat(self._fired.times, self._unit.lasers)

    @cached_property
    def turns(self) -> NDArray[np.int32]:
        return np.repeat(self._fired.turns, self._unit.lasers)

    @cached_property
    def lasers(self) -> NDArray[np.uint16]:
        return np.tile(np.arange(self._unit.lasers, dtype=np.uint16), len(self._fired.times))

    @cached_property
    def rings(self) -> NDArray[np.uint16]:
        return np.tile(_rings(self._unit).astype(np.uint16), len(self._fired.times))

    @cached_property
    def azimuths(self) -> NDArray[np.float64]:
        return np.take(_beams(self._unit).azimuths, self._fired.measured, axis=0).reshape(-1)

    @cached_property
    def origins(self) -> NDArray[np.float64]:
        return np.repeat(_beams(self._unit).origins[self._fired.measured], self._unit.lasers, axis=0)

    @cached_property
    def directions(self) -> NDArray[np.float64]:
        return np.take(_beams(self._unit).directions, self._fired.measured, axis=0).reshape(-1, 3)


class _Beams(NamedTuple):
    """Where the beams of a unit are, column by column."""

    directions: NDArray[np.float64]
    """shape (columns, lasers, 3)"""
    azimuths: NDArray[np.float64]
    """shape (columns, lasers)"""
    origins: NDArray[np.float64]
    """[m], the same for all lasers of a column, shape (columns, 3)"""


class _Fields(NamedTuple):
    """Ranges and reflectivities in a pixel, by return."""

    pixel: int
    range_at: NDArray[np.int64]
    mask: int
    step: int
    bright_at: NDArray[np.int64]
    white: np.float32
    """reflectivity of what is white"""
    axis_m: float


class _Column(NamedTuple):
    """Room for what the pixels of one column say, laser by laser, the returns of each side by side."""

    steps: NDArray[np.int32]
    bright: NDArray[np.uint8]


@lru_cache(maxsize=4)
def _beams(unit: OusterUnit) -> _Beams:
    directions, origins = beam_table(unit)
    ways = np.ascontiguousarray(directions.transpose(1, 0, 2))
    azimuths = np.arctan2(ways[..., 1], ways[..., 0])
    return _Beams(ways, azimuths, np.ascontiguousarray(origins[0]))


def _rings(unit: OusterUnit) -> NDArray[np.int64]:
    return np.argsort(np.argsort(unit.altitude_deg, kind="stable"), kind="stable")


def _fields(unit: OusterUnit) -> _Fields:
    profile = PROFILES[unit.profile]
    ranges, bright = (
        [field for field in profile.fields if field.name.rstrip("2") == name] for name in ("RANGE", "REFLECTIVITY")
    )
    at = [np.array([field.at for field in fields], np.int64) for fields in (ranges, bright)]
    mask, white = (1 << ranges[0].bits) - 1, np.float32(WHITE)
    return _Fields(profile.pixel, at[0], mask, ranges[0].step, at[1], white, unit.axis_mm / 1000)


@loop_kernel
def _read_pixels(
    data: Array, firsts: Array, fields: _Fields, column: _Column, ranges: Array, intensity: Array
) -> None:  # fmt: skip
    """Ranges and intensities of all pulses; the pixels of a column begin at its byte ``firsts`` of ``data``."""
    size, range_at, mask, step, bright_at, white, axis_m = fields
    bits, factor = np.uint32(mask), np.int32(step)
    # Places without a sign cannot count from the end, which saves asking.
    i, wide, returns, many = np.uint64(0), np.uint64(size), np.uint64(len(range_at)), np.uint64(len(column.steps))
    for c in range(len(firsts)):
        for k in range(returns):
            first, bright = np.uint64(firsts[c] + range_at[k]), np.uint64(firsts[c] + bright_at[k])
            for laser in range(many // returns):
                at = first + laser * wide
                # Four bytes at once, of which no pixel has fewer.
                word = np.uint32(data[at]) | np.uint32(data[at + np.uint64(1)]) << np.uint32(8)
                word |= np.uint32(data[at + np.uint64(2)]) << np.uint32(16)
                word |= np.uint32(data[at + np.uint64(3)]) << np.uint32(24)
                column.steps[laser * returns + k] = np.int32(word & bits)
                column.bright[laser * returns + k] = data[bright + laser * wide]
        # Taken together in one place, a column is computed by vector code.
        for j in range(many):
            steps = column.steps[j]
            reach = np.float64(np.int32(steps * factor)) / 1000.0 - axis_m
            shine = np.float32(column.bright[j]) / white
            ranges[i + j] = reach if steps > 0 else np.nan
            intensity[i + j] = shine if steps > 0 else np.float32(0.0)
        i += many


def firings_of_scans(scans: list[OusterScan], *, offset_ns: int = 0) -> Firings:
    """The pulses of revolutions, column by column; ``offset_ns`` is added to the sensor's times."""
    unit = scans[0].unit
    directions, origins = beam_table(unit)
    returns = PROFILES[unit.profile].returns
    suffixes = ("", "2")[:returns]
    parts: dict[str, list[NDArray]] = {name: [] for name in ("times", "turns", "columns", "ranges", "intensity")}
    for scan in scans:
        there = np.flatnonzero(scan.status)
        reach = np.stack([scan.fields[f"RANGE{s}"][:, there].T for s in suffixes], -1) / 1000.0
        bright = np.stack([scan.fields[f"REFLECTIVITY{s}"][:, there].T for s in suffixes], -1)
        parts["times"].append((scan.timestamp[there].astype(np.int64) + offset_ns) / 1e9)
        parts["turns"].append(np.full(len(there), scan.number - scans[0].number))
        parts["columns"].append(there)
        parts["ranges"].append(np.where(reach > 0, reach - unit.axis_mm / 1000, np.nan))
        parts["intensity"].append(np.where(reach > 0, bright / np.float32(WHITE), 0))
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    count = len(joined["times"])
    laser = np.tile(np.arange(unit.lasers), count)
    column = np.repeat(joined["columns"], unit.lasers)
    ways = directions[laser, column]
    return Firings(
        sensor=unit.product.lower(),
        kinds=("strongest", "echo")[:returns],
        times=np.repeat(joined["times"], unit.lasers),
        lasers=laser.astype(np.uint16),
        rings=_rings(unit)[laser].astype(np.uint16),
        turns=np.repeat(joined["turns"], unit.lasers).astype(np.int32),
        azimuths=np.arctan2(ways[:, 1], ways[:, 0]),
        origins=origins[laser, column],
        directions=ways,
        ranges=joined["ranges"].reshape(-1, returns),
        intensity=joined["intensity"].reshape(-1, returns).astype(np.float32),
    )
