"""Gently uneven ground: a sum of waves with random directions and phases.

Smooth everywhere and known in closed form, so that whatever stands on it can ask for height and slope at any
point. Wavelengths run from the longest given down to a quarter of it, and the height of a wave goes with its
length, as on natural ground. It has no cliffs, ruts or stones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tussock.arrays import FloatArray
from tussock.scene.sizes import between, chance, positive

__all__ = ["Relief"]

_WAVES = 12


@dataclass(frozen=True)
class Relief:
    """Heights over x and y; the same seed gives the same ground."""

    height: float = 0.3
    """root mean square height [m] above and below zero, over a large area"""
    wavelength: float = 40.0
    """longest wave [m]"""
    seed: int = 0
    _waves: tuple[FloatArray, FloatArray, FloatArray] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        between("relief height", self.height, 0.0, 1e9)
        positive("relief wavelength", self.wavelength)
        rng = chance("relief", self.seed)
        length = self.wavelength * np.geomspace(1.0, 0.25, _WAVES)
        heading = rng.uniform(0, 2 * np.pi, _WAVES)
        vector = (2 * np.pi / length)[:, None] * np.stack([np.cos(heading), np.sin(heading)], 1)
        # Sines of amplitude a have the mean square a²/2.
        amplitude = self.height * length / np.sqrt((length**2).sum() / 2)
        object.__setattr__(self, "_waves", (vector, amplitude, rng.uniform(0, 2 * np.pi, _WAVES)))

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Height [m] at x and y [m], arrays of one shape."""
        total = np.zeros(np.shape(x))
        for (kx, ky), amplitude, phase in zip(*self._waves, strict=True):
            total += amplitude * np.sin(kx * x + ky * y + phase)
        return total

    def slope(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rise along x and along y (metres a metre)."""
        along_x, along_y = np.zeros(np.shape(x)), np.zeros(np.shape(x))
        for (kx, ky), amplitude, phase in zip(*self._waves, strict=True):
            steep = amplitude * np.cos(kx * x + ky * y + phase)
            along_x += kx * steep
            along_y += ky * steep
        return along_x, along_y
