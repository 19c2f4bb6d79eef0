"""Which of a pulse's hits the receiver reports, and as what.

Goodin et al. (2018), section 3.2.3. Every sub-ray that met something is a hit with a range and an energy.

    strongest   the most intense hit
    last        the furthest hit
    first       the mean of all hits within the signal cutoff of the nearest
    all         echoes: hits in the order of their range, a new echo wherever the next hit lies more than the
                signal cutoff behind the first of the echo; at the mean of its hits, weighted by energy

A hit's intensity is ρ·cos θ of its ray; an echo's is the sum over its hits divided by the number of sub-rays,
so a blade that fills a third of the beam returns a third. No mode reports a range outside the span of the
hits it is made of. The functions work on arrays of hits, shape (hits, lanes), one column a pulse; a hit with
energy 0 is none.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel

__all__ = ["Window", "first_return", "last_hits", "next_echo", "order_hits", "strongest_hits"]


class Window(NamedTuple):
    """Which hits count, and which count as one."""

    min_range: Real
    """[m]"""
    max_range: Real
    """[m]"""
    cutoff: Real
    """[m] signal cutoff"""


class Chosen(Protocol):
    """One hit a lane: its row, −1 for none, its range [m] and its energy, arrays of shape (lanes,)."""

    @property
    def rows(self) -> Array: ...

    @property
    def ranges(self) -> Array: ...

    @property
    def energies(self) -> Array: ...


@inline_kernel
def strongest_hits(ranges: Array, energies: Array, window: Window, out: Chosen) -> None:
    """The most intense hit of every lane within the range limits, the nearer of equals.

    ``out`` has `rows` (−1 for none), `ranges` and `energies`, one a lane.
    """
    for l in range(out.rows.shape[0]):
        out.rows[l], out.ranges[l], out.energies[l] = -1, np.float32(np.inf), np.float32(0.0)
    for k in range(ranges.shape[0]):
        for l in range(out.rows.shape[0]):  # no branch in it, so that it becomes vector code
            distance, energy = ranges[k, l], energies[k, l]
            best, nearest = out.energies[l], out.ranges[l]
            seen = (energy > np.float32(0.0)) & (distance >= window.min_range) & (distance <= window.max_range)
            better = seen & ((energy > best) | ((energy == best) & (distance < nearest)))
            out.rows[l] = np.int32(k) if better else out.rows[l]
            out.ranges[l] = distance if better else nearest
            out.energies[l] = energy if better else best


@inline_kernel
def last_hits(ranges: Array, energies: Array, window: Window, out: Chosen) -> None:
    """The furthest hit of every lane within the range limits, the first of equals; as `strongest_hits`."""
    for l in range(out.rows.shape[0]):
        out.rows[l], out.ranges[l], out.energies[l] = -1, np.float32(-1.0), np.float32(0.0)
    for k in range(ranges.shape[0]):
        for l in range(out.rows.shape[0]):
            distance, energy, furthest = ranges[k, l], energies[k, l], out.ranges[l]
            seen = (energy > np.float32(0.0)) & (distance >= window.min_range) & (distance <= window.max_range)
            further = seen & (distance > furthest)
            out.rows[l] = np.int32(k) if further else out.rows[l]
            out.ranges[l] = distance if further else furthest
            out.energies[l] = energy if further else out.energies[l]


@loop_kernel
def first_return(ranges: Array, energies: Array, lane: int, window: Window, rays: int) -> tuple[Whole, Real, Real]:
    """Row of the most intense hit of the window, mean range [m] and energy of the window; row −1 for none."""
    nearest = np.float32(np.inf)
    for k in range(ranges.shape[0]):
        distance = ranges[k, lane]
        if energies[k, lane] > np.float32(0.0) and window.min_range <= distance <= window.max_range:
            nearest = min(nearest, distance)
    best, total, energy, count = -1, 0.0, 0.0, 0
    for k in range(ranges.shape[0]):
        distance = ranges[k, lane]
        if (
            energies[k, lane] <= np.float32(0.0)
            or distance < nearest
            or distance > min(nearest + window.cutoff, window.max_range)
        ):
            continue
        total += distance
        energy += energies[k, lane]
        count += 1
        if best < 0 or energies[k, lane] > energies[best, lane]:
            best = k
    if count == 0:
        return -1, np.float32(0.0), np.float32(0.0)
    return best, np.float32(total / count), np.float32(energy / rays)


@loop_kernel
def order_hits(ranges: Array, energies: Array, lane: int, window: Window, order: Array) -> int:
    """Rows of the hits within the range limits, nearest first, into ``order``; how many there are."""
    count = 0
    for k in range(ranges.shape[0]):
        distance = ranges[k, lane]
        if energies[k, lane] <= np.float32(0.0) or distance < window.min_range or distance > window.max_range:
            continue
        at = count
        while at > 0 and ranges[order[at - 1], lane] > distance:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
        count += 1
    return count


@loop_kernel
def next_echo(
    ranges: Array, energies: Array, lane: int, order: Array, begin: int, window: Window, rays: int
) -> tuple[Whole, Whole, Real, Real]:
    """The echo that begins at place ``begin`` of the order: its end, strongest row, range [m] and energy."""
    start = ranges[order[begin], lane]
    best, weighted, energy, end = order[begin], 0.0, 0.0, begin
    while end < len(order) and ranges[order[end], lane] <= start + window.cutoff:
        row = order[end]
        weighted += energies[row, lane] * (ranges[row, lane] - start)
        energy += energies[row, lane]
        if energies[row, lane] > energies[best, lane]:
            best = row
        end += 1
    return end, best, np.float32(start + weighted / energy), np.float32(energy / rays)
