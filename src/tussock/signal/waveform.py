"""The waveform: what the receiver sees over time of one pulse that met many things.

The pulse is a Gaussian in time, and so is the echo of every hit; the waveform is their sum,

    W(x) = Σ eᵢ·exp(−(x − rᵢ)²/2σ²),

with the path x for the time (x = ct/2), eᵢ the energy that comes back from the hit at rᵢ, and σ the standard deviation
of the pulse as a length: its full width at half maximum, times c/2, over 2√(2 ln 2). One hit alone peaks at its energy.
The width is that of what the detector puts out, so light and electronics are both in it. Equal widths are the model of
most full-waveform work (Wagner et al. 2006, ISPRS J. 60, 100-112): what broadens an echo there is more than one hit here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.elementary import exponential
from tussock.kernels import inline_kernel

__all__ = ["CURVE", "NODE", "NODES", "SLOPE", "VALUE", "pulse_sigma_m", "sample_waveform"]

NODES = 16
"""samples that are taken together: a loop over them becomes vector code (over eight it is unrolled instead)"""
NODE, VALUE, SLOPE, CURVE = range(0, 4 * NODES, NODES)
"""rows of samples: where they are taken [m], W, σ·W′ and σ²·W″; one after the other in a flat array, so that the compiler
sees that they do not overlap"""
_LIGHT = 299_792_458.0
_HALF, _ONE = np.float32(0.5), np.float32(1.0)


def pulse_sigma_m(fwhm_ns: float) -> float:
    """σ of a pulse as a length of path, there and back halved [m], from its full width at half maximum [ns]."""
    return fwhm_ns * 1e-9 * _LIGHT / 2 / (2 * math.sqrt(2 * math.log(2)))


@inline_kernel
def sample_waveform(paths: Any, energies: Any, begin: int, end: int, per_sigma: Any, samples: Any) -> None:
    """Fill the rows ``VALUE`` to ``CURVE`` of ``samples`` at the paths in ``NODE``, for the hits from ``begin`` to ``end``.

    ``per_sigma`` is 1/σ.
    """
    for j in range(NODES):
        samples[VALUE + j] = samples[SLOPE + j] = samples[CURVE + j] = np.float32(0.0)
    for i in range(begin, end):
        path, energy = paths[i], energies[i]
        for j in range(NODES):  # no branch in it, so that it becomes vector code
            z = (path - samples[NODE + j]) * per_sigma
            part = energy * exponential(-_HALF * z * z)
            samples[VALUE + j] += part
            samples[SLOPE + j] += part * z
            samples[CURVE + j] += part * (z * z - _ONE)
