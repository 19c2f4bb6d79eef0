"""How much real vegetation scatters the range, and which response gives a simulated scan the same scatter.

Mattes and Pace (Neya Systems, 2021), section 3.1. A box selects vegetation. The expected range of a point is the mean
of its neighbours in the box, in the same ring and revolution and near in *angle*: near in space would hide the very
scatter that is measured. What is reported is mean and variance of measured − expected.

The expectation is itself uncertain: with k independent neighbours the difference has the variance σ²(1 + 1/k). The
paper reports the variance as it is; `Scatter.sigma` is the spread of a single range with that factor taken out, point
by point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.beams import Beams

__all__ = ["WINDOW", "Scatter", "match_sigma", "measure_scatter"]

WINDOW = float(np.deg2rad(1.0))
"""[rad] half width of the window of neighbours"""


@dataclass(frozen=True)
class Scatter:
    """Measured − expected range of the points in a box."""

    differences: NDArray[np.float64]
    """[m], one for each point that has a neighbour, shape (n,)"""
    neighbours: NDArray[np.int64]
    """how many each was compared with, shape (n,)"""
    rings: NDArray[np.uint16]
    points: NDArray[np.float64]
    """[m], shape (n, 3)"""
    alone: int
    """points in the box without a neighbour"""

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
        shrunk = self.differences**2 / (1 + 1 / self.neighbours)
        return float(np.sqrt(shrunk.mean()))

    def of_ring(self, ring: int) -> Scatter:
        mine = self.rings == ring
        return Scatter(self.differences[mine], self.neighbours[mine], self.rings[mine], self.points[mine], alone=0)


def measure_scatter(beams: Beams, box: Sequence[float], *, window: float = WINDOW) -> Scatter:
    """Scatter of the ranges of the points in ``box`` (lowest corner, highest corner) [m]; ``window`` [rad]."""
    if not (np.isfinite(window) and window > 0):
        raise InputError.of("window", "must be an angle above 0", window)
    inside = beams.inside(box)
    ranges, rings, turns = beams.ranges[inside], beams.rings[inside].astype(np.int64), beams.turns[inside]
    middle = np.angle(np.exp(1j * beams.azimuths[inside]).mean())
    angle = np.angle(np.exp(1j * (beams.azimuths[inside] - middle)))
    # Groups of one ring in one revolution stand further apart than any window on one long axis.
    group = turns.astype(np.int64) * (int(rings.max()) + 1) + rings
    place = group * (2 * np.pi + 4 * window) + angle
    order = np.argsort(place, kind="stable")
    place, near = place[order], ranges[order]
    first, end = np.searchsorted(place, place - window), np.searchsorted(place, place + window, side="right")
    sums = np.concatenate([[0.0], np.cumsum(near)])
    others = end - first - 1
    some = others > 0
    if not some.any():
        raise InputError.of("window", "no point in the box has a neighbour in its ring", window, "use a wider window")
    expected = (sums[end] - sums[first] - near)[some] / others[some]
    rows = order[some]
    return Scatter(
        near[some] - expected, others[some], rings[rows].astype(np.uint16), beams.points[inside][rows],
        int((~some).sum()),
    )  # fmt: skip


def match_sigma(
    wanted: float, simulated: Callable[[float], Scatter], *, tolerance: float = 0.02, most_rounds: int = 12
) -> tuple[float, Scatter]:
    """The σ [m] of the response at which ``simulated(σ)`` has the variance ``wanted`` [m²], and its scatter.

    Without a response the scene scatters by its shape alone; the rest is the response's, as variances add. What
    stands behind caps it, so the first guess is too small and is mended until it fits.
    """
    plain = simulated(0.0)
    if plain.variance >= wanted:
        raise InputError.of(
            "match", f"the scene already scatters by {plain.variance:.3f} m² without a response", f"{wanted:.3f} m²",
            "use coarser shapes, or a box with vegetation only",
        )  # fmt: skip
    share = 1 + float(np.mean(1 / plain.neighbours))
    sigma = float(np.sqrt((wanted - plain.variance) / share))
    for _ in range(most_rounds):
        found = simulated(sigma)
        if abs(found.variance - wanted) <= tolerance * wanted:
            return sigma, found
        gained = max(found.variance - plain.variance, 1e-6)
        sigma *= float(np.clip(np.sqrt((wanted - plain.variance) / gained), 0.5, 2.0))
    raise InputError.of(
        "match", "no sigma gives the scene this variance: what stands behind caps it", f"{wanted:.3f} m²",
        f"the nearest was {found.variance:.3f} m² at {sigma:.2f} m",
    )  # fmt: skip
