"""Range noise of a sensor, eq (2) of BlenSor: measured = true + bias of the laser + noise of the ray.

The paper calls σ a variance; its released defaults and its text ("differ up to 12 centimetre") show that they
are standard deviations, and so they are here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tussock.settings import Settings

__all__ = ["Noise"]

Sigma = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Noise(Settings):
    ray_sigma_m: Sigma = 0.0
    """standard deviation of every single measurement [m]"""
    bias_sigma_m: Sigma = 0.0
    """standard deviation of the fixed bias of each laser [m], drawn once per seed"""
