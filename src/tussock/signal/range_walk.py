"""Range walk: a strong echo crosses the threshold earlier than a weak one, and seems nearer.

A receiver that stops its clock where the leading edge of a Gaussian echo crosses the threshold does so

    σ·√(2 ln(s/T))

before the peak, σ the length of the pulse, s the signal and T the threshold, both over the noise. Sensors are
calibrated against it: the walk is 0 for the signal of their calibration, and most of the rest is corrected. What
remains is a share of the difference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.elementary import logarithm
from tussock.kernels import inline_kernel

__all__ = ["leading_edge", "range_walk"]

_ONE, _TWO = np.float32(1.0), np.float32(2.0)


@inline_kernel
def leading_edge(ratio: Any, threshold: Any) -> Any:
    """How far before its peak an echo of signal-to-noise ``ratio`` crosses the threshold [σ]; 0 if it does not."""
    return np.float32(math.sqrt(_TWO * logarithm(max(ratio / threshold, _ONE))))


@inline_kernel
def range_walk(ratio: Any, threshold: Any, calibrated: Any, remaining: Any) -> Any:
    """What is added to the range [m]: ``remaining`` is σ times the share that calibration leaves.

    ``calibrated`` is the `leading_edge` of the signal that the sensor was calibrated with.
    """
    return remaining * (calibrated - leading_edge(ratio, threshold))
