"""Moments of a drive, kept for an animation: map, plan and place, every so often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.drive.loop import DriveStep

__all__ = ["Film", "Snapshot"]

_MOST = 240
"""pictures; a longer drive is thinned out"""


class Snapshot(NamedTuple):
    time: float
    costs: NDArray[np.uint8] | None
    """0 to 100, 255 where nothing was seen, shape (along x, along y)"""
    place: tuple[float, float, float]
    """x, y [m] and yaw [rad], the truth"""
    path: NDArray[np.float64] | None
    collisions: int


@dataclass
class Film:
    """Is shown every step and keeps one every ``every`` [s]."""

    every: float = 0.5

    def __post_init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self._next = 0.0

    def watch(self, step: DriveStep) -> None:
        if step.sensed.end < self._next and step.ended is None:
            return
        self._next = step.sensed.end + self.every - 1e-9
        costs = None
        if step.cost_map is not None:
            costs = np.where(step.cost_map.seen, np.round(step.cost_map.costs), 255).astype(np.uint8)
        x, y, _, yaw = (float(v) for v in step.sensed.driven.rows[-1, :4])
        path = None if step.thought.path is None else step.thought.path.copy()
        self.snapshots.append(Snapshot(step.sensed.end, costs, (x, y, yaw), path, step.collisions))
        if len(self.snapshots) > _MOST:
            # There are too many: every second snapshot is dropped, and from now on half as many are taken.
            self.snapshots = self.snapshots[::2]
            self.every *= 2
