"""Range error of a coarse shape that stands for a plant.

Mattes and Pace (Neya Systems, 2021), section 3.1: the range of a pulse that meets vegetation gets a Gaussian error,
but never reaches past what stands behind it. Here it does not come nearer than the sensor's minimum range either.
"""

from __future__ import annotations

from typing import Any

from tussock.kernels import inline_kernel

__all__ = ["range_error", "spread_range"]


@inline_kernel
def range_error(mean: Any, sigma: Any, draw: Any) -> Any:
    """[m] from a standard normal draw"""
    return mean + sigma * draw


@inline_kernel
def spread_range(distance: Any, error: Any, behind: Any, min_range: Any) -> Any:
    """The range [m] with its error, between ``min_range`` and what is ``behind``; all from the sensor."""
    # A surface nearer than the minimum range stays where it is: it is not seen, and must not become visible.
    return min(max(distance + error, min(min_range, distance)), behind)
