"""From the hits of a pulse to its returns, and from a return to what is measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel
from tussock.randomness import Purpose, philox, uniform
from tussock.signal.folding import folded
from tussock.signal.noise import deviate, noisy_range, quantised
from tussock.signal.returns import first_return, last_hit, next_echo, order_hits, strongest_hit
from tussock.trace.packets import LANES

__all__ = ["MODES", "receive_lanes"]

MODES = ("strongest", "last", "first", "strongest+last", "all")
_STRONGEST, _LAST, _FIRST, _BOTH, _ALL = range(5)
_KIND_STRONGEST, _KIND_LAST, _KIND_FIRST, _KIND_ECHO = np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(4)
_RAY_NOISE, _DROPOUT = int(Purpose.RAY_NOISE), int(Purpose.DROPOUT)


@kernel
def receive_lanes(
    receiving: Any, lasers: Any, first: int, rays: int, hits: Any, draws: Any, order: Any, slots: Any
) -> Any:
    """Turn the hits of sixteen pulses into their returns; how many there are."""
    key0, key1, frame = receiving.key0, receiving.key1, receiving.frame
    noisy = receiving.ray_sigma > np.float32(0.0)
    if noisy:
        _draw(key0, key1, first, frame, receiving.laplace, draws)
    found = 0
    for l in range(min(LANES, len(lasers) - first)):
        pulse = first + l
        bias = receiving.biases[lasers[pulse]]
        slot, begin, end = 0, 0, 0
        strongest = np.float32(-1.0)
        if receiving.mode == _ALL:
            end = order_hits(hits.ranges, hits.energies, l, receiving.min_range, receiving.max_range, order)
        for choice in range(slots.range.shape[1]):
            k, distance, energy, kind, begin = _choose(
                hits.ranges, hits.energies, order, l, rays, receiving.mode, choice, begin, end, receiving.cutoff,
                receiving.min_range, receiving.max_range,
            )  # fmt: skip
            if k < 0 or energy < receiving.min_intensity:
                continue
            if choice == 0:
                strongest = distance
            if choice > 0 and kind == _KIND_LAST and strongest == distance:
                # Strongest and last are one and the same echo: it is measured once, and reported twice or lost.
                if slot == 0:
                    continue
                slots.range[pulse, slot] = slots.range[pulse, 0]
            else:
                if receiving.dropout > np.float32(0.0):
                    words = philox(key0, key1, pulse, frame, choice, _DROPOUT)
                    if uniform(words[0]) < receiving.dropout:
                        continue
                draw = draws[l]
                if choice > 0 and noisy:
                    words = philox(key0, key1, pulse, frame, choice, _RAY_NOISE)
                    draw = deviate(words[0], words[1], receiving.laplace)
                measured = noisy_range(distance, bias, receiving.ray_sigma, draw)
                if receiving.backfolding:
                    measured = folded(measured, receiving.max_range)
                slots.range[pulse, slot] = quantised(measured, receiving.range_step)
            slots.true_range[pulse, slot] = distance
            slots.intensity[pulse, slot] = quantised(energy, receiving.intensity_step)
            slots.geometry[pulse, slot] = hits.ids[0, k, l]
            slots.primitive[pulse, slot] = hits.ids[1, k, l]
            slots.copy[pulse, slot] = hits.ids[2, k, l]
            slots.kind[pulse, slot] = kind
            slot += 1
        slots.counts[pulse] = slot
        found += slot
    return found


@kernel
def _draw(key0: Any, key1: Any, first: int, frame: Any, laplace: Any, draws: Any) -> None:
    """The range noise of the first return of every lane, in one sweep that becomes vector code."""
    for l in range(LANES):
        words = philox(key0, key1, first + l, frame, 0, _RAY_NOISE)
        draws[l] = deviate(words[0], words[1], laplace)


@kernel
def _choose(
    ranges: Any, energies: Any, order: Any, l: int, rays: int, mode: int, choice: int, begin: int, end: int,
    cutoff: Any, low: Any, high: Any,
) -> Any:  # fmt: skip
    """Return number ``choice`` of a lane by the receiver's mode: row, range, energy, kind; row −1 for none."""
    if mode == _FIRST:
        k, distance, energy = first_return(ranges, energies, l, low, high, cutoff, rays)
        return k, distance, energy, _KIND_FIRST, begin
    if mode == _ALL:
        if begin >= end:
            return -1, np.float32(0.0), np.float32(0.0), _KIND_ECHO, begin
        begin, k, distance, energy = next_echo(ranges, energies, l, order, begin, end, cutoff, rays)
        return k, distance, energy, _KIND_ECHO, begin
    if mode == _LAST or choice == 1:
        k, kind = last_hit(ranges, energies, l, low, high), _KIND_LAST
    else:
        k, kind = strongest_hit(ranges, energies, l, low, high), _KIND_STRONGEST
    if k < 0:
        return -1, np.float32(0.0), np.float32(0.0), kind, begin
    return k, ranges[k, l], energies[k, l], kind, begin
