"""Pixels to rays and points to pixels, for any lens: one at a time in kernels, or whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.lenses.equirectangular import equirectangular_pixel, equirectangular_ray
from tussock.cameras.lenses.fisheye import fisheye_pixel, fisheye_ray
from tussock.cameras.lenses.lens import LensKind, LensNumbers
from tussock.cameras.lenses.orthographic import orthographic_pixel, orthographic_ray
from tussock.cameras.lenses.pinhole import distorted_pixel, distorted_ray, pinhole_pixel, pinhole_ray
from tussock.kernels import kernel

__all__ = ["pixel_ray", "pixels_of", "point_pixel", "rays_of"]

_PINHOLE, _DISTORTED, _FISHEYE, _EQUIRECTANGULAR = (
    int(kind) for kind in (LensKind.PINHOLE, LensKind.DISTORTED, LensKind.FISHEYE, LensKind.EQUIRECTANGULAR)
)


@kernel
def pixel_ray(lens: Any, u: Any, v: Any) -> Any:
    """The ray of a pixel: x, y of its start, its unit direction x, y, z, and whether there is one."""
    if lens.kind == _PINHOLE:
        return pinhole_ray(lens.values, u, v)
    if lens.kind == _DISTORTED:
        return distorted_ray(lens.values, u, v)
    if lens.kind == _FISHEYE:
        return fisheye_ray(lens.values, u, v)
    if lens.kind == _EQUIRECTANGULAR:
        return equirectangular_ray(lens.values, u, v)
    return orthographic_ray(lens.values, u, v)


@kernel
def point_pixel(lens: Any, x: Any, y: Any, z: Any) -> Any:
    """The pixel u, v of a point in optical axes, and whether the lens sees that way at all."""
    if lens.kind == _PINHOLE:
        return pinhole_pixel(lens.values, x, y, z)
    if lens.kind == _DISTORTED:
        return distorted_pixel(lens.values, x, y, z)
    if lens.kind == _FISHEYE:
        return fisheye_pixel(lens.values, x, y, z)
    if lens.kind == _EQUIRECTANGULAR:
        return equirectangular_pixel(lens.values, x, y, z)
    return orthographic_pixel(lens.values, x, y, z)


def rays_of(lens: LensNumbers, pixels: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts [m] and unit directions in optical axes, each (n, 3), of pixels (n, 2); NaN where there is no ray."""
    starts, directions = np.zeros((len(pixels), 3)), np.empty((len(pixels), 3))
    _fill_rays(lens, pixels, starts, directions)
    return starts, directions


def pixels_of(lens: LensNumbers, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixels (n, 2) of points (n, 3) [m] in optical axes; NaN where the lens does not see them."""
    pixels = np.empty((len(points), 2))
    _fill_pixels(lens, points, pixels)
    return pixels


@kernel
def _fill_rays(lens: Any, pixels: Any, starts: Any, directions: Any) -> None:
    for i in range(len(pixels)):
        x, y, dx, dy, dz, there = pixel_ray(lens, pixels[i, 0], pixels[i, 1])
        starts[i, 0], starts[i, 1] = x, y
        directions[i, 0], directions[i, 1], directions[i, 2] = dx, dy, dz
        if not there:
            directions[i] = np.nan


@kernel
def _fill_pixels(lens: Any, points: Any, pixels: Any) -> None:
    for i in range(len(points)):
        u, v, seen = point_pixel(lens, points[i, 0], points[i, 1], points[i, 2])
        pixels[i, 0], pixels[i, 1] = (u, v) if seen else (np.nan, np.nan)
