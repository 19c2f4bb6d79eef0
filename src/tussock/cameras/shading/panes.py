"""Sun and sky through glass: what stands in the light's way, but lets a share of it through.

Embree says of a shadow ray only whether anything is in its way. Where a scene has materials that transmit, the rays
that are stopped are followed once more, from surface to surface: each pane takes its share, anything else ends it.
Light goes straight on, as through a pane modelled as one sheet; no colour, no bending, no caustics.
"""

from __future__ import annotations

import numpy as np

from tussock.cameras.shading.paint import Paint
from tussock.kernels import Array, Real, inline_kernel, loop_kernel
from tussock.trace.hit_tables import TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, Packet, hit_at, load_ray, ray_at, was_stopped
from tussock.trace.ray import Ray, lift_at
from tussock.trace.surroundings import Surroundings, trace_surfaces

__all__ = ["let_through"]

_PANES = 6
"""light behind more panes than this is lost"""


@loop_kernel
def let_through(
    around: Surroundings, packet: Packet, paint: Paint, reach: Real, lit: Array, share: Array
) -> None:  # fmt: skip
    """The share of the light, 0 to 1, that comes down each lane of ``lit``, into ``share``, shape (16,).

    ``packet`` has shadow rays of length ``reach`` [m] after `stop_light`. Lanes that were emptied before must not be in
    ``lit``.
    """
    masks, under_way = packet.masks, 0
    for l in range(LANES):
        share[l] = 1.0
        masks[l] = NOTHING if lit[l] != 0 and was_stopped(packet, l) else np.uint32(0)
        if masks[l] != 0:
            _load_from(packet, l, np.float32(0.0), reach)
            under_way += 1
    for _ in range(_PANES):
        if under_way == 0:
            return
        trace_surfaces(around, packet)
        for l in range(LANES):
            if masks[l] == 0:
                continue
            hit = hit_at(packet, l)
            if hit.material >= 0:
                share[l] *= paint.looks[hit.material, TRANSMISSION]
            if hit.material < 0 or share[l] == np.float32(0.0):
                masks[l] = 0
                under_way -= 1
                continue
            ray = ray_at(packet, l)
            _load_from(packet, l, hit.distance + lift_at(ray.x, ray.y, ray.z), reach)
    for l in range(LANES):
        if masks[l] != 0:
            share[l] = 0.0


@inline_kernel
def _load_from(packet: Packet, l: int, step: Real, reach: Real) -> None:
    """The ray of lane ``l`` again, begun ``step`` further on."""
    ray = ray_at(packet, l)
    x, y, z = ray.x + step * ray.dx, ray.y + step * ray.dy, ray.z + step * ray.dz
    load_ray(packet, l, Ray(x, y, z, ray.dx, ray.dy, ray.dz, ray.near, reach, ray.time), NOTHING)
