"""Every firing in the packets of an Ouster, with or without return.

All lasers of a column fire together; a column that did not come, or is marked as bad, was not fired as far as anybody
knows and is left out. Of two returns the first is the strongest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, loop_kernel
from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.firing_loop import FiringColumns
from tussock.wire.firings import Firings
from tussock.wire.ouster.decode import Columns, OusterScan, beam_table, read_columns
from tussock.wire.ouster.encode import WHITE
from tussock.wire.ouster.profiles import PROFILES
from tussock.wire.ouster.read import lidar_datagrams

__all__ = ["firings_of_scans", "ouster_firings"]

_AT_ONCE = 4_000_000_000  # [ns] device clocks that are this near to the recorder's are the same clock


def ouster_firings(found: Datagrams, unit: OusterUnit, sender: str | None, say: Callable[[str], None]) -> Firings:
    """All pulses of one unit in a capture; what is missing is told to ``say``."""
    chosen = lidar_datagrams(found, unit, sender)
    for note in found.losses.notes(found.path):
        say(note)
    payloads = chosen.payloads()
    columns = read_columns(payloads, unit)
    stamps = columns.timestamp[:, 0].astype(np.int64)
    # A packet leaves when its last column is measured.
    lasts = round(1e9 * unit.columns_per_packet / (unit.columns * unit.rate_hz))
    apart = int(np.median(chosen.time_ns - lasts - stamps))
    return _fired(payloads, columns, unit, 0 if abs(apart) < _AT_ONCE else apart, _Saying(found.path, say))


class _Saying(NamedTuple):
    """Whom to tell what is missing, and of which file."""

    path: Path
    say: Callable[[str], None]


def _fired(
    payloads: NDArray[np.uint8], columns: Columns, unit: OusterUnit, offset_ns: int, saying: _Saying
) -> Firings:  # fmt: skip
    """The pulses of all good columns, in the order of frames and of columns in them, each once."""
    profile = PROFILES[unit.profile]
    first = int(columns.number.min())
    frames = np.broadcast_to((columns.number - first)[:, None], columns.measurement.shape)
    place = frames * unit.columns + columns.measurement
    good = np.flatnonzero(columns.good.ravel())
    place = place.ravel()[good]
    if (np.diff(place) <= 0).any():
        order = np.argsort(place, kind="stable")
        # Of a column that came twice the later one counts.
        order = order[np.append(np.diff(place[order]) > 0, True)]
        good, place = good[order], place[order]
    turns, measured = np.divmod(place, unit.columns)
    _say_missing(turns, np.unique(columns.number) - first, unit, saying)
    packet, within = np.divmod(good, unit.columns_per_packet)
    returns = profile.returns
    here = _Pixels(
        packet, profile.header + profile.column_header + within * profile.column(unit.lasers), measured, turns,
        (columns.timestamp.ravel()[good].astype(np.int64) + offset_ns) / 1e9,
    )  # fmt: skip
    out = FiringColumns.empty(len(good) * unit.lasers, returns)
    _fire_columns(np.ascontiguousarray(payloads), here, _beams(unit), _fields(unit), out)
    return Firings(
        sensor=unit.product.lower(),
        kinds=("strongest", "echo")[:returns],
        times=out.times,
        lasers=out.lasers,
        rings=out.rings,
        turns=out.turns,
        azimuths=out.azimuths,
        origins=out.origins,
        directions=out.directions,
        ranges=out.ranges,
        intensity=out.intensity,
    )


def _say_missing(
    turns: NDArray[np.int64], seen: NDArray[np.int64], unit: OusterUnit, saying: _Saying
) -> None:  # fmt: skip
    """Count what did not come; ``seen`` are the frames of which some packet did."""
    low, high = unit.window
    wanted = (high - low) % unit.columns + 1
    # What was not recorded of the first and the last revolution is not missing.
    between = seen[1:-1]
    missing = wanted * len(between) - int(np.isin(turns, between).sum())
    for count, text in (
        (missing, "columns are missing"),
        (int((np.diff(seen) - 1).sum()), "revolutions are missing"),
    ):
        if count:
            saying.say(f"{saying.path}: {count} {text}")


class _Pixels(NamedTuple):
    """The columns to read, in order, each of shape (n,)."""

    packet: NDArray[np.int64]
    first: NDArray[np.int64]
    """[bytes] in the packet where its pixels begin"""
    measured: NDArray[np.int64]
    """number of the column in a revolution"""
    turns: NDArray[np.int64]
    times: NDArray[np.float64]


class _Beams(NamedTuple):
    """Where the beams of a unit are, column by column."""

    directions: NDArray[np.float64]
    """shape (columns, lasers, 3)"""
    azimuths: NDArray[np.float64]
    """shape (columns, lasers)"""
    origins: NDArray[np.float64]
    """[m], the same for all lasers of a column, shape (columns, 3)"""
    rings: NDArray[np.int64]
    """shape (lasers,)"""


class _Fields(NamedTuple):
    """Ranges and reflectivities in a pixel, by return."""

    pixel: int
    range_at: NDArray[np.int64]
    mask: int
    step: int
    bright_at: NDArray[np.int64]
    axis_m: float


@lru_cache(maxsize=4)
def _beams(unit: OusterUnit) -> _Beams:
    directions, origins = beam_table(unit)
    ways = np.ascontiguousarray(directions.transpose(1, 0, 2))
    azimuths = np.arctan2(ways[..., 1], ways[..., 0])
    return _Beams(ways, azimuths, np.ascontiguousarray(origins[0]), _rings(unit))


def _rings(unit: OusterUnit) -> NDArray[np.int64]:
    return np.argsort(np.argsort(unit.altitude_deg, kind="stable"), kind="stable")


def _fields(unit: OusterUnit) -> _Fields:
    profile = PROFILES[unit.profile]
    ranges, bright = (
        [field for field in profile.fields if field.name.rstrip("2") == name] for name in ("RANGE", "REFLECTIVITY")
    )
    at = [np.array([field.at for field in fields], np.int64) for fields in (ranges, bright)]
    return _Fields(profile.pixel, at[0], (1 << ranges[0].bits) - 1, ranges[0].step, at[1], unit.axis_mm / 1000)


@loop_kernel
def _fire_columns(raw: Array, pixels: _Pixels, beams: _Beams, fields: _Fields, out: FiringColumns) -> None:
    """Fill the columns of `Firings`, pulse by pulse."""
    directions, origins, azimuths, times, ranges, turns, intensity, numbers, rings = out
    packets, firsts, measured, turn_of, time_of = pixels
    ways, aside, begins, rank = beams
    size, range_at, mask, step, bright_at, axis_m = fields
    lasers, returns, white = len(rank), len(range_at), np.float32(WHITE)
    i = 0
    for column in range(len(packets)):
        packet, first, place = packets[column], firsts[column], measured[column]
        time, turn = time_of[column], turn_of[column]
        x, y, z = begins[place, 0], begins[place, 1], begins[place, 2]
        for laser in range(lasers):
            directions[i, 0], directions[i, 1] = ways[place, laser, 0], ways[place, laser, 1]
            directions[i, 2] = ways[place, laser, 2]
            origins[i, 0], origins[i, 1], origins[i, 2] = x, y, z
            azimuths[i], times[i], turns[i] = aside[place, laser], time, turn
            numbers[i], rings[i] = laser, rank[laser]
            pixel = first + laser * size
            for r in range(returns):
                at = pixel + range_at[r]
                steps = np.int64(raw[packet, at]) | np.int64(raw[packet, at + 1]) << 8
                steps = (steps | np.int64(raw[packet, at + 2]) << 16) & mask
                ranges[i, r] = steps * step / 1000.0 - axis_m if steps > 0 else np.nan
                bright = np.float32(raw[packet, pixel + bright_at[r]]) / white
                intensity[i, r] = bright if steps > 0 else np.float32(0.0)
            i += 1


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
