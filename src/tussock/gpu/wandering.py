"""Pointing noise of many sensors: where each of their pulses really went is drawn again where rows are written.

Kept, it would take twelve bytes for each pulse of each sensor. It is a function of the sensor's own chance (`tussock.pulse.aim`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.frames.collect import Fired
from tussock.gpu.sharing import Many
from tussock.kernels import Real, Whole, inline_kernel
from tussock.pulse.aim import true_direction_of
from tussock.randomness import Chance

__all__ = ["Wandering", "drawn_direction", "fired_of", "wandering_of"]


class Wandering(NamedTuple):
    """Stands for `Fired.true_directions` where each sensor sends its pulses a little beside."""

    pointing_sigma: np.float32
    """[rad]"""

    @classmethod
    def of(cls, fired: Fired, sigma: np.float32) -> Fired:
        """The pulses of many sensors."""
        return fired._replace(true_directions=cls(sigma))


class _Drawn(NamedTuple):
    """The same for one of the sensors."""

    pointing_sigma: Any
    chance: Chance


@inline_kernel
def fired_of(fired: Any, many: Many, s: Whole) -> Any:
    """The pulses of sensor ``s``."""
    return _fired(fired, fired.true_directions, many.start[0])


@inline_kernel
def wandering_of(fired: Any, many: Many, s: Whole) -> Any:
    """The same for pulses with pointing noise."""
    words = many.words
    chance = Chance(words[s, 0], words[s, 1], words[s, 2], words[s, 3])
    return _fired(fired, _Drawn(fired.true_directions.pointing_sigma, chance), many.start[0])


@inline_kernel
def _fired(fired: Any, true_directions: Any, start: Any) -> Any:
    return Fired(
        fired.directions, true_directions, fired.origins, fired.offsets, fired.lasers, fired.azimuths, fired.elevations,
        start,
    )  # fmt: skip


@inline_kernel
def drawn_direction(fired: Any, p: Whole, a: Whole) -> Real:
    """As `tussock.frames.collect.true_direction`, drawn again."""
    drawn = fired.true_directions
    x, y, z = true_direction_of(fired.directions, drawn.pointing_sigma, drawn.chance, p)
    return x if a == 0 else (y if a == 1 else z)
