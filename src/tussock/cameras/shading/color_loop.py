"""The colour of every pixel: several rays each, sun, shadow, sky and what shines through leaves.

For each tile of 4 × 4 pixels and each sample:

    aim        a ray anywhere in the pixel, at any moment of the exposure
    intersect  the nearest surface; where there is none, the sky
    veil       a learned volume in front of that, by chance (`tussock.cameras.shading.veil`)
    shade      Lambert's cosine towards the sun if nothing stands between, and the sky in one direction by chance
               (cosine-weighted), if nothing stands near; thin leaves also glow with the sun behind them. Of two
               neighbouring pixels one looks for the sky, in turns from sample to sample, and tells the other
    go on      along the mirrored or the straight direction where the surface is a mirror or a pane

Chance is counter-based (`tussock.cameras.shading.samples`): the same seed gives the same picture on any number of threads.

Left out: light from surface to surface beyond a constant share, refraction, and the shadows of clouds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.shading.light import LightNumbers, sky
from tussock.cameras.shading.paint import TRANSLUCENCY, VARIATION, Paint, rough, surface_color
from tussock.cameras.shading.panes import let_through
from tussock.cameras.shading.samples import (
    PIXEL_U,
    PIXEL_V,
    SKY_A,
    SKY_B,
    SUN_A,
    SUN_B,
    WHEN,
    draw_sample,
    start_sequences,
)
from tussock.cameras.shading.veil import (
    TO_SKY,
    TO_SUN,
    VIEW,
    leaf_cosine,
    sample_chance,
    veiled,
    volume_normal,
)
from tussock.cameras.view_loop import facing
from tussock.cameras.viewing import MOMENT, TILE, U, V, Viewing, aim, new_tile, number_pixels, set_pixels
from tussock.elementary import cosine_of_turns, sine_of_turns
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.randomness import Chance
from tussock.trace.hit_tables import MIRROR, SHININESS, SPECULAR, TRANSMISSION
from tussock.trace.packets import (
    LANES,
    NOTHING,
    Packet,
    empty_lane,
    hit_at,
    load_ray,
    new_packet,
    ray_at,
    was_stopped,
)
from tussock.trace.placed_volumes import VolumeWalk, new_volume_walk
from tussock.trace.ray import Hit, Ray, lift_at
from tussock.trace.surroundings import Surroundings, stop_light, trace_surfaces, trace_volumes

__all__ = ["Coloring", "Sampling", "color_loop"]

_SUN_REACH = np.float32(1e4)  # [m]
_SKY_REACH = np.float32(4.0)  # [m] what is nearer than this keeps the sky's light off
_BEHIND = np.float32(0.45)  # how bright, beside open sky, the surfaces are that hide it
_SUN_RADIUS = np.float32(math.tan(math.radians(0.265)))
_BOUNCES = 6
_WORST = np.float32(8.0)  # a sample is cut off here, so that the sun in a pane does not make a speckle

# rows of the lanes' surfaces
PX, PY, PZ, NX, NY, NZ, CR, CG, CB, KEEP, SUN_COS, GLINT, SHEEN, OWN = range(14)


class Sampling(NamedTuple):
    samples: int
    shadows: bool
    sky_light: bool
    """whether what stands near keeps the sky's light off"""


class Coloring(NamedTuple):
    """All that a picture is made of."""

    around: Surroundings
    paint: Paint
    light: LightNumbers
    viewing: Viewing
    sampling: Sampling
    chance: Chance
    offset: NDArray[np.float32]
    """[m] where the tracer's zero is in the patterns of surfaces, shape (3,)"""


class Scratch(NamedTuple):
    """Memory that a worker uses again for every tile; one column a lane."""

    packet: Packet
    second: Packet
    """rays from the surfaces to the sun and the sky"""
    lit: NDArray[np.uint32]
    """lanes that met a surface"""
    tile: NDArray[np.float64]
    surface: NDArray[np.float32]
    through: NDArray[np.float32]
    """share of the light that has not been left behind at mirrors and panes"""
    starts: NDArray[np.float64]
    draws: NDArray[np.float32]
    got: NDArray[np.float32]
    total: NDArray[np.float32]
    sky_seen: NDArray[np.float32]
    """the sky's light in a pixel that has seen it before, and whether it has"""
    behind: NDArray[np.uint32]
    """lanes whose light may come through panes"""
    share: NDArray[np.float32]
    """how much of it does"""
    pixels: NDArray[np.int64]
    """numbers of the tile's pixels"""
    hidden: NDArray[np.uint32]
    """lanes whose sky is behind volumes"""
    walk: VolumeWalk


@kernel
def color_loop(worker: int, workers: int, coloring: Coloring, out: Array) -> None:
    """Light of this worker's bands of four rows, linear RGB into ``out`` (height, width, 3)."""
    scratch = Scratch(
        new_packet(),
        new_packet(),
        np.zeros(LANES, np.uint32),
        new_tile(),
        np.zeros((14, LANES), np.float32),
        np.zeros(LANES, np.float32),
        np.zeros((7, LANES), np.float64),
        np.zeros((7, LANES), np.float32),
        np.zeros((3, LANES), np.float32),
        np.zeros((3, LANES), np.float32),
        np.zeros((4, LANES), np.float32),
        np.zeros(LANES, np.uint32),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.int64),
        np.zeros(LANES, np.uint32),
        new_volume_walk(),
    )
    _expose(worker, workers, coloring, out, scratch)


@loop_kernel
def _expose(worker: int, workers: int, coloring: Coloring, out: Array, scratch: Scratch) -> None:
    around, paint, light, viewing, sampling, chance, _ = coloring
    packet, second, lit, total = scratch.packet, scratch.second, scratch.lit, scratch.total
    width, height = viewing.width, viewing.height
    stands, volumes = len(viewing.poses) == 1, len(around.volumes.model) > 0
    for band in range(worker, (height + TILE - 1) // TILE, workers):
        for left in range(0, width, TILE):
            total[:] = 0.0
            scratch.sky_seen[3, :] = 0.0
            start_sequences(viewing, chance, band, left, scratch.starts)
            number_pixels(viewing, band, left, scratch.pixels)
            for sample in range(sampling.samples):
                draw_sample(sampling.samples, sample, scratch.starts, scratch.draws)
                _begin(viewing, band, left, scratch)
                aim(viewing, band, scratch.tile, packet)
                for bounce in range(_BOUNCES):
                    trace_surfaces(around, packet)
                    if volumes:
                        looking = sample_chance(chance, sample, bounce, VIEW)
                        trace_volumes(around, packet, LANES, scratch.pixels, looking, scratch.walk)
                    if _meet(coloring, stands and bounce == 0, scratch) == 0:
                        break
                    if sampling.shadows:
                        _towards_sun(light, scratch)
                        if volumes:
                            _veil_sun(around, sample_chance(chance, sample, bounce, TO_SUN), scratch)
                        _stop(around, second, lit)
                        _shadow(around, paint, scratch)
                    _towards_sky(sample, scratch)
                    if sampling.sky_light:
                        if volumes:
                            _veil_sky(around, sample, sample_chance(chance, sample, bounce, TO_SKY), scratch)
                        _stop(around, second, lit)
                        if paint.panes:
                            _sky_through_panes(around, paint, sample, scratch)
                    _shade(light, sample, scratch)
                    if not paint.goes_on or _go_on(paint, scratch) == 0:
                        break
                for i in range(3):
                    for l in range(LANES):
                        total[i, l] += min(scratch.got[i, l], _WORST)
            for l in range(LANES):
                r, c = band * TILE + l // TILE, left + l % TILE
                if r < height and c < width:
                    for i in range(3):
                        out[r, c, i] = total[i, l] / np.float32(sampling.samples)


@inline_kernel
def _stop(around: Surroundings, second: Packet, lit: Array) -> None:
    """Find out which of the lanes ``lit`` have something between them and where their second ray goes."""
    for l in range(LANES):
        second.masks[l] = lit[l]
    stop_light(around, second)


@inline_kernel
def _begin(viewing: Viewing, band: int, left: int, scratch: Scratch) -> None:
    """The tile's pixels, each somewhere within itself; no light yet."""
    tile, draws = scratch.tile, scratch.draws
    set_pixels(viewing, band, left, tile)
    for l in range(LANES):
        tile[U + l] = tile[U + l] + draws[PIXEL_U, l] - 0.5
        tile[V + l] = tile[V + l] + draws[PIXEL_V, l] - 0.5
        tile[MOMENT + l] = draws[WHEN, l]
        scratch.through[l] = np.float32(1.0)
        scratch.got[0, l] = scratch.got[1, l] = scratch.got[2, l] = 0.0


@loop_kernel
def _meet(coloring: Coloring, straight: bool, scratch: Scratch) -> int:
    """What the rays met: the surface of each lane, or the sky's light at once; how many surfaces.

    ``straight``: from a camera that stands, not by a mirror or a pane.
    """
    packet, sky_seen, got = scratch.packet, scratch.sky_seen, scratch.got
    hits = 0
    for l in range(LANES):
        scratch.lit[l] = 0
        if packet.masks[l] == 0:
            continue
        ray, hit = ray_at(packet, l), hit_at(packet, l)
        if hit.material >= 0:
            hits += 1
            scratch.lit[l] = NOTHING
            _surface(coloring, ray, hit, l, scratch)
            continue
        if straight and sky_seen[3, l] > np.float32(0.0):
            # The sky hardly changes within a pixel: one look serves all its samples.
            r, g, b = sky_seen[0, l], sky_seen[1, l], sky_seen[2, l]
        else:
            r, g, b = sky(coloring.light, ray.dx, ray.dy, ray.dz)
        if straight:
            sky_seen[0, l], sky_seen[1, l], sky_seen[2, l], sky_seen[3, l] = r, g, b, np.float32(1.0)
        got[0, l] += scratch.through[l] * r
        got[1, l] += scratch.through[l] * g
        got[2, l] += scratch.through[l] * b
    return hits


@inline_kernel
def _surface(coloring: Coloring, ray: Ray, hit: Hit, l: int, scratch: Scratch) -> None:
    """What lane ``l`` needs to know of the surface that it met."""
    paint, light, offset = coloring.paint, coloring.light, coloring.offset
    surface, through, looks = scratch.surface, scratch.through, coloring.paint.looks[hit.material]
    nx, ny, nz = facing(ray, hit)
    t = hit.distance
    x, y, z = ray.x + t * ray.dx, ray.y + t * ray.dy, ray.z + t * ray.dz
    volume, flat = hit.geometry >= coloring.around.tables.first_volume, np.float32(1.0)
    surface[OWN, l] = np.float32(0.0)
    if volume:
        row = paint.volumes.color[hit.primitive]
        r, g, b = row[0], row[1], row[2]
        shape = paint.volumes.shape[hit.primitive]
        flat, surface[OWN, l] = shape[0], shape[1]
        if flat > np.float32(0.0):
            ax, ay, az = volume_normal(coloring.around, paint.volumes, ray, hit)
            nx, ny, nz = nx + flat * (ax - nx), ny + flat * (ay - ny), nz + flat * (az - nz)
            unit = np.float32(1.0) / max(np.float32(math.sqrt(nx * nx + ny * ny + nz * nz)), np.float32(1e-6))
            nx, ny, nz = nx * unit, ny * unit, nz * unit
    else:
        r, g, b = surface_color(paint, hit, x + offset[0], y + offset[1], z + offset[2])
    surface[PX, l], surface[PY, l], surface[PZ, l] = x, y, z
    surface[NX, l], surface[NY, l], surface[NZ, l] = nx, ny, nz
    surface[CR, l], surface[CG, l], surface[CB, l] = r, g, b
    goes_on = looks[MIRROR] + looks[TRANSMISSION]
    clear = np.float32(math.exp(-light.haze * t))
    surface[KEEP, l] = through[l] * (np.float32(1.0) - goes_on) * clear
    fade = through[l] * (np.float32(1.0) - clear)
    through[l] *= clear
    for i in range(3):
        scratch.got[i, l] += fade * light.horizon[i]
    translucency, variation = looks[TRANSLUCENCY], looks[VARIATION]
    sx, sy, sz = nx, ny, nz
    if variation > np.float32(0.0) and translucency == np.float32(0.0):
        sx, sy, sz = rough(variation, nx, ny, nz, x + offset[0], y + offset[1], z + offset[2])
    cosine = sx * light.to_sun[0] + sy * light.to_sun[1] + sz * light.to_sun[2]
    # Light from behind comes out of a thin leaf on this side: a negative cosine, times what it lets through.
    surface[SUN_COS, l] = cosine if cosine > np.float32(0.0) else cosine * translucency
    if volume:
        towards_sun = ray.dx * light.to_sun[0] + ray.dy * light.to_sun[1] + ray.dz * light.to_sun[2]
        surface[SUN_COS, l] = flat * max(cosine, np.float32(0.0)) + (np.float32(1.0) - flat) * leaf_cosine(towards_sun)
    head_on = -(nx * ray.dx + ny * ray.dy + nz * ray.dz)
    grazing = np.float32(1.0) - head_on
    grazing = grazing * grazing * grazing * grazing * grazing
    # Schlick's share of the sky that a waxy leaf reflects
    surface[SHEEN, l] = np.float32(0.5) * (np.float32(0.03) + np.float32(0.6) * grazing) if (
        translucency > np.float32(0.0)
    ) else np.float32(0.0)  # fmt: skip
    surface[GLINT, l] = 0.0
    if looks[SPECULAR] > np.float32(0.0) and cosine > np.float32(0.0):
        mx, my, mz = ray.dx + 2 * head_on * nx, ray.dy + 2 * head_on * ny, ray.dz + 2 * head_on * nz
        towards = mx * light.to_sun[0] + my * light.to_sun[1] + mz * light.to_sun[2]
        if towards > 0:
            shininess = looks[SHININESS]
            surface[GLINT, l] = looks[SPECULAR] * (shininess + 2) / 4 * towards**shininess


@inline_kernel
def _lifted(surface: Array, l: int, x: Real, y: Real, z: Real, reach: Real, time: Real) -> Ray:
    """A ray along (x, y, z) from the surface of lane ``l``, starting on the side that it goes to."""
    side = surface[NX, l] * x + surface[NY, l] * y + surface[NZ, l] * z
    lift = lift_at(surface[PX, l], surface[PY, l], surface[PZ, l])
    lift = lift if side > np.float32(0.0) else -lift
    return Ray(
        surface[PX, l] + lift * surface[NX, l], surface[PY, l] + lift * surface[NY, l],
        surface[PZ, l] + lift * surface[NZ, l], x, y, z, np.float32(0.0), reach, time,
    )  # fmt: skip


@loop_kernel
def _towards_sun(light: LightNumbers, scratch: Scratch) -> None:
    """Shadow rays to a point on the sun's disc; lanes that the sun cannot reach are left out."""
    surface, draws, second = scratch.surface, scratch.draws, scratch.second
    sx, sy, sz = light.to_sun[0], light.to_sun[1], light.to_sun[2]
    flat = max(np.float32(math.sqrt(sx * sx + sy * sy)), np.float32(1e-6))
    ax, ay = -sy / flat, sx / flat
    bx, by, bz = -sz * ay, sz * ax, flat
    for l in range(LANES):
        if scratch.lit[l] == 0:
            continue
        radius = _SUN_RADIUS * np.float32(math.sqrt(draws[SUN_A, l]))
        p, q = radius * cosine_of_turns(draws[SUN_B, l]), radius * sine_of_turns(draws[SUN_B, l])
        x, y, z = sx + p * ax + q * bx, sy + p * ay + q * by, sz + q * bz
        time = ray_at(scratch.packet, l).time
        load_ray(second, l, _lifted(surface, l, x, y, z, _SUN_REACH, time), NOTHING)
        if surface[SUN_COS, l] == np.float32(0.0):
            empty_lane(second, l)


@loop_kernel
def _veil_sun(around: Surroundings, chance: Chance, scratch: Scratch) -> None:
    """Take the sun from the lanes whose rays to it end in volumes."""
    surface, second = scratch.surface, scratch.second
    for l in range(LANES):
        if scratch.lit[l] == 0 or surface[SUN_COS, l] == np.float32(0.0):
            continue
        if veiled(around, second, l, surface[OWN, l], scratch.pixels[l], chance, scratch.walk):
            surface[SUN_COS, l] = surface[GLINT, l] = 0.0
            empty_lane(second, l)


@loop_kernel
def _veil_sky(around: Surroundings, sample: int, chance: Chance, scratch: Scratch) -> None:
    """Find the lanes whose rays to the sky end in volumes."""
    surface, second, lit = scratch.surface, scratch.second, scratch.lit
    for l in range(LANES):
        scratch.hidden[l] = 0
        scouts = lit[l] != 0 and _scout(lit, l, sample) == l
        if scouts and veiled(around, second, l, surface[OWN, l], scratch.pixels[l], chance, scratch.walk):
            scratch.hidden[l] = 1


@loop_kernel
def _shadow(around: Surroundings, paint: Paint, scratch: Scratch) -> None:
    """Take the sun from the lanes whose rays were stopped, or the part of it that panes keep."""
    surface, lit, second, share = scratch.surface, scratch.lit, scratch.second, scratch.share
    if not paint.panes:
        for l in range(LANES):
            if lit[l] != 0 and was_stopped(second, l):
                surface[SUN_COS, l] = 0.0
                surface[GLINT, l] = 0.0
        return
    for l in range(LANES):
        scratch.behind[l] = lit[l] if surface[SUN_COS, l] != np.float32(0.0) else np.uint32(0)
    let_through(around, second, paint, _SUN_REACH, scratch.behind, share)
    for l in range(LANES):
        if lit[l] != 0:
            surface[SUN_COS, l] *= share[l]
            surface[GLINT, l] *= share[l]


@loop_kernel
def _sky_through_panes(around: Surroundings, paint: Paint, sample: int, scratch: Scratch) -> None:
    """A pane hides the sky only where it keeps more than half of the light."""
    lit, second, share = scratch.lit, scratch.second, scratch.share
    for l in range(LANES):
        scratch.behind[l] = lit[l] if _scout(lit, l, sample) == l else np.uint32(0)
    let_through(around, second, paint, _SKY_REACH, scratch.behind, share)
    for l in range(LANES):
        if lit[l] != 0:
            load_ray(second, l, _ending(ray_at(second, l), _SKY_REACH), NOTHING)
            if share[l] <= np.float32(0.5):
                empty_lane(second, l)


@inline_kernel
def _ending(ray: Ray, far: Real) -> Ray:
    return Ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz, ray.near, far, ray.time)


@inline_kernel
def _scout(lit: Array, l: int, sample: int) -> int:
    """The lane that looks for the sky for lane ``l``: itself, or in turns its neighbour if that met a surface too."""
    return l ^ 1 if (l + l // TILE + sample) % 2 == 1 and lit[l ^ 1] != 0 else l


@loop_kernel
def _towards_sky(sample: int, scratch: Scratch) -> None:
    """One direction a scout over the surface, the likelier the nearer to its normal (cosine-weighted)."""
    surface, draws, lit, second = scratch.surface, scratch.draws, scratch.lit, scratch.second
    for l in range(LANES):
        if lit[l] == 0:
            continue
        if _scout(lit, l, sample) != l:
            empty_lane(second, l)
            continue
        nx, ny, nz = surface[NX, l], surface[NY, l], surface[NZ, l]
        # Two axes across the normal (Duff et al., "Building an orthonormal basis, revisited", 2017).
        sign = np.float32(1.0) if nz >= np.float32(0.0) else np.float32(-1.0)
        a = np.float32(-1.0) / (sign + nz)
        b = nx * ny * a
        radius = np.float32(math.sqrt(draws[SKY_A, l]))
        p, q = radius * cosine_of_turns(draws[SKY_B, l]), radius * sine_of_turns(draws[SKY_B, l])
        up = np.float32(math.sqrt(max(np.float32(1.0) - draws[SKY_A, l], np.float32(0.0))))
        x = p * (np.float32(1.0) + sign * nx * nx * a) + q * b + up * nx
        y = p * sign * b + q * (sign + ny * ny * a) + up * ny
        z = -p * sign * nx - q * ny + up * nz
        time = ray_at(scratch.packet, l).time
        load_ray(second, l, _lifted(surface, l, x, y, z, _SKY_REACH, time), NOTHING)


@loop_kernel
def _shade(light: LightNumbers, sample: int, scratch: Scratch) -> None:
    """The light that each lane's surface sends to the camera."""
    surface, lit, got = scratch.surface, scratch.lit, scratch.got
    for l in range(LANES):
        if lit[l] == 0:
            continue
        # The mean over all that the surface faces: much less noisy than the sky in the one direction.
        up = np.float32(0.5) + np.float32(0.5) * surface[NZ, l]
        scout = _scout(lit, l, sample)
        hidden = was_stopped(scratch.second, scout) or scratch.hidden[scout] != 0
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


@loop_kernel
def _go_on(paint: Paint, scratch: Scratch) -> int:
    """Load the rays that go on from mirrors and panes; how many there are."""
    packet, surface, through = scratch.packet, scratch.surface, scratch.through
    count = 0
    for l in range(LANES):
        packet.masks[l] = 0
        if scratch.lit[l] == 0:
            continue
        ray, material = ray_at(packet, l), hit_at(packet, l).material
        mirror, pane = paint.looks[material, MIRROR], paint.looks[material, TRANSMISSION]
        through[l] *= mirror + pane
        if through[l] < np.float32(0.01):
            continue
        count += 1
        packet.masks[l] = NOTHING
        dx, dy, dz = ray.dx, ray.dy, ray.dz
        if mirror >= pane:
            twice = np.float32(2.0) * (dx * surface[NX, l] + dy * surface[NY, l] + dz * surface[NZ, l])
            dx, dy, dz = dx - twice * surface[NX, l], dy - twice * surface[NY, l], dz - twice * surface[NZ, l]
        load_ray(packet, l, _lifted(surface, l, dx, dy, dz, _SUN_REACH, ray.time), NOTHING)
    return count
