"""Which of a pulse's hits the receiver reports.

Goodin et al. (2018), section 3.2.3: in mode "strongest" the most intense sub-ray gives the range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel

__all__ = ["strongest"]


@kernel
def strongest(ranges: Any, energies: Any, lane: Any, min_range: Any, max_range: Any) -> Any:
    """Row of the most intense hit within the range limits (the nearer of equals), −1 for none.

    ``ranges`` [m] and ``energies`` have the shape (sub-rays, lanes); a sub-ray without hit has energy 0.
    """
    best = -1
    for k in range(ranges.shape[0]):
        energy, distance = energies[k, lane], ranges[k, lane]
        if energy <= np.float32(0.0) or distance < min_range or distance > max_range:
            continue
        if (
            best < 0
            or energy > energies[best, lane]
            or (energy == energies[best, lane] and distance < ranges[best, lane])
        ):
            best = k
    return best
