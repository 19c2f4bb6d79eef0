"""What is too dark to be seen: the detection limit of BlenSor, eq (1), corrected.

A surface of reflectivity r at a distance d is detected if r ≥ r_min(d), with

    r_min(d) = r_near + (r_far − r_near)·(d − d_near)/(d_far − d_near)

between d_near and d_far. The paper's eq (1) lacks "− d_near": it would ask for 60 % where its own text says
10 %. Nearer than d_near everything above 0 % is seen; beyond d_far nothing is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["detected", "least_reflectivity"]


@inline_kernel
def least_reflectivity(distance: Any, near: Any, far: Any, at_near: Any, at_far: Any) -> Any:
    """r_min at a distance between ``near`` and ``far`` [m]"""
    return at_near + (at_far - at_near) * (distance - near) / (far - near)


@inline_kernel
def detected(reflectivity: Any, distance: Any, near: Any, far: Any, at_near: Any, at_far: Any) -> Any:
    """Whether a surface is bright enough to be seen; ``far`` 0 switches the limit off."""
    if far <= np.float32(0.0):
        return True
    if distance < near:
        return reflectivity > np.float32(0.0)
    if distance > far:
        return False
    return reflectivity >= least_reflectivity(distance, near, far, at_near, at_far)
