"""Peaks of a waveform that a thread finds in the end, all of them one after the other.

The threads of a group sample the waveforms of their pulses in step, but come to a peak at different nodes: if each found it at
once, the 32 would do so one by one. So it is written down where peaks are (`Bracket`), and they are found when the whole pulse
is sampled, the first of every thread together, then the second. The functions and their order are those of
`tussock.signal.echoes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel
from tussock.signal.echoes import Bracket, Node, Resolution, Window, compact_peak, find_peak

__all__ = ["LATER", "forget_peaks", "remember_bracket", "remember_compact", "take_remembered"]

_ROW = 11
"""numbers of a peak: the window, its path, the step (0 for hits within half a σ), whether it falls, and two nodes"""
_MOST = 11  # peaks that are remembered; before there are more, these are found
LATER = 1 + _MOST * _ROW
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@inline_kernel
def forget_peaks(hits: Any) -> None:
    """Before the first pulse of a thread."""
    hits.later[0] = _ZERO


@inline_kernel
def remember_bracket(hits: Any, bracket: Bracket, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """As `take_bracket`, later."""
    at = _room(hits, window, resolution, lane, out)
    later, before, after = hits.later, bracket.before, bracket.after
    later[at + 2], later[at + 3], later[at + 4] = bracket.path, bracket.step, _ONE if bracket.falls else _ZERO
    later[at + 5], later[at + 6], later[at + 7] = before.value, before.slope, before.curve
    later[at + 8], later[at + 9], later[at + 10] = after.value, after.slope, after.curve


@inline_kernel
def remember_compact(hits: Any, first: Any, window: Window, resolution: Resolution, lane: int, out: Any) -> None:
    """As `take_compact`, later."""
    at = _room(hits, window, resolution, lane, out)
    hits.later[at + 2], hits.later[at + 3] = first, _ZERO


@inline_kernel
def _room(hits: Any, window: Window, resolution: Resolution, lane: int, out: Any) -> int:
    """Where one more peak goes, with its window there."""
    later = hits.later
    if later[0] >= np.float32(_MOST):
        take_remembered(hits, resolution, lane, out)
    at = 1 + _ROW * int(later[0])
    later[0] += _ONE
    later[at], later[at + 1] = np.float32(window.low), np.float32(window.high)
    return at


@inline_kernel
def take_remembered(hits: Any, resolution: Resolution, lane: int, out: Any) -> None:
    """As `take_rest`: find all that is remembered, and forget it."""
    later = hits.later
    for row in range(int(later[0])):
        at = 1 + _ROW * row
        window, path, step = Window(int(later[at]), int(later[at + 1])), later[at + 2], later[at + 3]
        if step > _ZERO:
            before = Node(later[at + 5], later[at + 6], later[at + 7])
            after = Node(later[at + 8], later[at + 9], later[at + 10])
            falls = bool(later[at + 4] > _ZERO)
            find_peak(hits, Bracket(before, after, path, step, falls), window, resolution, lane, out)
        else:
            compact_peak(hits, path, window, resolution, lane, out)
    later[0] = _ZERO
