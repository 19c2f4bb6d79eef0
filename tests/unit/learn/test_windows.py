"""A dense part of many pulses, so that a size chosen from it is one for all: windows of azimuth, or a strip of the place."""

from __future__ import annotations

import numpy as np

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.windows import in_strip, in_windows


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


def test_a_strip_keeps_every_pulse_that_came_as_far() -> None:
    """Against a plain search of points along each pulse."""
    rng = np.random.default_rng(2)
    n = 5000
    way = rng.normal(size=(n, 3))
    start = np.stack([rng.uniform(0, 20, n), rng.uniform(-1, 1, n), np.zeros(n)], 1)
    ranges = np.where(rng.random(n) < 0.8, rng.uniform(2, 20, n), np.nan)
    pulses = MeasuredPulses.of(start, way, ranges, reach=40.0)
    part, box = in_strip(pulses, 600)
    assert box is not None
    low, high = np.array(box[:3]), np.array(box[3:])
    assert pulses.inside(box).sum() == part.inside(box).sum() and abs(part.inside(box).sum() - 600) < 5
    assert (high - low)[0] < 6 and (high - low)[1:].min() > 30, "across the way"
    along = np.nan_to_num(pulses.ranges, nan=40.0)[:, None] * np.linspace(0, 1, 400)
    places = pulses.origins[:, None] + along[..., None] * pulses.directions[:, None]
    wanted = set(np.flatnonzero(((places > low) & (places < high)).all(2).any(1)).tolist())
    key = {row.tobytes(): k for k, row in enumerate(pulses.directions)}
    kept = {key[row.tobytes()] for row in part.directions}
    assert wanted <= kept, "none that reached it is missing"
    assert len(kept - wanted) < 0.15 * len(kept), "few others: those that passed above or below its ends"
    assert in_strip(pulses, n) == (pulses, None)
    parts = [pulses.select(slice(0, 2000)), pulses.select(slice(2000, None))]
    of_parts, same = in_strip(parts, 600)
    assert same == box and (of_parts.ranges == part.ranges).sum() == part.hit.sum() == of_parts.hit.sum()
    assert (of_parts.directions == part.directions).all()
    whole, none = in_strip(parts, n)
    assert none is None and (whole.directions == pulses.directions).all()


def test_a_strip_of_a_box_is_in_the_box() -> None:
    rng = np.random.default_rng(3)
    way = rng.normal(size=(4000, 3))
    start = np.stack([np.zeros(4000), np.linspace(0, 9, 4000), np.zeros(4000)], 1)
    pulses = MeasuredPulses.of(start, way, rng.uniform(1, 9, 4000), reach=20.0)
    given = [-4.0, -2.0, -3.0, 4.0, 8.0, 2.0]
    part, box = in_strip(pulses, 300, given)
    assert box is not None
    assert box[0] == -4 and box[3:6:2] == [4, 2] and box[2] == -3 and -2 < box[1] < box[4] < 8
    assert abs(part.inside(box).sum() - 300) < 5
    assert in_strip(pulses, 4000, given)[1] == given
    of_parts, same = in_strip([pulses.select(slice(0, 100)), pulses.select(slice(100, None))], 300, given)
    assert same == box and (of_parts.ranges == part.ranges).all()
