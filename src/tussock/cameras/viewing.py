"""Pixels become rays in the world, each at its own moment.

The image is walked in tiles of 4 × 4 pixels, one lane of Embree's packet each: neighbours meet the same things, so
a packet stays together. Every row of the image has its own pose at the opening and at the closing of its exposure;
a ray in between takes the pose on the straight line between the two, which for a turn by the angle a is off by
less than a²/8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.lens import OPTICAL, LensKind, LensNumbers
from tussock.cameras.lenses.projection import pixel_ray
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.poses import Trajectory
from tussock.trace.packets import LANES, NOTHING, Packet, load_ray
from tussock.trace.ray import SKIN, Ray

__all__ = ["TILE", "TILE_ROWS", "Viewing", "aim", "new_tile", "number_pixels", "set_pixels", "tile_rays", "viewing_of"]

TILE = 4
TILE_ROWS = 8
U, V, OX, OY, DX, DY, DZ, MOMENT = range(0, TILE_ROWS * LANES, LANES)  # where the rows of a tile begin
_PINHOLE = int(LensKind.PINHOLE)


class Viewing(NamedTuple):
    """A camera at its place, for kernels."""

    lens: LensNumbers
    width: int
    height: int
    reach: np.float32
    """[m] rays end here"""
    opens: NDArray[np.float32]
    """ray time (0 to 1) at which every row opens, shape (height,)"""
    exposure: np.float32
    """how long a row stays open, as a share of the span of ray time"""
    poses: NDArray[np.float64]
    """optical axes to the tracer's coordinates at opening and closing: nine numbers of rotation row by row, three
    of position; shape (height, 2, 12), or (1, 2, 12) for a camera that stands"""


def viewing_of(camera: Camera, path: Trajectory, start: float, origin: NDArray[np.float64]) -> Viewing:
    """The camera on its path for the image that starts at ``start`` [s]; ``origin`` is the tracer's zero."""
    opens = camera.shutter.opens(camera.height)
    duration = camera.shutter.duration
    path.check_covers("the image", start, start + duration, "choose another time")
    times = start + (opens if path.moving else opens[:1])
    both = path.matrices(np.concatenate([times, times + camera.shutter.exposure_s]))
    both[:, :, :3] = both[:, :, :3] @ OPTICAL
    both[:, :, 3] -= origin
    flat = np.concatenate([both[:, :, :3].reshape(-1, 9), both[:, :, 3]], 1)
    span = duration if duration > 0 else 1.0
    return Viewing(
        camera.numbers,
        camera.width,
        camera.height,
        np.float32(camera.max_range_m),
        (opens / span).astype(np.float32),
        np.float32(camera.shutter.exposure_s / span),
        np.ascontiguousarray(np.stack([flat[: len(times)], flat[len(times) :]], 1)),
    )


@kernel
def new_tile() -> Array:
    """Room for the rays of a tile in optical axes: u, v, start x, y, direction x, y, z, moment; shape (8 × lanes,)."""
    return np.zeros(TILE_ROWS * LANES, np.float64)


@inline_kernel
def number_pixels(viewing: Viewing, band: int, left: int, pixels: Array) -> None:
    """The number of each of the tile's pixels in the image; those beyond its edge have that of its last."""
    for l in range(LANES):
        row, column = min(band * TILE + l // TILE, viewing.height - 1), min(left + l % TILE, viewing.width - 1)
        pixels[l] = row * viewing.width + column


@inline_kernel
def set_pixels(viewing: Viewing, band: int, left: int, tile: Array) -> None:
    """The pixels of the tile whose upper left one is in column ``left`` and row 4 × ``band``; the image ends at its last."""
    for l in range(LANES):
        tile[U + l] = min(left + l % TILE, viewing.width - 1)
        tile[V + l] = min(band * TILE + l // TILE, viewing.height - 1)


@loop_kernel
def aim(viewing: Viewing, band: int, tile: Array, packet: Packet) -> None:
    """Put the rays of a tile into the packet: its pixels in rows U and V, in row MOMENT the share of the exposure."""
    tile_rays(viewing.lens, tile, packet.masks)
    if len(viewing.poses) == 1:
        pose = viewing.poses[0, 0]
        for l in range(LANES):
            load_ray(packet, l, _standing_ray(pose, tile, l, viewing.reach, _ray_time(viewing, band, tile, l)), NOTHING)
    else:
        for l in range(LANES):
            load_ray(packet, l, _moving_ray(viewing, band, tile, l, _ray_time(viewing, band, tile, l)), NOTHING)


@inline_kernel
def _row_of(viewing: Viewing, band: int, l: int) -> int:
    return min(band * TILE + l // TILE, viewing.height - 1)


@inline_kernel
def _ray_time(viewing: Viewing, band: int, tile: Array, l: int) -> Real:
    moment = np.float32(tile[MOMENT + l])
    return min(viewing.opens[_row_of(viewing, band, l)] + moment * viewing.exposure, np.float32(1.0))


@inline_kernel
def tile_rays(lens: LensNumbers, tile: Array, masks: Array) -> None:
    """Rays in optical axes of the pixels of a tile; lanes without a ray are masked out."""
    if lens.kind == _PINHOLE:
        # The usual case by itself: without branches the compiler does several lanes at once.
        fx, fy, cx, cy = 1.0 / lens.values[0], 1.0 / lens.values[1], lens.values[2], lens.values[3]
        for l in range(LANES):
            x, y = (tile[U + l] - cx) * fx, (tile[V + l] - cy) * fy
            length = 1.0 / math.sqrt(x * x + y * y + 1.0)
            tile[DX + l] = x * length
            tile[DY + l] = y * length
            tile[DZ + l] = length
            masks[l] = NOTHING
    else:
        for l in range(LANES):
            ox, oy, dx, dy, dz, there = pixel_ray(lens, tile[U + l], tile[V + l])
            tile[OX + l], tile[OY + l] = ox, oy
            tile[DX + l], tile[DY + l], tile[DZ + l] = dx, dy, dz
            masks[l] = NOTHING if there else np.uint32(0)


@inline_kernel
def _standing_ray(m: Array, tile: Array, l: int, reach: Real, time: Real) -> Ray:
    ox, oy, dx, dy, dz = tile[OX + l], tile[OY + l], tile[DX + l], tile[DY + l], tile[DZ + l]
    return Ray(
        np.float32(m[9] + m[0] * ox + m[1] * oy), np.float32(m[10] + m[3] * ox + m[4] * oy),
        np.float32(m[11] + m[6] * ox + m[7] * oy),
        np.float32(m[0] * dx + m[1] * dy + m[2] * dz), np.float32(m[3] * dx + m[4] * dy + m[5] * dz),
        np.float32(m[6] * dx + m[7] * dy + m[8] * dz), SKIN, reach, time,
    )  # fmt: skip


@inline_kernel
def _moving_ray(viewing: Viewing, band: int, tile: Array, l: int, time: Real) -> Ray:
    r = _row_of(viewing, band, l)
    a, b, s = viewing.poses[r, 0], viewing.poses[r, 1], tile[MOMENT + l]
    ox, oy, dx, dy, dz = tile[OX + l], tile[OY + l], tile[DX + l], tile[DY + l], tile[DZ + l]
    ax = _mixed(a, b, s, 0) * dx + _mixed(a, b, s, 1) * dy + _mixed(a, b, s, 2) * dz
    ay = _mixed(a, b, s, 3) * dx + _mixed(a, b, s, 4) * dy + _mixed(a, b, s, 5) * dz
    az = _mixed(a, b, s, 6) * dx + _mixed(a, b, s, 7) * dy + _mixed(a, b, s, 8) * dz
    length = math.sqrt(ax * ax + ay * ay + az * az)  # a matrix between two rotations shortens vectors a little
    return Ray(
        np.float32(_mixed(a, b, s, 9) + _mixed(a, b, s, 0) * ox + _mixed(a, b, s, 1) * oy),
        np.float32(_mixed(a, b, s, 10) + _mixed(a, b, s, 3) * ox + _mixed(a, b, s, 4) * oy),
        np.float32(_mixed(a, b, s, 11) + _mixed(a, b, s, 6) * ox + _mixed(a, b, s, 7) * oy),
        np.float32(np.float32(ax) / length), np.float32(np.float32(ay) / length), np.float32(np.float32(az) / length),
        SKIN, viewing.reach, time,
    )  # fmt: skip


@inline_kernel
def _mixed(a: Array, b: Array, share: Real, i: int) -> Real:
    return a[i] + share * (b[i] - a[i])
