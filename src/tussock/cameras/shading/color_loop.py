"""The colour of every pixel: several rays each, sun, shadow, sky and what shines through leaves.

For each tile of 4 × 4 pixels and each sample:

    aim        a ray anywhere in the pixel, at any moment of the exposure
    intersect  the nearest surface; where there is none, the sky
    shade      Lambert's cosine towards the sun if nothing stands between, and the sky in one direction by chance
               (cosine-weighted), if nothing stands near; thin leaves also glow with the sun behind them. Of two
               neighbouring pixels one looks for the sky, in turns from sample to sample, and tells the other
    go on      along the mirrored or the straight direction where the surface is a mirror or a pane

Chance is counter-based: pixel, frame and sample give the draws, so the same seed gives the same picture on any number
of threads. Within a pixel the samples follow an additive sequence (Roberts 2018, R₂) from a random start, which
covers the pixel and the sky more evenly than independent draws.

Left out: light from surface to surface beyond a constant share, refraction, and the shadows of clouds.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.cameras.shading.light import LightNumbers, sky
from tussock.cameras.shading.paint import (
    MIRROR,
    SHININESS,
    SPECULAR,
    TRANSLUCENCY,
    TRANSMISSION,
    VARIATION,
    rough,
    surface_color,
)
from tussock.cameras.shading.panes import let_through
from tussock.cameras.view_loop import facing
from tussock.cameras.viewing import MOMENT, TILE, U, V, aim, new_tile
from tussock.kernels import borrowed, inline_kernel, kernel
from tussock.randomness import Purpose, philox, uniform
from tussock.trace import packets as row
from tussock.trace.hit_tables import material_of
from tussock.trace.packets import LANES, NOTHING, intersect, lane_masks, new_packet, occluded

__all__ = ["Sampling", "color_loop"]

_PIXEL_SAMPLE = int(Purpose.PIXEL_SAMPLE)
_SUN_REACH = np.float32(1e4)  # [m]
_SKY_REACH = np.float32(4.0)  # [m] what is nearer than this keeps the sky's light off
_BEHIND = np.float32(0.45)  # how bright, beside open sky, the surfaces are that hide it
_SKIN = np.float32(1e-3)  # [m] shadows start this far from the surface
_SUN_RADIUS = np.float32(math.tan(math.radians(0.265)))
_BOUNCES = 6
_WORST = np.float32(8.0)  # a sample is cut off here, so that the sun in a pane does not make a speckle

# rows of the lanes' surfaces
PX, PY, PZ, NX, NY, NZ, CR, CG, CB, KEEP, SUN_COS, GLINT, SHEEN = range(13)
# rows of the draws, and of where their sequences start
PIXEL_U, PIXEL_V, WHEN, SUN_A, SUN_B, SKY_A, SKY_B = range(7)


class Sampling(NamedTuple):
    samples: int
    key0: np.uint32
    key1: np.uint32
    frame: np.uint32
    shadows: bool
    sky_light: bool
    """whether what stands near keeps the sky's light off"""


@kernel
def color_loop(
    worker: int, workers: int, standing: Any, moving: Any, tables: Any, paint: Any, light: LightNumbers, viewing: Any,
    sampling: Any, offset: Any, out: Any,
) -> None:  # fmt: skip
    """Light of this worker's bands of four rows, linear RGB into ``out`` (height, width, 3)."""
    packet, bits = new_packet()
    second, second_bits = new_packet()
    scratch = Scratch(
        packet,
        bits,
        second,
        second_bits,
        lane_masks(),
        lane_masks(),
        new_tile(),
        np.zeros((13, LANES), np.float32),
        np.zeros(LANES, np.float32),
        np.zeros((7, LANES), np.float64),
        np.zeros((7, LANES), np.float32),
        np.zeros((3, LANES), np.float32),
        np.zeros((3, LANES), np.float32),
        np.zeros((4, LANES), np.float32),
        lane_masks(),
        np.zeros(LANES, np.float32),
    )
    _expose(worker, workers, standing, moving, tables, paint, light, viewing, sampling, offset, out, scratch)


class Scratch(NamedTuple):
    """Memory that a worker uses again for every tile."""

    packet: Any
    bits: Any
    second: Any
    """rays from the surfaces to the sun and the sky"""
    second_bits: Any
    masks: Any
    """lanes under way"""
    lit: Any
    """lanes that met a surface"""
    tile: Any
    surface: Any
    through: Any
    """share of the light that has not been left behind at mirrors and panes"""
    starts: Any
    draws: Any
    got: Any
    total: Any
    sky_seen: Any
    """the sky's light in a pixel that has seen it before, and whether it has"""
    behind: Any
    """lanes whose light may come through panes"""
    share: Any
    """how much of it does"""


@kernel
def _expose(
    worker: int, workers: int, standing: Any, moving: Any, tables: Any, paint: Any, light: Any, viewing: Any,
    sampling: Any, offset: Any, out: Any, scratch: Any,
) -> None:  # fmt: skip
    tables, paint, light, viewing = borrowed(tables), borrowed(paint), borrowed(light), borrowed(viewing)
    offset, out = borrowed(offset), borrowed(out)
    scratch = borrowed(scratch)
    packet, bits, second, second_bits = scratch.packet, scratch.bits, scratch.second, scratch.second_bits
    masks, lit, behind, share = scratch.masks, scratch.lit, scratch.behind, scratch.share
    tile, surface, through, sky_seen = scratch.tile, scratch.surface, scratch.through, scratch.sky_seen
    starts, draws, got, total = scratch.starts, scratch.draws, scratch.got, scratch.total
    width, height = viewing.width, viewing.height
    one = np.float32(1.0)
    stands = len(viewing.poses) == 1
    for band in range(worker, (height + TILE - 1) // TILE, workers):
        for left in range(0, width, TILE):
            total[:] = 0.0
            sky_seen[3, :] = 0.0
            _start(sampling, band, left, width, height, starts)
            for sample in range(sampling.samples):
                _draw(sampling, sample, starts, draws)
                for l in range(LANES):
                    jitter_u, jitter_v = draws[PIXEL_U, l], draws[PIXEL_V, l]
                    tile[U, l] = min(left + l % TILE, width - 1) + jitter_u - 0.5
                    tile[V, l] = min(band * TILE + l // TILE, height - 1) + jitter_v - 0.5
                    tile[MOMENT, l] = draws[WHEN, l]
                    through[l] = one
                    got[0, l] = got[1, l] = got[2, l] = 0.0
                aim(viewing, band, tile, packet, bits, masks)
                for bounce in range(_BOUNCES):
                    intersect(standing, packet, masks)
                    if moving != 0:
                        intersect(moving, packet, masks)
                    straight = stands and bounce == 0
                    hits = _meet(
                        packet, bits, masks, tables, paint, light, offset, straight, through, surface, lit, got,
                        sky_seen,
                    )  # fmt: skip
                    if hits == 0:
                        break
                    if sampling.shadows:
                        _towards_sun(packet, surface, light, draws, lit, second, second_bits)
                        occluded(standing, second, lit)
                        if moving != 0:
                            occluded(moving, second, lit)
                        _shadow(standing, moving, second, second_bits, tables, paint, lit, behind, share, surface)
                    _towards_sky(packet, surface, draws, sample, lit, second, second_bits)
                    if sampling.sky_light:
                        occluded(standing, second, lit)
                        if moving != 0:
                            occluded(moving, second, lit)
                        if paint.panes:
                            _sky_through_panes(
                                standing, moving, second, second_bits, tables, paint, sample, lit, behind, share
                            )
                    _shade(second, surface, light, sample, lit, got)
                    if not paint.goes_on or _go_on(packet, bits, masks, surface, paint, tables, through, lit) == 0:
                        break
                for i in range(3):
                    for l in range(LANES):
                        total[i, l] += min(got[i, l], _WORST)
            for l in range(LANES):
                r, c = band * TILE + l // TILE, left + l % TILE
                if r < height and c < width:
                    for i in range(3):
                        out[r, c, i] = total[i, l] / np.float32(sampling.samples)


@kernel
def _start(sampling: Any, band: int, left: int, width: int, height: int, starts: Any) -> None:
    """Where each pixel's seven sequences start, by chance, from 0 to 1."""
    for l in range(LANES):
        pixel = min(band * TILE + l // TILE, height - 1) * width + min(left + l % TILE, width - 1)
        a = philox(sampling.key0, sampling.key1, pixel, sampling.frame, 0, _PIXEL_SAMPLE)
        b = philox(sampling.key0, sampling.key1, pixel, sampling.frame, 1, _PIXEL_SAMPLE)
        starts[PIXEL_U, l], starts[PIXEL_V, l] = uniform(a[0]), uniform(a[1])
        starts[WHEN, l], starts[SUN_A, l] = uniform(a[2]), uniform(a[3])
        starts[SUN_B, l], starts[SKY_A, l], starts[SKY_B, l] = uniform(b[0]), uniform(b[1]), uniform(b[2])


@kernel
def _draw(sampling: Any, sample: int, starts: Any, draws: Any) -> None:
    """Seven numbers from 0 to 1 a lane."""
    for l in range(LANES):
        if sampling.samples == 1:
            draws[PIXEL_U, l] = draws[PIXEL_V, l] = 0.5
        else:
            draws[PIXEL_U, l] = _spread(starts[PIXEL_U, l], sample, 0.7548776662466927)
            draws[PIXEL_V, l] = _spread(starts[PIXEL_V, l], sample, 0.5698402909980532)
        draws[WHEN, l] = _spread(starts[WHEN, l], sample, 0.6180339887498949)
        draws[SUN_A, l] = _spread(starts[SUN_A, l], sample, 0.7548776662466927)
        draws[SUN_B, l] = _spread(starts[SUN_B, l], sample, 0.5698402909980532)
        draws[SKY_A, l] = _spread(starts[SKY_A, l], sample, 0.7548776662466927)
        draws[SKY_B, l] = _spread(starts[SKY_B, l], sample, 0.5698402909980532)


@inline_kernel
def _spread(start: Any, sample: int, step: float) -> Any:
    place = start + sample * step
    return np.float32(place - np.int64(place))


@kernel
def _meet(
    packet: Any, bits: Any, masks: Any, tables: Any, paint: Any, light: Any, offset: Any, straight: bool,
    through: Any, surface: Any, lit: Any, got: Any, sky_seen: Any,
) -> int:  # fmt: skip
    """What the rays met: the surface of each lane, or the sky's light at once; how many surfaces.

    ``straight``: from a camera that stands, not by a mirror or a pane.
    """
    hits = 0
    for l in range(LANES):
        lit[l] = 0
        if masks[l] == 0:
            continue
        dx, dy, dz = packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l]
        if bits[row.GEOM, l] == NOTHING:
            if straight and sky_seen[3, l] > np.float32(0.0):
                # The sky hardly changes within a pixel: one look serves all its samples.
                r, g, b = sky_seen[0, l], sky_seen[1, l], sky_seen[2, l]
            else:
                r, g, b = sky(light, dx, dy, dz)
            if straight:
                sky_seen[0, l], sky_seen[1, l], sky_seen[2, l], sky_seen[3, l] = r, g, b, np.float32(1.0)
            got[0, l] += through[l] * r
            got[1, l] += through[l] * g
            got[2, l] += through[l] * b
            continue
        hits += 1
        lit[l] = NOTHING
        geometry, nx, ny, nz = facing(packet, bits, l, tables)
        material = material_of(tables, geometry, bits[row.PRIM, l])
        t = packet[row.TFAR, l]
        x, y, z = packet[row.ORG_X, l] + t * dx, packet[row.ORG_Y, l] + t * dy, packet[row.ORG_Z, l] + t * dz
        r, g, b = surface_color(
            paint, material, geometry, bits[row.INST_PRIM, l], bits[row.PRIM, l], packet[row.HIT_U, l],
            packet[row.HIT_V, l], x + offset[0], y + offset[1], z + offset[2],
        )  # fmt: skip
        surface[PX, l], surface[PY, l], surface[PZ, l] = x, y, z
        surface[NX, l], surface[NY, l], surface[NZ, l] = nx, ny, nz
        surface[CR, l], surface[CG, l], surface[CB, l] = r, g, b
        goes_on = paint.looks[material, MIRROR] + paint.looks[material, TRANSMISSION]
        clear = np.float32(math.exp(-light.haze * t))
        surface[KEEP, l] = through[l] * (np.float32(1.0) - goes_on) * clear
        fade = through[l] * (np.float32(1.0) - clear)
        through[l] *= clear
        for i in range(3):
            got[i, l] += fade * light.horizon[i]
        translucency, variation = paint.looks[material, TRANSLUCENCY], paint.looks[material, VARIATION]
        sx, sy, sz = nx, ny, nz
        if variation > np.float32(0.0) and translucency == np.float32(0.0):
            sx, sy, sz = rough(variation, nx, ny, nz, x + offset[0], y + offset[1], z + offset[2])
        cosine = sx * light.to_sun[0] + sy * light.to_sun[1] + sz * light.to_sun[2]
        # Light from behind comes out of a thin leaf on this side: a negative cosine, times what it lets through.
        surface[SUN_COS, l] = cosine if cosine > np.float32(0.0) else cosine * translucency
        head_on = -(nx * dx + ny * dy + nz * dz)
        grazing = np.float32(1.0) - head_on
        grazing = grazing * grazing * grazing * grazing * grazing
        # Schlick's share of the sky that a waxy leaf reflects
        surface[SHEEN, l] = np.float32(0.5) * (np.float32(0.03) + np.float32(0.6) * grazing) if (
            translucency > np.float32(0.0)
        ) else np.float32(0.0)  # fmt: skip
        surface[GLINT, l] = 0.0
        specular = paint.looks[material, SPECULAR]
        if specular > np.float32(0.0) and cosine > np.float32(0.0):
            mx, my, mz = dx + 2 * head_on * nx, dy + 2 * head_on * ny, dz + 2 * head_on * nz
            towards = mx * light.to_sun[0] + my * light.to_sun[1] + mz * light.to_sun[2]
            if towards > 0:
                shininess = paint.looks[material, SHININESS]
                surface[GLINT, l] = specular * (shininess + 2) / 4 * towards**shininess
    return hits


@kernel
def _load(second: Any, bits: Any, packet: Any, surface: Any, l: int, x: Any, y: Any, z: Any, reach: Any) -> None:
    """A second ray from the surface of lane ``l``, starting on the side that it goes to."""
    side = surface[NX, l] * x + surface[NY, l] * y + surface[NZ, l] * z
    lift = _SKIN if side > np.float32(0.0) else -_SKIN
    second[row.ORG_X, l] = surface[PX, l] + lift * surface[NX, l]
    second[row.ORG_Y, l] = surface[PY, l] + lift * surface[NY, l]
    second[row.ORG_Z, l] = surface[PZ, l] + lift * surface[NZ, l]
    second[row.DIR_X, l], second[row.DIR_Y, l], second[row.DIR_Z, l] = x, y, z
    second[row.TNEAR, l] = 0.0
    second[row.TFAR, l] = reach
    second[row.TIME, l] = packet[row.TIME, l]
    bits[row.MASK, l] = NOTHING
    bits[row.FLAGS, l] = 0
    bits[row.GEOM, l] = NOTHING
    bits[row.INST, l] = NOTHING


@kernel
def _towards_sun(packet: Any, surface: Any, light: Any, draws: Any, lit: Any, second: Any, bits: Any) -> None:
    """Shadow rays to a point on the sun's disc; lanes that the sun cannot reach are left out."""
    sx, sy, sz = light.to_sun[0], light.to_sun[1], light.to_sun[2]
    flat = max(np.float32(math.sqrt(sx * sx + sy * sy)), np.float32(1e-6))
    ax, ay = -sy / flat, sx / flat
    bx, by, bz = -sz * ay, sz * ax, flat
    for l in range(LANES):
        if lit[l] == 0:
            continue
        radius = _SUN_RADIUS * np.float32(math.sqrt(draws[SUN_A, l]))
        angle = np.float32(2 * math.pi) * draws[SUN_B, l]
        p, q = radius * np.float32(math.cos(angle)), radius * np.float32(math.sin(angle))
        x, y, z = sx + p * ax + q * bx, sy + p * ay + q * by, sz + q * bz
        _load(second, bits, packet, surface, l, x, y, z, _SUN_REACH)
        if surface[SUN_COS, l] == np.float32(0.0):
            second[row.TFAR, l] = -1.0  # an empty ray costs nothing


@kernel
def _shadow(
    standing: Any, moving: Any, second: Any, bits: Any, tables: Any, paint: Any, lit: Any, behind: Any, share: Any,
    surface: Any,
) -> None:  # fmt: skip
    """Take the sun from the lanes whose rays were stopped, or the part of it that panes keep."""
    if not paint.panes:
        for l in range(LANES):
            if lit[l] != 0 and second[row.TFAR, l] < np.float32(0.0):
                surface[SUN_COS, l] = 0.0
                surface[GLINT, l] = 0.0
        return
    for l in range(LANES):
        behind[l] = lit[l] if surface[SUN_COS, l] != np.float32(0.0) else np.uint32(0)
    let_through(standing, moving, second, bits, tables, paint, _SUN_REACH, behind, behind, share)
    for l in range(LANES):
        if lit[l] != 0:
            surface[SUN_COS, l] *= share[l]
            surface[GLINT, l] *= share[l]


@kernel
def _sky_through_panes(
    standing: Any, moving: Any, second: Any, bits: Any, tables: Any, paint: Any, sample: int, lit: Any, behind: Any,
    share: Any,
) -> None:  # fmt: skip
    """A pane hides the sky only where it keeps more than half of the light."""
    for l in range(LANES):
        behind[l] = lit[l] if _scout(lit, l, sample) == l else np.uint32(0)
    let_through(standing, moving, second, bits, tables, paint, _SKY_REACH, behind, behind, share)
    for l in range(LANES):
        if lit[l] != 0:
            second[row.TFAR, l] = _SKY_REACH if share[l] > np.float32(0.5) else np.float32(-1.0)


@inline_kernel
def _scout(lit: Any, l: int, sample: int) -> Any:
    """The lane that looks for the sky for lane ``l``: itself, or in turns its neighbour if that met a surface too."""
    return l ^ 1 if (l + l // TILE + sample) % 2 == 1 and lit[l ^ 1] != 0 else l


@kernel
def _towards_sky(packet: Any, surface: Any, draws: Any, sample: int, lit: Any, second: Any, bits: Any) -> None:
    """One direction a scout over the surface, the likelier the nearer to its normal (cosine-weighted)."""
    for l in range(LANES):
        if lit[l] == 0:
            continue
        if _scout(lit, l, sample) != l:
            second[row.TFAR, l] = -1.0
            continue
        nx, ny, nz = surface[NX, l], surface[NY, l], surface[NZ, l]
        # Two axes across the normal (Duff et al., "Building an orthonormal basis, revisited", 2017).
        sign = np.float32(1.0) if nz >= np.float32(0.0) else np.float32(-1.0)
        a = np.float32(-1.0) / (sign + nz)
        b = nx * ny * a
        radius = np.float32(math.sqrt(draws[SKY_A, l]))
        angle = np.float32(2 * math.pi) * draws[SKY_B, l]
        p, q = radius * np.float32(math.cos(angle)), radius * np.float32(math.sin(angle))
        up = np.float32(math.sqrt(max(np.float32(1.0) - draws[SKY_A, l], np.float32(0.0))))
        x = p * (np.float32(1.0) + sign * nx * nx * a) + q * b + up * nx
        y = p * sign * b + q * (sign + ny * ny * a) + up * ny
        z = -p * sign * nx - q * ny + up * nz
        _load(second, bits, packet, surface, l, x, y, z, _SKY_REACH)


@kernel
def _shade(second: Any, surface: Any, light: Any, sample: int, lit: Any, got: Any) -> None:
    """The light that each lane's surface sends to the camera."""
    for l in range(LANES):
        if lit[l] == 0:
            continue
        # The mean over all that the surface faces: much less noisy than the sky in the one direction.
        up = np.float32(0.5) + np.float32(0.5) * surface[NZ, l]
        hidden = second[row.TFAR, _scout(lit, l, sample)] < np.float32(0.0)
        cosine = surface[SUN_COS, l]
        for i in range(3):
            color = surface[CR + i, l]
            around = up * light.around[i] + (np.float32(1.0) - up) * light.ground[i]
            if hidden:
                # Mostly more of the same: what hides the sky has about the colour of what it hides it from.
                around *= _BEHIND * np.float32(math.sqrt(color))
            if cosine >= np.float32(0.0):
                direct = color * cosine * light.sun[i]
            else:
                # Through a leaf blue is lost and red and green are kept.
                tint = np.float32(1.35) if i == 0 else (np.float32(1.2) if i == 1 else np.float32(0.5))
                direct = -tint * color * cosine * light.sun[i]
            sheen = surface[SHEEN, l] * around * (np.float32(0.2) if hidden else np.float32(1.0))
            got[i, l] += surface[KEEP, l] * (direct + color * around + sheen + surface[GLINT, l] * light.sun[i])


@kernel
def _go_on(packet: Any, bits: Any, masks: Any, surface: Any, paint: Any, tables: Any, through: Any, lit: Any) -> int:
    """Load the rays that go on from mirrors and panes; how many there are."""
    count = 0
    for l in range(LANES):
        if lit[l] == 0:
            masks[l] = 0
            continue
        geometry = bits[row.INST, l] if bits[row.INST, l] != NOTHING else bits[row.GEOM, l]
        material = material_of(tables, geometry, bits[row.PRIM, l])
        mirror, pane = paint.looks[material, MIRROR], paint.looks[material, TRANSMISSION]
        through[l] *= mirror + pane
        if through[l] < np.float32(0.01):
            masks[l] = 0
            continue
        count += 1
        dx, dy, dz = packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l]
        if mirror >= pane:
            twice = np.float32(2.0) * (dx * surface[NX, l] + dy * surface[NY, l] + dz * surface[NZ, l])
            dx, dy, dz = dx - twice * surface[NX, l], dy - twice * surface[NY, l], dz - twice * surface[NZ, l]
        _load(packet, bits, packet, surface, l, dx, dy, dz, np.float32(1e4))
        bits[row.INST_PRIM, l] = 0
    return count
