"""The fisheye lens of Kannala and Brandt, as OpenCV's ``fisheye`` module writes it.

A point at the angle θ from the axis is seen at the distance (in focal lengths) from the middle

    θ_d = θ (1 + k₁ θ² + k₂ θ⁴ + k₃ θ⁶ + k₄ θ⁸)

(Kannala and Brandt, "A generic camera model and calibration method", 2006). Without coefficients the lens is
equidistant. Give the focal length in pixels or the field of view across the image, up to 360°; ``circle_deg``
is the field of the lens itself, outside of which the image stays black.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from tussock.cameras.lenses.lens import Lens, LensKind, LensNumbers
from tussock.kernels import kernel
from tussock.quantities import Positive

__all__ = ["Fisheye"]

_STEPS = 30
_CLOSE = 1e-12


class Fisheye(Lens):
    """Angles become distances from the middle of the image.

    >>> wide = tussock.Camera(width=600, height=600, lens=tussock.Fisheye(horizontal_fov_deg=180))
    """

    kind: Literal["fisheye"] = "fisheye"
    fx: Positive | None = None
    fy: Positive | None = None
    cx: float | None = None
    cy: float | None = None
    horizontal_fov_deg: Annotated[float, Field(gt=0.0, le=360.0)] | None = None
    """instead of fx: from the left edge of the image to the right one"""
    circle_deg: Annotated[float, Field(gt=0.0, le=360.0)] = 360.0
    k1: float = 0.0
    k2: float = 0.0
    k3: float = 0.0
    k4: float = 0.0

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.fx is None) == (self.horizontal_fov_deg is None):
            raise ValueError("a fisheye lens needs either fx [pixels] or horizontal_fov_deg, and only one of them")
        if self.fy is not None and self.fx is None:
            raise ValueError("fy goes with fx, not with horizontal_fov_deg")
        return self

    def numbers(self, width: int, height: int) -> LensNumbers:
        """fx, fy, cx, cy, k₁ to k₄, the widest θ and its θ_d."""
        k = (self.k1, self.k2, self.k3, self.k4)
        if self.fx is not None:
            fx = self.fx
        else:
            assert self.horizontal_fov_deg is not None
            fx = width / 2 / seen_at(math.radians(self.horizontal_fov_deg) / 2, *k)
        widest = min(math.radians(self.circle_deg) / 2, _fold_angle(k))
        return LensNumbers.of(
            LensKind.FISHEYE,
            fx,
            fx if self.fy is None else self.fy,
            (width - 1) / 2 if self.cx is None else self.cx,
            (height - 1) / 2 if self.cy is None else self.cy,
            *k,
            widest,
            seen_at(widest, *k),
        )


def _fold_angle(k: tuple[float, ...]) -> float:
    """The largest θ up to which θ_d grows."""
    theta = np.linspace(0.0, np.pi, 20001)
    back = np.diff(seen_at(theta, *k)) <= 0
    return float(theta[np.argmax(back)]) if back.any() else math.pi


@kernel
def seen_at(theta: Any, k1: Any, k2: Any, k3: Any, k4: Any) -> Any:
    """θ_d, in focal lengths."""
    t2 = theta * theta
    return theta * (1 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4))))


@kernel
def fisheye_ray(p: Any, u: Any, v: Any) -> Any:
    x, y = (u - p[2]) / p[0], (v - p[3]) / p[1]
    r = math.sqrt(x * x + y * y)
    if r > p[9]:
        return 0.0, 0.0, 0.0, 0.0, 1.0, False
    if r < 1e-12:
        return 0.0, 0.0, 0.0, 0.0, 1.0, True
    low, high = 0.0, p[8]
    theta = min(r, high)
    for _ in range(_STEPS):
        t2 = theta * theta
        miss = seen_at(theta, p[4], p[5], p[6], p[7]) - r
        if abs(miss) < _CLOSE:
            break
        # Newton's step, held between two angles on either side of the answer
        if miss > 0:
            high = theta
        else:
            low = theta
        slope = 1 + t2 * (3 * p[4] + t2 * (5 * p[5] + t2 * (7 * p[6] + t2 * 9 * p[7])))
        step = theta - miss / slope if slope > 1e-6 else (low + high) / 2
        theta = step if low <= step <= high else (low + high) / 2
    s = math.sin(theta) / r
    return 0.0, 0.0, s * x, s * y, math.cos(theta), True


@kernel
def fisheye_pixel(p: Any, x: Any, y: Any, z: Any) -> Any:
    flat = math.sqrt(x * x + y * y)
    if flat < 1e-12:
        return p[2], p[3], z > 0.0
    theta = math.atan2(flat, z)
    if theta > p[8]:
        return math.nan, math.nan, False
    r = seen_at(theta, p[4], p[5], p[6], p[7]) / flat
    return p[0] * r * x + p[2], p[1] * r * y + p[3], True
