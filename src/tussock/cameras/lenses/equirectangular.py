"""The panorama: columns are azimuths, rows are elevations, both evenly spaced.

The left edge looks half the field of view to the left of straight ahead, the top edge half of it up; by default
the image holds all directions, 360° × 180°.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from tussock.cameras.lenses.lens import Lens, LensKind, LensNumbers
from tussock.kernels import kernel

__all__ = ["Equirectangular"]


class Equirectangular(Lens):
    """All around.

    >>> around = tussock.Camera(width=720, height=360, lens=tussock.Equirectangular())
    """

    kind: Literal["equirectangular"] = "equirectangular"
    horizontal_fov_deg: Annotated[float, Field(gt=0.0, le=360.0)] = 360.0
    vertical_fov_deg: Annotated[float, Field(gt=0.0, le=180.0)] = 180.0

    def numbers(self, width: int, height: int) -> LensNumbers:
        """radians a column, radians a row, the column and the row of straight ahead"""
        return LensNumbers.of(
            LensKind.EQUIRECTANGULAR,
            math.radians(self.horizontal_fov_deg) / width,
            math.radians(self.vertical_fov_deg) / height,
            (width - 1) / 2,
            (height - 1) / 2,
            math.radians(self.horizontal_fov_deg) / 2,
            math.radians(self.vertical_fov_deg) / 2,
        )


@kernel
def equirectangular_ray(p: Any, u: Any, v: Any) -> Any:
    right, down = (u - p[2]) * p[0], (v - p[3]) * p[1]
    level = math.cos(down)
    return 0.0, 0.0, math.sin(right) * level, math.sin(down), math.cos(right) * level, True


@kernel
def equirectangular_pixel(p: Any, x: Any, y: Any, z: Any) -> Any:
    right, down = math.atan2(x, z), math.atan2(y, math.sqrt(x * x + z * z))
    seen = abs(right) <= p[4] and abs(down) <= p[5] and x * x + y * y + z * z > 0.0
    return right / p[0] + p[2], down / p[1] + p[3], seen
