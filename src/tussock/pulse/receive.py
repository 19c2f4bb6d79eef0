"""From the hits of a pulse to its returns, hit by hit as Goodin et al. have it, and what is measured of a return.

Sixteen lanes at a time, one return after the other: choose it, draw its noise, measure it, report it. Each step is
a short loop over the lanes.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Array, Whole, inline_kernel, loop_kernel
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import Chosen, Hits, Lot, Receiving, Scanning, Slots
from tussock.randomness import Purpose, random_words, uniform
from tussock.signal.choice import ALL, FIRST, KIND_ECHO, KIND_FIRST, KIND_LAST, KIND_STRONGEST, LAST
from tussock.signal.folding import folded
from tussock.signal.range_noise import deviate, noisy_range, quantised, rest_of_noise
from tussock.signal.returns import Window, first_return, last_hits, next_echo, order_hits, strongest_hits
from tussock.trace.packets import LANES
from tussock.trace.surroundings import held_noise

__all__ = ["receive_lanes"]

_RAY_NOISE, _DROPOUT = int(Purpose.RAY_NOISE), int(Purpose.DROPOUT)


@loop_kernel
def receive_lanes(scanning: Scanning, lot: Lot, used: int, hits: Hits, chosen: Chosen, slots: Slots) -> int:
    """Turn the hits of sixteen pulses, in the first ``used`` rows, into their returns; how many there are."""
    receiving, rays = scanning.receiving, len(scanning.firing.stencil)
    for l in range(lot.lanes):
        slots.counts[pulse_number(lot, l)] = 0
    found = 0
    for choice in range(slots.range.shape[1]):
        kind = _choose(receiving, hits.ranges[:used], hits.energies[:used], chosen, rays, choice)
        if receiving.ray_sigma > np.float32(0.0) and _draws_differ(chosen, choice):
            _sample_noise(receiving, lot, chosen)
        if receiving.dropout > np.float32(0.0):
            _drop(receiving, lot, chosen)
        _measure(scanning, lot, hits, chosen)
        found += _report(receiving, lot, hits, chosen, kind, slots)
    return found


@inline_kernel
def _choose(receiving: Receiving, ranges: Array, energies: Array, chosen: Chosen, rays: int, choice: int) -> Whole:
    """Return number ``choice`` of every lane by the receiver's mode, into ``chosen``; its kind."""
    window = receiving.window
    for l in range(LANES):
        chosen.draw_numbers[l], chosen.earlier[l] = choice, chosen.ranges[l]
    if receiving.mode == FIRST:
        for l in range(LANES):
            chosen.rows[l], chosen.ranges[l], chosen.energies[l] = first_return(ranges, energies, l, window, rays)
        return KIND_FIRST
    if receiving.mode == ALL:
        for l in range(LANES):
            _next_echo(ranges, energies, chosen, l, window, rays, choice)
        return KIND_ECHO
    if receiving.mode == LAST or choice == 1:
        last_hits(ranges, energies, window, chosen)
        if choice == 1:
            for l in range(LANES):
                # Strongest and last may be one and the same echo: it is measured once, and reported twice or lost.
                same = chosen.ranges[l] == chosen.earlier[l]
                chosen.draw_numbers[l] = np.uint32(0) if same else np.uint32(1)
        return KIND_LAST
    strongest_hits(ranges, energies, window, chosen)
    return KIND_STRONGEST


@loop_kernel
def _next_echo(ranges: Array, energies: Array, chosen: Chosen, l: int, window: Window, rays: int, choice: int) -> None:
    """The next echo of a lane; before the first one its hits are put in order."""
    if choice == 0:
        chosen.ends[l] = order_hits(ranges, energies, l, window, chosen.order[l])
        chosen.begins[l] = 0
    if chosen.begins[l] >= chosen.ends[l]:
        chosen.rows[l] = -1
        return
    chosen.begins[l], chosen.rows[l], chosen.ranges[l], chosen.energies[l] = next_echo(
        ranges, energies, l, chosen.order[l, : chosen.ends[l]], chosen.begins[l], window, rays
    )


@inline_kernel
def _draws_differ(chosen: Chosen, choice: int) -> bool:
    """Whether any lane takes another draw than it has: strongest and last are the same echo more often than not."""
    differ = choice == 0
    for l in range(LANES):
        differ |= chosen.draw_numbers[l] > 0
    return differ


@inline_kernel
def _sample_noise(receiving: Receiving, lot: Lot, chosen: Chosen) -> None:
    """The range noise of every lane."""
    words = chosen.words
    for l in range(LANES):  # on its own, this loop becomes vector code
        words[0, l], words[1, l], _, _ = random_words(
            lot.chance, pulse_number(lot, l), chosen.draw_numbers[l], _RAY_NOISE
        )
    for l in range(LANES):
        chosen.draws[l] = deviate(words[0, l], words[1, l], receiving.laplace)


@inline_kernel
def _drop(receiving: Receiving, lot: Lot, chosen: Chosen) -> None:
    """Lose some returns by chance."""
    for l in range(LANES):
        words = random_words(lot.chance, pulse_number(lot, l), chosen.draw_numbers[l], _DROPOUT)
        if uniform(words[0]) < receiving.dropout:
            chosen.rows[l] = -1


@inline_kernel
def _measure(scanning: Scanning, lot: Lot, hits: Hits, chosen: Chosen) -> None:
    """What the sensor makes of the true range."""
    receiving, filled = scanning.receiving, len(scanning.around.volumes.model) > 0
    for l in range(lot.lanes):
        laser = scanning.firing.lasers[pulse_number(lot, l)]
        bias, sigma, row = receiving.biases[laser], receiving.ray_sigma, chosen.rows[l]
        if filled and row >= 0:
            sigma = rest_of_noise(sigma, held_noise(scanning.around, hits.ids[0, row, l], hits.ids[1, row, l]))
        measured = noisy_range(chosen.ranges[l], bias, sigma, chosen.draws[l])
        if receiving.backfolding:
            measured = folded(measured, receiving.max_range)
        chosen.measured[l] = quantised(measured, receiving.range_step)


@inline_kernel
def _report(receiving: Receiving, lot: Lot, hits: Hits, chosen: Chosen, kind: Whole, slots: Slots) -> int:
    """Write the returns that are bright enough into their slots; how many there are."""
    found = 0
    for l in range(lot.lanes):
        row, energy, pulse = chosen.rows[l], chosen.energies[l], pulse_number(lot, l)
        if row >= 0 and energy >= receiving.min_intensity:
            slot = slots.counts[pulse]
            slots.true_range[pulse, slot] = chosen.ranges[l]
            slots.range[pulse, slot] = chosen.measured[l]
            slots.intensity[pulse, slot] = quantised(energy, receiving.intensity_step)
            slots.signal[pulse, slot] = np.float32(np.nan)
            slots.geometry[pulse, slot] = hits.ids[0, row, l]
            slots.primitive[pulse, slot] = hits.ids[1, row, l]
            slots.copy[pulse, slot] = hits.ids[2, row, l]
            slots.kind[pulse, slot] = kind
            slots.counts[pulse] = slot + 1
            found += 1
    return found
