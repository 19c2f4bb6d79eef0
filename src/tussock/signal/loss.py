"""What is lost on the way: spreading and haze.

Spreading: only 1/r² of what a surface scatters meets the receiver. Sensors make up for it, so it is off unless
asked for; intensities are then those at a reference range, I·(r₀/r)². Haze takes exp(−2κr) on the way out and
back, κ the extinction coefficient [1/m] (3.9/visibility, Koschmieder).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.elementary import exponential
from tussock.kernels import inline_kernel

__all__ = ["after_loss"]


@inline_kernel
def after_loss(energy: Any, distance: Any, reference: Any, extinction: Any) -> Any:
    """Energy that arrives from ``distance`` [m]; ``reference`` 0 switches spreading off."""
    if reference > np.float32(0.0):
        energy *= (reference / distance) * (reference / distance)
    if extinction > np.float32(0.0):
        energy *= exponential(np.float32(-2.0) * extinction * distance)
    return energy
