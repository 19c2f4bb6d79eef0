"""What surfaces look like, in tables for kernels: colours, textures and texture coordinates.

The tables are made once a `World` and kept with it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.shading.mottle import hashed, mottle, slope
from tussock.cameras.shading.volume_paint import VolumePaint, volume_paint
from tussock.kernels import Real, Whole, inline_kernel, kernel
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.texture import Texture
from tussock.trace.hit_tables import MIRROR, TRANSMISSION
from tussock.trace.ray import Hit
from tussock.trace.world import World

__all__ = ["Paint", "paint_of", "rough", "surface_color"]

TRANSLUCENCY, VARIATION = range(7, 9)
"""columns of `Paint.looks` beside those of `tussock.trace.hit_tables`"""


class Paint(NamedTuple):
    color: NDArray[np.float32]
    """linear RGB of every material, shape (materials, 3)"""
    looks: NDArray[np.float32]
    """the columns of `tussock.trace.hit_tables`, for light that is seen, TRANSLUCENCY and VARIATION; shape (materials, 9)"""
    texture: NDArray[np.int32]
    """number of every material's texture, −1 for none"""
    texture_place: NDArray[np.int64]
    """first texel, width and height of every texture, shape (textures, 3)"""
    texels: NDArray[np.uint8]
    """sRGB and opacity, shape (all, 4)"""
    linear: NDArray[np.float32]
    """linear value of an sRGB byte, shape (256,)"""
    geometry_uv: NDArray[np.int64]
    """first row in ``corners`` of every geometry, −1 for none"""
    corners: NDArray[np.float32]
    """texture coordinates s, t of the corners of triangles, shape (all, 3, 2)"""
    alone: NDArray[np.uint32]
    """all bits for a geometry that is one copy in place, 0 for copies of a shared shape, shape (geometries,)"""
    goes_on: bool
    """whether any material is a mirror or lets light through"""
    panes: bool
    """whether any material lets light through"""
    volumes: VolumePaint
    """what learned volumes look like"""


_made: WeakKeyDictionary[World, Paint] = WeakKeyDictionary()


def paint_of(world: World) -> Paint:
    """The tables of a world."""
    if world not in _made:
        _made[world] = _make(world)
    return _made[world]


def _make(world: World) -> Paint:
    textures: list[Texture] = []
    numbers = []
    for material in world.materials:
        if material.texture is not None and material.texture not in textures:
            textures.append(material.texture)
        numbers.append(-1 if material.texture is None else textures.index(material.texture))
    sizes = [texture.pixels.shape[0] * texture.pixels.shape[1] for texture in textures]
    starts = np.cumsum([0, *sizes])
    places = [
        (start, texture.pixels.shape[1], texture.pixels.shape[0])
        for start, texture in zip(starts, textures, strict=False)
    ]
    corners, rows = _corners(world)
    looks = np.array([_looks(material) for material in world.materials], np.float32)
    srgb = np.arange(256) / 255
    return Paint(
        color=np.array([m.color or (m.reflectance,) * 3 for m in world.materials], np.float32),
        looks=looks,
        texture=np.array(numbers, np.int32),
        texture_place=np.array(places, np.int64).reshape(-1, 3),
        texels=np.concatenate([t.pixels.reshape(-1, 4) for t in textures]) if textures else np.zeros((0, 4), np.uint8),
        linear=np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4).astype(np.float32),
        geometry_uv=rows,
        corners=corners,
        alone=np.array([world.baked(number) * 0xFFFFFFFF for number in range(len(world.geometries))], np.uint32),
        goes_on=bool((looks[:, [MIRROR, TRANSMISSION]] > 0).any()),
        panes=bool((looks[:, TRANSMISSION] > 0).any()),
        volumes=volume_paint(world),
    )


def _looks(material: Material) -> tuple[float, ...]:
    return (
        material.reflectance, material.specular, material.shininess, material.retro, material.mirror,
        material.transmission, material.refractive_index, material.translucency, material.variation,
    )  # fmt: skip


def _corners(world: World) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Texture coordinates of all textured meshes, and where each geometry's begin."""
    blocks: list[NDArray[np.float32]] = []
    known: dict[tuple[int, bool], int] = {}
    rows = np.full(len(world.geometries), -1, np.int64)
    total = 0
    for number, thing in enumerate(world.geometries):
        mesh: Mesh = thing.mesh
        # A shape that changes has other triangles at other times: it shows its colour, not its texture.
        if mesh.uv is None or thing.forms is not None or not any(material.texture for material in mesh.materials):
            continue
        turned = world.turned(number)
        key = (id(mesh), turned)
        if key not in known:
            known[key] = total
            triangles = mesh.triangles[:, ::-1] if turned else mesh.triangles
            blocks.append(mesh.uv[triangles])
            total += len(triangles)
        rows[number] = known[key]
    return (np.concatenate(blocks) if blocks else np.zeros((0, 3, 2), np.float32)), rows


@kernel
def texel(paint: Any, number: int, s: Any, t: Any) -> Any:
    """Linear colour of a texture at (s, t), blended between its four nearest texels."""
    first, width, height = (
        paint.texture_place[number, 0],
        paint.texture_place[number, 1],
        paint.texture_place[number, 2],
    )
    x = (s - math.floor(s)) * width - 0.5
    y = (1.0 - (t - math.floor(t))) * height - 0.5
    left, top = math.floor(x), math.floor(y)
    a, b = x - left, y - top
    r = g = b_ = 0.0
    for k in range(4):
        column = (np.int64(left) + (k & 1)) % width
        line = (np.int64(top) + (k >> 1)) % height
        share = (a if k & 1 else 1.0 - a) * (b if k >> 1 else 1.0 - b)
        at = first + line * width + column
        r += share * paint.linear[paint.texels[at, 0]]
        g += share * paint.linear[paint.texels[at, 1]]
        b_ += share * paint.linear[paint.texels[at, 2]]
    return np.float32(r), np.float32(g), np.float32(b_)


@inline_kernel
def surface_color(paint: Paint, hit: Hit, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real]:
    """Linear colour at a hit, which is at (x, y, z) in the world [m]."""
    material, u, v = hit.material, hit.u, hit.v
    r, g, b = paint.color[material, 0], paint.color[material, 1], paint.color[material, 2]
    number: Whole = paint.texture[material]
    start = paint.geometry_uv[hit.geometry]
    if number >= 0 and start >= 0:
        c = paint.corners[start + np.int64(hit.primitive)]
        rest = np.float32(1.0) - u - v
        s = rest * c[0, 0] + u * c[1, 0] + v * c[2, 0]
        t = rest * c[0, 1] + u * c[1, 1] + v * c[2, 1]
        r, g, b = texel(paint, number, s, t)
    amount = paint.looks[material, VARIATION]
    if amount > np.float32(0.0):
        f = varied(x, y, z, hit.geometry, hit.copy | paint.alone[hit.geometry], hit.primitive)
        # Brighter patches are also yellower, as drier plants are.
        bright = np.float32(1.0) + amount * f
        r *= bright * (np.float32(1.0) + np.float32(0.55) * amount * max(f, np.float32(0.0)))
        g *= bright
        b *= bright * (np.float32(1.0) - np.float32(0.3) * amount * f)
    return r, g, b


@kernel
def varied(x: Any, y: Any, z: Any, geometry: Any, copy: Any, primitive: Any) -> Any:
    """How much brighter than usual, about −1 to 1: broad and small patches, and each piece of a plant by itself."""
    broad = mottle(np.float32(0.23) * x, np.float32(0.23) * y, np.float32(0.23) * z)
    small = mottle(np.float32(2.1) * x, np.float32(2.1) * y, np.float32(2.1) * z)
    fine = mottle(np.float32(31.0) * x, np.float32(31.0) * y, np.float32(31.0) * z)
    piece = hashed(geometry, copy, np.uint32(primitive) >> np.uint32(4))
    mean = np.float32(1.1) * broad + np.float32(0.6) * small + np.float32(0.6) * fine + np.float32(0.5) * piece
    return mean - np.float32(1.4)


@kernel
def rough(amount: Any, nx: Any, ny: Any, nz: Any, x: Any, y: Any, z: Any) -> Any:
    """A unit normal tilted as by clods and grains of a few centimetres, for ground and walls."""
    ax, ay, az = slope(np.float32(9.0) * x, np.float32(9.0) * y, np.float32(9.0) * z)
    bx, by, bz = slope(np.float32(37.0) * x, np.float32(37.0) * y, np.float32(37.0) * z)
    gx, gy, gz = ax + bx, ay + by, az + bz
    tilt = amount * np.float32(0.675)
    along = gx * nx + gy * ny + gz * nz
    nx, ny, nz = nx - tilt * (gx - along * nx), ny - tilt * (gy - along * ny), nz - tilt * (gz - along * nz)
    length = np.float32(math.sqrt(nx * nx + ny * ny + nz * nz))
    return nx / length, ny / length, nz / length
