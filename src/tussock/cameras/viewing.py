"""Pixels become rays in the world, each at its own moment.

The image is walked in tiles of 4 × 4 pixels, one lane of Embree's packet each: neighbours meet the same things, so
a packet stays together. Every row of the image has its own pose at the opening and at the closing of its exposure;
a ray in between takes the pose on the straight line between the two, which for a turn by the angle a is off by
less than a²/8.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.lens import OPTICAL, LensKind, LensNumbers
from tussock.cameras.lenses.projection import pixel_ray
from tussock.kernels import kernel
from tussock.poses import Trajectory
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING

__all__ = ["TILE", "Viewing", "aim", "new_tile", "tile_rays", "viewing_of"]

TILE = 4
U, V, OX, OY, DX, DY, DZ, MOMENT = range(8)  # rows of a tile
_PINHOLE = int(LensKind.PINHOLE)
_SKIN = np.float32(1e-4)  # [m] a ray starts this far out, so that a camera may touch a surface


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
def new_tile() -> Any:
    """Room for the rays of a tile in optical axes: u, v, start x, y, direction x, y, z, moment; shape (8, lanes)."""
    return np.zeros((8, LANES), np.float64)


@kernel
def aim(viewing: Any, band: int, tile: Any, packet: Any, bits: Any, masks: Any) -> None:
    """Put the rays of a tile into the packet: its pixels in rows U and V, in row MOMENT the share of the exposure."""
    tile_rays(viewing.lens, tile, masks)
    if len(viewing.poses) == 1:
        _turn_standing(viewing.poses[0, 0], tile, packet)
    else:
        _turn_moving(viewing, band, tile, packet)
    for l in range(LANES):
        r = min(band * TILE + l // TILE, viewing.height - 1)
        moment = np.float32(tile[MOMENT, l])
        packet[row.TIME, l] = min(viewing.opens[r] + moment * viewing.exposure, np.float32(1.0))
    for l in range(LANES):
        packet[row.TNEAR, l] = _SKIN
        packet[row.TFAR, l] = viewing.reach
        bits[row.MASK, l] = NOTHING
        bits[row.FLAGS, l] = 0
        bits[row.GEOM, l] = NOTHING
        bits[row.INST, l] = NOTHING
        bits[row.INST_PRIM, l] = 0


@kernel
def tile_rays(lens: Any, tile: Any, masks: Any) -> None:
    """Rays in optical axes of the pixels of a tile; lanes without a ray are masked out."""
    if lens.kind == _PINHOLE:
        # The usual case by itself: without branches the compiler does several lanes at once.
        fx, fy, cx, cy = 1.0 / lens.values[0], 1.0 / lens.values[1], lens.values[2], lens.values[3]
        for l in range(LANES):
            x, y = (tile[U, l] - cx) * fx, (tile[V, l] - cy) * fy
            length = 1.0 / math.sqrt(x * x + y * y + 1.0)
            tile[DX, l] = x * length
            tile[DY, l] = y * length
            tile[DZ, l] = length
            masks[l] = NOTHING
        return
    for l in range(LANES):
        ox, oy, dx, dy, dz, there = pixel_ray(lens, tile[U, l], tile[V, l])
        tile[OX, l], tile[OY, l] = ox, oy
        tile[DX, l], tile[DY, l], tile[DZ, l] = dx, dy, dz
        masks[l] = NOTHING if there else np.uint32(0)


@kernel
def _turn_standing(pose: Any, tile: Any, packet: Any) -> None:
    for i in range(3):
        m0, m1, m2, at = pose[3 * i], pose[3 * i + 1], pose[3 * i + 2], pose[9 + i]
        for l in range(LANES):
            packet[row.ORG_X + i, l] = at + m0 * tile[OX, l] + m1 * tile[OY, l]
        for l in range(LANES):
            packet[row.DIR_X + i, l] = m0 * tile[DX, l] + m1 * tile[DY, l] + m2 * tile[DZ, l]


@kernel
def _turn_moving(viewing: Any, band: int, tile: Any, packet: Any) -> None:
    for l in range(LANES):
        r = min(band * TILE + l // TILE, viewing.height - 1)
        a, b, s = viewing.poses[r, 0], viewing.poses[r, 1], tile[MOMENT, l]
        square = 0.0
        for i in range(3):
            m0 = a[3 * i] + s * (b[3 * i] - a[3 * i])
            m1 = a[3 * i + 1] + s * (b[3 * i + 1] - a[3 * i + 1])
            m2 = a[3 * i + 2] + s * (b[3 * i + 2] - a[3 * i + 2])
            packet[row.ORG_X + i, l] = a[9 + i] + s * (b[9 + i] - a[9 + i]) + m0 * tile[OX, l] + m1 * tile[OY, l]
            along = m0 * tile[DX, l] + m1 * tile[DY, l] + m2 * tile[DZ, l]
            packet[row.DIR_X + i, l] = along
            square += along * along
        # A matrix between two rotations shortens vectors a little.
        for i in range(3):
            packet[row.DIR_X + i, l] /= math.sqrt(square)
