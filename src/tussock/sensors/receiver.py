"""What the receiver makes of a pulse's echoes: which it reports, how near and far, in which steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tussock.settings import Settings

__all__ = ["Receiver"]

Metres = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Receiver(Settings):
    """From echoes to returns."""

    mode: Literal["strongest"] = "strongest"
    """which echo of a pulse is reported"""
    min_range_m: Metres = 0.0
    max_range_m: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 100.0
    range_step_m: Metres = 0.0
    """measured ranges are whole multiples of this; 0: not quantised"""

    @model_validator(mode="after")
    def _ordered(self) -> Receiver:
        if self.min_range_m >= self.max_range_m:
            raise ValueError(f"min_range_m must be below max_range_m ({self.max_range_m:g})")
        return self
