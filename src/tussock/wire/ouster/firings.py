"""Every firing in the packets of an Ouster, with or without return.

All lasers of a column fire together; a column that did not come, or is marked as bad, was not fired as far as anybody
knows and is left out. Of two returns the first is the strongest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.firings import Firings
from tussock.wire.ouster.decode import OusterScan, beam_table, decode_scans
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
    at = PROFILES[unit.profile].header
    stamps = np.ascontiguousarray(payloads[:, at : at + 8]).view("<u8")[:, 0].astype(np.int64)
    # A packet leaves when its last column is measured.
    lasts = round(1e9 * unit.columns_per_packet / (unit.columns * unit.rate_hz))
    apart = int(np.median(chosen.time_ns - lasts - stamps))
    scans = decode_scans(payloads, unit)
    # What was not recorded of the first and the last revolution is not missing.
    missing = sum(scan.missing for scan in scans[1:-1])
    gone = sum(later.number - scan.number - 1 for scan, later in pairwise(scans))
    for count, text in ((missing, "columns are missing"), (gone, "revolutions are missing")):
        if count:
            say(f"{found.path}: {count} {text}")
    return firings_of_scans(scans, offset_ns=0 if abs(apart) < _AT_ONCE else apart)


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
    order = np.argsort(np.argsort(unit.altitude_deg, kind="stable"), kind="stable")
    return Firings(
        sensor=unit.product.lower(),
        kinds=("strongest", "echo")[:returns],
        times=np.repeat(joined["times"], unit.lasers),
        lasers=laser.astype(np.uint16),
        rings=order[laser].astype(np.uint16),
        turns=np.repeat(joined["turns"], unit.lasers).astype(np.int32),
        azimuths=np.arctan2(ways[:, 1], ways[:, 0]),
        origins=origins[laser, column],
        directions=ways,
        ranges=joined["ranges"].reshape(-1, returns),
        intensity=joined["intensity"].reshape(-1, returns).astype(np.float32),
    )
