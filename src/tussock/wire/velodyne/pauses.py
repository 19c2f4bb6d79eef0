"""Pauses of a Velodyne that is set to send a part of the circle only, and packets that are missing: told apart.

Outside of its field of view the sensor fires on but sends nothing. It does not begin a new packet behind the pause, so the
azimuth leaps inside one, and the packet's last firings are later than their place says. A packet that is missing leaves
both its neighbours whole. Where a pause falls between two packets, it is known by what no revolution looks at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.wire.velodyne.layout import Layout

__all__ = ["Pauses", "find_pauses", "shorter_way"]

TURN = 36000  # [0.01°]
_LEAST = 5
"""cycles that a pause lasts at least: the head's wander is less"""
_CLOCK = 0.05
"""relative error of a pause that is estimated from azimuths, at most"""
_TURN_DEGREES = 360
_EDGE = 3
"""[°] at either end of a gap that are not looked at: the ends of a pause wander by a packet"""


class Pauses(NamedTuple):
    """How a stream of packets goes on."""

    late_us: NDArray[np.float64]
    """how much later than its place in the packet says a cycle was fired, shape (packets, cycles)"""
    missing: NDArray[np.int64]
    """packets that are missing before each, shape (packets,)"""
    follows: NDArray[np.bool_]
    """whether a packet's first firing comes right after the last of the packet before, shape (packets,)"""


def shorter_way(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of azimuths [0.01°], the shorter way around."""
    return (angle + TURN / 2) % TURN - TURN / 2


def find_pauses(azimuth: NDArray[np.float64], stamps: NDArray[np.int64], layout: Layout, interval_us: float) -> Pauses:
    """Pauses and gaps; ``azimuth`` [0.01°] of every block, shape (packets, 12), ``stamps`` [µs], shape (packets,)."""
    # The first block of every cycle, or of every pair of cycles that share a block.
    cycles, first = np.unique(layout.block_cycle[layout.block_cycle >= 0], return_index=True)
    late = _inside(azimuth[:, first], cycles, interval_us / layout.cycles)
    waited = np.diff(stamps) - interval_us
    # The sensor's clock knows the length of a pause better than azimuths of 0.01° do.
    one = np.count_nonzero(np.diff(late[:-1], axis=1), axis=1) == 1
    exact = one & (np.abs(waited - late[:-1, -1]) < _CLOCK * late[:-1, -1])
    late[:-1][exact] *= np.where(late[:-1][exact] > 0, (waited[exact] / late[:-1, -1][exact])[:, None], 1)
    missing = np.maximum(np.rint((waited - late[:-1, -1]) / interval_us), 0).astype(np.int64)

    between = _never_seen(azimuth[:, first], missing, pauses=int(np.count_nonzero(np.diff(late, axis=1))))
    follows = np.concatenate([[True], (missing == 0) & ~between])
    missing[between] = 0
    late_us = late[:, np.searchsorted(cycles, np.arange(layout.cycles), side="right") - 1]
    return Pauses(late_us, np.concatenate([[0], missing]), follows)


def _never_seen(azimuth: NDArray[np.float64], missing: NDArray[np.int64], *, pauses: int) -> NDArray[np.bool_]:
    """Which gaps between packets are pauses: no packet of the recording looks where they are, in any revolution."""
    seen = np.zeros(_TURN_DEGREES, np.bool_)
    seen[(azimuth // 100).astype(np.int64) % _TURN_DEGREES] = True
    total = np.concatenate([[0], np.cumsum(np.tile(seen, 2))])
    begin = (azimuth[:-1, -1] // 100).astype(np.int64) % _TURN_DEGREES + _EDGE
    end = (azimuth[1:, 0] // 100).astype(np.int64) % _TURN_DEGREES
    end = end + np.where(end < begin - _EDGE, _TURN_DEGREES, 0) - _EDGE
    dark = (missing > 0) & (end > begin)
    dark[dark] = total[end[dark]] == total[begin[dark]]
    # One alone may be a gap in a recording of less than two revolutions.
    return dark if dark.sum() + pauses > 1 else np.zeros_like(dark)


def _inside(azimuth: NDArray[np.float64], cycles: NDArray[np.int64], cycle_us: float) -> NDArray[np.float64]:
    """[µs] how late each block of a packet is by leaps of the azimuth (packets, blocks) before it; the same shape."""
    late = np.zeros(azimuth.shape)
    apart = np.diff(cycles)
    steps = np.diff(azimuth, axis=1)
    if not steps.size:
        return late
    turned = shorter_way(steps) / apart
    middle = np.median(turned)
    usual = turned[np.abs(turned - middle) <= max(abs(middle) / 2, 2)].mean()
    if abs(usual) > 0.5:
        ahead = (np.sign(usual) * steps) % TURN / abs(usual) - apart  # in cycles, the way that the head turns
        leap = (ahead >= _LEAST) & (ahead < TURN / abs(usual) - 2 * apart)
        late[:, 1:] = np.cumsum(np.where(leap, np.rint(ahead), 0), axis=1) * cycle_us
    return late
