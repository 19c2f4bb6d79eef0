"""How a small sensor errs: white noise, drift that wanders around zero, and a wandering rate that knows no zero.

    white     σ·n_k                                    Allan deviation σ/√m at m samples
    drift     x_k+1 = a·x_k + σ·√(1 − a²)·n_k,         Gauss-Markov, a = exp(−dt/T): standard deviation σ,
              x_0 = σ·n                                correlation exp(−t/T)
    walk      x_k+1 = x_k + K·√dt·n_k                  Allan deviation K·√(τ/3)

Every n_k is a function of seed, sensor, axis and k alone, so a run may be cut anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import lfilter

from tussock.arrays import FloatArray
from tussock.kernels import kernel
from tussock.quantities import NotNegative, Positive
from tussock.randomness import normal_pair, philox, seed_key
from tussock.settings import Settings

__all__ = ["ErrorSettings", "Errors"]


_WHITE, _DRIFT, _WALK, _START = range(4)
_KINDS = 4


class ErrorSettings(Settings):
    """The error of one quantity, in the quantity's own unit (degrees in files where it is an angle)."""

    white: NotNegative = 0.0
    """standard deviation of each reading"""
    drift: NotNegative = 0.0
    """standard deviation of what wanders"""
    drift_time_s: Positive = 100.0
    walk: NotNegative = 0.0
    """growth of what wanders off, a square root of a second"""


class Errors:
    """Errors of ``axes`` quantities read every ``dt`` [s], from the first reading on."""

    def __init__(
        self, settings: ErrorSettings, dt: float, *, axes: int, seed: int, purpose: int, stream: int = 0
    ) -> None:
        self._settings, self._axes, self._key, self._purpose = settings, axes, seed_key(seed), int(purpose)
        self._stream = stream * _KINDS * 16
        self._fade = float(np.exp(-dt / settings.drift_time_s))
        self._step = settings.walk * float(np.sqrt(dt))
        self._count = 0
        self._drift = settings.drift * self._normal(_START, 1)[0]
        self._walk = np.zeros(axes)

    def _normal(self, kind: int, count: int) -> FloatArray:
        """Standard normal numbers of the next ``count`` readings, shape (count, axes)."""
        out = np.empty((count, self._axes))
        _normals(*self._key, self._purpose, self._stream + kind * 16, self._count, out)
        return out

    def take(self, count: int) -> FloatArray:
        """Errors of the next ``count`` readings, shape (count, axes)."""
        s = self._settings
        total = np.zeros((count, self._axes))
        if count == 0:
            return total
        if s.white:
            total += s.white * self._normal(_WHITE, count)
        if s.drift:
            # One reading's drift is the last one's, faded, and a new part: from the state after the last call.
            pushes = s.drift * float(np.sqrt(1 - self._fade**2)) * self._normal(_DRIFT, count)
            series, _ = lfilter([1.0], [1.0, -self._fade], pushes, axis=0, zi=self._fade * self._drift[None])
            total += np.concatenate([self._drift[None], series[:-1]])
            self._drift = series[-1]
        if s.walk:
            series = np.cumsum(np.concatenate([self._walk[None], self._step * self._normal(_WALK, count)]), 0)
            total += series[:-1]
            self._walk = series[-1]
        self._count += count
        return total


@kernel
def _normals(key0: Any, key1: Any, purpose: int, stream: int, first: int, out: Any) -> None:
    """`tussock.randomness.normal_array` of readings ``first``, … down and streams ``stream``, … across, bit by bit."""
    for k in range(out.shape[0]):
        for axis in range(out.shape[1]):
            words = philox(key0, key1, first + k, stream + axis, 0, purpose)
            out[k, axis] = normal_pair(words[0], words[1])[0]
