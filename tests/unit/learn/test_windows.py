"""A dense part of many pulses: whole windows of azimuth, so that a size chosen from it is one for all."""

from __future__ import annotations

import numpy as np

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.windows import in_windows


def test_windows_keep_every_pulse_of_some_directions() -> None:
    rng = np.random.default_rng(1)
    azimuth = np.tile(np.linspace(-np.pi, np.pi, 2000, endpoint=False), 50)
    way = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(len(azimuth))], 1)
    pulses = MeasuredPulses.of(np.zeros(3), way, rng.uniform(5, 6, len(azimuth)), azimuths=azimuth)
    part = in_windows(pulses, 20_000)
    assert abs(len(part) - 20_000) < 1500
    _, counts = np.unique(part.azimuths, return_counts=True)
    assert (counts == 50).all(), "all or none of a direction"
    assert np.ptp(part.azimuths) > 6.0, "all around"
    assert in_windows(pulses, 200_000) is pulses
