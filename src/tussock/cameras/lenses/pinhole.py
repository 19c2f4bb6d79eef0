"""The pinhole camera, with or without Brown-Conrady distortion.

    u = fx · x' + cx,   v = fy · y' + cy

with (x', y') the distorted image of (X/Z, Y/Z), see `tussock.cameras.lenses.brown_conrady`. Give the focal length in
pixels, or the field of view from the left edge of the image to the right one, which is that of the lens without
its distortion. Square pixels and the middle of the image are the defaults.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from tussock.cameras.lenses.brown_conrady import distort, fold_radius, undistort
from tussock.cameras.lenses.lens import Lens, LensKind, LensNumbers
from tussock.kernels import kernel
from tussock.quantities import FieldOfView, Positive

__all__ = ["Pinhole"]

_NEAREST = 1e-6  # [m] nothing nearer to the plane of the lens is projected


class Pinhole(Lens):
    """Straight lines stay straight, but for the distortion.

    >>> lens = tussock.Pinhole(horizontal_fov_deg=90)
    >>> float(lens.matrix(640, 480)[0, 0].round(6))
    320.0
    """

    kind: Literal["pinhole"] = "pinhole"
    fx: Positive | None = None
    """[pixels]"""
    fy: Positive | None = None
    """[pixels], fx if not given"""
    cx: float | None = None
    """[pixels], the middle of the image if not given: (width − 1)/2"""
    cy: float | None = None
    horizontal_fov_deg: FieldOfView | None = None
    """instead of fx"""
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0
    k4: float = 0.0
    k5: float = 0.0
    k6: float = 0.0

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.fx is None) == (self.horizontal_fov_deg is None):
            raise ValueError("a pinhole lens needs either fx [pixels] or horizontal_fov_deg, and only one of them")
        if self.fy is not None and self.fx is None:
            raise ValueError("fy goes with fx, not with horizontal_fov_deg")
        return self

    @property
    def distortion(self) -> tuple[float, ...]:
        """k1, k2, p1, p2, k3, k4, k5, k6: the order of OpenCV."""
        return (self.k1, self.k2, self.p1, self.p2, self.k3, self.k4, self.k5, self.k6)

    def matrix(self, width: int, height: int) -> np.ndarray:
        """The camera matrix K [pixels], shape (3, 3)."""
        if self.fx is not None:
            fx = self.fx
        else:
            assert self.horizontal_fov_deg is not None
            fx = width / 2 / math.tan(math.radians(self.horizontal_fov_deg) / 2)
        fy = fx if self.fy is None else self.fy
        cx = (width - 1) / 2 if self.cx is None else self.cx
        cy = (height - 1) / 2 if self.cy is None else self.cy
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    def numbers(self, width: int, height: int) -> LensNumbers:
        """fx, fy, cx, cy, the eight of the distortion, and the square of the radius where it folds."""
        k = self.matrix(width, height)
        four = (k[0, 0], k[1, 1], k[0, 2], k[1, 2])
        if not any(self.distortion):
            return LensNumbers.of(LensKind.PINHOLE, *four)
        fold = fold_radius(np.array(self.distortion))
        return LensNumbers.of(LensKind.DISTORTED, *four, *self.distortion, fold * fold)


@kernel
def pinhole_ray(p: Any, u: Any, v: Any) -> Any:
    x, y = (u - p[2]) / p[0], (v - p[3]) / p[1]
    length = math.sqrt(x * x + y * y + 1.0)
    return 0.0, 0.0, x / length, y / length, 1.0 / length, True


@kernel
def pinhole_pixel(p: Any, x: Any, y: Any, z: Any) -> Any:
    if z < _NEAREST:
        return math.nan, math.nan, False
    return p[0] * x / z + p[2], p[1] * y / z + p[3], True


@kernel
def distorted_ray(p: Any, u: Any, v: Any) -> Any:
    x, y, found = undistort(p[4:12], (u - p[2]) / p[0], (v - p[3]) / p[1])
    found = found and x * x + y * y <= p[12]
    length = math.sqrt(x * x + y * y + 1.0)
    return 0.0, 0.0, x / length, y / length, 1.0 / length, found


@kernel
def distorted_pixel(p: Any, x: Any, y: Any, z: Any) -> Any:
    if z < _NEAREST:
        return math.nan, math.nan, False
    a, b = x / z, y / z
    if a * a + b * b > p[12]:
        return math.nan, math.nan, False
    seen_x, seen_y = distort(p[4:12], a, b)
    return p[0] * seen_x + p[2], p[1] * seen_y + p[3], True
