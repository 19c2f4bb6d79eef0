"""A range camera: every pixel of a pinhole image measures at once (time-of-flight camera, flash LIDAR).

The light source floods the whole scene and each pixel keeps its own time (BlenSor, section 3.4). Pixel centres
lie evenly on the image plane one metre ahead: column u of W looks to tan(h/2)·(1 − (2u + 1)/W) on the left, row
v of H to tan(w/2)·(1 − (2v + 1)/H) above, with the fields of view h and w. Row 0 is the top, column 0 the left;
pulse number = row · W + column. Lens distortion is left out; the folding of far ranges belongs to the receiver.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tussock.quantities import FieldOfView
from tussock.sensors.patterns.pattern import FramedPattern, pulses_from_directions
from tussock.sensors.pulses import Pulses

__all__ = ["ImagePattern"]

Pixels = Annotated[int, Field(ge=1, le=16384)]


class ImagePattern(FramedPattern):
    """All pixels of one exposure, row by row from the top left.

    >>> pattern = tussock.ImagePattern(columns=8, rows=6, horizontal_fov_deg=40, vertical_fov_deg=30, frame_hz=20)
    >>> len(pattern.pulses(0))
    48
    """

    kind: Literal["image"] = "image"
    columns: Pixels
    rows: Pixels
    horizontal_fov_deg: FieldOfView
    """from the left edge of the image to the right edge"""
    vertical_fov_deg: FieldOfView

    @property
    def lasers(self) -> int:
        return 1

    def pulses(self, frame: int) -> Pulses:
        return _image(self)


@lru_cache(maxsize=8)
def _image(pattern: ImagePattern) -> Pulses:
    width, height = np.tan(np.deg2rad([pattern.horizontal_fov_deg, pattern.vertical_fov_deg]) / 2)
    left = width * (1 - (2 * np.arange(pattern.columns) + 1) / pattern.columns)
    up = height * (1 - (2 * np.arange(pattern.rows) + 1) / pattern.rows)
    z, y = (axis.ravel() for axis in np.meshgrid(up, left, indexing="ij"))
    rays = np.stack([np.ones_like(y), y, z], 1)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return pulses_from_directions(rays, np.zeros(len(rays)), np.zeros(len(rays), np.uint16))
