"""The loop over the firings of packets: everything that is computed for each pulse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import kernel

__all__ = ["Cycles", "Lasers", "fire"]

Numbers = NDArray[np.float64]


class Lasers(NamedTuple):
    """The lasers in the order of firing, each array of shape (lasers,); offsets in metres, angles in radians."""

    number: NDArray[np.int64]
    fires_us: Numbers
    azimuth: Numbers
    level: Numbers
    rise: Numbers
    back: Numbers
    """how far the origin lies behind the axis"""
    left: Numbers
    above: Numbers


class Cycles(NamedTuple):
    """The firing cycles of each packet."""

    head: Numbers
    """[rad] where the head looked, counter-clockwise, shape (packets, cycles)"""
    times: Numbers
    """[s], shape (packets, cycles)"""
    turns: NDArray[np.int32]
    """shape (packets, cycles)"""
    rate: Numbers
    """[rad/µs] counter-clockwise, shape (packets,)"""


@kernel
def fire(
    raw: Any, place: Any, lasers: Any, cycles: Any, scale: Any, directions: Any, origins: Any, azimuths: Any,
    times: Any, turns: Any, ranges: Any, intensity: Any,
) -> None:  # fmt: skip
    """Fill the columns of `Firings`, pulse by pulse; ``scale``: metres a step, byte of a white wall."""
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
