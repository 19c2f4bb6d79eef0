"""Which of a pulse's hits the receiver reports, and as what.

Goodin et al. (2018), section 3.2.3. Every sub-ray that met something is a hit with a range and an energy.

    strongest   the most intense hit
    last        the furthest hit
    first       the mean of all hits within the signal cutoff of the nearest
    all         echoes: hits in the order of their range, a new echo wherever the next hit lies more than the
                signal cutoff behind the first of the echo; at the mean of its hits, weighted by energy

A hit's intensity is ρ·cos θ of its ray; an echo's is the sum over its hits divided by the number of sub-rays,
so a blade that fills a third of the beam returns a third. No mode reports a range outside the span of the
hits it is made of. The functions work on the first ``count`` rows of one column (a lane) of arrays of hits, shape
(hits, lanes); a hit with energy 0 is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel, loop_kernel

__all__ = ["first_return", "last_hit", "next_echo", "order_hits", "strongest_hit"]


@inline_kernel
def _is_hit(energy: Any, distance: Any, low: Any, high: Any) -> Any:
    """Whether something came back from within the range limits [m]"""
    return (energy > np.float32(0.0)) & (distance >= low) & (distance <= high)


@inline_kernel
def strongest_hit(ranges: Any, energies: Any, lane: int, count: int, low: Any, high: Any) -> Any:
    """Row of the most intense hit within the range limits, the nearer of equals; −1 for none."""
    best, best_energy, best_range = np.int32(-1), np.float32(0.0), np.float32(0.0)
    for k in range(count):
        energy, distance = energies[k, lane], ranges[k, lane]
        better = (energy > best_energy) | ((energy == best_energy) & (distance < best_range))
        if _is_hit(energy, distance, low, high) & better:
            best, best_energy, best_range = np.int32(k), energy, distance
    return best


@inline_kernel
def last_hit(ranges: Any, energies: Any, lane: int, count: int, low: Any, high: Any) -> Any:
    """Row of the furthest hit within the range limits, the first of equals; −1 for none."""
    best, best_range = np.int32(-1), np.float32(-1.0)
    for k in range(count):
        distance = ranges[k, lane]
        if _is_hit(energies[k, lane], distance, low, high) & (distance > best_range):
            best, best_range = np.int32(k), distance
    return best


@loop_kernel
def first_return(
    ranges: Any, energies: Any, lane: int, count: int, low: Any, high: Any, cutoff: Any, rays: int
) -> Any:
    """Row of the most intense hit of the window, mean range [m] and energy of the window; row −1 for none."""
    nearest = np.float32(np.inf)
    for k in range(count):
        if _is_hit(energies[k, lane], ranges[k, lane], low, high):
            nearest = min(nearest, ranges[k, lane])
    best, total, energy, inside = np.int32(-1), 0.0, 0.0, 0
    for k in range(count):
        if _is_hit(energies[k, lane], ranges[k, lane], low, min(nearest + cutoff, high)):
            total += ranges[k, lane]
            energy += energies[k, lane]
            inside += 1
            if best < 0 or energies[k, lane] > energies[best, lane]:
                best = np.int32(k)
    if inside == 0:
        return best, np.float32(0.0), np.float32(0.0)
    return best, np.float32(total / inside), np.float32(energy / rays)


@loop_kernel
def order_hits(ranges: Any, energies: Any, lane: int, count: int, low: Any, high: Any, order: Any) -> Any:
    """Rows of the hits within the range limits, nearest first, into the lane's column of ``order``; how many."""
    found = 0
    for k in range(count):
        distance = ranges[k, lane]
        if _is_hit(energies[k, lane], distance, low, high):
            at = found
            while at > 0 and ranges[order[at - 1, lane], lane] > distance:
                order[at, lane] = order[at - 1, lane]
                at -= 1
            order[at, lane] = k
            found += 1
    return found


@loop_kernel
def next_echo(
    ranges: Any, energies: Any, lane: int, order: Any, begin: int, end: int, cutoff: Any, rays: int
) -> Any:
    """The echo that begins at place ``begin`` of the order: where the next one begins, its strongest row (−1 where
    there is no echo left), range [m] and energy."""
    if begin >= end:
        return begin, np.int32(-1), np.float32(0.0), np.float32(0.0)
    start = ranges[order[begin, lane], lane]
    best, weighted, energy, at = order[begin, lane], 0.0, 0.0, begin
    while at < end and ranges[order[at, lane], lane] <= start + cutoff:
        row = order[at, lane]
        weighted += energies[row, lane] * (ranges[row, lane] - start)
        energy += energies[row, lane]
        if energies[row, lane] > energies[best, lane]:
            best = row
        at += 1
    return at, np.int32(best), np.float32(start + weighted / energy), np.float32(energy / rays)
