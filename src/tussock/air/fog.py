"""Fog: droplets so small and so many that they are a continuum.

    α = ln 20 / V        extinction [1/m], V the visibility (meteorological optical range, contrast 5 %)
    β = 0.046 / V        backscatter [1/(m·sr)]

Rasshofer, Spies and Spies (2011), Adv. Radio Sci. 9, 49-60; the same figures in Hahner et al. (2021), "Fog simulation
on real LiDAR point clouds". A layer of thickness dr sends back πβ·dr of what a white wall (1/π per steradian) does.
"""

from __future__ import annotations

import math

__all__ = ["fog_backscatter", "fog_extinction"]


def fog_extinction(visibility_m: float) -> float:
    """α [1/m]."""
    return math.log(20.0) / visibility_m


def fog_backscatter(visibility_m: float) -> float:
    """β [1/(m·sr)]."""
    return 0.046 / visibility_m
