"""Echoes: the peaks of the waveform of one pulse.

Hits nearer to each other than the pulse can tell apart are one echo. Where exactly the line lies follows from the
waveform (`tussock.signal.waveform`): a sum of Gaussians of equal width whose centres lie within 2σ has one peak,
whatever their weights. Proof: at a peak x is the mean of the centres, weighted by what each gives at x; the slope of
that mean is their variance over σ², which is at most 1 for centres within 2σ (Popoviciu), so the two can meet only once.
Hits further apart make one peak or several. The waveform, its slope and its curvature at nodes half a σ apart bracket
each peak by the sign of the slope, and the polynomial through all six numbers of two nodes has its peak where the
waveform has it, to 1e-4 of σ and of its height. A peak and the dip beside it may lie between the same two nodes: where
the curvatures leave room for that, the polynomial's slope between them says so. (A bump that stands less than a
thousandth above its dip may pass for none.)

Hits with more than `REACH` σ of nothing between them have no part in each other's peaks (a millionth) and are treated
apart; for that they are sorted, unless they all lie close together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import inline_kernel, loop_kernel
from tussock.signal.compact import COMPACT, peak_of_moments
from tussock.signal.waveform import CURVE, NODE, NODES, SLOPE, VALUE, sample_waveform

__all__ = [
    "CLOSE", "ECHOES", "REACH", "Bracket", "Echoes", "LaneHits", "Node", "PulseHits", "Resolution", "Window", "compact_peak", "find_echoes",
    "find_peak", "take_bracket", "take_compact", "take_rest",
]  # fmt: skip

ECHOES = 32
"""the most echoes of a pulse; the weakest give way"""
REACH = np.float32(5.25)
"""[σ] how far the pulse of a hit reaches: beyond that it is below a millionth"""
CLOSE = np.float32(7.5)
"""[σ] within it all nodes are sampled at once, and sorting would gain nothing"""
_ZERO, _HALF, _ONE, _TWO = (np.float32(value) for value in (0.0, 0.5, 1.0, 2.0))
_FEW = 64  # hits that are put in order by counting
_GAPS = (701, 301, 132, 57, 23, 10, 4, 1)  # Ciura's gaps of Shell's sort
_LOW = np.uint64(0xFFFFFFFF)


class PulseHits(NamedTuple):
    """The hits of one pulse and room to work; the first ``count`` of the first four arrays are in use."""

    paths: Any
    """[m]"""
    energies: Any
    rows: Any
    """where each hit came from"""
    keys: Any
    """uint64"""
    samples: Any
    """the waveform at some paths, four rows: `tussock.signal.waveform`"""
    later: Any = None
    """room for peaks that are found in the end; none where they are found at once"""


class Echoes(NamedTuple):
    """The echoes of many pulses, one column each, nearest first; shape (ECHOES, lanes) but for `counts`."""

    paths: Any
    """[m] of the peak"""
    peaks: Any
    """height of the peak"""
    rows: Any
    """the hit that gives the most there"""
    counts: Any
    """echoes of every lane, shape (lanes,)"""


class LaneHits(NamedTuple):
    """Where the hits of one pulse stand: in the first ``used`` rows of a lane, where the energy is above 0."""

    ranges: Any
    """[m], shape (rows, lanes)"""
    energies: Any
    """shape (rows, lanes)"""
    used: int
    nearest: Any
    """[m] of the hits"""
    furthest: Any
    """[m] of the hits"""


class Resolution(NamedTuple):
    """What a receiver tells apart."""

    sigma: Any
    """[m] of a pulse"""
    separation: Any
    """[m] of two echoes nearer to each other the stronger stays"""


class _Stretch(NamedTuple):
    """Hits ``begin`` to ``end`` of a pulse, and the paths [m] between which they lie."""

    begin: int
    end: int
    first: Any
    last: Any
    in_order: bool


class Node(NamedTuple):
    """The waveform at one path."""

    value: Any
    slope: Any
    curve: Any


class Bracket(NamedTuple):
    """Two nodes between which the waveform peaks, or may do so."""

    before: Node
    after: Node
    path: Any
    """[m] of the second one"""
    step: Any
    """[m] from the first one to it"""
    falls: bool
    """whether the slope falls through 0 between them"""


class Window(NamedTuple):
    """The hits ``low`` to ``high`` of a pulse, those that have a part in a peak."""

    low: Any
    high: Any


@loop_kernel
def find_echoes(given: LaneHits, lane: int, resolution: Resolution, hits: Any, out: Any) -> None:
    """The echoes of the pulse in column ``lane``, into the same column of ``out``."""
    ranges, energies, used, nearest, furthest = given
    sigma = resolution.sigma
    out.counts[lane] = 0
    count = 0
    close = furthest - nearest <= CLOSE * sigma
    for k in range(used):
        if energies[k, lane] > _ZERO:
            if close:
                hits.paths[count], hits.energies[count], hits.rows[count] = ranges[k, lane], energies[k, lane], k
            else:
                # The bits of floats above 0 are in the order of the floats; the row makes every key different.
                bits = np.uint64(np.float32(ranges[k, lane]).view(np.uint32))
                hits.keys[count] = np.uint64(bits << np.uint64(32)) | np.uint64(k)
            count += 1
    if not close:
        _put_in_order(given, lane, count, hits)
    begin = 0
    while begin < count:
        end = count if close else _end_of_stretch(hits.paths, begin, count, REACH * sigma)
        first, last = (nearest, furthest) if close else (hits.paths[begin], hits.paths[end - 1])
        _echoes_of_stretch(hits, _Stretch(begin, end, first, last, not close), resolution, lane, out)
        begin = end
    take_rest(hits, resolution, lane, out)


@inline_kernel
def _put_in_order(given: LaneHits, lane: int, count: int, hits: Any) -> None:
    """The hits by their paths, from the first ``count`` keys."""
    ranges, energies = given.ranges, given.energies
    if count <= _FEW:
        for i in range(count):
            # How many keys are smaller is the key's place: no branch to guess wrong, and it becomes vector code.
            key, place = hits.keys[i], 0
            for j in range(count):
                place += 1 if hits.keys[j] < key else 0
            k = int(key & _LOW)
            hits.paths[place], hits.energies[place], hits.rows[place] = ranges[k, lane], energies[k, lane], k
    else:
        _sort(hits.keys, count)
        for i in range(count):
            k = int(hits.keys[i] & _LOW)
            hits.paths[i], hits.energies[i], hits.rows[i] = ranges[k, lane], energies[k, lane], k


@inline_kernel
def _end_of_stretch(paths: Any, begin: int, count: int, reach: Any) -> int:
    """Behind the last hit that is within ``reach`` [m] of the one before it."""
    end = begin + 1
    while end < count and paths[end] - paths[end - 1] <= reach:
        end += 1
    return end


@inline_kernel
def _sort(keys: Any, count: int) -> None:
    """Shell's sort: in place, and quick for a few as for a thousand."""
    for gap in _GAPS:
        for i in range(gap, count):
            key = keys[i]
            at = i
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key


@loop_kernel
def _echoes_of_stretch(hits: Any, stretch: _Stretch, resolution: Resolution, lane: int, out: Any) -> None:
    """The echoes of hits that lie between two paths."""
    begin, end, first, last, sorted_ = stretch
    sigma = resolution.sigma
    paths, samples = hits.paths, hits.samples
    per_sigma, span = _ONE / sigma, last - first
    if span <= COMPACT * sigma:
        take_compact(hits, stretch.first, Window(begin, end), resolution, lane, out)
        return
    cells = max(int(np.ceil(_TWO * span * per_sigma)), 1)
    step = span / np.float32(cells)
    low, high = begin, begin if sorted_ else end
    before = Node(_ZERO, _ZERO, _ZERO)
    for start in range(0, cells + 1, NODES):
        for j in range(NODES):
            samples[NODE + j] = first + np.float32(start + j) * step
        if sorted_:
            while paths[low] < samples[NODE] - REACH * sigma:
                low += 1
            while high < end and paths[high] <= samples[NODE + NODES - 1] + REACH * sigma:
                high += 1
        sample_waveform(paths, hits.energies, low, high, per_sigma, samples)
        for j in range(min(NODES, cells + 1 - start)):
            # All hits lie behind the first node and before the last one, whatever rounding says.
            node = Node(samples[VALUE + j], samples[SLOPE + j], samples[CURVE + j])
            if start + j == 0:
                node = Node(node.value, max(node.slope, _ZERO), node.curve)
            elif start + j == cells:
                node = Node(node.value, min(node.slope, _ZERO), node.curve)
            falls = (before.slope > _ZERO or start + j == 1) and node.slope <= _ZERO
            # Products of slopes and curvatures, of which one may vanish: no branch until all are known.
            bends = (before.slope * node.slope > _ZERO) & (before.curve * before.slope < _ZERO)
            bends &= before.curve * node.curve < _ZERO
            if start + j > 0 and (falls or bends):
                bracket = Bracket(before, node, samples[NODE + j], step, falls)
                take_bracket(hits, bracket, Window(low, high), resolution, lane, out)
            before = node


@inline_kernel
def take_bracket(hits: Any, bracket: Bracket, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """What to do about a peak between two nodes: find it. A machine that would rather find all of them in the end puts another here."""
    find_peak(hits, bracket, window, resolution, lane, out)


@inline_kernel
def take_compact(hits: Any, first: Any, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """The same for hits within half a σ, of which the nearest is at ``first`` [m]."""
    compact_peak(hits, first, window, resolution, lane, out)


@inline_kernel
def take_rest(hits: Any, resolution: Resolution, lane: int, out: Any) -> None:
    """What is left to do for a pulse when its waveform was sampled: nothing, where peaks were found at once."""
    return


@inline_kernel
def find_peak(hits: Any, bracket: Bracket, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """The echo of the peak between two nodes, if there is one."""
    sigma, separation = resolution
    share, peak = _peak_between(bracket.before, bracket.after, bracket.step * (_ONE / sigma), bracket.falls)
    if share >= _ZERO:
        path = bracket.path - (_ONE - share) * bracket.step
        _note(out, lane, path, peak, _strongest(hits, window.low, window.high, path, sigma), separation)


@inline_kernel
def compact_peak(hits: Any, first: Any, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """The one echo of hits within half a σ, by their moments (`tussock.signal.compact`)."""
    begin, end = window
    sigma, separation = resolution
    per_sigma = _ONE / sigma
    energy, mean, square, cube, best = _ZERO, _ZERO, _ZERO, _ZERO, begin
    for i in range(begin, end):
        part, depth = hits.energies[i], (hits.paths[i] - first) * per_sigma
        energy += part
        mean += part * depth
        square += part * depth * depth
        cube += part * depth * depth * depth
        if part > hits.energies[best]:
            best = i
    share = _ONE / energy
    mean, square, cube = mean * share, square * share, cube * share
    place, height = peak_of_moments(mean, square, cube)
    _note(out, lane, first + place * sigma, energy * height, hits.rows[best], separation)


@inline_kernel
def _peak_between(before: Node, after: Node, width: Any, falls: bool) -> Any:
    """Where between two nodes ``width`` σ apart the waveform peaks, 0 to 1, and how high it is there.

    p(t) = v₀ + s₀t + ½c₀t² + At³ + Bt⁴ + Ct⁵ has the value, slope and curvature of both nodes. Where the slope does not
    fall through 0 between them (``falls``), it may do so and come back: −1 if it does not.
    """
    s0, s1 = before.slope * width, after.slope * width
    c0, c1 = before.curve * width * width, after.curve * width * width
    rise, gain = after.value - before.value - s0 - _HALF * c0, s1 - s0 - c0
    turn = c1 - c0
    a = np.float32(10.0) * rise - np.float32(4.0) * gain + _HALF * turn
    b = np.float32(-15.0) * rise + np.float32(7.0) * gain - turn
    c = np.float32(6.0) * rise - np.float32(3.0) * gain + _HALF * turn
    left, right = _ZERO, _ONE
    fall = s0 - s1
    t = s0 / fall if fall > _ZERO else _HALF
    if not falls:
        turned = c0 / (c0 - c1)  # where the curvature is 0 and the slope the least, or the most
        for _ in range(2):
            bend = c0 + turned * (np.float32(6.0) * a + turned * (np.float32(12.0) * b + turned * np.float32(20.0) * c))
            rate = np.float32(6.0) * a + turned * (np.float32(24.0) * b + turned * np.float32(60.0) * c)
            better = turned - bend / rate if rate != _ZERO else turned
            turned = better if _ZERO <= better <= _ONE else turned
        slope = s0 + turned * (
            c0 + turned * (np.float32(3.0) * a + turned * (np.float32(4.0) * b + turned * np.float32(5.0) * c))
        )
        if slope * s0 >= _ZERO:
            return -_ONE, _ZERO
        left, right = (_ZERO, turned) if s0 > _ZERO else (turned, _ONE)
        t = _HALF * (left + right)
    for _ in range(4):
        slope = s0 + t * (c0 + t * (np.float32(3.0) * a + t * (np.float32(4.0) * b + t * np.float32(5.0) * c)))
        curve = c0 + t * (np.float32(6.0) * a + t * (np.float32(12.0) * b + t * np.float32(20.0) * c))
        left, right = (t, right) if slope > _ZERO else (left, t)
        better = t - slope / curve if curve < _ZERO else np.float32(-1.0)
        t = better if left <= better <= right else _HALF * (left + right)
    return t, before.value + t * (s0 + t * (_HALF * c0 + t * (a + t * (b + t * c))))


@inline_kernel
def _strongest(hits: Any, begin: int, end: int, path: Any, sigma: Any) -> Any:
    """The row of the strongest hit within σ of a peak; where none is so near, that of the nearest."""
    begin = max(begin, 0)  # it is: now the compiler knows that no index counts from the end
    best, nearest = -1, begin
    most, least = _ZERO, abs(hits.paths[begin] - path)
    for i in range(begin, end):
        away, energy = abs(hits.paths[i] - path), hits.energies[i]
        nearer, stronger = away < least, (away <= sigma) & (energy > most)
        nearest, least = i if nearer else nearest, away if nearer else least
        best, most = i if stronger else best, energy if stronger else most
    return hits.rows[best] if best >= 0 else hits.rows[nearest]


@loop_kernel
def _note(out: Any, lane: int, path: Any, peak: Any, row: Any, separation: Any) -> None:
    """Put an echo behind those already there; where it is too near the last one, the stronger stays."""
    count = out.counts[lane]
    if count > 0 and path - out.paths[count - 1, lane] < separation:
        if peak <= out.peaks[count - 1, lane]:
            return
        count -= 1
    elif count == ECHOES:
        weakest = 0
        for e in range(1, count):
            if out.peaks[e, lane] < out.peaks[weakest, lane]:
                weakest = e
        if peak <= out.peaks[weakest, lane]:
            return
        for e in range(weakest, count - 1):
            out.paths[e, lane], out.peaks[e, lane] = out.paths[e + 1, lane], out.peaks[e + 1, lane]
            out.rows[e, lane] = out.rows[e + 1, lane]
        count -= 1
    out.paths[count, lane], out.peaks[count, lane], out.rows[count, lane] = path, peak, row
    out.counts[lane] = count + 1
