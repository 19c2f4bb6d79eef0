"""From a scan to volumes in one call, as Python and the command line make it.

Dead lasers are left out, the size is chosen where none is given, and what the pulses could not teach is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import numpy as np

from tussock.errors import InputError
from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.dead_lasers import dead_rings
from tussock.learn.fit_volumes import FitOptions, fit_volumes
from tussock.learn.halves import moved
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_noise import constant_noise
from tussock.scene.volumes import Volumes

__all__ = ["LearningWarning", "learn_volumes", "warn_learning"]


class LearningWarning(UserWarning):
    """Volumes were learned, but less well than they could be."""


def warn_learning(note: str) -> None:
    """Say a note as a warning of Python."""
    warnings.warn(note, LearningWarning, stacklevel=3)


def learn_volumes(
    pulses: MeasuredPulses,
    *,
    voxel: float | None = None,
    range_noise: float | None = None,
    say: Callable[[str], None] = warn_learning,
    **fitting: Unpack[FitOptions],
) -> Volumes:
    """Volumes from pulses, in the pulses' own frame; ``voxel`` [m] is chosen by held-out pulses unless given.

    ``regions``: 4×4×4 voxels are learned as one where few pulses returned, so that size follows distance and density, and
    what lies between the returns is filled; so it is where no ``voxel`` is given and the sensor moved, unless it is said otherwise.

    ``range_noise`` [m], the standard deviation of the sensor's ranges, is taken out of the volumes; if it is not given,
    that of the sensor is, where the pulses tell it. The other options are those of `tussock.learn.fit_volumes.fit_volumes`. What was chosen and left out is in ``meta``:
    ``voxel_m``, ``dead_rings``, ``range_noise_m``, ``two_returns`` (the share of the pulses), and whether the pulses without return were there (``complete``). What is doubtful is
    told to ``say``, a line each; a `LearningWarning` unless told otherwise.

    >>> rng = np.random.default_rng(1)
    >>> way = rng.normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> volumes = tussock.learn_volumes(pulses, voxel=0.5)
    >>> bool((volumes.permeability <= 1).all())
    True
    """
    if range_noise is not None:
        pulses = replace(pulses, noise=constant_noise(range_noise))
    dead = dead_rings(pulses)
    used = pulses.select(~np.isin(pulses.rings, dead)) if len(dead) else pulses
    if voxel is None:
        one_size = fitting.get("plain") or fitting.get("method", "voxels") != "voxels"
        if fitting.get("regions") is None and not one_size and moved(used):
            fitting["regions"] = True
        voxel = choose_voxel(used, **fitting)
    volumes = fit_volumes(used, voxel=voxel, **fitting)
    if volumes.meta["lone_returns"] == len(volumes):
        raise InputError(f"voxel: every voxel holds one point only, got {voxel:g} m; use larger voxels")
    if len(dead):
        rings = ", ".join(map(str, dead))
        say(f"pulses: left out as dead, for they never returned and their neighbours did: ring {rings}")
    if volumes.meta["one_direction"]:
        say("pulses: all go in one direction, so volumes are guesses from any other; add pulses from elsewhere")
    if not pulses.complete:
        say("pulses: none without a return is among them, so volumes stop too many at the rim of things")
    return replace(volumes, meta=volumes.meta | {"dead_rings": dead.tolist()})
