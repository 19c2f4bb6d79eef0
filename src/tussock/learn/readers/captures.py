"""Pulses from captures of packets (``.pcap``, ``.pcapng``), every one that was fired (`tussock.wire.read_firings`).

Of two returns of a pulse the strongest is taken, and how far the other one is. The range noise is that of the model in the
catalogue. Left out: nothing is corrected for the sensor's own motion unless a
trajectory is given, whose times are those of the recorder's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_noise import noise_of_model
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
    other = firings.ranges[:, 1 - kind] if firings.ranges.shape[1] == 2 else None
    if other is not None:
        other = np.where(other == firings.ranges[:, kind], np.nan, other)
    # What is kept of the firings' columns would keep the memory of all of them: so the others of a moving sensor can be used again.
    start, way = firings.origins, firings.directions
    pulses = MeasuredPulses.of(
        start, way, firings.ranges[:, kind], intensity=np.clip(firings.intensity[:, kind], 0, 1),
        rings=firings.rings.copy(), azimuths=firings.azimuths.copy(), turns=firings.turns, reach=reach, complete=firings.complete, others=other,
        noise=noise_of_model(firings.sensor),
    )  # fmt: skip
    if trajectory is None:
        return pulses
    trajectory.check_covers(f"the times of {name}", firings.times.min(), firings.times.max(), slack=0.2)
    return pulses.placed(trajectory, firings.times)
