"""What lies and grows lowest, as pictures on the ground: turf on soil, fallen leaves on a forest's floor, pebbles on a trail.

Moss, short blades, litter and rosettes of leaves, or dry leaves, twigs and needles, or pebbles on sand, are strokes of a brush
on a picture of 2.4 m × 2.4 m that repeats without a seam. To a LIDAR the ground stays what it is: the picture has no height and no
reflectance of its own. So scenes whose triangles are counted (the papers' courtyard, the benchmark's meadow) look overgrown
and scan as before.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tussock.arrays import FloatArray
from tussock.sampler import Sampler
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import chance
from tussock.scene.surfaces import SURFACES
from tussock.scene.texture import Texture

__all__ = ["TURF", "covered", "litter_picture", "turf_picture", "turfed"]

TURF = SURFACES["soil"].changed(name="turf", color=(0.108, 0.134, 0.040), variation=0.5)
"""soil to a LIDAR; the colour is the mean of the picture"""
_SIDE = 2.4
"""[m] of the picture"""
_PIXELS = 512

_MOSS, _GREEN, _FRESH, _DRY, _OLD = (
    np.array(color) for color in ((0.062, 0.080, 0.026), (0.095, 0.18, 0.038), (0.15, 0.27, 0.055), (0.32, 0.25, 0.11), (0.12, 0.082, 0.042))
)  # fmt: skip
_HUMUS, _ROTTEN, _FALLEN, _BRIGHT, _SAND, _PEBBLE = (
    np.array(color) for color in ((0.095, 0.066, 0.038), (0.17, 0.11, 0.058), (0.30, 0.185, 0.083), (0.44, 0.31, 0.14), (0.26, 0.20, 0.135), (0.29, 0.25, 0.19))
)  # fmt: skip
"""linear RGB"""


def turfed(mesh: Mesh) -> Mesh:
    """The ground with turf on it: the same triangles, `TURF` with its picture, repeated over x and y."""
    return _with_pictures(mesh, (_pictured(TURF),) * len(mesh.materials))


def covered(mesh: Mesh) -> Mesh:
    """The ground with turf where it is soil, fallen leaves where it is litter, pebbles where it is gravel or a trail, and both
    where a trail ends in the litter; what else it is stays. Only pictures show it: scans are the same.

    >>> field = tussock.noise_terrain((20.0, 20.0), cells=(20, 20))
    >>> mesh = tussock.covered(field.mesh(tussock.SURFACES["litter"]))
    >>> mesh.materials[0].texture is not None
    True
    """
    return _with_pictures(mesh, tuple(_pictured(material) for material in mesh.materials))


def _with_pictures(mesh: Mesh, materials: tuple[Material, ...]) -> Mesh:
    if materials == mesh.materials or mesh.uv is not None:  # a mesh with pictures of its own keeps them
        return mesh
    uv = mesh.vertices[:, :2].astype(np.float64) / _SIDE
    uv -= np.floor(uv.min(0))  # whole repeats: single precision would be coarse at map coordinates
    return Mesh.of(mesh.vertices, mesh.triangles, materials, mesh.triangle_materials, uv)


@lru_cache(16)
def _pictured(material: Material) -> Material:
    if material.name in ("soil", "turf"):
        return material.changed(texture=turf_picture(), variation=TURF.variation)
    share = {"litter": 1.0, "littered-gravel": 0.55, "edge-of-trail": 0.2, "trail": 0.02, "gravel": 0.0}.get(
        material.name
    )
    return material if share is None else material.changed(texture=litter_picture(share))


def turf_picture(seed: int = 0) -> Texture:
    """The picture: the same seed, the same pixels; its left edge goes on at its right one, its lower at its upper one."""
    rng = chance("turf", seed)
    soil = _clouded(rng, 24)[..., None]
    picture = (_MOSS * (1 - soil) + _OLD * soil) * (0.7 + 0.6 * _clouded(rng, 6))[..., None]
    # From below to above: old litter, moss and short blades, fresh ones, dry ones on top.
    _strokes(picture, rng, 2600, (0.02, 0.07), _OLD, 0.35)
    _strokes(picture, rng, 9000, (0.015, 0.05), _GREEN, 0.45)
    _strokes(picture, rng, 3500, (0.02, 0.08), _FRESH, 0.4)
    _strokes(picture, rng, 1100, (0.03, 0.11), _DRY, 0.4)
    _rosettes(picture, rng, 90)
    return _developed(picture)


def litter_picture(share: float = 1.0, seed: int = 0) -> Texture:
    """Fallen leaves of one or two winters, twigs, needles and some green, on dark humus; otherwise as `turf_picture`.

    ``share``: how much of all that; below 1 it lies on gravel, and 0 is gravel alone.
    """
    rng = chance("litter", seed)
    picture = (_HUMUS if share == 1 else _SAND) * (0.85 + 0.3 * _clouded(rng, 10))[..., None]
    if share < 1:
        picture *= rng.uniform(0.75, 1.25, (_PIXELS, _PIXELS, 1))
        _leaves(picture, rng, 2500, (0.01, 0.022), _PEBBLE)
    _leaves(picture, rng, round(2400 * share), (0.03, 0.075), _ROTTEN)
    _strokes(picture, rng, round(2500 * share), (0.01, 0.03), _OLD, 0.5)
    _leaves(picture, rng, round(1500 * share), (0.03, 0.08), _FALLEN)
    _strokes(picture, rng, round(160 * share), (0.08, 0.3), _ROTTEN, 0.4)
    _leaves(picture, rng, round(260 * share), (0.03, 0.07), _BRIGHT)
    _strokes(picture, rng, round(700 * share), (0.02, 0.06), _GREEN, 0.4)
    return _developed(picture)


def _developed(picture: FloatArray) -> Texture:
    """Linear RGB as bytes of sRGB."""
    srgb = np.where(picture <= 0.0031308, 12.92 * picture, 1.055 * np.maximum(picture, 1e-9) ** (1 / 2.4) - 0.055)
    return Texture(np.round(255 * np.clip(srgb, 0, 1)).astype(np.uint8))


def _clouded(rng: Sampler, waves: int) -> FloatArray:
    """Soft patches from 0 to 1, shape (pixels, pixels): a sum of waves that fit the picture a whole number of times."""
    at = 2 * np.pi * np.arange(_PIXELS) / _PIXELS
    (a, b), phase = rng.integers(-waves, waves + 1, (2, 40)), rng.uniform(0, 2 * np.pi, 40)
    # sin(u + v) = sin u cos v + cos u sin v: two products of matrices instead of forty pictures
    u, v = at[:, None] * a + phase, at[:, None] * b
    total = np.sin(u) @ np.cos(v).T + np.cos(u) @ np.sin(v).T
    return np.asarray(1 / (1 + np.exp(-total / 3)))


def _strokes(
    picture: FloatArray, rng: Sampler, count: int, lengths: tuple[float, float], color: FloatArray, spread: float
) -> None:
    """``count`` bent strokes of two pixels' width, ``lengths`` from, to [m], each darker or brighter by ± ``spread``."""
    if count == 0:
        return
    length = rng.uniform(*lengths, count) * _PIXELS / _SIDE
    heading, bend = rng.uniform(0, 2 * np.pi, count), rng.normal(0, 0.6, count)
    along = np.linspace(0, 1, int(length.max()) + 2)
    angle = heading[:, None] + bend[:, None] * along
    steps = length[:, None] / len(along)
    x = rng.uniform(0, _PIXELS, (count, 1)) + np.cumsum(steps * np.cos(angle), 1)
    y = rng.uniform(0, _PIXELS, (count, 1)) + np.cumsum(steps * np.sin(angle), 1)
    tone = color * rng.uniform(1 - spread, 1 + spread, (count, 1))
    # Brighter towards the tip, which is higher and in the light; the second pixel is the shaded side.
    lit = (0.6 + 0.6 * along)[None, :, None]
    _paint(picture, x + 1, y, 0.55 * lit * tone[:, None])
    _paint(picture, x, y, lit * tone[:, None])


def _leaves(picture: FloatArray, rng: Sampler, count: int, lengths: tuple[float, float], color: FloatArray) -> None:
    """``count`` pointed ovals, ``lengths`` from, to [m], half as wide, lying anyhow, one half brighter than the other."""
    if count == 0:
        return
    size = rng.uniform(*lengths, (count, 1)) * _PIXELS / _SIDE
    steps = int(1.5 * size.max()) + 3  # dense enough to leave no pixel out
    t, w = (v.ravel() for v in np.meshgrid(np.linspace(0, 1, steps), np.linspace(-1, 1, steps // 2), indexing="ij"))
    heading, thin = rng.uniform(0, 2 * np.pi, (count, 1)), rng.uniform(0.12, 0.3, (count, 1))
    along, aside = size * t, size * thin * w * np.sin(np.pi * t**0.8)
    cos, sin = np.cos(heading), np.sin(heading)
    x, y = (rng.uniform(0, _PIXELS, (count, 1)) for _ in range(2))
    tone = color * rng.uniform(0.6, 1.4, (count, 1)) * (1 + 0.06 * rng.standard_normal((count, 3)))
    shade = np.where(w > 0, 1.12, 0.82)[None, :, None]
    _paint(picture, x + along * cos - aside * sin, y + along * sin + aside * cos, shade * np.abs(tone)[:, None])


def _rosettes(picture: FloatArray, rng: Sampler, count: int) -> None:
    """Round leaves about a middle, as of plantain and daisies."""
    leaves, inside = 9, 60
    n = count * leaves
    x, y = (np.repeat(v, leaves) for v in rng.uniform(0, _PIXELS, (2, count)))
    size = np.repeat(rng.uniform(0.02, 0.045, count), leaves) * _PIXELS / _SIDE
    heading = np.tile(np.arange(leaves) * 2.4, count) + rng.normal(0, 0.2, n)
    r, a = np.sqrt(rng.uniform(0, 1, (n, inside))), rng.uniform(0, 2 * np.pi, (n, inside))
    along, aside = size[:, None] * (0.55 + 0.5 * r * np.cos(a)), size[:, None] * 0.26 * r * np.sin(a)
    cos, sin = np.cos(heading)[:, None], np.sin(heading)[:, None]
    shade = (0.75 + 0.4 * rng.uniform(0, 1, (n, 1)) + 0.15 * r * np.cos(a))[..., None]
    _paint(
        picture, x[:, None] + along * cos - aside * sin, y[:, None] + along * sin + aside * cos, shade * _FRESH * 0.8
    )


def _paint(picture: FloatArray, x: FloatArray, y: FloatArray, colors: FloatArray) -> None:
    """Set the pixels at (x, y); what goes over an edge comes in at the opposite one, what comes later lies on top."""
    picture[np.floor(y).astype(int) % _PIXELS, np.floor(x).astype(int) % _PIXELS] = colors
