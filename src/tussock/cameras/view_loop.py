"""What every pixel's middle sees: range, surface and what it belongs to, one ray a pixel."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.viewing import TILE, U, V, aim, new_tile
from tussock.kernels import borrowed, inline_kernel, kernel
from tussock.trace import packets as row
from tussock.trace.hit_tables import material_of
from tussock.trace.normals import world_normal
from tussock.trace.packets import LANES, NOTHING, intersect, lane_masks, new_packet

__all__ = ["Seen", "facing", "view_loop"]


class Seen(NamedTuple):
    """What is written, each of shape (height, width); without truth all but ``range`` have the shape (0, 0)."""

    range: NDArray[np.float32]
    """[m] along the ray, infinite where nothing is"""
    object_id: NDArray[np.uint32]
    placement: NDArray[np.uint32]
    label: NDArray[np.uint16]
    material: NDArray[np.uint16]
    normal: NDArray[np.float32]
    """unit normals in the world on the side of the camera, shape (height, width, 3)"""


@kernel
def view_loop(
    worker: int, workers: int, standing: Any, moving: Any, tables: Any, viewing: Any, seen: Any
) -> None:  # fmt: skip
    """Look through the pixels of this worker's bands of four rows."""
    packet, bits = new_packet()
    _look(worker, workers, standing, moving, tables, viewing, seen, packet, bits, lane_masks(), new_tile())


@kernel
def _look(
    worker: int, workers: int, standing: Any, moving: Any, tables: Any, viewing: Any, seen: Any, packet: Any,
    bits: Any, masks: Any, tile: Any,
) -> None:  # fmt: skip
    tables, viewing, seen = borrowed(tables), borrowed(viewing), borrowed(seen)
    packet, bits, masks, tile = borrowed(packet), borrowed(bits), borrowed(masks), borrowed(tile)
    width, height = viewing.width, viewing.height
    truth = len(seen.object_id) > 0
    for band in range(worker, (height + TILE - 1) // TILE, workers):
        for left in range(0, width, TILE):
            for l in range(LANES):
                tile[U, l] = min(left + l % TILE, width - 1)
                tile[V, l] = min(band * TILE + l // TILE, height - 1)
            aim(viewing, band, tile, packet, bits, masks)
            intersect(standing, packet, masks)
            if moving != 0:
                intersect(moving, packet, masks)
            _keep_ranges(packet, bits, band * TILE, left, seen.range)
            if truth:
                _keep_truth(packet, bits, tables, band * TILE, left, seen)


@kernel
def _keep_ranges(packet: Any, bits: Any, top: int, left: int, ranges: Any) -> None:
    for l in range(LANES):
        r, c = top + l // TILE, left + l % TILE
        if r < ranges.shape[0] and c < ranges.shape[1]:
            ranges[r, c] = packet[row.TFAR, l] if bits[row.GEOM, l] != NOTHING else np.float32(np.inf)


@kernel
def _keep_truth(packet: Any, bits: Any, tables: Any, top: int, left: int, seen: Any) -> None:
    """Write what each lane hit; zeros where it hit nothing."""
    for l in range(LANES):
        r, c = top + l // TILE, left + l % TILE
        if r >= seen.range.shape[0] or c >= seen.range.shape[1]:
            continue
        if bits[row.GEOM, l] == NOTHING:
            seen.object_id[r, c] = seen.placement[r, c] = 0
            seen.label[r, c] = seen.material[r, c] = 0
            seen.normal[r, c, 0] = seen.normal[r, c, 1] = seen.normal[r, c, 2] = 0.0
            continue
        geometry, nx, ny, nz = facing(packet, bits, l, tables)
        material = material_of(tables, geometry, bits[row.PRIM, l])
        label = tables.material_label[material]
        seen.object_id[r, c] = tables.geometry_object[geometry]
        # Embree leaves no copy number where the geometry is not an instance.
        seen.placement[r, c] = bits[row.INST_PRIM, l] if bits[row.INST, l] != NOTHING else np.uint32(0)
        seen.label[r, c] = tables.geometry_label[geometry] if label < 0 else label
        seen.material[r, c] = material
        seen.normal[r, c, 0], seen.normal[r, c, 1], seen.normal[r, c, 2] = nx, ny, nz


@inline_kernel
def facing(packet: Any, bits: Any, l: int, tables: Any) -> Any:
    """The geometry that lane ``l`` hit, and its unit normal in the world on the side that the ray came from."""
    nx, ny, nz = packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l]
    geometry = bits[row.GEOM, l]
    if bits[row.INST, l] != NOTHING:
        geometry = bits[row.INST, l]
        nx, ny, nz = world_normal(
            tables.transforms, tables.moving, tables.geometry_transform[geometry] + np.int64(bits[row.INST_PRIM, l]),
            tables.geometry_steps[geometry], tables.geometry_copies[geometry], packet[row.TIME, l], nx, ny, nz,
        )  # fmt: skip
    along = nx * packet[row.DIR_X, l] + ny * packet[row.DIR_Y, l] + nz * packet[row.DIR_Z, l]
    length = np.float32(math.sqrt(nx * nx + ny * ny + nz * nz))
    turn = (np.float32(-1.0) if along > np.float32(0.0) else np.float32(1.0)) / max(length, np.float32(1e-30))
    return geometry, nx * turn, ny * turn, nz * turn
