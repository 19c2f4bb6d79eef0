"""What is too dark to be seen: the detection limit of BlenSor, eq (1), corrected.

A surface of reflectivity r at a distance d is detected if r ≥ r_min(d), with

    r_min(d) = r_near + (r_far − r_near)·(d − d_near)/(d_far − d_near)

between d_near and d_far. The paper's eq (1) lacks "− d_near": it would ask for 60 % where its own text says
10 %. Nearer than d_near everything above 0 % is seen; beyond d_far nothing is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Real, inline_kernel

__all__ = ["Limit", "detected", "least_reflectivity"]


class Limit(NamedTuple):
    """Distances [m] and the least reflectivities there; ``far`` 0: no limit."""

    near: Real
    far: Real
    at_near: Real
    at_far: Real


@inline_kernel
def least_reflectivity(distance: Real, limit: Limit) -> Real:
    """r_min at a distance between ``near`` and ``far`` [m]"""
    share = (limit.at_far - limit.at_near) * (distance - limit.near) / (limit.far - limit.near)
    return limit.at_near + share


@inline_kernel
def detected(reflectivity: Real, distance: Real, limit: Limit) -> bool:
    """Whether a surface is bright enough to be seen."""
    if limit.far <= np.float32(0.0):
        return True
    if distance < limit.near:
        return reflectivity > np.float32(0.0)
    if distance > limit.far:
        return False
    return reflectivity >= least_reflectivity(distance, limit)
