"""The estimator of range spread: a known σ comes back, in every ring, and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_spread import measure_range_spread

STEP = np.deg2rad(0.2)


def wall(
    sigma, *, rings: int = 32, columns: int = 400, turns: int = 1, slope: float = 0.0, seed: int = 0
) -> MeasuredPulses:
    """Rings of pulses every 0.2° at 15 m (more where they turn away, by ``slope`` [m/rad]), spread by ``sigma``."""
    rng = np.random.Generator(np.random.Philox(seed))
    ring = np.tile(np.repeat(np.arange(rings), columns), turns)
    angle = np.tile((np.arange(columns) - columns / 2) * STEP, rings * turns)
    rise = np.deg2rad(-8 + 0.5 * ring)
    way = np.stack([np.cos(rise) * np.cos(angle), np.cos(rise) * np.sin(angle), np.sin(rise)], 1)
    ranges = 15 + slope * angle + np.broadcast_to(sigma, ring.shape) * rng.normal(size=len(ring))
    return MeasuredPulses.of(
        np.zeros(3), way, ranges, rings=ring, azimuths=angle, turns=np.repeat(np.arange(turns), rings * columns)
    )


@pytest.mark.parametrize("neighbours", [1, 2, 5, 20])
@pytest.mark.parametrize("sigma", [0.02, 0.3, 1.5])
def test_a_known_sigma_comes_back_within_3_percent(sigma: float, neighbours: int) -> None:
    spread = measure_range_spread(wall(sigma), window=(neighbours + 0.5) * STEP)
    assert np.median(spread.neighbours) == 2 * neighbours
    assert spread.sigma == pytest.approx(sigma, rel=0.03)
    assert spread.mean == pytest.approx(0, abs=0.02 * sigma)
    # The variance is the paper's, in which the neighbours' own spread is contained.
    assert spread.variance == pytest.approx(sigma**2 * (1 + 1 / (2 * neighbours)), rel=0.05)


def test_the_point_itself_is_no_neighbour() -> None:
    """One bump of 1 m: expected − measured is a whole metre there, and a sixth of it at each neighbour."""
    flat = wall(0.0, rings=1)
    pulses = replace(flat, ranges=flat.ranges + (np.arange(len(flat)) == 200))
    spread = measure_range_spread(pulses, window=3.5 * STEP)
    off = spread.differences[np.argsort(np.arctan2(spread.points[:, 1], spread.points[:, 0]))]
    assert off[200] == pytest.approx(1.0)
    assert off[197:200] == pytest.approx([-1 / 6] * 3) and off[196] == 0


def test_each_ring_has_its_own_figures() -> None:
    sigma = 0.1 + 0.05 * np.repeat(np.arange(32), 400)
    spread = measure_range_spread(wall(sigma))
    rings = spread.by_ring()
    assert list(rings) == list(range(32))
    assert [part.sigma for part in rings.values()] == pytest.approx(0.1 + 0.05 * np.arange(32), rel=0.12)
    assert sum(part.count for part in rings.values()) == spread.count == 32 * 400
    assert spread.sigma == pytest.approx(np.sqrt((sigma**2).mean()), rel=0.03)


def test_a_slope_is_no_spread() -> None:
    spread = measure_range_spread(wall(0.05, slope=10.0))
    # Half a window at either end leans to one side.
    assert spread.sigma == pytest.approx(0.05, rel=0.1)


def test_neighbours_are_of_the_same_revolution_and_ring() -> None:
    pulses = wall(0.0, rings=4, turns=3)
    moved = MeasuredPulses.of(
        np.zeros(3), pulses.directions, pulses.ranges + pulses.turns + 0.1 * pulses.rings, rings=pulses.rings,
        azimuths=pulses.azimuths, turns=pulses.turns,
    )  # fmt: skip
    assert np.abs(measure_range_spread(moved).differences).max() < 1e-9


def test_where_the_azimuth_jumps_neighbours_are_neighbours() -> None:
    pulses = wall(0.2)
    turned = pulses.azimuths + np.pi
    jumping = MeasuredPulses.of(
        np.zeros(3),
        pulses.directions,
        pulses.ranges,
        rings=pulses.rings,
        azimuths=np.arctan2(np.sin(turned), np.cos(turned)),
    )
    one, two = (measure_range_spread(which, window=4.5 * STEP) for which in (pulses, jumping))
    assert two.variance == pytest.approx(one.variance, rel=1e-9) and two.count == one.count


def test_the_box_and_the_choice_limit_points_and_neighbours() -> None:
    pulses = wall(0.3)
    right = pulses.azimuths < 0
    boxed = measure_range_spread(pulses, (0, -20, -20, 20, 0, 20))
    assert boxed.count == right.sum() and (boxed.points[:, 1] < 0).all()
    chosen = measure_range_spread(pulses, chosen=right)
    assert chosen.differences == pytest.approx(boxed.differences)


def test_points_alone_are_counted_and_left_out() -> None:
    spread = measure_range_spread(wall(0.3).select(np.r_[0:50, 100, 200]))
    assert (spread.count, spread.alone) == (50, 2)
    two = measure_range_spread(wall(0.3).select([0, 1, 100]))
    assert (two.count, two.alone, two.neighbours.tolist()) == (2, 1, [1, 1])
    assert two.differences[0] == -two.differences[1] != 0


@pytest.mark.parametrize(
    ("box", "window", "words"),
    [
        ((0, 0, 0, 1, 1), 0.02, "box: must be x0,y0,z0,x1,y1,z1"),
        ((1, 0, 0, 0, 1, 1), 0.02, "x0 < x1"),
        ((100, 0, 0, 101, 1, 1), 0.02, "no points in the box.*the points lie within"),
        (None, 0.0, "window: must be an angle above 0"),
        (None, float("nan"), "window"),
        (None, 1e-6, "no point in the box has a neighbour"),
    ],
)
def test_a_mistake_is_one_line(box, window: float, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        measure_range_spread(wall(0.1), box, window=window)
    assert "\n" not in str(caught.value)


def test_points_without_rings_are_refused() -> None:
    pulses = wall(0.1)
    with pytest.raises(InputError, match="rings: must be known"):
        measure_range_spread(MeasuredPulses.of(np.zeros(3), pulses.directions, pulses.ranges))
    # A flat scanner has one ring, and that is right.
    assert measure_range_spread(wall(0.1, rings=1)).sigma == pytest.approx(0.1, rel=0.1)
