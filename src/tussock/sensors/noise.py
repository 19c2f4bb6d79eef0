"""Noise of a sensor: range, direction, and pulses that are lost.

Range noise is eq (2) of BlenSor. The paper calls σ a variance; its released defaults and its text ("differ up
to 12 centimeter") show that they are standard deviations, and so they are here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tussock.quantities import Fraction, NotNegative
from tussock.settings import Settings

__all__ = ["Noise"]


class Noise(Settings):
    ray_sigma_m: NotNegative = 0.0
    """standard deviation of every single measurement [m]"""
    distribution: Literal["normal", "laplace"] = "normal"
    """of every single measurement"""
    bias_sigma_m: NotNegative = 0.0
    """standard deviation of the fixed bias of each laser [m], sampled once per seed"""
    pointing_sigma_mrad: Annotated[float, Field(ge=0.0, lt=500.0)] = 0.0
    """standard deviation of the true direction about the reported one, across and up each [mrad]"""
    dropout: Fraction = 0.0
    """share of returns that are lost by chance"""
