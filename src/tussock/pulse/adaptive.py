"""Sub-rays where they are needed: few for a spot that meets one surface, all where it is torn.

Every pulse fires its first few sub-rays, the *probes*, which are spread over the whole spot. If they all meet the same
object, in one plane as far as the pulse can tell, they stand for the others. Else the others are traced too. Nor are they
where sixteen pulses side by side have met nothing at all: the open sky.

The first sub-rays of a pulse that meet a plane at the ranges r have the depths z = r·c along its axis, and 1/z is linear
in the place (h, v) on the spot. What least squares leave of 1/z is (1 − A·A⁺)·(1/z), with the rows (1, h, v) of A: where
that is more than the 20th part of the pulse's σ, somewhere, the spot is torn.

Probes and others are traced as sub-rays always are, those of one pulse together (`tussock.pulse.sub_rays`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, inline_kernel, kernel, loop_kernel
from tussock.pulse.aim import load_lanes
from tussock.pulse.reflect import scatter_lanes
from tussock.pulse.sub_rays import pulse_number, some_of
from tussock.pulse.tables import Lot, Probed, Scanning, Scratch
from tussock.trace.packets import LANES
from tussock.trace.surroundings import trace_sub_ray

__all__ = ["finish_lanes", "met_in_group", "new_probed", "off_plane", "stand_for"]

_FLAT = np.float32(0.05)  # [σ] off the plane: what lies within it is one surface
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


def off_plane(stencil: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 − A·A⁺ of the module's text, for sub-rays with these shares of axis, left and up, shape (probes, 3)."""
    rows = _rows(stencil)
    return (np.eye(len(rows)) - rows @ np.linalg.pinv(rows)).astype(np.float32)


def stand_for(stencil: NDArray[np.float32], weights: NDArray[np.float32], probes: int) -> NDArray[np.float32]:
    """How many times its own weight each of the first sub-rays stands for, shape (probes,).

    All together weigh what all sub-rays weigh, and in the mean they are at the same place on the spot (h, v): what is linear
    in it, as the range of a plane is nearly, then comes out the same. Of the probes' weights w the least change that does
    so is w·(1 + A·λ) with Aᵀ·w·A·λ = what is missing.
    """
    rows, carried = _rows(stencil), weights.astype(np.float64)
    own = carried[:probes] * (carried.sum() / carried[:probes].sum())
    few = rows[:probes]
    missing = rows.T @ carried - few.T @ own
    change = few @ (np.linalg.pinv(few.T @ (own[:, None] * few)) @ missing)
    return (own * (1.0 + change) / carried[:probes]).astype(np.float32)


def _rows(stencil: NDArray[np.float32]) -> NDArray[np.float64]:
    """The rows (1, h, v) of A, with places as shares of the widest."""
    shares = stencil.astype(np.float64)
    places = shares[:, 1:] / shares[:, :1]
    largest = np.maximum(np.abs(places).max(0), 1e-12)
    return np.concatenate([np.ones((len(shares), 1)), places / largest], 1)


@kernel
def new_probed(scanning: Scanning) -> Probed:
    """Room for what the probes say."""
    probes = max(len(scanning.firing.off_plane), 1)
    return Probed(np.zeros(LANES, np.int32), np.zeros((probes, LANES), np.float32))


@loop_kernel
def finish_lanes(scanning: Scanning, scratch: Scratch, lot: Lot) -> None:
    """Trace the sub-rays behind the probes where a lane is torn; elsewhere let the probes stand for them."""
    firing, hits, torn = scanning.firing, scratch.hits, scratch.probed.torn
    probes, rays = firing.probes, len(firing.stencil)
    _find_torn(scanning, scratch, lot)
    for k in range(probes):
        for l in range(LANES):
            hits.energies[k, l] *= _ONE if torn[l] != 0 else firing.stand_for[k]
    for k in range(probes, rays):
        for l in range(LANES):
            hits.energies[k, l] = _ZERO
    reach = scanning.receiving.max_range / scanning.receiving.media.inner
    for l in range(lot.lanes):
        if torn[l] != 0:
            _trace_others(scanning, scratch, lot, l, reach)


@inline_kernel
def _find_torn(scanning: Scanning, scratch: Scratch, lot: Lot) -> None:
    """Which lanes are torn: ``torn`` is 1 for them, 0 for the others."""
    firing, hits, torn, inverse = scanning.firing, scratch.hits, scratch.probed.torn, scratch.probed.inverse
    left_by, probes, met = firing.off_plane, firing.probes, 0
    tolerance = _FLAT * scanning.receiving.listening.sigma
    for l in range(LANES):
        torn[l] = 0
    for k in range(probes):
        along = firing.stencil[k, 0]
        for l in range(LANES):
            hit = hits.energies[k, l] > _ZERO
            same = (hits.ids[0, k, l] == hits.ids[0, 0, l]) & (hits.ids[2, k, l] == hits.ids[2, 0, l])
            torn[l] |= 0 if hit & same else 1
            met |= 1 if hit else 0
            inverse[k, l] = _ONE / (hits.ranges[k, l] * along)
    for k in range(probes):
        for l in range(LANES):
            left = _ZERO
            for i in range(probes):
                left += left_by[k, i] * inverse[i, l]
            # An error d of 1/z is one of d·z² of the depth.
            torn[l] |= 0 if abs(left) <= tolerance * inverse[k, l] * inverse[k, l] else 1
    if met_in_group(scanning, lot, met) == 0:
        for l in range(LANES):
            torn[l] = 0


@inline_kernel
def met_in_group(scanning: Scanning, lot: Lot, met: int) -> int:
    """Whether any pulse of a group met anything, where its lanes did if ``met`` is not 0; other machines ask further lanes."""
    return met


@inline_kernel
def _trace_others(scanning: Scanning, scratch: Scratch, lot: Lot, lane: int, reach: Real) -> None:
    """The sub-rays of a lane behind its probes."""
    firing = scanning.firing
    rays = len(firing.stencil)
    for n in range((rays - firing.probes + LANES - 1) // LANES):
        part = some_of(lane, n, firing.probes, rays)
        load_lanes(scratch.packet, scratch.aim, firing, part, lot, reach, scratch.weights)
        trace_sub_ray(scanning.around, scratch.packet, pulse_number(lot, lane), part.ray)
        scatter_lanes(scanning, scratch, part)
