"""A sensor drawn: where it can look, and where it fires in what order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.plots.point_colors import scaled
from tussock.sensors.sensor import Sensor

__all__ = ["Outline", "outline_of"]

_MOST = 6000
"""pulses of the pattern that are drawn"""
_STEPS = 72
"""directions around in which the field of view is measured"""


class Outline(NamedTuple):
    """Lines and points about a sensor at zero, looking along x."""

    edges: NDArray[np.float32]
    """[m] ends of the lines around the field of view, shape (n, 2, 3)"""
    pattern: NDArray[np.float32]
    """[m] some pulses on a sphere, shape (m, 3)"""
    colors: NDArray[np.uint8]
    """of these, dark first and bright last, shape (m, 3)"""


def outline_of(sensor: Sensor, *, reach: float = 4.0, radius: float = 0.9) -> Outline:
    """The field of view out to ``reach`` [m], and the first frame's pulses on a sphere of a ``radius`` [m]."""
    pulses = sensor.pulses(0)
    some = np.linspace(0, len(pulses) - 1, min(_MOST, len(pulses))).astype(int)
    directions = pulses.directions.astype(np.float64)
    colors = scaled(pulses.offsets[some], "time", "plasma", (0.0, float(pulses.offsets[-1])), part=(0.15, 1)).colors
    return Outline(
        (reach * _edges(directions)).astype(np.float32), (radius * directions[some]).astype(np.float32), colors
    )


def _edges(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lines along the upper and the lower edge of all directions, closed at their ends, and spokes: (n, 2, 3)."""
    azimuth = np.arctan2(directions[:, 1], directions[:, 0])
    elevation = np.arcsin(np.clip(directions[:, 2], -1, 1))
    bins = np.floor((azimuth + np.pi) / (2 * np.pi) * _STEPS).astype(int) % _STEPS
    low, high = np.full(_STEPS, np.inf), np.full(_STEPS, -np.inf)
    np.minimum.at(low, bins, elevation)
    np.maximum.at(high, bins, elevation)
    seen = np.flatnonzero(np.isfinite(low))
    middle = (np.arange(_STEPS) + 0.5) / _STEPS * 2 * np.pi - np.pi

    def at(bin: int, up: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = np.cos(up[bin])
        return np.array([flat * np.cos(middle[bin]), flat * np.sin(middle[bin]), np.sin(up[bin])])

    lines = []
    spokes = set(seen[:: max(len(seen) // 8, 1)].tolist())
    for bin in seen.tolist():
        after, before = (bin + 1) % _STEPS, (bin - 1) % _STEPS
        if np.isfinite(low[after]):
            lines += [(at(bin, low), at(after, low)), (at(bin, high), at(after, high))]
        if not np.isfinite(low[after]) or not np.isfinite(low[before]):
            lines.append((at(bin, low), at(bin, high)))
            spokes.add(bin)
        if bin in spokes:
            lines += [(np.zeros(3), at(bin, low)), (np.zeros(3), at(bin, high))]
    return np.array(lines)
