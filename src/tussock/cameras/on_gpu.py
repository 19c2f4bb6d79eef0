"""A camera's view on a graphics processor: one thread a pixel, through the trees that scans use.

Where a pixel looks and what is kept of what it meets are the functions of the processor's own loop (`viewing`,
`view_loop`), with tiles of one pixel; here is only which thread does what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np

from tussock.cameras.view_loop import Seen, keep_ranges, keep_truth
from tussock.cameras.viewing import TILE_ROWS, Viewing, aim, set_pixels
from tussock.gpu.left_out import idle, names_of, unmet
from tussock.gpu.tracing import RayTable, walk_kernel
from tussock.gpu.tuples import mapped
from tussock.gpu.worlds import OnGpu, on_gpu
from tussock.trace.cuda.compiled import compile_ptx, device_function
from tussock.trace.cuda.instructions import in_one_instruction
from tussock.trace.cuda.packets import NOTHING, Packet, empty_hit, ray_at, resolve, take_hit
from tussock.trace.cuda.rebound import single_rays
from tussock.trace.cuda.walk import Trees, four
from tussock.trace.hit_tables import HitTables
from tussock.trace.ray import SKIN, Ray
from tussock.trace.world import World

__all__ = ["bound_views", "compiled_views", "look_on_gpu", "view_examples"]

cuda: Any = import_module("numba.cuda")
float32, float64, int32, int64, uint32 = (
    getattr(numba, name) for name in ("float32", "float64", "int32", "int64", "uint32")
)
_ROWS = "U", "V", "OX", "OY", "DX", "DY", "DZ", "MOMENT"
_CONSTANTS: dict[tuple[str, str], Any] = {
    ("tussock.cameras.viewing", "TILE"): 1,
    ("tussock.cameras.view_loop", "TILE"): 1,
} | {("tussock.cameras.viewing", name): row for row, name in enumerate(_ROWS)}
_REGISTERS = 64
_BLOCK = 128
_KEPT = 4  # sizes of images in a world whose memory is kept


def pixel_kernel(viewing: Viewing, rays: RayTable) -> None:
    """One thread a pixel: where it looks; a ray that ends before it starts where it looks nowhere."""
    i = int64(cuda.grid(1))
    tile = cuda.local.array(TILE_ROWS, float64)
    numbers, bits = cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(1, int32)
    if i < len(rays.far):
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        row = i // viewing.width
        for a in range(TILE_ROWS):
            tile[a] = 0.0
        set_pixels(viewing, row, i - row * viewing.width, tile)
        aim(viewing, row, tile, packet)
        ray = ray_at(packet, 0)
        far = ray.far if masks[0] != uint32(0) else float32(-1.0)
        rays.starts[i, 0], rays.starts[i, 1], rays.starts[i, 2], rays.starts[i, 3] = ray.x, ray.y, ray.z, ray.time
        rays.ways[i, 0], rays.ways[i, 1], rays.ways[i, 2], rays.ways[i, 3] = ray.dx, ray.dy, ray.dz, far


def seen_kernel(standing: Trees, moving: Trees, tables: HitTables, rays: RayTable, seen: Seen) -> None:
    """One thread a pixel: what its ray met, into the images."""
    i = int64(cuda.grid(1))
    numbers, bits = cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(1, int32)
    if i < len(rays.far):
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        start, way = four(rays.starts, 4, i, 0), four(rays.ways, 4, i, 0)
        masks[0] = NOTHING
        empty_hit(packet, Ray(start[0], start[1], start[2], way[0], way[1], way[2], SKIN, rays.far[i], start[3]))
        take_hit(standing, moving, tables, packet, rays.met[0, i], rays.met[1, i], rays.met[2, i])
        resolve(tables, packet)
        width = seen.range.shape[1]
        row = i // width
        column = i - row * width
        keep_ranges(packet, row, column, seen.range)
        if len(seen.object_id) > 0:
            keep_truth(tables, packet, row, column, seen)


_KERNELS: tuple[Callable[..., None], ...] = (pixel_kernel, walk_kernel, seen_kernel)


class _View(NamedTuple):
    """What the kernels get, with arrays on the device or not."""

    viewing: Viewing
    standing: Trees
    moving: Trees
    tables: HitTables
    rays: RayTable
    seen: Seen

    def arguments(self) -> dict[str, tuple[Any, ...]]:
        return {
            "pixel_kernel": (self.viewing, self.rays),
            "walk_kernel": (self.standing, self.tables, self.rays, len(self.rays.far), False),
            "seen_kernel": (self.standing, self.moving, self.tables, self.rays, self.seen),
        }


def view_examples(trees: Trees, tables: HitTables, viewing: Viewing, seen: Seen) -> dict[str, tuple[Any, ...]]:
    """The arguments of every kernel, by its name, with arrays of the processor: enough to compile them."""
    return _View(viewing, trees, trees, tables, RayTable.with_room(np.zeros, 1), seen).arguments()


def bound_views(
    wrap: Callable[..., Any], trees: Trees, instead: Mapping[Any, Any] | None = None
) -> dict[str, Callable[..., None]]:  # fmt: skip
    """The kernels by name, with one ray in every packet, for a world with such ``trees``; see `tussock.gpu.kernels.bound`."""
    rebound = single_rays(wrap, _CONSTANTS, dict(instead or {}) | idle(wrap, unmet(trees)))
    return {kernel.__name__: rebound.plain(kernel) for kernel in _KERNELS}


def compiled_views(arguments: dict[str, tuple[Any, ...]]) -> dict[str, str]:
    """The PTX of every kernel, by its name."""
    made: dict[str, Any] = {}
    trees: Trees = arguments["walk_kernel"][0]
    left_out = names_of(unmet(trees))

    def function(name: str) -> Any:
        if not made:
            made.update(bound_views(device_function, trees, in_one_instruction()))
        return made[name]

    return {
        name: compile_ptx(name, args, partial(function, name), without=left_out) for name, args in arguments.items()
    }


def view_codes(there: OnGpu, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The kernels, ready on the device."""
    return {name: there.device.code(ptx, _REGISTERS) for name, ptx in compiled_views(arguments).items()}


class _Room(NamedTuple):
    """Memory and code on the device for images of one size."""

    rays: RayTable
    seen: Seen
    codes: dict[str, Any]


def look_on_gpu(
    world: World, viewing: Viewing, tables: HitTables, seen: Seen, span: tuple[float, float]
) -> None:  # fmt: skip
    """Fill the images of ``seen`` there; ``span`` [s] is how long the shutter is open."""
    there = on_gpu(world)
    trees = there.trees.moving(*span)
    key = (seen.range.shape, seen.object_id.size > 0)
    room = there.views.pop(key, None)
    if room is None:
        while len(there.views) >= _KEPT:
            there.views.pop(next(iter(there.views)))
        empty, pixels = there.device.empty, seen.range.size
        room = _Room(
            RayTable.with_room(empty, pixels), mapped(seen, lambda image: empty(image.shape, image.dtype)),
            view_codes(there, view_examples(there.trees.standing, tables, viewing, seen)),
        )  # fmt: skip
    there.views[key] = room
    copied = there.device.copied
    moving = there.standing if trees is None else there.uploaded(trees)
    view = _View(mapped(viewing, copied), there.standing, moving, there.tables_of(tables), room.rays, room.seen)
    arguments, pixels = view.arguments(), seen.range.size
    launches = [("pixel_kernel", arguments["pixel_kernel"]), ("walk_kernel", arguments["walk_kernel"])]
    if trees is not None:
        launches.append(("walk_kernel", (moving, view.tables, room.rays, pixels, True)))
    launches.append(("seen_kernel", arguments["seen_kernel"]))
    for name, args in launches:
        there.device.launch(room.codes[name], args, pixels, _BLOCK).start()
    for image, kept in zip(seen, room.seen, strict=True):
        image[...] = kept.to_host()
