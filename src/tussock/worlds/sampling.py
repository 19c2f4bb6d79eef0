"""The choices of one world, each sampled by its name: no choice depends on how many were made before it.

A sample is Philox of (name, world, index) under the seed, so world 731 is the same on any machine without the other
730, and a recipe that gains a choice keeps all others.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.randomness import Purpose, words_array

__all__ = ["Samples"]


@dataclass(frozen=True)
class Samples:
    """Everything that chance decides about world number ``world`` of a seed."""

    seed: int
    world: int
    about: str = ""
    """put before every name, so that parts of a world do not share samples"""

    def of(self, part: str) -> Samples:
        """The samples of a part of the world."""
        return replace(self, about=f"{self.about}{part} ")

    def unit(self, name: str, index: ArrayLike = 0) -> NDArray[np.float64]:
        """Uniform in [0, 1), one for each ``index``, with 53 bits."""
        words = self._words(name, index).astype(np.uint64)
        return ((words[..., 0] << np.uint64(21)) ^ (words[..., 1] >> np.uint64(11))).astype(np.float64) * 2.0**-53

    def between(self, name: str, span: tuple[float, float], index: int = 0) -> float:
        """Uniform from the first of ``span`` to the second."""
        low, high = span
        return low + (high - low) * float(self.unit(name, index))

    def count(self, name: str, span: tuple[int, int], index: int = 0) -> int:
        """A whole number from the first of ``span`` to the second, both included."""
        low, high = span
        return low + min(int((high - low + 1) * float(self.unit(name, index))), high - low)

    def one_of(self, name: str, weights: Mapping[str, float], index: int = 0) -> str:
        """A key of ``weights``, with the probability of its weight over all."""
        keys = list(weights)
        ends = np.cumsum([weights[key] for key in keys])
        place = np.searchsorted(ends, float(self.unit(name, index)) * ends[-1], side="right")
        return keys[min(int(place), len(keys) - 1)]

    def seed_of(self, name: str, index: int = 0) -> int:
        """A seed for a generator of its own, 0 to 2³¹ − 1."""
        return int(self._words(name, index)[0] >> np.uint32(1))

    def _words(self, name: str, index: ArrayLike) -> NDArray[np.uint32]:
        return words_array(self.seed, Purpose.WORLD, self.world, index, zlib.crc32((self.about + name).encode()))
