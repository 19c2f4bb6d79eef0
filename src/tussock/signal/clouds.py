"""Clouds along the axis of a pulse: sums over many of them at sixteen paths at a time.

A cloud on an axis is a part, a row of numbers: for a box where it is entered and left, for a puff its middle and s, and
of both α and πβ there. A puff is a Gaussian along every straight line, so its optical depth is an error function,

    τ(r) = α·s·√(π/2)·(erf((r − m)/√2 s) + erf(m/√2 s)),

and the exponential that erf is made of (Abramowitz and Stegun 1964, 7.1.26) is the puff's own profile exp(−(r − m)²/2s²):
one for both. The sixteen paths, and what is found there, are rows of one array with constants between them, so that the
compiler sees that they do not overlap and makes vector code of the loops.
"""

from __future__ import annotations

import numpy as np

from tussock.elementary import exponential, logarithm
from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel
from tussock.signal.air import Air, error_function, error_series

__all__ = [
    "AT", "DEPTH", "NODES", "NUMBERS", "PART_NUMBERS", "PATHS", "PUFF_END", "SCATTERED", "box_part", "depth_before", "depth_of",
    "depth_through", "part_end", "part_kind", "puff_behind", "puff_part", "returned", "sum_densities", "sum_parts",
]  # fmt: skip

NODES = 16
"""paths at a time"""
AT, SCATTERED, DEPTH, PATHS, _MORE, NUMBERS = range(0, 6 * NODES, NODES)
"""rows of the room: where, what is sent back a metre there, optical depth before it, and two rows for the caller"""
PART_NUMBERS = 6
"""box (1 + kind) or puff (−kind), entered or middle [m], left or s [m], α [1/m], πβ [1/m], erf of a puff's part behind"""
PUFF_END = np.float32(5.0)
"""[s] behind its middle a puff is passed: but for 6e-7 of it"""
_ZERO, _HALF, _ONE, _TWO = (np.float32(value) for value in (0.0, 0.5, 1.0, 2.0))
_ROOT_HALF, _ROOT_HALF_PI = np.float32(np.sqrt(0.5)), np.float32(np.sqrt(np.pi / 2))
_FAINT = np.float32(1e-6)


@inline_kernel
def box_part(part: Array, kind: Real, enters: Real, leaves: Real, alpha: Real, beta: Real) -> None:
    """Write a box into a row."""
    part[0], part[1], part[2], part[3], part[4], part[5] = _ONE + kind, enters, leaves, alpha, beta, _ZERO


@inline_kernel
def puff_part(part: Array, kind: Real, middle: Real, s: Real, alpha: Real, beta: Real) -> None:
    """Write a puff into a row; ``alpha`` and ``beta`` are those of its densest place on the axis."""
    part[0], part[1], part[2], part[3], part[4] = -kind, middle, s, alpha, beta
    part[5] = puff_behind(middle, s)


@inline_kernel
def puff_behind(middle: Real, s: Real) -> Real:
    """The erf of what of a puff is before its middle."""
    return error_function(middle * _ROOT_HALF / s)


@inline_kernel
def part_end(part: Array, puff_end: Real) -> Real:
    """[m] where a box is left, or ``puff_end`` times s behind the middle of a puff."""
    return part[2] if part[0] > _ZERO else part[1] + puff_end * part[2]


@inline_kernel
def depth_through(box: bool, begin: Real, size: Real, alpha: Real, behind: Real) -> Real:
    """Optical depth of a part, from the sensor on, by its numbers."""
    return alpha * (size - begin) if box else alpha * size * _ROOT_HALF_PI * (_ONE + behind)


@inline_kernel
def depth_before(box: bool, begin: Real, size: Real, alpha: Real, behind: Real, at: Real) -> Real:
    """Optical depth of a part up to a path, by its numbers."""
    if box:
        return alpha * max(min(at, size) - begin, _ZERO)
    return alpha * size * _ROOT_HALF_PI * _puff_at(at, begin, _ROOT_HALF / size, behind)[1]


@inline_kernel
def _puff_at(at: Real, middle: Real, per: Real, behind: Real) -> tuple[Real, Real]:
    """A puff's profile at a path, and how much of it is before that."""
    x = (at - middle) * per
    profile = exponential(-x * x)
    passed = _ONE - error_series(abs(x)) * profile
    passed = behind + (passed if x >= _ZERO else -passed)
    return profile, max(passed, _ZERO)


@loop_kernel
def depth_of(parts: Array, count: int) -> Real:
    """Optical depth of all of the parts, from the sensor on."""
    depth = _ZERO
    for i in range(count):
        depth += depth_through(parts[i, 0] > _ZERO, parts[i, 1], parts[i, 2], parts[i, 3], parts[i, 5])
    return depth


@loop_kernel
def sum_parts(parts: Array, count: int, room: Array) -> None:
    """πβ at the paths of the row AT, and the optical depth before them, into the rows SCATTERED and DEPTH."""
    for j in range(NODES):
        room[SCATTERED + j], room[DEPTH + j] = _ZERO, _ZERO
    for i in range(count):
        alpha, beta = parts[i, 3], parts[i, 4]
        if parts[i, 0] > _ZERO:
            enters, leaves = parts[i, 1], parts[i, 2]
            for j in range(NODES):
                at = room[AT + j]
                room[SCATTERED + j] += beta if (at >= enters) & (at <= leaves) else _ZERO
                room[DEPTH + j] += alpha * max(min(at, leaves) - enters, _ZERO)
        else:
            middle, per, behind = parts[i, 1], _ROOT_HALF / parts[i, 2], parts[i, 5]
            thick = alpha * parts[i, 2] * _ROOT_HALF_PI
            for j in range(NODES):
                profile, passed = _puff_at(room[AT + j], middle, per, behind)
                room[SCATTERED + j] += beta * profile
                room[DEPTH + j] += thick * passed


@loop_kernel
def sum_densities(parts: Array, count: int, room: Array) -> None:
    """πβ and α at the paths of the row AT, into the rows SCATTERED and DEPTH."""
    for j in range(NODES):
        room[SCATTERED + j], room[DEPTH + j] = _ZERO, _ZERO
    for i in range(count):
        box, begin, size = parts[i, 0] > _ZERO, parts[i, 1], parts[i, 2]
        per = _ROOT_HALF / size
        for j in range(NODES):
            if box:
                here = _ONE if (room[AT + j] >= begin) & (room[AT + j] <= size) else _ZERO
            else:
                x = (room[AT + j] - begin) * per
                here = exponential(-x * x)
            room[SCATTERED + j] += parts[i, 4] * here
            room[DEPTH + j] += parts[i, 3] * here


@loop_kernel
def returned(air: Air, far: Real, room: Array) -> None:
    """What comes back of a metre at each path, into the row DEPTH in place of the depth; nothing from behind ``far``."""
    # As `tussock.signal.air.way_back`: what the receiver leaves of what is near, and what clouds and air do, in one exponential.
    per_wide, per_near = _ONE / (air.overlap_to - air.overlap_from), _ONE / max(air.near_to, _FAINT)
    for j in range(NODES):
        at = max(room[AT + j], _FAINT)
        seen = min(max((at - air.overlap_from) * per_wide, _ZERO), _ONE)
        left = air.near_exponent * logarithm(min(at * per_near, _ONE)) - _TWO * (room[DEPTH + j] + air.extinction * at)
        value = room[SCATTERED + j] * seen * exponential(left) / (at * at)
        room[DEPTH + j] = value if room[AT + j] < far else _ZERO


@loop_kernel
def part_kind(parts: Array, count: int, path: Real) -> Whole:
    """The kind of what sends back the most at a path."""
    others = 0
    for i in range(1, count):
        others += 1 if _kind_of(parts[i, 0]) != _kind_of(parts[0, 0]) else 0
    if others == 0:  # mostly: there is dust, or there is fog
        return np.uint32(_kind_of(parts[0, 0]))
    strongest, kind = np.float32(-1.0), np.uint32(0)
    for i in range(count):
        if parts[i, 0] > _ZERO:
            here = parts[i, 4] if parts[i, 1] <= path <= parts[i, 2] else _ZERO
        else:
            z = (path - parts[i, 1]) / parts[i, 2]
            here = parts[i, 4] * exponential(-_HALF * z * z)
        if here > strongest:
            strongest, kind = here, np.uint32(_kind_of(parts[i, 0]))
    return kind


@inline_kernel
def _kind_of(number: Real) -> Real:
    return number - _ONE if number > _ZERO else -number
