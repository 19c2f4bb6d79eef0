"""How much vegetation spreads the range, measured in a scan.

Mattes and Pace (Neya Systems, 2021), section 3.1. A box selects vegetation. The expected range of a point is the mean
of its neighbours in the box, in the same ring and revolution and near in *angle*: near in space would hide the very
spread that is measured. What is reported is mean and variance of measured − expected, as in their table 1.

The expectation is itself uncertain: the mean of k independent neighbours, the point itself left out, adds σ²/k, so the
difference has the variance σ²(1 + 1/k). `RangeSpread.variance` is the plain one of the paper; `RangeSpread.sigma` is the spread
of a single range, with that factor taken out point by point. Both hold the shape of what is scanned as well as its
spread: a slope cancels in a window, a step or a gap does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.shown import Shown

__all__ = ["WINDOW", "RangeSpread", "measure_range_spread"]

WINDOW = float(np.deg2rad(1.0))
"""[rad] half width of the window of neighbours"""
_FLAT_RING = float(np.deg2rad(3.0))
"""[rad] a ring that spans more than this in elevation is none"""


@dataclass(frozen=True, eq=False, repr=False)
class RangeSpread(Shown):
    """Measured − expected range of points that have a neighbour.

    >>> angle = np.linspace(0, 0.5, 200)
    >>> way = np.stack([np.cos(angle), np.sin(angle), np.zeros(200)], 1)
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.full(200, 8.0))
    >>> spread = tussock.measure_range_spread(pulses)
    >>> round(spread.sigma, 6)
    0.0
    """

    differences: NDArray[np.float64]
    """[m], shape (n,)"""
    neighbours: NDArray[np.int64]
    """how many each was compared with, shape (n,)"""
    rings: NDArray[np.uint16]
    """shape (n,)"""
    points: NDArray[np.float64]
    """[m], shape (n, 3)"""
    alone: int = 0
    """points without a neighbour, which are left out"""

    @property
    def count(self) -> int:
        return len(self.differences)

    @property
    def mean(self) -> float:
        """[m]"""
        return float(self.differences.mean())

    @property
    def variance(self) -> float:
        """[m²], as the paper reports it"""
        return float(self.differences.var())

    @property
    def sigma(self) -> float:
        """[m] spread of a single range"""
        return float(np.sqrt((self.differences**2 / (1 + 1 / self.neighbours)).mean()))

    def of_ring(self, ring: int) -> RangeSpread:
        mine = self.rings == ring
        return RangeSpread(self.differences[mine], self.neighbours[mine], self.rings[mine], self.points[mine])

    def by_ring(self) -> dict[int, RangeSpread]:
        """One for each ring that has points, from ring 0 up."""
        return {int(ring): self.of_ring(int(ring)) for ring in np.unique(self.rings)}

    def plain(self) -> dict[str, Any]:
        """Figures, ready for JSON."""
        return {"points": self.count, "mean_m": self.mean, "variance_m2": self.variance, "sigma_m": self.sigma}


def measure_range_spread(
    pulses: MeasuredPulses,
    box: Sequence[float] | None = None,
    *,
    window: float = WINDOW,
    chosen: NDArray[np.bool_] | None = None,
) -> RangeSpread:
    """Spread of the ranges of the returns in ``box`` (lowest corner, highest corner) [m] that are ``chosen`` (n,).

    Neighbours lie within ``window`` [rad] to either side, and are themselves in the box and chosen.

    >>> angle = np.linspace(0, 0.5, 200)
    >>> way = np.stack([np.cos(angle), np.sin(angle), np.zeros(200)], 1)
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.full(200, 8.0))
    >>> round(tussock.measure_range_spread(pulses).variance, 6)
    0.0
    """
    if not (np.isfinite(window) and window > 0):
        raise InputError.of("window", "must be an angle above 0", window)
    inside = pulses.hit if box is None else pulses.inside(box)
    if chosen is not None:
        inside = inside & chosen
    if not inside.any():
        raise InputError("noise: there are no returns of vegetation to measure")
    found = pulses.select(inside)
    _check_rings(found)
    angle, ranges, group = _along_rings(found)
    # Groups of one ring in one revolution stand further apart than any window on one long axis.
    place = group * (2 * np.pi + 4 * window) + angle
    order = np.argsort(place, kind="stable")
    place, ranges = place[order], ranges[order]
    first, end = np.searchsorted(place, place - window), np.searchsorted(place, place + window, side="right")
    sums = np.concatenate([[0.0], np.cumsum(ranges)])
    others = end - first - 1
    some = others > 0
    if not some.any():
        raise InputError.of(
            "window", "no point in the box has a neighbour in its ring", f"{np.rad2deg(window):g}°",
            "use a wider window or a larger box",
        )  # fmt: skip
    expected = (sums[end] - sums[first] - ranges)[some] / others[some]
    rows = order[some]
    return RangeSpread(
        ranges[some] - expected, others[some], found.rings[rows], found.points[rows], alone=int((~some).sum())
    )


def _along_rings(pulses: MeasuredPulses) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Angle along the ring [rad], without a jump where most points are, range [m], and a number for ring and turn."""
    turned = np.exp(1j * pulses.azimuths)
    middle = turned.mean()
    angle = np.angle(turned * np.conj(middle / max(abs(middle), 1e-12)))
    group = pulses.turns.astype(np.int64) * (int(pulses.rings.max()) + 1) + pulses.rings
    return angle, pulses.ranges, group


def _check_rings(pulses: MeasuredPulses) -> None:
    """Points without rings would all be neighbours: the spread would be the shape of the scene."""
    rise = np.arcsin(np.clip(pulses.directions[:, 2], -1, 1))
    if len(np.unique(pulses.rings)) == 1 and np.ptp(rise) > _FLAT_RING:
        raise InputError.of(
            "rings", "must be known: neighbours are points of the same ring", "one ring for all points",
            "use a capture, a frame, or a file with a field ring",
        )  # fmt: skip
