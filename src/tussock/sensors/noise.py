"""Noise of a sensor: range, direction, and pulses that are lost.

Range noise is eq (2) of BlenSor. The paper calls σ a variance; its released defaults and its text ("differ up
to 12 centimeter") show that they are standard deviations, and so they are here.

A sheet states the noise of one target (``ray_sigma_m`` at ``stated_at``); that of others follows from their signal
(`tussock.signal.range_noise`), where the receiver's `detects` says how strong that is. Without ``stated_at`` all
measurements have the same noise.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tussock.quantities import Fraction, Sigma, TargetDistance, TargetReflectivity
from tussock.settings import Settings

__all__ = ["Noise", "StatedAt"]


class StatedAt(Settings):
    """The target that a sheet states its noise for."""

    reflectivity: TargetReflectivity = 0.8
    distance_m: TargetDistance


class Noise(Settings):
    """What a sensor adds to the truth.

    >>> tussock.Noise(ray_sigma_m=0.02, dropout=0.01).dropout
    0.01
    """

    ray_sigma_m: Sigma = 0.0
    """standard deviation of every single measurement [m]"""
    stated_at: StatedAt | None = None
    """the target that ``ray_sigma_m`` holds for; None: it holds for all"""
    floor_sigma_m: Sigma = 0.0
    """what remains of ``ray_sigma_m`` for the strongest signals [m]"""
    distribution: Literal["normal", "laplace"] = "normal"
    """of every single measurement"""
    bias_sigma_m: Sigma = 0.0
    """standard deviation of the fixed bias of each laser [m], sampled once per seed"""
    pointing_sigma_mrad: Annotated[float, Field(ge=0.0, lt=500.0)] = 0.0
    """standard deviation of the true direction about the reported one, across and up each [mrad]"""
    dropout: Fraction = 0.0
    """share of returns that are lost by chance"""
    false_alarms: Fraction = 0.0
    """probability a pulse that sunlight or the receiver's own noise makes an echo out of nothing"""
    interference: Fraction = 0.0
    """probability a pulse that the light of another sensor makes an echo, as strong as a white wall's"""
    speed_sigma_m_s: Sigma | None = None
    """standard deviation of the radial speed that an FMCW sensor measures [m/s]; None: it measures none"""
