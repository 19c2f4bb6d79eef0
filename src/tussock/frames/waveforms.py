"""The full waveform of every pulse: the received signal in bins, and its decomposition into Gaussians.

A row is one pulse that anything came back of. Samples stand one bin apart from ``start`` on; a bin of a nanosecond
is 15 cm of range. The signal is in units of the receiver's noise where its sensitivity is known (the column `signal`
of a frame is the height of an echo in the same units), else relative to a white wall one metre away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError

__all__ = ["Components", "Waveforms"]

_LIGHT = 299_792_458.0


@dataclass(frozen=True, eq=False)
class Components:
    """The Gaussians that waveforms are made of, nearest first within a pulse; each of shape (n,).

    >>> frame = tussock.scan(scene, sensor, waveform=True)  # doctest: +SKIP
    >>> frame.waveforms.components.range  # doctest: +SKIP
    """

    pulse: NDArray[np.uint32]
    range: NDArray[np.float32]
    """[m] of the centre"""
    amplitude: NDArray[np.float32]
    """height, in the units of the samples"""
    width: NDArray[np.float32]
    """full width at half maximum [ns]; that of the pulse for a flat surface met head-on"""

    def __len__(self) -> int:
        return len(self.pulse)

    def nearest(self, pulse: NDArray[np.integer], reach: NDArray[np.floating]) -> NDArray[np.int64]:
        """Which component of its pulse lies nearest to each range [m], −1 where the pulse has none; shape (n,)."""
        begin, end = (np.searchsorted(self.pulse, pulse, side=side) for side in ("left", "right"))
        best, least = np.full(len(pulse), -1), np.full(len(pulse), np.inf)
        for k in range(int((end - begin).max(initial=0))):
            there = np.flatnonzero(begin + k < end)
            away = np.abs(self.range[begin[there] + k] - reach[there])
            nearer = there[away < least[there]]
            best[nearer], least[nearer] = begin[nearer] + k, np.abs(self.range[begin[nearer] + k] - reach[nearer])
        return best


@dataclass(frozen=True, eq=False)
class Waveforms:
    """The binned signals of one frame.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> waveforms = tussock.scan(scene, tussock.load_sensor("vlp-16"), waveform=True).waveforms
    >>> waveforms.samples.ndim
    2
    """

    pulse: NDArray[np.uint32]
    """index of the pulse in its frame, ascending, shape (n,)"""
    start: NDArray[np.float32]
    """[m] range of the first sample, shape (n,)"""
    samples: NDArray[np.float32]
    """shape (n, samples)"""
    bin_ns: float
    pulse_fwhm_ns: float
    noise: float
    """standard deviation of the noise of a sample"""
    components: Components | None = None
    """the samples decomposed"""

    def __post_init__(self) -> None:
        if self.samples.ndim != 2 or not len(self.pulse) == len(self.start) == len(self.samples):
            shapes = (self.pulse.shape, self.start.shape, self.samples.shape)
            raise InputError.of("waveforms", "pulse, start and samples must have one row a pulse", shapes)

    def __len__(self) -> int:
        return len(self.pulse)

    @property
    def bin_m(self) -> float:
        """[m] of range from one sample to the next."""
        return self.bin_ns * 1e-9 * _LIGHT / 2

    def ranges(self, row: int) -> NDArray[np.float64]:
        """[m] of every sample of a row, shape (samples,)"""
        return float(self.start[row]) + self.bin_m * np.arange(self.samples.shape[1], dtype=np.float64)

    def row_of(self, pulse: int) -> int:
        """The row of a pulse."""
        row = int(np.searchsorted(self.pulse, pulse))
        if row == len(self.pulse) or self.pulse[row] != pulse:
            known = f"one of the {len(self.pulse)} pulses that anything came back of"
            raise InputError.of("pulse", f"must be {known}", pulse)
        return row
