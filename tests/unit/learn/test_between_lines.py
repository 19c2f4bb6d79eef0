"""What returns stand for between the lines of lasers: spacing of lines, planes stay thin, leaves are as large as they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.between_lines import LIFT, REACHED, line_spacing, spread_between
from tussock.learn.partition.filling import Surroundings
from tussock.learn.partition.gaussians import added
from tussock.learn.partition.voxel_sums import Summing, VoxelSums
from tussock.learn.scan_volumes import simulate_volumes
from tussock.scene.volumes import unpacked


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(0, 99))
def test_spacing_is_the_mean_of_the_distances_to_the_next_lines(steps: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    heights = np.deg2rad(-40 + np.cumsum([0, *steps]) / 200)
    fired = rng.integers(1, 1000, len(heights))
    rings = rng.permutation(60)[: len(heights)]
    total, lifted = np.zeros(60, np.int64), np.zeros(60, np.int64)
    total[rings], lifted[rings] = fired, np.rint(fired * np.sin(heights) * LIFT)
    found = line_spacing(total, lifted)
    apart = np.diff(heights)
    inner = (apart[1:] + apart[:-1]) / 2
    assert found[rings] == pytest.approx([apart[0], *inner, apart[-1]], abs=1e-5)
    assert not found[np.setdiff1d(np.arange(60), rings)].any()


def test_a_ring_alone_has_no_spacing() -> None:
    assert not line_spacing(np.array([0, 9, 0]), np.array([0, 5, 0])).any()


def directions(
    azimuth_deg: NDArray[np.float64], elevation_deg: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A grid of unit vectors, and the ring of each."""
    lift, turn = np.meshgrid(np.deg2rad(elevation_deg), np.deg2rad(azimuth_deg), indexing="ij")
    way = np.stack([np.cos(lift) * np.cos(turn), np.cos(lift) * np.sin(turn), np.sin(lift)], -1).reshape(-1, 3)
    return way, np.repeat(np.arange(len(elevation_deg)), len(azimuth_deg))


def summed(
    pulses: MeasuredPulses, voxel: float
) -> tuple[VoxelSums, Surroundings, NDArray[np.int64], NDArray[np.float64]]:
    summing = Summing(voxel, 1)
    summing.add(pulses, pulses.hit)
    sums = summing.total()
    bricks, brick = sums.coarser(4)
    lifted = np.bincount(pulses.rings, np.rint(pulses.directions[:, 2] * LIFT)).astype(np.int64)
    return sums, Surroundings.of(bricks), brick, line_spacing(np.bincount(pulses.rings), lifted)


def reached_across(sums: VoxelSums, voxel: float) -> NDArray[np.float64]:
    """What of Gaussians counts as across the lines already [m²]."""
    up = np.array([0, 0, 1.0]) - sums.ways[:, 2:] * sums.ways
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    own = np.einsum("na,nab,nb->n", up, unpacked(sums.scatter), up) / sums.counts
    return REACHED * np.maximum(added(own, sums.counts, voxel), 0.0)


@settings(max_examples=15, deadline=None)
@given(st.floats(20.0, 90.0), st.floats(0.05, 0.3), st.floats(-180, 180))
def test_a_plane_grows_along_itself_by_the_distance_of_the_lines(
    tilt_deg: float, step_deg: float, way_deg: float
) -> None:
    """Of a plane 8 m away the returns stand for (δr)²/12 across the lines, less what the Gaussian has beyond them, and for nothing
    along its normal."""
    tilt, way = np.deg2rad(tilt_deg), np.deg2rad(way_deg)
    normal = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    rays, rings = directions(np.arange(-2, 2, 0.05), step_deg * np.arange(-12, 13))
    ranges = 8.0 * normal[0] / (rays @ normal)
    turn = np.array([[np.cos(way), -np.sin(way), 0], [np.sin(way), np.cos(way), 0], [0, 0, 1]])
    pulses = MeasuredPulses.of(np.zeros(3), rays @ turn.T, ranges, rings=rings, reach=30.0)
    sums, seen, brick, spacing = summed(pulses, 0.5)
    spread = unpacked(spread_between(sums, seen, brick, spacing))
    enough = (sums.counts >= 30) & (seen.rings[brick, 1] - seen.rings[brick, 0] >= 8)
    assert enough.any()
    spread, ways = spread[enough], sums.ways[enough]
    up = np.array([0, 0, 1.0]) - ways[:, 2:] * ways
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    apart = np.deg2rad(step_deg) * np.sqrt(sums.square_ranges[enough])
    across = np.einsum("na,nab,nb->n", up, spread, up)
    reached = reached_across(sums.select(enough), 0.5)
    assert across + reached == pytest.approx(np.maximum(apart**2 / 12, reached), rel=0.02)
    out = turn @ normal
    assert np.abs(np.einsum("a,nab,b->n", out, spread, out)).max() <= 0.01 * (apart**2 / 12).min()


def test_a_ball_that_reaches_across_the_lines_is_not_made_longer() -> None:
    """One return a voxel is a ball of 2.3 cm; lines 1.4 cm apart leave nothing to reach for, and lines 14 cm apart do."""
    for step, reaches in ((0.1, False), (1.0, True)):
        rays, rings = directions(np.arange(-10, 10, 1.4), step * np.arange(-1, 2))
        pulses = MeasuredPulses.of(np.zeros(3), rays, 8.0 / rays[:, 0], rings=rings, reach=30.0)
        sums, seen, brick, spacing = summed(pulses, 0.2)
        spread = np.trace(unpacked(spread_between(sums, seen, brick, spacing)), axis1=1, axis2=2)
        assert (spread > 0).any() == reaches


def test_no_volume_grows_beyond_its_own_size_and_one_line_says_nothing() -> None:
    rays, rings = directions(np.arange(-4, 4, 0.02), np.array([-1.0, 0.0, 1.0]))
    pulses = MeasuredPulses.of(np.zeros(3), rays, 8.0 / rays[:, 0], rings=rings, reach=30.0)
    sums, seen, brick, spacing = summed(pulses, 0.1)
    assert np.sqrt(sums.square_ranges) * spacing[1] == pytest.approx(8 * np.deg2rad(1), rel=0.01)
    spread = np.trace(unpacked(spread_between(sums, seen, brick, spacing)), axis1=1, axis2=2)
    assert spread.max() == pytest.approx(0.1**2 / 12, rel=1e-6)
    alone = pulses.select(pulses.rings == 1)
    one, around, inside, _ = summed(alone, 0.1)
    assert not spread_between(one, around, inside, spacing).any()


def test_lines_that_are_swept_over_a_volume_lie_closer() -> None:
    """Twenty rings meet in voxels that two would meet from one place."""
    rng = np.random.default_rng(1)
    points = np.stack([np.full(4000, 8.05), rng.uniform(-0.5, 0.5, 4000), rng.uniform(0, 1, 4000)], 1)
    rings = rng.integers(0, 20, 4000)
    heights = np.deg2rad(rings - 10.0)
    start = points - 8 * np.stack([np.cos(heights), 0 * heights, np.sin(heights)], 1)
    pulses = MeasuredPulses.of(start, points - start, np.full(4000, 8.0), rings=rings, reach=30.0)
    sums, seen, brick, spacing = summed(pulses, 0.25)
    trace = np.trace(unpacked(spread_between(sums, seen, brick, spacing)), axis1=1, axis2=2)
    rows = sums.counts > 100
    apart = 8 * np.deg2rad(1) * (0.25 / (8 * np.deg2rad(1)) + 1) / 20
    reached = np.median(reached_across(sums.select(rows), 0.25))
    assert np.median(trace[rows]) == pytest.approx(apart**2 / 12 - reached, rel=0.1)


def leaves(rays: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Ranges of pulses that end on square leaves of 4 cm in a crown 8 m away, NaN where they pass."""
    middles, ranges = rng.uniform((7.4, -0.6, -0.6), (8.6, 0.6, 0.6), (250, 3)), np.full(len(rays), np.inf)
    for x, y, z in middles:
        at = rays * (x / rays[:, :1])
        met = (np.abs(at[:, 1] - y) < 0.02) & (np.abs(at[:, 2] - z) < 0.02)
        ranges[met] = np.minimum(ranges[met], x / rays[met, 0])
    return np.where(np.isfinite(ranges), ranges, np.nan)


@pytest.mark.parametrize("voxel", [0.1, 0.15])
def test_pulses_between_the_lines_end_as_often_as_those_on_them(voxel: float) -> None:
    """Lines 6 cm apart are learned, five times as many foretold. Where nobody says that there are lines, a sixth is lost."""
    azimuth, lines, any_lines = np.arange(-4.5, 4.5, 0.06), np.arange(-4.5, 4.5, 0.42), np.arange(-4.5, 4.5, 0.083)
    hits = []
    for seed in range(6):
        rays, rings = directions(azimuth, lines)
        ranges = leaves(rays, np.random.default_rng(seed))
        known = MeasuredPulses.of(np.zeros(3), rays, ranges, rings=rings, reach=30.0)
        unknown = MeasuredPulses.of(np.zeros(3), rays, ranges, reach=30.0)
        rays, _ = directions(azimuth, any_lines)
        test = MeasuredPulses.of(np.zeros(3), rays, leaves(rays, np.random.default_rng(seed)), reach=30.0)
        again = [simulate_volumes(fit_volumes(some, voxel=voxel), test, seed=seed) for some in (known, unknown)]
        hits.append([some.hit.mean() for some in (test, *again)])
    truth, foretold, without = np.mean(hits, axis=0)
    assert foretold == pytest.approx(truth, rel=0.06)
    assert without < 0.87 * truth, "it is the spacing of the lines that does it"
