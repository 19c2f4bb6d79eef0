"""What the sensors of a launch share and what each has of its own, and which of their pulses a launch takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.pulse.tables import PoseTable, Receiving, Scanning, Slots
from tussock.randomness import Chance
from tussock.trace.cuda.packets import Traced, Ways
from tussock.trace.surroundings import Surroundings

__all__ = ["Many", "Span", "in_own_media", "one_of", "receiving_of", "slots_of"]


class Many(NamedTuple):
    """What differs from one sensor to the next."""

    times: NDArray[np.float64]
    """as in `PoseTable`, shape (k,)"""
    positions: NDArray[np.float64]
    """shape (sensors, k, 3)"""
    quaternions: NDArray[np.float64]
    """shape (sensors, k, 4)"""
    words: NDArray[np.uint32]
    """the numbers of `Chance`, shape (sensors, 4)"""
    biases: NDArray[np.float32]
    """[m], shape (sensors, lasers)"""
    media: NDArray[np.float32]
    """the numbers of `Media` that a sensor stands in, shape (sensors, 4); (0, 4) where all stand in the same"""
    start: NDArray[np.float64]
    """[s] of the frame, shape (1,)"""


def in_own_media(many: Many) -> bool:
    """Whether sensors of a launch stand in different media."""
    return len(many.media) > 0


class Span(NamedTuple):
    """The pulses of a launch, sensor after sensor."""

    order: NDArray[np.int32]
    """numbers of a sensor's pulses, laser after laser, shape (pulses of a sensor,)"""
    first: int
    """place of the launch's first pulse among those of all sensors"""
    pulses: int


def one_of(scanning: Scanning, many: Many, traced: Traced, span: Span, s: int, column: int) -> Scanning:
    """What sensor ``s`` reads; ``column`` of ``traced`` would be that of its pulse number 0."""
    around, words = scanning.around, many.words
    ways: Any = around.standing
    begun = span.first - s * len(scanning.firing.lasers)
    mine: Any = Ways(ways.standing, ways.moving, ways.moves, traced, column, begun)
    return Scanning(
        Surroundings(mine, around.moving, around.tables, around.volumes, around.moment),
        scanning.firing,
        PoseTable(many.times, many.positions[s], many.quaternions[s]),
        receiving_of(scanning.receiving, many, s),
        Chance(words[s, 0], words[s, 1], words[s, 2], words[s, 3]),
        scanning.air,
    )  # fmt: skip


def receiving_of(whole: Receiving, many: Many, s: int) -> Receiving:
    """The receiver with a sensor's own biases and media; written out by `tussock.gpu.kernels.bound`."""
    raise NotImplementedError


def slots_of(whole: Slots, begin: int, end: int) -> Slots:
    """The slots of a sensor; written out by `tussock.gpu.kernels.bound`."""
    raise NotImplementedError
