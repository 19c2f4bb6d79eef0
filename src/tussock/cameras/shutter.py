"""When each pixel is exposed.

A global shutter opens all rows at once. A rolling one opens row r of H at ``readout_s`` · r/H after the first, so
what moves is sheared. Either stays open for ``exposure_s``; the samples of a pixel are spread over that time, which
blurs what moves. Depth, labels and boxes are taken at the opening of each row.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tussock.settings import Settings

__all__ = ["Shutter"]

Duration = Annotated[float, Field(ge=0.0, le=3600.0)]


class Shutter(Settings):
    """When the rows of an image are exposed.

    >>> rolling = tussock.Shutter(kind="rolling", readout_s=0.02, exposure_s=0.005)
    >>> round(rolling.duration, 6)
    0.025
    """

    kind: Literal["global", "rolling"] = "global"
    readout_s: Duration = 0.0
    """from the opening of the first row to that of the row after the last; for a rolling shutter"""
    exposure_s: Duration = 0.0
    """how long a pixel gathers light; 0: an instant"""

    @model_validator(mode="after")
    def _readout_rolls(self) -> Self:
        if (self.kind == "rolling") != (self.readout_s > 0):
            raise ValueError("a rolling shutter needs readout_s > 0, and a global one has none")
        return self

    def opens(self, height: int) -> NDArray[np.float64]:
        """[s] after the start of the image, shape (height,)"""
        return np.arange(height, dtype=np.float64) * (self.readout_s / height)

    @property
    def duration(self) -> float:
        """[s] from the opening of the first row to the closing of the last"""
        return self.readout_s + self.exposure_s
