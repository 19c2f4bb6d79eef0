"""Lens distortion of Brown and Conrady, as OpenCV writes it.

A point at (x, y) = (X/Z, Y/Z) of the ideal image is seen at, with r² = x² + y²,

    x' = x · f(r²) + 2 p₁ x y + p₂ (r² + 2 x²)
    y' = y · f(r²) + p₁ (r² + 2 y²) + 2 p₂ x y
    f  = (1 + k₁ r² + k₂ r⁴ + k₃ r⁶) / (1 + k₄ r² + k₅ r⁴ + k₆ r⁶)

(Brown, "Close-range camera calibration", 1971; the rational form and the order k₁ k₂ p₁ p₂ k₃ k₄ k₅ k₆ are those
of OpenCV's ``calib3d``). There is no closed form back, so pixels become rays by Newton's method. Thin-prism and
tilt terms are left out.

Beyond some radius a polynomial turns back and would show the same pixel twice; `fold_radius` finds it, and
nothing outside is projected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import kernel

__all__ = ["distort", "fold_radius", "undistort"]

_STEPS = 30
_CLOSE = 1e-24  # squared, in units of the focal length: far below a thousandth of any pixel
_WIDEST = math.tan(math.radians(89.0))


@kernel
def distort(k: Any, x: Any, y: Any) -> Any:
    """Where the ideal point (x, y) is seen; ``k`` = k₁ k₂ p₁ p₂ k₃ k₄ k₅ k₆."""
    r2 = x * x + y * y
    f = (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])))
    return (
        x * f + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x),
        y * f + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y,
    )


@kernel
def undistort(k: Any, seen_x: Any, seen_y: Any) -> Any:
    """The ideal point that is seen at (seen_x, seen_y), and whether Newton's method found it."""
    x, y = seen_x, seen_y
    for _ in range(_STEPS):
        at_x, at_y = distort(k, x, y)
        miss_x, miss_y = at_x - seen_x, at_y - seen_y
        if miss_x * miss_x + miss_y * miss_y < _CLOSE:
            return x, y, True
        r2 = x * x + y * y
        above = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))
        below = 1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7]))
        f = above / below
        # df/d(r²), and with it the Jacobian of `distort`
        slope = (
            (k[0] + r2 * (2 * k[1] + r2 * 3 * k[4])) - f * (k[5] + r2 * (2 * k[6] + r2 * 3 * k[7]))
        ) / below  # fmt: skip
        xx = f + 2 * x * x * slope + 2 * k[2] * y + 6 * k[3] * x
        xy = 2 * x * y * slope + 2 * k[2] * x + 2 * k[3] * y
        yy = f + 2 * y * y * slope + 6 * k[2] * y + 2 * k[3] * x
        det = xx * yy - xy * xy
        if not det > 1e-9:
            return x, y, False
        x -= (yy * miss_x - xy * miss_y) / det
        y -= (xx * miss_y - xy * miss_x) / det
    return x, y, False


def fold_radius(k: NDArray[np.float64]) -> float:
    """The largest r = tan(angle from the axis) up to which the radial part grows; at most tan 89°."""
    r = np.concatenate([np.linspace(0.0, 4.0, 8001), np.geomspace(4.0, _WIDEST, 2000)[1:]])
    r2 = r * r
    below = 1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7]))
    seen = r * (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / below
    back = (np.diff(seen) <= 0) | (below[1:] <= 0)
    return float(r[np.argmax(back)]) if back.any() else float(r[-1])
