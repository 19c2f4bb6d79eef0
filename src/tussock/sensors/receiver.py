"""What the receiver makes of a pulse's hits: which it reports, how near and far, how dim, in which steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tussock.quantities import Fraction, NotNegative, Positive
from tussock.settings import Settings

__all__ = ["DetectionLimit", "Mode", "Receiver"]

Mode = Literal["strongest", "last", "first", "strongest+last", "all"]


class DetectionLimit(Settings):
    """The least reflectivity that is seen, linear between two distances (`tussock.signal.detection`)."""

    near_m: NotNegative = 50.0
    near_reflectivity: Fraction = 0.1
    far_m: Positive = 120.0
    far_reflectivity: Fraction = 0.8

    @model_validator(mode="after")
    def _ordered(self) -> DetectionLimit:
        if self.near_m >= self.far_m:
            raise ValueError(f"near_m must be below far_m ({self.far_m:g})")
        return self


class Receiver(Settings):
    """From hits to returns (`tussock.signal.returns`)."""

    mode: Mode = "strongest"
    """which hits of a pulse are reported"""
    signal_cutoff_m: NotNegative = 1.0
    """hits this close behind the nearest are one echo (modes first and all)"""
    max_returns: Annotated[int, Field(ge=1, le=32)] = 5
    """most returns a pulse in mode all: the nearest ones"""
    min_range_m: NotNegative = 0.0
    max_range_m: Positive = 100.0
    range_step_m: NotNegative = 0.0
    """measured ranges are whole multiples of this; 0: not quantised"""
    intensity_step: NotNegative = 0.0
    """measured intensities are whole multiples of this; 0: not quantised"""
    min_intensity: NotNegative = 0.0
    """returns dimmer than this are not reported"""
    spreading_reference_m: NotNegative = 0.0
    """intensities fall as 1/r² and are given as at this range; 0: the sensor makes up for it"""
    extinction_per_m: NotNegative = 0.0
    """κ of the air, lost as exp(−2κr)"""
    detection_limit: DetectionLimit | None = None
    backfolding: bool = False
    """ranges in the upper half of the range appear nearer by half the range (time-of-flight cameras)"""
    max_bounces: Annotated[int, Field(ge=0, le=16)] = 6
    """how often a ray goes on from mirrors and glass"""

    @model_validator(mode="after")
    def _ordered(self) -> Receiver:
        if self.min_range_m >= self.max_range_m:
            raise ValueError(f"min_range_m must be below max_range_m ({self.max_range_m:g})")
        return self

    @property
    def returns(self) -> int:
        """The most returns a pulse can have."""
        return {"strongest+last": 2, "all": self.max_returns}.get(self.mode, 1)
