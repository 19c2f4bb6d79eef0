"""A part of many pulses that is as dense as the whole: some directions with all their pulses, not some pulses of all.

A size that is chosen from every tenth pulse is one for a tenth of the pulses: too coarse. So whole windows of azimuth
are taken, spread evenly around.
"""

from __future__ import annotations

import numpy as np

from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["in_windows"]

_WINDOWS = 24


def in_windows(pulses: MeasuredPulses, most: int) -> MeasuredPulses:
    """About ``most`` of the pulses, all of them in even windows of azimuth; the pulses themselves where they are fewer."""
    if len(pulses) <= most:
        return pulses
    place = np.mod(pulses.azimuths / (2 * np.pi) * _WINDOWS, 1.0)
    kept = place < np.quantile(place, most / len(pulses))
    return pulses.select(kept) if pulses.hit[kept].any() else pulses
