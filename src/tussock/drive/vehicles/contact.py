"""How a body rests on the ground: height, roll and pitch from the four points where its wheels stand.

The body lies in the plane that fits the four points best; on a plane it lies exactly in it. Springs are left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.drive.site.ground import height_at
from tussock.kernels import inline_kernel

__all__ = ["Rest", "rest_on"]


class Rest(NamedTuple):
    """A body on the ground."""

    z: float
    """[m] height of its origin; NaN where a wheel has no ground below it"""
    along: float
    """rise of the ground a metre forward"""
    across: float
    """rise a metre to the left"""


@inline_kernel
def rest_on(ground: Any, x: float, y: float, yaw: float, wheelbase: float, track: float) -> Any:
    """Where a body at (x, y) [m] with heading ``yaw`` [rad] comes to rest."""
    c, s = np.cos(yaw), np.sin(yaw)
    a, b = 0.5 * wheelbase, 0.5 * track
    front_left = height_at(ground, x + a * c - b * s, y + a * s + b * c)
    front_right = height_at(ground, x + a * c + b * s, y + a * s - b * c)
    rear_left = height_at(ground, x - a * c - b * s, y - a * s + b * c)
    rear_right = height_at(ground, x - a * c + b * s, y - a * s - b * c)
    return Rest(
        0.25 * (front_left + front_right + rear_left + rear_right),
        (front_left + front_right - rear_left - rear_right) / (2.0 * wheelbase),
        (front_left + rear_left - front_right - rear_right) / (2.0 * track),
    )


@inline_kernel
def lean(along: float, across: float) -> Any:
    """Pitch (nose down positive) and roll (left side up positive) [rad] of a body on ground of these rises.

    Its x axis lies along (1, 0, along), its z axis along the normal (−along, −across, 1).
    """
    pitch = -np.arctan(along)
    # y of the body is level with the ground across; its rise over that of z is the roll.
    roll = np.arctan(across / np.sqrt(1.0 + along * along))
    return pitch, roll
