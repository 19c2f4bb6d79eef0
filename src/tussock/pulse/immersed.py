"""The media that a sensor stands in, found by looking straight up through all that is above it.

A surface that is left before it was entered belongs to a body around the sensor. Looking up also finds the water under
a water surface that is one sheet of triangles, without a bottom.
"""

from __future__ import annotations

import numpy as np

from tussock.arrays import FloatArray
from tussock.kernels import Array, Real, kernel
from tussock.signal.media import AIR, Media, beyond
from tussock.trace.hit_tables import INDEX, TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet
from tussock.trace.ray import SKIN, Ray, skin_at
from tussock.trace.surroundings import Surroundings, trace_surfaces

__all__ = ["media_around", "media_differ"]

_CROSSINGS = 256


def media_around(around: Surroundings, position: FloatArray) -> Media:
    """The media around a place [m], tracer's coordinates, at the start of the span of ``around``."""
    if not media_differ(around):
        return AIR
    x, y, z = position.astype(np.float32)
    indices = np.ones(4, np.float32)
    _look_up(around, x, y, z, indices)
    return Media(*indices)


def media_differ(around: Surroundings) -> bool:
    """Whether there is anything in a world that is not as thin as air and lets light through."""
    optics = around.tables.optics
    return bool(((optics[:, TRANSMISSION] > 0) & (optics[:, INDEX] != 1)).any())


@kernel
def _look_up(around: Surroundings, x: Real, y: Real, z: Real, indices: Array) -> None:
    one, packet, near, found = np.float32(1.0), new_packet(), SKIN, 0
    above = Media(one, one, one, one)
    for _ in range(_CROSSINGS):
        for l in range(LANES):
            ray = Ray(x, y, z, np.float32(0.0), np.float32(0.0), one, near, np.float32(np.inf), np.float32(0.0))
            load_ray(packet, l, ray, NOTHING)
        trace_surfaces(around, packet)
        hit = hit_at(packet, 0)
        if hit.material < 0 or found == len(indices):
            return
        optics = around.tables.optics[hit.material]
        index = optics[INDEX]
        if optics[TRANSMISSION] > np.float32(0.0) and index != one:
            entering = hit.nz < np.float32(0.0)
            known = above.inner == index or above.second == index or above.third == index or above.fourth == index
            if entering or known:
                above = beyond(above, index, entering)
            else:
                indices[found] = index
                found += 1
        near = hit.distance + skin_at(abs(z) + hit.distance, one)
