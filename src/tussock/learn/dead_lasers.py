"""Lasers that are broken: their pulses without return say nothing of the scene.

A ring that has never returned, between two rings that mostly do, is taken for dead (ring 22 of the VLS-128 whose
recording the tests read is one). Left in, its pulses would count as having passed through the ground. At the edge of
the fan nobody can tell a dead laser from one that looks into the sky.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["dead_rings", "silent_rings"]

_FEWEST = 100
"""pulses that a verdict needs"""
_MOSTLY = 0.5


def dead_rings(pulses: MeasuredPulses) -> NDArray[np.int64]:
    """The rings that are dead, rising, shape (n,).

    >>> way = np.array([[1.0, 0.0, 0.0]] * 8)
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.full(8, 5.0))
    >>> len(tussock.dead_rings(pulses))
    0
    """
    return silent_rings(np.bincount(pulses.rings), np.bincount(pulses.rings, pulses.hit).astype(np.int64))


def silent_rings(fired: NDArray[np.int64], returned: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same from how many pulses and how many returns each ring had, both (rings,)."""
    share = returned / np.maximum(fired, 1)
    alive = share > _MOSTLY
    between = np.zeros(len(fired), np.bool_)
    between[1:-1] = alive[:-2] & alive[2:]
    return np.flatnonzero((share == 0) & (fired >= _FEWEST) & between)
