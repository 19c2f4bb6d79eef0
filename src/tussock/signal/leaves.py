"""What comes back from behind a leaf.

A leaf scatters what it lets through, the share τ, in all directions (Lambert), on the way out and on the way back. So the
light spreads behind it, and little of it finds back to the spot that the receiver looks at. Light goes the same ways in
both directions, hence what comes back from a wall behind the leaf is τ²·A·∫E² of what would come back without the leaf: A
the spot on the leaf, E the irradiance behind it that a unit of light makes. A spot of radius a that touches the wall has
E = 1/A all over it, and the whole is τ². Far behind, at a depth s, the spot is a point with E = s²/π(s² + x²)², whose
∫E² is 1/3πs². Between the two

    τ² / (1 + 0.8 s/a + 3s²/a²)

has both ends and is right to 8 % of the integral (`tests/physics/test_leaves.py`). A stack of n leaves that touch sends back τ²ⁿ. Where leaves of a stack stand
apart, s is counted from the first: it is the first that spreads the light.

Left out: light that goes to and fro between leaves, and that what is met off the axis differs from what is on it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["depth_of_light", "share_behind_leaf"]

_ZERO, _ONE, _THREE = np.float32(0.0), np.float32(1.0), np.float32(3.0)
_BETWEEN = np.float32(0.8)


@inline_kernel
def share_behind_leaf(depth: Any, radius: Any) -> Any:
    """1/(1 + 0.8 s/a + 3s²/a²): how much of the light finds back from ``depth`` [m] behind a spot of a ``radius`` [m]."""
    return radius * radius / (radius * radius + depth * (_BETWEEN * radius + _THREE * depth))


@inline_kernel
def depth_of_light(energy: Any, radius: Any, least: Any) -> Any:
    """[m] behind the leaf, where only ``least`` of an ``energy`` finds back; 0 where there is less to begin with."""
    more = max(energy / least - _ONE, _ZERO)
    root = np.float32(math.sqrt(_BETWEEN * _BETWEEN + np.float32(12.0) * more))
    return radius * (root - _BETWEEN) / np.float32(6.0)
