"""From what comes back to the intensity that a sensor reports.

Sensors that correct for the range report 1 for a white wall at any distance. What sends more back than any wall, a
retro-reflector, has a scale of its own above 1: a white wall is 1, a reflector ``full`` times as bright (or more) is
the ceiling, and between them the logarithm counts. Velodyne's byte is such a scale (0 to 100 for walls, 101 to 255 for
retro-reflectors: VLP-16 manual 63-9243, section 6.1), and so is Ouster's reflectivity. Where ``full`` is 0 the
scale goes straight on and is cut off at the ceiling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.elementary import logarithm
from tussock.kernels import inline_kernel

__all__ = ["reported_intensity"]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@inline_kernel
def reported_intensity(energy: Any, ceiling: Any, full: Any) -> Any:
    """The intensity of an energy, never below 0; ``ceiling`` 0: there is none."""
    energy = max(energy, _ZERO)
    if ceiling <= _ZERO:
        return energy
    if energy > _ONE and full > _ONE:
        energy = _ONE + (ceiling - _ONE) * logarithm(energy) / logarithm(full)
    return min(energy, ceiling)
