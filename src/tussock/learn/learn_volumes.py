"""From a scan to volumes in one call: dead lasers are left out, and the size is chosen where none is given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tussock.learn.beams import Beams
from tussock.learn.dead_lasers import dead_rings
from tussock.learn.learner import LearningWarning, Method, concerns, learn_quietly
from tussock.learn.likelihood import choose_voxel
from tussock.scene.volumes import DEFAULT_TAU, Volumes

__all__ = ["learn_volumes", "notes_on"]


def learn_volumes(
    beams: Beams,
    *,
    voxel: float | None = None,
    method: Method = "voxels",
    tau: float = DEFAULT_TAU,
    plain: bool = False,
    box: Sequence[float] | None = None,
    threads: int | None = None,
) -> Volumes:
    """Volumes from beams, in the beams' own frame; ``voxel`` [m] is chosen by held-out beams unless given.

    The other options are those of `tussock.learn.learner.learn`. What was chosen and left out is in ``meta``:
    ``voxel_m``, ``dead_rings``, and whether the pulses without return were there (``complete``). What is doubtful is
    said by a `LearningWarning`.
    """
    dead = dead_rings(beams)
    used = beams.select(~np.isin(beams.rings, dead)) if len(dead) else beams
    if voxel is None:
        voxel = choose_voxel(used, method=method, tau=tau, plain=plain, box=box, threads=threads)
    volumes = learn_quietly(used, voxel=voxel, method=method, tau=tau, plain=plain, box=box, threads=threads)
    volumes = replace(volumes, meta=volumes.meta | {"dead_rings": dead.tolist()})
    for note in notes_on(volumes):
        warnings.warn(note, LearningWarning, stacklevel=2)
    return volumes


def notes_on(volumes: Volumes) -> list[str]:
    """What was left out of learned volumes, and what is doubtful about them, a line each."""
    dead = volumes.meta.get("dead_rings")
    rings = ", ".join(map(str, dead or []))
    left_out = (
        [f"beams: left out as dead, for they never returned and their neighbours did: ring {rings}"] if dead else []
    )
    return left_out + concerns(volumes)
