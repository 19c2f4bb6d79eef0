"""Pointing noise of many sensors: where each of their pulses really went is drawn again where rows are written.

Kept, it would take twelve bytes for each pulse of each sensor. It is a function of the sensor's own chance (`tussock.pulse.aim`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.frames.collect import Fired
from tussock.gpu.sharing import Many
from tussock.kernels import Real, Whole, inline_kernel
from tussock.pulse.aim import true_direction_of
from tussock.randomness import Chance

__all__ = ["Wandering", "drawn_direction", "fired_of", "wandering_of"]


class Wandering(NamedTuple):
    """As `Fired`, for pulses that each sensor sends a little beside."""

    directions: NDArray[np.float32]
    true_directions: NDArray[np.float32]
    """those as reported"""
    origins: NDArray[np.float32]
    offsets: NDArray[np.float64]
    """[s] and so on: the names are those of `Fired`"""
    lasers: NDArray[np.uint16]
    azimuths: NDArray[np.float32]
    elevations: NDArray[np.float32]
    start: float
    pointing_sigma: np.float32
    """[rad]"""

    @classmethod
    def of(cls, fired: Fired, sigma: np.float32) -> Wandering:
        """The pulses of many sensors."""
        return cls(*fired._replace(true_directions=fired.directions), sigma)


class _Drawn(NamedTuple):
    """What is read of one sensor's pulses."""

    directions: Any
    origins: Any
    offsets: Any
    lasers: Any
    azimuths: Any
    elevations: Any
    start: Any
    pointing_sigma: Any
    chance: Chance


@inline_kernel
def fired_of(fired: Any, many: Many, s: Whole) -> Any:
    """The pulses of sensor ``s``."""
    return Fired(
        fired.directions, fired.true_directions, fired.origins, fired.offsets, fired.lasers, fired.azimuths,
        fired.elevations, many.start[0],
    )  # fmt: skip


@inline_kernel
def wandering_of(fired: Any, many: Many, s: Whole) -> Any:
    """The same for pulses with pointing noise."""
    words = many.words
    return _Drawn(
        fired.directions, fired.origins, fired.offsets, fired.lasers, fired.azimuths, fired.elevations, many.start[0],
        fired.pointing_sigma, Chance(words[s, 0], words[s, 1], words[s, 2], words[s, 3]),
    )  # fmt: skip


@inline_kernel
def drawn_direction(fired: Any, p: Whole, a: Whole) -> Real:
    """As `tussock.frames.collect.true_direction`, drawn again."""
    x, y, z = true_direction_of(fired.directions, fired.pointing_sigma, fired.chance, p)
    return x if a == 0 else (y if a == 1 else z)
