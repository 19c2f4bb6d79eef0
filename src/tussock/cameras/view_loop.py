"""What every pixel's middle sees: range, surface and what it belongs to, one ray a pixel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tussock.cameras.viewing import TILE, Viewing, aim, new_tile, number_pixels, set_pixels
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.randomness import Chance
from tussock.trace.hit_tables import HitTables
from tussock.trace.packets import LANES, Packet, distance_at, hit_at, is_hit, new_packet, ray_at
from tussock.trace.placed_volumes import VolumeWalk, new_volume_walk
from tussock.trace.ray import Hit, Ray
from tussock.trace.surroundings import Surroundings, trace_surfaces, trace_volumes

__all__ = ["Seen", "facing", "keep_ranges", "keep_truth", "view_loop"]


class Seen(NamedTuple):
    """What is written: images of `tussock.cameras.view.View`; without truth all but ``range`` have the shape (0, 0)."""

    range: Array
    object_id: Array
    placement: Array
    label: Array
    material: Array
    normal: Array


class _Scratch(NamedTuple):
    """Memory that a worker uses again for every tile."""

    packet: Packet
    tile: Array
    pixels: Array
    """numbers of the tile's pixels"""
    walk: VolumeWalk


@kernel
def view_loop(
    worker: int, workers: int, around: Surroundings, viewing: Viewing, seen: Seen, chance: Chance
) -> None:  # fmt: skip
    """Look through the pixels of this worker's bands of four rows; ``chance`` is whether a volume is seen through."""
    scratch = _Scratch(new_packet(), new_tile(), np.zeros(LANES, np.int64), new_volume_walk())
    _look(worker, workers, around, viewing, seen, chance, scratch)


@loop_kernel
def _look(
    worker: int, workers: int, around: Surroundings, viewing: Viewing, seen: Seen, chance: Chance, scratch: _Scratch
) -> None:
    packet, tile = scratch.packet, scratch.tile
    truth = len(seen.object_id) > 0
    for band in range(worker, (viewing.height + TILE - 1) // TILE, workers):
        for left in range(0, viewing.width, TILE):
            set_pixels(viewing, band, left, tile)
            aim(viewing, band, tile, packet)
            trace_surfaces(around, packet)
            if len(around.volumes.model) > 0:
                number_pixels(viewing, band, left, scratch.pixels)
                trace_volumes(around, packet, LANES, scratch.pixels, chance, scratch.walk)
            keep_ranges(packet, band * TILE, left, seen.range)
            if truth:
                keep_truth(around.tables, packet, band * TILE, left, seen)


@inline_kernel
def keep_ranges(packet: Packet, top: int, left: int, ranges: Array) -> None:
    """Write how far each lane of the tile at row ``top`` and column ``left`` went; infinite where it hit nothing."""
    for l in range(LANES):
        r, c = top + l // TILE, left + l % TILE
        if r < ranges.shape[0] and c < ranges.shape[1]:
            ranges[r, c] = distance_at(packet, l) if is_hit(packet, l) else np.float32(np.inf)


@inline_kernel
def keep_truth(tables: HitTables, packet: Packet, top: int, left: int, seen: Seen) -> None:
    """Write what each lane hit; zeros where it hit nothing."""
    for l in range(LANES):
        r, c = top + l // TILE, left + l % TILE
        if r >= seen.range.shape[0] or c >= seen.range.shape[1]:
            continue
        hit = hit_at(packet, l)
        if not is_hit(packet, l):  # also where the lens sees nothing: an idle lane keeps the material it met before
            seen.object_id[r, c] = seen.placement[r, c] = 0
            seen.label[r, c] = seen.material[r, c] = 0
            seen.normal[r, c, 0] = seen.normal[r, c, 1] = seen.normal[r, c, 2] = 0.0
            continue
        label = tables.material_label[hit.material]
        seen.object_id[r, c] = tables.geometry_object[hit.geometry]
        seen.placement[r, c] = hit.copy
        seen.label[r, c] = tables.geometry_label[hit.geometry] if label < 0 else label
        seen.material[r, c] = hit.material
        seen.normal[r, c, 0], seen.normal[r, c, 1], seen.normal[r, c, 2] = facing(ray_at(packet, l), hit)


@inline_kernel
def facing(ray: Ray, hit: Hit) -> tuple[Real, Real, Real]:
    """The unit normal of a hit on the side that the ray came from."""
    nx, ny, nz = hit.nx, hit.ny, hit.nz
    along = nx * ray.dx + ny * ray.dy + nz * ray.dz
    length = np.float32(math.sqrt(nx * nx + ny * ny + nz * nz))
    turn = (np.float32(-1.0) if along > np.float32(0.0) else np.float32(1.0)) / max(length, np.float32(1e-30))
    return nx * turn, ny * turn, nz * turn
