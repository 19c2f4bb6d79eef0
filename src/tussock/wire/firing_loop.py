"""The loop over the firings of packets: everything that is computed for each pulse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.kernels import kernel

__all__ = ["Cycles", "FiringColumns", "Lasers", "fire"]


class Lasers(NamedTuple):
    """The lasers in the order of firing, each array of shape (lasers,); offsets in metres, angles in radians."""

    number: NDArray[np.int64]
    fires_us: FloatArray
    azimuth: FloatArray
    level: FloatArray
    rise: FloatArray
    back: FloatArray
    """how far the origin lies behind the axis"""
    left: FloatArray
    above: FloatArray


class Cycles(NamedTuple):
    """The firing cycles of each packet."""

    head: FloatArray
    """[rad] where the head looked, counter-clockwise, shape (packets, cycles)"""
    times: FloatArray
    """[s], shape (packets, cycles)"""
    turns: NDArray[np.int32]
    """shape (packets, cycles)"""
    rate: FloatArray
    """[rad/µs] counter-clockwise, shape (packets,)"""


class FiringColumns(NamedTuple):
    """Columns of `tussock.wire.firings.Firings`, to be filled."""

    directions: FloatArray
    origins: FloatArray
    azimuths: FloatArray
    times: FloatArray
    turns: NDArray[np.int32]
    ranges: FloatArray
    intensity: NDArray[np.float32]

    @classmethod
    def empty(cls, count: int, returns: int) -> FiringColumns:
        """Room for ``count`` pulses of so many returns each."""
        return cls(
            np.empty((count, 3)), np.empty((count, 3)), np.empty(count), np.empty(count), np.empty(count, np.int32),
            np.empty((count, returns)), np.empty((count, returns), np.float32),
        )  # fmt: skip


@kernel
def fire(raw: Any, place: Any, lasers: Lasers, cycles: Cycles, scale: Any, out: FiringColumns) -> None:
    """Fill the columns of `Firings`, pulse by pulse; ``scale``: metres a step, byte of a white wall."""
    directions, origins, azimuths, times, turns, ranges, intensity = out
    count, returns = len(lasers.number), place.shape[2]
    c, s, turned = np.empty(count), np.empty(count), np.empty(count)
    i = 0
    for packet in range(len(raw)):
        for k in range(count):
            # What a laser looks aside of the head when it fires.
            turned[k] = lasers.azimuth[k] + cycles.rate[packet] * lasers.fires_us[k]
            c[k], s[k] = np.cos(turned[k]), np.sin(turned[k])
        for cycle in range(place.shape[0]):
            head = cycles.head[packet, cycle]
            c_head, s_head = np.cos(head), np.sin(head)
            for k in range(count):
                x, y = c_head * c[k] - s_head * s[k], s_head * c[k] + c_head * s[k]
                directions[i, 0], directions[i, 1], directions[i, 2] = (
                    lasers.level[k] * x,
                    lasers.level[k] * y,
                    lasers.rise[k],
                )
                origins[i, 0] = -lasers.back[k] * x - lasers.left[k] * y
                origins[i, 1] = -lasers.back[k] * y + lasers.left[k] * x
                origins[i, 2] = lasers.above[k]
                angle = head + turned[k]
                azimuths[i] = angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
                times[i] = cycles.times[packet, cycle] + lasers.fires_us[k] * 1e-6
                turns[i] = cycles.turns[packet, cycle]
                for r in range(returns):
                    at = place[cycle, lasers.number[k], r]
                    steps = np.int64(raw[packet, at]) | np.int64(raw[packet, at + 1]) << 8
                    ranges[i, r] = steps * scale[0] if steps > 0 else np.nan
                    intensity[i, r] = raw[packet, at + 2] / scale[1] if steps > 0 else 0.0
                i += 1
