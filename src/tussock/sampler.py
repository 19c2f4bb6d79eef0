"""Numbers by chance for what is built once: plants, terrain, places on the ground, held-out pulses.

NumPy may change what its generators' methods make of the same bits from one version to the next (NEP 19), so a scene
would not be the same scene after an update. Here every number is a function of (seed, purpose, stream, call, place in
the call), through the Philox of `tussock.randomness` and plain arithmetic: a seed gives the same numbers everywhere,
for good. The methods are named and called as NumPy's.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.kernels import kernel
from tussock.randomness import Purpose, check_seed, normal_pair, words_array

__all__ = ["Sampler"]

Size = int | tuple[int, ...]


class Sampler:
    """A stream of numbers: each call takes the next ones. Streams of other names share none with it."""

    def __init__(self, stream: str, seed: int, *, purpose: Purpose = Purpose.PLANT) -> None:
        self._seed, self._purpose = check_seed(seed), purpose
        self._stream = zlib.crc32(stream.encode())
        self._calls = 0

    def uniform(self, low: float, high: float, size: Size) -> FloatArray:
        """Uniform in [low, high), with 53 bits."""
        return low + (high - low) * (self._bits(size).astype(np.float64) * 2.0**-53)

    def integers(self, low: int, high: int, size: Size) -> NDArray[np.int64]:
        """Whole numbers from ``low`` to ``high`` − 1: the floor of uniform ones, for spans up to 2³²."""
        span = high - low
        return low + np.minimum((self.uniform(0.0, 1.0, size) * span).astype(np.int64), span - 1)

    def standard_normal(self, size: Size) -> FloatArray:
        """Standard normal (Box-Muller), to the precision of float32."""
        words = self._words(int(np.prod(size)))
        normals = np.empty(len(words), np.float32)
        _normals(words, normals)
        return normals.astype(np.float64).reshape(size)

    def normal(self, mean: float, sigma: float, size: Size) -> FloatArray:
        """Normal with a standard deviation of ``sigma``."""
        return mean + sigma * self.standard_normal(size)

    def permutation(self, what: int | NDArray[Any]) -> NDArray[Any]:
        """``what``, or the numbers below it, in an order by chance: sorted by 53 bits each."""
        items = np.arange(what) if isinstance(what, int | np.integer) else what
        shuffled: NDArray[Any] = items[np.argsort(self._bits(len(items)), kind="stable")]
        return shuffled

    def _bits(self, size: Size) -> NDArray[np.uint64]:
        words = self._words(int(np.prod(size))).astype(np.uint64)
        bits: NDArray[np.uint64] = (words[:, 0] << np.uint64(21)) ^ (words[:, 1] >> np.uint64(11))
        return bits.reshape(size)

    def _words(self, count: int) -> NDArray[np.uint32]:
        self._calls += 1
        return words_array(self._seed, self._purpose, self._stream, np.arange(count), self._calls)


@kernel
def _normals(words: Any, out: Any) -> None:
    for i in range(len(words)):
        out[i] = normal_pair(words[i, 0], words[i, 1])[0]
