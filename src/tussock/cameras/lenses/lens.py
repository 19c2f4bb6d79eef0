"""What a lens is: how points in front of a camera become pixels, and pixels become rays.

A lens works in optical axes: x to the right of the image, y down, z ahead. Pixel (u, v) = (0, 0) is the middle of
the top left pixel, u counts columns and v rows, as in OpenCV and KITTI; the image reaches from −0.5 to width − 0.5.

Kernels take a lens as numbers: its kind and up to 16 parameters. Every kind is a file of its own with two kernels,
``ray`` (pixel → point on the image plane where the ray starts, direction, whether there is one) and ``pixel``
(point → pixel, whether it is seen); `pixel_ray` and `point_pixel` choose among them.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from tussock.errors import InputError
from tussock.settings import Settings

__all__ = ["OPTICAL", "Lens", "LensKind", "LensNumbers", "Pixels"]

Pixels = Annotated[int, Field(ge=1, le=32768)]

OPTICAL: NDArray[np.float64] = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""turns optical axes (x right, y down, z ahead) into the camera's own (x ahead, y left, z up), shape (3, 3)"""


class LensKind(IntEnum):
    """How kernels tell lenses apart."""

    PINHOLE = 0
    DISTORTED = 1
    FISHEYE = 2
    EQUIRECTANGULAR = 3
    ORTHOGRAPHIC = 4


class LensNumbers(NamedTuple):
    """A lens for kernels, made for one size of image."""

    kind: int
    values: NDArray[np.float64]
    """shape (16,); each kind's file says what they are"""

    @classmethod
    def of(cls, kind: LensKind, *values: float) -> LensNumbers:
        padded = np.zeros(16)
        padded[: len(values)] = values
        return cls(int(kind), padded)


class Lens(Settings):
    """Base of all lenses; ``kind`` in a file chooses one of them."""

    kind: str

    def model_post_init(self, context: Any) -> None:
        # A lens made in Python need not name its kind, but a changed copy is parsed and must find it.
        self.__pydantic_fields_set__.add("kind")

    @abstractmethod
    def numbers(self, width: int, height: int) -> LensNumbers:
        """The lens over an image of this size, for kernels."""


def checked_points(points: ArrayLike, width: int, what: str) -> NDArray[np.float64]:
    """An array of shape (n, width), or an `InputError`."""
    array = np.atleast_2d(np.asarray(points, np.float64))
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError.of(what, f"must have the shape (n, {width})", array.shape)
    return np.ascontiguousarray(array)
