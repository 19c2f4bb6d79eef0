"""The response of tagged shapes: spread ranges, and what stands behind as the second return.

Mattes and Pace (Neya Systems, 2021), section 3. One error a pulse, the same for all its sub-rays. A second ray looks
for what stands behind the impact, the object that was met excepted: in single-return modes only where the error is
positive and only as far as it reaches, in the others as far as the sensor does, because what it finds is the second
return. That one is never brighter than the first: the pulse has lost light on the way.

Left out: shapes that are seen in a mirror or through glass respond like any hard surface.
"""

from __future__ import annotations

import math

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel
from tussock.pulse.reflect import add_hit, returned_energy
from tussock.pulse.sub_rays import lanes_of, number_of, pulse_number, pulse_of
from tussock.pulse.tables import Hits, Lot, Part, Scanning, Scratch
from tussock.randomness import Chance, Purpose, normal_pair, random_words
from tussock.signal.vegetation import range_error, spread_range
from tussock.trace.packets import LANES, NOTHING, Packet, hit_at, load_ray, ray_at, say_close
from tussock.trace.ray import Ray, skin_at
from tussock.trace.surroundings import trace_surfaces, trace_volumes

__all__ = ["ERROR_ROWS", "respond_lanes"]

ERROR_ROWS = 4
_ERROR, _MEAN, _SIGMA, _WORD = range(ERROR_ROWS)  # rows of `errors`

_VEGETATION = int(Purpose.VEGETATION)
_PATIENCE = 16  # surfaces of the object itself that a second ray is taken through, where it has no mask of its own


@inline_kernel
def respond_lanes(scanning: Scanning, scratch: Scratch, part: Part, lot: Lot, dual: bool) -> None:
    """Spread the ranges of the rays of a packet that met a shape that responds; the packet is left as it is."""
    packet, second, errors, hits = scratch.packet, scratch.second, scratch.errors, scratch.hits
    tables, receiving = scanning.around.tables, scanning.receiving
    responding, count = False, lanes_of(part, lot.lanes)
    for l in range(LANES):
        errors[_MEAN, l], errors[_SIGMA, l], second.masks[l] = np.float32(0.0), np.float32(0.0), 0
        hit = hit_at(packet, l)
        start = tables.geometry_response[hit.geometry] if l < count and hit.material >= 0 else np.int64(-1)
        if start >= 0:
            errors[_MEAN, l] = tables.responses[start + hit.material, 0]
            errors[_SIGMA, l] = tables.responses[start + hit.material, 1]
            responding |= (errors[_MEAN, l] != np.float32(0.0)) | (errors[_SIGMA, l] != np.float32(0.0))
    if not responding:
        return
    for l in range(LANES):
        scratch.pulses[l] = pulse_number(lot, pulse_of(part, l))
    _sample_errors(scanning.chance, scratch.pulses, errors)
    looking = False
    for l in range(count):
        if errors[_MEAN, l] == np.float32(0.0) and errors[_SIGMA, l] == np.float32(0.0):
            continue
        error = errors[_ERROR, l]
        if dual or error > np.float32(0.0):
            hit = hit_at(packet, l)
            far = receiving.max_range if dual else hit.distance + error
            load_ray(second, l, _behind(ray_at(packet, l), hit.distance, far), _others(scanning, hit.geometry))
            second.masks[l] = NOTHING
            looking = True
        else:
            _spread(scanning, hits, error, np.float32(math.inf), number_of(part, l), pulse_of(part, l))
    if looking:
        say_close(second, part.along or lot.apart > 1)
        _trace_behind(scanning, packet, second, count)
        if len(scanning.around.volumes.model) > 0:
            trace_volumes(scanning.around, second, count, scratch.pulses, scanning.chance, scratch.walk)
        for l in range(count):
            if second.masks[l] != 0:
                _settle(scanning, scratch, errors[_ERROR, l], part, l, dual)


@inline_kernel
def _sample_errors(chance: Chance, pulses: Array, errors: Array) -> None:
    """The range error of every lane's pulse; two loops, because each becomes vector code on its own."""
    words = errors.view(np.uint32)
    for l in range(LANES):
        drawn = random_words(chance, pulses[l], 0, _VEGETATION)
        words[_ERROR, l], words[_WORD, l] = drawn[0], drawn[1]
    for l in range(LANES):
        normal = normal_pair(words[_ERROR, l], words[_WORD, l])[0]
        errors[_ERROR, l] = range_error(errors[_MEAN, l], errors[_SIGMA, l], normal)


@inline_kernel
def _behind(ray: Ray, distance: Real, far: Real) -> Ray:
    """The same ray from just behind ``distance`` on; its length is counted from the sensor as before."""
    skin = skin_at(abs(ray.x) + abs(ray.y) + abs(ray.z) + distance, np.float32(1.0))
    return Ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz, distance + skin, far, ray.time)


@inline_kernel
def _others(scanning: Scanning, geometry: Whole) -> Whole:
    """The mask of a ray that does not see a geometry, if that has a bit to itself."""
    return NOTHING ^ scanning.around.tables.geometry_bit[geometry]


@inline_kernel
def _trace_behind(scanning: Scanning, packet: Packet, second: Packet, lanes: int) -> None:
    """Find the first surface behind every lane in use that is not of the object which the lane met."""
    for _ in range(_PATIENCE):
        trace_surfaces(scanning.around, second)
        again = False
        for l in range(lanes):
            hit, own = hit_at(second, l), hit_at(packet, l).geometry
            if second.masks[l] != 0 and hit.material >= 0 and hit.geometry == own:
                ray = _behind(
                    ray_at(second, l), hit.distance, scanning.receiving.max_range / scanning.receiving.media.inner
                )
                load_ray(second, l, ray, _others(scanning, own))
                again = True
        if not again:
            break


@inline_kernel
def _settle(scanning: Scanning, scratch: Scratch, error: Real, part: Part, l: int, dual: bool) -> None:
    """The spread range of lane ``l``, and in modes with several returns what stands behind as one more hit."""
    ray, hit, hits = ray_at(scratch.second, l), hit_at(scratch.second, l), scratch.hits
    found, k, p = hit.material >= 0, number_of(part, l), pulse_of(part, l)
    behind = hit.distance * scanning.receiving.media.inner if found else np.float32(math.inf)
    _spread(scanning, hits, error, behind, k, p)
    if dual and found:
        energy = scratch.weights[l] * returned_energy(scanning.around, scanning.receiving, ray, hit, behind)
        add_hit(hits, p, behind, min(energy, hits.energies[k, p]), hit)


@inline_kernel
def _spread(scanning: Scanning, hits: Hits, error: Real, behind: Real, k: int, p: int) -> None:
    """Move the hit of sub-ray ``k`` of pulse ``p`` by its range error, and its energy to what it has from there."""
    receiving, before = scanning.receiving, hits.ranges[k, p]
    after = spread_range(before, error, behind, receiving.min_range)
    hits.ranges[k, p] = after
    if receiving.loss_reference > np.float32(0.0) and after > np.float32(0.0):
        hits.energies[k, p] *= (before / after) * (before / after)
