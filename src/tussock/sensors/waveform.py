"""Which part of the received signal is kept, and how finely, where the full waveform is asked for."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tussock.quantities import NotNegative, Positive
from tussock.settings import Settings

__all__ = ["WaveformSettings"]


class WaveformSettings(Settings):
    """The digitiser of a full-waveform sensor; one that has none may be looked at in the same way."""

    bin_ns: Annotated[float, Field(ge=0.01, le=100.0)] = 1.0
    """from one sample to the next [ns]; 1 ns is 15 cm of range"""
    window_m: Annotated[float, Field(gt=0.0, le=10_000.0)] = 30.0
    """how much of the range is kept of every pulse"""
    lead_m: NotNegative = 2.0
    """how much of it lies before the first thing that the pulse met"""
    noise: bool = True
    """whether samples have the receiver's noise, where its sensitivity is known"""

    @property
    def bin_m(self) -> Positive:
        """[m] of range from one sample to the next."""
        return self.bin_ns * 1e-9 * 299_792_458.0 / 2

    @property
    def samples(self) -> int:
        """How many samples a pulse has."""
        return max(2, round(self.window_m / self.bin_m))
