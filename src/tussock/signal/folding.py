"""Backfolding of time-of-flight cameras, eq (3) of BlenSor.

An echo that comes after half the measuring period is taken for one of the next period: what lies in the upper
half of the range appears nearer by half the range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["folded"]


@inline_kernel
def folded(distance: Any, max_range: Any) -> Any:
    """The range a camera without ambiguity resolution reports [m]"""
    half = np.float32(0.5) * max_range
    return distance if distance < half else distance - half
