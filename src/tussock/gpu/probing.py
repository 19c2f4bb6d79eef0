"""Adaptive sub-rays on a graphics processor: all are traced there, and those that the processor would not have traced are dropped.

On the processor it is decided for sixteen pulses together whether they met nothing at all (`tussock.pulse.adaptive`). A thread has one
pulse: what the probes of its neighbours say is written down first, one thread a pulse, and pulses are taken in the order of their
groups, so that the neighbours are beside it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tussock.gpu.sharing import Many, Span, one_of
from tussock.gpu.tracing import RayTable
from tussock.kernels import inline_kernel
from tussock.pulse.reflect import returned_energy
from tussock.pulse.tables import Firing, Lot, Scanning
from tussock.trace.cuda.packets import NOTHING, Packet, Traced, empty_hit, hit_at, ray_at, resolve, take_sub_ray
from tussock.trace.cuda.walk import four
from tussock.trace.packets import LANES as GROUP
from tussock.trace.ray import SKIN, Ray

__all__ = ["GROUP", "beside", "group_order", "probe_kernel", "probes"]

cuda: Any = import_module("numba.cuda")
float32, int32, int64, uint8, uint32 = (
    getattr(numba, name) for name in ("float32", "int32", "int64", "uint8", "uint32")
)


def probes(firing: Firing) -> bool:
    """Whether sub-rays are adaptive."""
    return firing.probes < len(firing.stencil)


def group_order(pulses: int, apart: int) -> NDArray[np.int64]:
    """The pulses of a sensor group by group, as `tussock.pulse.sub_rays.lot_of` has them."""
    whole = pulses // (GROUP * apart) * GROUP * apart
    rounds = np.arange(whole).reshape(-1, GROUP, apart)
    return np.concatenate([np.swapaxes(rounds, 1, 2).ravel(), np.arange(whole, pulses)])


def probe_kernel(scanning: Scanning, many: Many, traced: Traced, rays: RayTable, span: Span) -> None:
    """One thread a pulse: whether anything comes back of its probes."""
    i = int64(cuda.grid(1))
    numbers, bits = cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(1, int32)
    pulses, count = len(scanning.firing.lasers), len(scanning.firing.stencil)
    if i < span.pulses:
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        masks[0] = NOTHING
        j = span.first + i
        s = j // pulses
        p = int64(span.order[j - s * pulses])
        one: Any = one_of(scanning, many, traced, span, s, i - p)
        met = uint8(0)
        for k in range(scanning.firing.probes):
            row = i * count + k
            start, way = four(rays.starts, 4, row, 0), four(rays.ways, 4, row, 0)
            empty_hit(packet, Ray(start[0], start[1], start[2], way[0], way[1], way[2], SKIN, way[3], start[3]))
            take_sub_ray(one.around, packet, p, k)
            resolve(one.around.tables, packet)
            hit = hit_at(packet, 0)
            path = hit.distance * one.receiving.media.inner
            if returned_energy(one.around, one.receiving, ray_at(packet, 0), hit, path) > np.float32(0.0):
                met = uint8(1)
        traced.met[i] = met


@inline_kernel
def beside(scanning: Scanning, lot: Lot, met: int) -> int:
    """As `tussock.pulse.adaptive.met_in_group`, for the one pulse of a thread and those that are in its group."""
    ways: Any = scanning.around.standing
    column = ways.first + lot.first
    place = column + ways.begun
    first = column - place % GROUP
    last = min(first + GROUP, column - place + len(scanning.firing.lasers))
    for other in range(first, last):
        met |= int64(ways.traced.met[other])
    return met
