"""Pulses without return, where a recording holds points only: what a ring's pattern says was fired and is not there.

A laser that turns fires at even steps of azimuth. In each ring of a scan the step is that of the points themselves, the
commonest distance of neighbours; a place on that comb without a point near is a pulse without return, at the ring's own
elevation. Points that a driver dropped for being too near look the same, which is why a scan needs its rings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses, join_pulses

__all__ = ["with_misses"]

_FEWEST = 30
"""points of a ring that tell its step"""


def with_misses(scan: MeasuredPulses, *, reach: float | None = None) -> MeasuredPulses:
    """One revolution of points, in the sensor's coordinates, with the pulses that had no return."""
    azimuths, elevations, rings = [], [], []
    around = np.mod(scan.azimuths, 2 * np.pi)
    rise = np.arcsin(np.clip(scan.directions[:, 2], -1, 1))
    step = _step(around, scan.rings)
    if step is None:
        return scan
    columns = int(np.rint(2 * np.pi / step))
    step = 2 * np.pi / columns
    for ring in np.unique(scan.rings):
        own = scan.rings == ring
        if own.sum() < _FEWEST:
            continue
        offset = np.angle(np.exp(1j * around[own] * columns).mean()) / columns
        taken = np.zeros(columns, np.bool_)
        taken[np.rint((around[own] - offset) / step).astype(np.int64) % columns] = True
        # A point between two places of the comb takes the nearer; its other neighbour may have been it as well.
        free = np.flatnonzero(~taken & ~(np.roll(taken, 1) & np.roll(taken, -1)))
        azimuths.append(offset + free * step)
        elevations.append(np.full(len(free), np.median(rise[own])))
        rings.append(np.full(len(free), ring))
    if not azimuths or not sum(map(len, azimuths)):
        return scan
    a, e, r = (np.concatenate(part) for part in (azimuths, elevations, rings))
    way = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], 1)
    far = reach or scan.reach
    missed = MeasuredPulses.of(
        np.zeros(3), way, np.full(len(a), np.nan), rings=r, azimuths=a, reach=far, noise=scan.noise
    )
    whole = join_pulses([replace(scan, complete=True, reach=far), missed])
    return replace(whole, turns=np.full(len(whole), scan.turns[0]))


def _step(azimuths: NDArray[np.float64], rings: NDArray[np.uint16]) -> float | None:
    """[rad] from pulse to pulse of one laser, None where too few points tell."""
    order = np.lexsort((azimuths, rings))
    apart = np.diff(azimuths[order])[np.diff(rings[order].astype(np.int64)) == 0]
    apart = apart[(apart > 1e-4) & (apart < 0.05)]
    if len(apart) < _FEWEST:
        return None
    # The commonest distance: gaps are multiples of it, and noise spreads it a little.
    small = np.quantile(apart, 0.1)
    return float(np.median(apart[apart < 1.5 * small]))
