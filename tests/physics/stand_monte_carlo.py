"""Ranges into a stand of stems on paper: rays and circles in the plane, no scene, no ray tracer.

Written apart from `tussock.validate.experiments.grass_law` and from everything below it, as a second opinion on its means.
Every pulse gets a strip of its own, with a Poisson number of stems; upright stems make the problem flat, so that
of a ray only its horizontal slope counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STAND_DEPTH = 5.0
HALF_STRIP = 0.04
"""[m]: half a stem plus half a beam at 35 m fit in twice"""


def nine_slopes(divergence: float) -> NDArray[np.float64]:
    """Horizontal slopes of the stencil: the centre and eight points on a ring of √2·tan(γ/2)/4."""
    ring = np.sqrt(2) * np.tan(divergence / 2) / 4
    return np.concatenate([[0.0], ring * np.cos(np.arange(8) * np.pi / 4)])


def mean_range_depths(
    density: float, diameter: float, distance: float, slopes: NDArray, pulses: int, seed: int
) -> NDArray[np.float64]:
    """Depths [m] of the mean of all rays that met a stem, one for each pulse that met any."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(density * 2 * HALF_STRIP * STAND_DEPTH, pulses)
    most = counts.max()
    x = rng.uniform(0, STAND_DEPTH, (pulses, most)) + distance
    y = rng.uniform(-HALF_STRIP, HALF_STRIP, (pulses, most))
    absent = np.arange(most) >= counts[:, None]
    total, met = np.zeros(pulses), np.zeros(pulses)
    for slope in slopes:
        along = (x + slope * y) / np.hypot(1, slope)
        across = (y - slope * x) / np.hypot(1, slope)
        inside = (diameter / 2) ** 2 - across**2
        reach = np.where((inside > 0) & ~absent, along - np.sqrt(np.maximum(inside, 0)), np.inf).min(1)
        hit = np.isfinite(reach)
        total[hit] += reach[hit]
        met += hit
    return total[met > 0] / met[met > 0] - distance
