"""From the hits of a pulse to its echoes, from an echo to what is measured of it, and which of them are reported.

Sixteen pulses at a time:

    gather    their hits summed up; a pulse that met one thing has its one echo by that
    find      the peaks of the waveform of the others
    drops     what is heard of drops among them (`tussock.pulse.drops.hear`)
    lift      the peaks of clouds by what the rest of the air sends back at the same time
    add       the peak of what the air sends back, where nothing else has a part in it
    invent    echoes of nothing: false alarms, and the light of other sensors
    measure   each echo once: whether it is seen, its range, its intensity, by one draw of chance
    report    the echoes that the mode asks for

So what is reported twice is the same to the last bit. The physics is in `tussock.signal`.
"""

from __future__ import annotations

import numpy as np

from tussock.air.kinds import Kind
from tussock.elementary import logarithm
from tussock.kernels import Real, Whole, inline_kernel, loop_kernel
from tussock.pulse.drops.hear import hear_drops
from tussock.pulse.from_air import air_code, drop_draw, kind_of_row
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import Heard, Hits, Lot, Receiving, Scanning, Scratch, Slots
from tussock.randomness import Chance, Purpose, normal_pair, random_words, uniform
from tussock.signal.air import haze_at
from tussock.signal.choice import ALL, KIND_ECHO, pair_of
from tussock.signal.compact import COMPACT, SINGLE, compact_echo, gather, single_peaks
from tussock.signal.echoes import ECHOES, LaneHits, Resolution, find_echoes
from tussock.signal.folding import folded
from tussock.signal.intensity import reported_intensity
from tussock.signal.range_noise import deviate, noisy_range, quantised, range_sigma, rest_of_noise
from tussock.signal.range_walk import range_walk
from tussock.signal.signal_to_noise import is_seen, signal_to_noise
from tussock.trace.packets import LANES, NOTHING
from tussock.trace.surroundings import held_noise

__all__ = ["draw_of", "hear_lanes", "lift_lanes", "listen_lanes"]

_RAY_NOISE, _DROPOUT = int(Purpose.RAY_NOISE), int(Purpose.DROPOUT)
_WEATHER = int(Purpose.WEATHER)
_FALSE_ALARM, _INTERFERENCE = int(Purpose.FALSE_ALARM), int(Purpose.INTERFERENCE)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_LOST = np.float32(-1.0)
_MANY = 4
"""pulses of sixteen whose echoes are measured faster all at once than one by one"""
_KINDS = len(Kind)
_LIFT = 4096  # draws of the weather's chance from here on: no drop has these


@loop_kernel
def listen_lanes(scanning: Scanning, scratch: Scratch, lot: Lot, used: int, slots: Slots) -> int:
    """Turn the hits of sixteen pulses into their returns; how many there are."""
    receiving, chance, hits, heard = scanning.receiving, scanning.chance, scratch.hits, scratch.heard
    listening, counts, lanes = receiving.listening, heard.echoes.counts, lot.lanes
    _find(receiving, used, lanes, hits, heard)
    hear_lanes(scanning, scratch, lot)
    lift_lanes(scanning, lot, hits, heard)
    if len(scanning.air.soft) > 0:
        for l in range(lanes):
            if heard.soft[l] < -1 and counts[l] < ECHOES:
                _insert(heard, l, scanning.air.soft_path, scanning.air.soft_peak, heard.soft[l])
    if listening.false_alarms > _ZERO or listening.interference > _ZERO:
        for l in range(lanes):
            _invent(receiving, chance, pulse_number(lot, l), l, heard)
    draws = bool(listening.scale > _ZERO or receiving.ray_sigma > _ZERO or slots.speed.shape[1] > 0)
    if len(scanning.around.volumes.model) > 0:
        _find_held(scanning, lanes, hits, heard)
    # First echoes all at once, in short loops that become vector code, and so others that many pulses have, as in rain.
    most, e = 1, 0
    while e < most:
        have = 0
        for l in range(lanes):
            have += counts[l] > e
            most = max(most, counts[l])
        if e == 0 or have >= _MANY:
            _measure(scanning, lot, e, 0, LANES, draws, heard)
        else:
            for l in range(lanes):
                if counts[l] > e:
                    _measure(scanning, lot, e, l, l + 1, draws, heard)
        e += 1
    found = 0
    for l in range(lanes):
        found += _report(receiving, pulse_number(lot, l), l, hits, heard, slots)
    return found


@inline_kernel
def _find(receiving: Receiving, used: int, lanes: int, hits: Hits, heard: Heard) -> None:
    """The echoes of every lane."""
    gathered, echoes, peaks, sigma = heard.gathered, heard.echoes, heard.peaks, receiving.listening.sigma
    gather(hits.ranges, hits.energies, used, receiving.min_range, receiving.max_range, gathered)
    widest, between = _ZERO, False
    for l in range(LANES):
        echoes.paths[0, l], echoes.peaks[0, l] = compact_echo(gathered, l, sigma)
        echoes.rows[0, l] = gathered.rows[l]
        echoes.counts[l] = 1 if gathered.energy[l] > _ZERO else 0
    for l in range(lanes):
        span = gathered.furthest[l] - gathered.nearest[l]  # −∞ where nothing was met
        widest = max(widest, span)
        between |= (span > COMPACT * sigma) & (span <= SINGLE * sigma)
    if widest <= COMPACT * sigma:
        return
    if between:
        single_peaks(hits.ranges, hits.energies, used, gathered, sigma, peaks)
    for l in range(lanes):
        span = gathered.furthest[l] - gathered.nearest[l]
        if span > SINGLE * sigma:
            given = LaneHits(hits.ranges, hits.energies, used, gathered.nearest[l], gathered.furthest[l])
            find_echoes(given, l, Resolution(sigma, receiving.listening.separation), heard.pulse_hits, echoes)
        elif span > COMPACT * sigma:
            echoes.paths[0, l], echoes.peaks[0, l] = peaks.paths[l], peaks.heights[l]


@inline_kernel
def hear_lanes(scanning: Scanning, scratch: Scratch, lot: Lot) -> None:
    """Put drops among the echoes, where there are any."""
    if len(scanning.air.laws) > 0:
        hear_drops(scanning, lot, scratch.air.drops, scratch.air.summits, scratch.heard)


@loop_kernel
def lift_lanes(scanning: Scanning, lot: Lot, hits: Hits, heard: Heard) -> None:
    """Put the echoes of clouds on the continuum's waveform, but where its pieces are hits and thus in the peaks."""
    air, echoes = scanning.air, heard.echoes
    if len(air.haze) == 0 or len(air.clouds) == 0:
        return
    pieces = len(air.soft) > 0
    for l in range(lot.lanes):
        if pieces and heard.soft[l] >= -1:
            continue
        for e in range(echoes.counts[l]):
            code = hits.ids[0, max(echoes.rows[e, l], 0), l]
            if echoes.rows[e, l] >= 0 and air_code(np.uint32(_KINDS)) < code < NOTHING:
                u = uniform(random_words(scanning.chance, pulse_number(lot, l), _LIFT + e, _WEATHER)[0])
                echoes.peaks[e, l] += haze_at(air, echoes.paths[e, l], u)


@loop_kernel
def _invent(receiving: Receiving, chance: Chance, pulse: int, l: int, heard: Heard) -> None:
    """Add echoes of nothing to those of a lane, in the order of their paths."""
    listening = receiving.listening
    for kind in range(2):
        probability, purpose = listening.false_alarms, _FALSE_ALARM
        if kind == 1:
            probability, purpose = listening.interference, _INTERFERENCE
        words = random_words(chance, pulse, 0, purpose)
        if uniform(words[0]) >= probability or heard.echoes.counts[l] >= ECHOES:
            continue
        path = receiving.min_range + uniform(words[1]) * (receiving.max_range - receiving.min_range)
        path = max(path, np.float32(1e-3))
        energy = _ONE  # another sensor's light comes as from a white wall
        if kind == 0:
            # Noise that passes the threshold T does so by an amount that falls off as exp(−T·x).
            above = listening.threshold - logarithm(_ONE - uniform(words[2])) / listening.threshold
            energy = above / signal_to_noise(_ONE, path, listening.scale, listening.exponent)
        _insert(heard, l, path, energy / (path * path), -1)


@inline_kernel
def _insert(heard: Heard, l: int, path: Real, peak: Real, row: Whole) -> None:
    echoes = heard.echoes
    at = echoes.counts[l]
    while at > 0 and echoes.paths[at - 1, l] > path:
        echoes.paths[at, l], echoes.peaks[at, l] = echoes.paths[at - 1, l], echoes.peaks[at - 1, l]
        echoes.rows[at, l] = echoes.rows[at - 1, l]
        at -= 1
    echoes.paths[at, l], echoes.peaks[at, l], echoes.rows[at, l] = path, peak, row
    echoes.counts[l] += 1


@loop_kernel
def _find_held(scanning: Scanning, lanes: int, hits: Hits, heard: Heard) -> None:
    """The part of the range noise that every echo has from the volume that it comes from."""
    for l in range(lanes):
        for e in range(heard.echoes.counts[l]):
            row = heard.echoes.rows[e, l]
            heard.held[e, l] = _ZERO
            if row >= 0:
                heard.held[e, l] = held_noise(scanning.around, hits.ids[0, row, l], hits.ids[1, row, l])


@inline_kernel
def _measure(scanning: Scanning, lot: Lot, e: int, begin: int, end: int, draws: bool, heard: Heard) -> None:
    """What the sensor makes of echo ``e`` of the lanes from ``begin`` to ``end``; one that is lost has the signal −1."""
    receiving, chance, lasers = scanning.receiving, scanning.chance, scanning.firing.lasers
    if draws:
        _sample_chance(receiving, lot, e, begin, end, heard)
    _weigh(receiving, e, begin, end, heard)
    if len(scanning.around.volumes.model) > 0:
        for l in range(begin, end):
            heard.sigmas[l] = rest_of_noise(heard.sigmas[l], heard.held[e, l])
    for l in range(begin, end):
        heard.biases[l] = receiving.biases[lasers[min(pulse_number(lot, l), len(lasers) - 1)]]
    for l in range(begin, end):
        away = heard.echoes.paths[e, l] + heard.walks[l]
        heard.ranges[e, l] = noisy_range(away, heard.biases[l], heard.sigmas[l], heard.draws[0, l])
    if receiving.backfolding:
        for l in range(begin, end):
            heard.ranges[e, l] = folded(heard.ranges[e, l], receiving.max_range)
    for l in range(begin, end):
        heard.ranges[e, l] = quantised(heard.ranges[e, l], receiving.range_step)
    if receiving.dropout > _ZERO:
        for l in range(begin, end):
            draw = draw_of(heard.echoes.rows[e, l], e)
            if uniform(random_words(chance, pulse_number(lot, l), draw, _DROPOUT)[0]) < receiving.dropout:
                heard.signals[e, l] = _LOST


@inline_kernel
def draw_of(row: Whole, e: int) -> Whole:
    """Which draw of chance is that of echo ``e``."""
    return drop_draw(row, e)


@inline_kernel
def _sample_chance(receiving: Receiving, lot: Lot, e: int, begin: int, end: int, heard: Heard) -> None:
    """The chance of an echo: that of its range, its signal and its speed."""
    words, draws = heard.words, heard.draws
    for l in range(begin, end):
        words[0, l], words[1, l], words[2, l], words[3, l] = random_words(
            lot.chance, pulse_number(lot, l), draw_of(heard.echoes.rows[e, l], e), _RAY_NOISE
        )
    for l in range(begin, end):
        draws[0, l] = deviate(words[0, l], words[1, l], receiving.laplace)
    for l in range(begin, end):
        draws[1, l], heard.speed_draws[e, l] = normal_pair(words[2, l], words[3, l])


@inline_kernel
def _weigh(receiving: Receiving, e: int, begin: int, end: int, heard: Heard) -> None:
    """The signal of an echo, whether it is seen, how surely it is timed, and its intensity."""
    listening, echoes, energies = receiving.listening, heard.echoes, heard.intensities
    for l in range(begin, end):
        path = echoes.paths[e, l]
        energies[e, l] = echoes.peaks[e, l] * path * path
        heard.sigmas[l], heard.walks[l], heard.signals[e, l] = receiving.ray_sigma, _ZERO, echoes.peaks[e, l]
    if listening.scale > _ZERO:
        for l in range(begin, end):
            heard.ratios[l] = signal_to_noise(energies[e, l], echoes.paths[e, l], listening.scale, listening.exponent)
        for l in range(begin, end):
            heard.sigmas[l] = range_sigma(heard.ratios[l], listening.floor, listening.shot, listening.thermal)
        if listening.walk > _ZERO:
            for l in range(begin, end):
                heard.walks[l] = range_walk(heard.ratios[l], listening.threshold, listening.calibrated, listening.walk)
        for l in range(begin, end):
            real = echoes.rows[e, l] != -1  # what noise made has passed the threshold by being there
            signal = heard.ratios[l] + (heard.draws[1, l] if real else _ZERO)
            energies[e, l] *= signal / max(heard.ratios[l], np.float32(1e-30))
            seen = (not real) | is_seen(heard.ratios[l], heard.draws[1, l], listening.threshold)
            heard.signals[e, l] = signal if seen else _LOST
    if receiving.spreading_reference > _ZERO:
        for l in range(begin, end):
            nearer = receiving.spreading_reference / echoes.paths[e, l]
            energies[e, l] *= nearer * nearer
    for l in range(begin, end):
        intensity = reported_intensity(energies[e, l], listening.ceiling, listening.full)
        heard.signals[e, l] = heard.signals[e, l] if intensity >= receiving.min_intensity else _LOST
        heard.intensities[e, l] = quantised(intensity, receiving.intensity_step)


@inline_kernel
def _report(receiving: Receiving, pulse: int, l: int, hits: Hits, heard: Heard, slots: Slots) -> int:
    """Write the echoes that the mode asks for into the slots of a pulse; how many there are."""
    count = heard.echoes.counts[l]
    slots.counts[pulse] = 0
    if receiving.mode == ALL:
        for e in range(count):
            if heard.signals[e, l] >= _ZERO and slots.counts[pulse] < slots.range.shape[1]:
                _write(pulse, l, e, KIND_ECHO, hits, heard, slots)
        return int(slots.counts[pulse])
    if count == 0:
        return 0
    one, kind, other, other_kind = pair_of(heard.signals, heard.ranges, count, l, receiving.mode)
    if one >= 0:
        _write(pulse, l, one, kind, hits, heard, slots)
    if other >= 0:
        _write(pulse, l, other, other_kind, hits, heard, slots)
    return int(slots.counts[pulse])


@inline_kernel
def _write(pulse: int, l: int, e: int, kind: Whole, hits: Hits, heard: Heard, slots: Slots) -> None:
    slot, row = slots.counts[pulse], heard.echoes.rows[e, l]
    slots.range[pulse, slot] = heard.ranges[e, l]
    slots.intensity[pulse, slot] = heard.intensities[e, l]
    slots.signal[pulse, slot] = heard.signals[e, l]
    slots.kind[pulse, slot] = kind
    if slots.speed.shape[1] > 0:
        slots.speed[pulse, slot] = heard.speed_draws[e, l]
    if row == -1:  # an echo of nothing
        slots.true_range[pulse, slot] = np.float32(np.nan)
        slots.geometry[pulse, slot], slots.primitive[pulse, slot], slots.copy[pulse, slot] = NOTHING, 0, 0
    elif row < 0:  # of the air, which has no row of its own
        slots.true_range[pulse, slot] = heard.echoes.paths[e, l]
        slots.geometry[pulse, slot], slots.primitive[pulse, slot], slots.copy[pulse, slot] = (
            air_code(kind_of_row(row)),
            0,
            0,
        )
    else:
        slots.true_range[pulse, slot] = heard.echoes.paths[e, l]
        slots.geometry[pulse, slot] = hits.ids[0, row, l]
        slots.primitive[pulse, slot] = hits.ids[1, row, l]
        slots.copy[pulse, slot] = hits.ids[2, row, l]
    slots.counts[pulse] = slot + 1
