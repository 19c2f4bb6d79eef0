"""The orthographic view: all rays run side by side, as on a map.

Every ray starts on the camera's plane, so a map from above needs a camera above everything it shall show, turned
with pitch 90° to look down.
"""

from __future__ import annotations

from typing import Any, Literal

from tussock.cameras.lenses.lens import Lens, LensKind, LensNumbers
from tussock.kernels import kernel
from tussock.quantities import Positive

__all__ = ["Orthographic"]


class Orthographic(Lens):
    """Sizes do not shrink with distance.

    >>> plan = tussock.Camera(width=600, height=600, lens=tussock.Orthographic(width_m=30))
    """

    kind: Literal["orthographic"] = "orthographic"
    width_m: Positive
    """what the image shows from its left edge to its right one; pixels are square"""

    def numbers(self, width: int, height: int) -> LensNumbers:
        """metres a pixel, the column and the row of the middle"""
        return LensNumbers.of(LensKind.ORTHOGRAPHIC, self.width_m / width, (width - 1) / 2, (height - 1) / 2)


@kernel
def orthographic_ray(p: Any, u: Any, v: Any) -> Any:
    return (u - p[1]) * p[0], (v - p[2]) * p[0], 0.0, 0.0, 1.0, True


@kernel
def orthographic_pixel(p: Any, x: Any, y: Any, z: Any) -> Any:
    return x / p[0] + p[1], y / p[0] + p[2], z >= 0.0
