"""A colour picture of a camera."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.shot import Shot

__all__ = ["Picture"]


@dataclass(frozen=True, eq=False, repr=False)
class Picture(Shot):
    """What the camera saw, in colour.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> tussock.render(scene, tussock.Camera(width=16, height=8, samples=1)).rgb.shape
    (8, 16, 3)
    """

    rgb: NDArray[np.uint8]
    """developed, sRGB, shape (height, width, 3)"""
    light: NDArray[np.float32]
    """linear RGB before development, 1 = white in full sun, shape (height, width, 3)"""
    meta: dict[str, Any] = field(default_factory=dict)
    """plain data: version, seed, camera, light, scene"""
