"""The received signal of every pulse, sample by sample: the waveform itself, where it is asked for.

W(x) of `tussock.signal.waveform` at equal steps of the path, times what makes it a signal-to-noise ratio
(`tussock.signal.signal_to_noise`), and the receiver's noise, a standard normal deviate a sample.
"""

from __future__ import annotations

import numpy as np

from tussock.elementary import exponential, logarithm
from tussock.kernels import Array, Real, inline_kernel, loop_kernel
from tussock.pulse.drops.meet import add_drop
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import Heard, Hits, Lot, Recording, Scanning, Scratch
from tussock.randomness import Chance, Purpose, normal_pair, random_words
from tussock.signal.echoes import REACH

__all__ = ["add_drops", "record_lanes"]

_NOISE = int(Purpose.WAVEFORM_NOISE)
_ZERO, _HALF, _TWO = np.float32(0.0), np.float32(0.5), np.float32(2.0)


@loop_kernel
def record_lanes(
    scanning: Scanning, lot: Lot, used: int, hits: Hits, heard: Heard, recording: Recording
) -> None:  # fmt: skip
    """Record the pulses of sixteen lanes, whose hits have been gathered; a pulse without hits starts at NaN."""
    listening, gathered = scanning.receiving.listening, heard.gathered
    step, noisy = recording.step, recording.noisy and listening.scale > _ZERO
    for l in range(lot.lanes):
        pulse = pulse_number(lot, l)
        samples = recording.samples[pulse]
        for i in range(len(samples)):
            samples[i] = _ZERO
        recording.starts[pulse] = np.float32(np.nan)
        if gathered.energy[l] <= _ZERO:
            continue
        begin = max(np.floor((gathered.nearest[l] - recording.lead) / step), _ZERO)
        recording.starts[pulse] = begin * step
        for k in range(used):
            if hits.energies[k, l] > _ZERO:
                _add_pulse(hits.ranges[k, l] - begin * step, hits.energies[k, l], listening.sigma, step, samples)
        if listening.scale > _ZERO:
            for i in range(len(samples)):
                path = max((begin + np.float32(i)) * step, np.float32(1e-3))
                samples[i] *= listening.scale * exponential((_TWO - listening.exponent) * logarithm(path))
        if noisy:
            _add_noise(scanning.chance, pulse, samples)


@loop_kernel
def add_drops(scanning: Scanning, scratch: Scratch) -> None:
    """Make hits of the drops that the receiver heard apart from the others: a waveform has them all."""
    hits, gathered, drops = scratch.hits, scratch.heard.gathered, scratch.air.drops
    if len(scanning.air.laws) == 0:
        return
    for j in range(drops.found[0]):
        if drops.energies[j] > _ZERO:
            add_drop(scanning.air, hits, drops, j)
            l = drops.lanes[j]
            gathered.nearest[l] = min(gathered.nearest[l], drops.paths[j])
            gathered.energy[l] += drops.energies[j]


@inline_kernel
def _add_pulse(place: Real, energy: Real, sigma: Real, step: Real, samples: Array) -> None:
    """The pulse of one hit, ``place`` [m] behind the first sample."""
    low = max(int(np.ceil((place - REACH * sigma) / step)), 0)
    high = min(int(np.floor((place + REACH * sigma) / step)), len(samples) - 1)
    for i in range(low, high + 1):
        z = (np.float32(i) * step - place) / sigma
        samples[i] += energy * exponential(-_HALF * z * z)


@inline_kernel
def _add_noise(chance: Chance, pulse: int, samples: Array) -> None:
    for i in range(0, len(samples), 4):
        words = random_words(chance, pulse, i, _NOISE)
        one, two = normal_pair(words[0], words[1])
        three, four = normal_pair(words[2], words[3])
        samples[i] += one
        if i + 1 < len(samples):
            samples[i + 1] += two
        if i + 2 < len(samples):
            samples[i + 2] += three
        if i + 3 < len(samples):
            samples[i + 3] += four
