"""Pulses from captures of packets (``.pcap``, ``.pcapng``), every one that was fired (`tussock.wire.read_firings`).

Of two returns of a pulse the strongest is taken. Left out: nothing is corrected for the sensor's own motion unless a
trajectory is given, whose times are those of the recorder's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.poses import Trajectory
from tussock.wire.captures.datagrams import warn
from tussock.wire.firings import Firings
from tussock.wire.read_firings import read_firings

__all__ = ["pulses_of_capture", "pulses_of_firings"]


def pulses_of_capture(
    path: Path, *, model: str | None = None, unit: str | None = None, trajectory: Trajectory | None = None,
    reach: float | None = None, say: Callable[[str], None] = warn,
) -> MeasuredPulses:  # fmt: skip
    """Every pulse of a capture, revolution by revolution, in the sensor's frame, or in the world by a trajectory."""
    firings = read_firings(path, model=model, unit=unit, say=say)
    return pulses_of_firings(firings, trajectory=trajectory, reach=reach, name=path.name)


def pulses_of_firings(
    firings: Firings, *, trajectory: Trajectory | None = None, reach: float | None = None, name: str = "the firings"
) -> MeasuredPulses:
    """Firings as pulses with one return at most: the strongest, or the one kind that there is."""
    kind = firings.kinds.index("strongest") if "strongest" in firings.kinds else 0
    start, way = firings.origins, firings.directions
    if trajectory is not None:
        trajectory.check_covers(f"the times of {name}", firings.times.min(), firings.times.max(), slack=0.2)
        positions, quaternions = trajectory.at(firings.times)
        turn = Rotation.from_quat(quaternions)
        start, way = turn.apply(start) + positions, turn.apply(way)
    return MeasuredPulses.of(
        start, way, firings.ranges[:, kind], intensity=np.clip(firings.intensity[:, kind], 0, 1), rings=firings.rings,
        azimuths=firings.azimuths, turns=firings.turns, reach=reach, complete=firings.complete,
    )  # fmt: skip
