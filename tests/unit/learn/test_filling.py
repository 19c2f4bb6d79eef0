"""What lies between the returns: the product of two Gaussians, ground between the lines of lasers, holes that stay holes."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.fit_voxels import VoxelOptions, fit_voxels
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.filling import Surroundings, fill
from tussock.learn.partition.gaussians import regular
from tussock.learn.partition.voxel_sums import Summing
from tussock.learn.scan_volumes import simulate_volumes
from tussock.scene.volumes import Volumes, unpacked


def learned(pulses: MeasuredPulses, voxel: float, *, filling: bool) -> Volumes:
    options = VoxelOptions(
        voxel=voxel, tau=2.0, plain=False, box=None, fewest=0.0, filling=filling, threads=2, reach=pulses.reach
    )
    return fit_voxels([pulses], options)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_product_of_the_gaussian_around_and_of_the_voxel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.normal(0, 0.12, (3, 3))
    points = np.clip(rng.normal(0, 1, (30, 3)) @ shape + 0.4, 0.01, 0.79)
    pulses = MeasuredPulses.of([0, 0, -5], points - [0, 0, -5], np.linalg.norm(points - [0, 0, -5], axis=1), reach=20.0)
    summing = Summing(0.2, 1)
    summing.add(pulses, pulses.hit)
    inner = summing.total()
    outer, group = inner.coarser(4)
    assert len(outer) == 1
    seen = Surroundings.of(outer) if seed % 2 else Surroundings.none(outer)
    found = fill(inner, outer, group, np.array([True]), seen)
    taken = {tuple(cell) for cell in inner.voxels}
    covariance = unpacked(regular(outer.scatter, outer.counts, np.array([0.8])))[0]
    wanted = {}
    for cell in np.ndindex(4, 4, 4):
        middle = (np.array(cell) + 0.5) * 0.2
        both = np.linalg.inv(covariance) + np.eye(3) * 12 / 0.2**2
        mean = np.linalg.solve(both, np.linalg.solve(covariance, outer.places[0]) + 12 / 0.2**2 * middle)
        off = mean - outer.places[0]
        if cell not in taken and np.abs(mean - middle).max() < 0.1 and off @ np.linalg.solve(covariance, off) <= 4:
            wanted[cell] = (mean, np.linalg.inv(both))
    assert wanted and {tuple(cell) for cell in found.voxels.tolist()} == set(wanted)
    for cell, place, spread in zip(found.voxels.tolist(), found.places, found.covariances, strict=True):
        mean, full = wanted[tuple(cell)]
        assert place == pytest.approx(mean, abs=1e-9) and unpacked(spread[None])[0] == pytest.approx(full, rel=1e-9)


def on_the_ground(elevations_deg: np.ndarray, seed: int) -> MeasuredPulses:
    """From 2 m above a rough floor that is everywhere, in the middle of voxels; lines a degree apart."""
    rng = np.random.default_rng(seed)
    azimuth, down = (a.ravel() for a in np.meshgrid(np.deg2rad(np.arange(-40, 40, 0.4)), np.deg2rad(elevations_deg)))
    way = np.stack([np.cos(down) * np.cos(azimuth), np.cos(down) * np.sin(azimuth), np.sin(down)], 1)
    ranges = 2.0 / -way[:, 2] + rng.normal(0, 0.01, len(way))
    return MeasuredPulses.of(
        [0.0, 0.0, 2.05], way, ranges, reach=60.0, rings=np.repeat(np.arange(len(elevations_deg)), 200)
    )


def test_ground_between_the_lines_of_lasers_is_there() -> None:
    lines = np.arange(-24.0, -11.5, 1.0)
    train, between = on_the_ground(lines, 0), on_the_ground(lines[:-1] + 0.5, 1)
    holes, whole = (learned(train, 0.1, filling=filling) for filling in (False, True))
    assert simulate_volumes(holes, between, seed=2).hit.mean() < 0.8
    found = simulate_volumes(whole, between, seed=2)
    assert found.hit.mean() > 0.97
    assert np.nanmedian(np.abs(found.ranges - between.ranges)) < 0.15
    assert whole.meta["filled"] > 0 and holes.meta["filled"] == 0
    again = simulate_volumes(whole, train, seed=3)
    assert again.hit.mean() == pytest.approx(1.0, abs=0.01)
    assert np.nanmedian(np.abs(again.ranges - train.ranges)) < 0.05


def test_what_was_seen_through_stays_open() -> None:
    """A lattice fence before the sky: as many pulses as before go through its holes."""
    rng = np.random.default_rng(4)
    y, z = rng.uniform(-2, 2, 60_000), rng.uniform(-1, 1, 60_000)
    bars = (np.mod(y, 0.5) < 0.12) | (np.mod(z, 0.5) < 0.12)
    way = np.stack([np.full(len(y), 6.0), y, z], 1)
    length = np.linalg.norm(way, axis=1)
    pulses = MeasuredPulses.of(np.zeros(3), way, np.where(bars, length, np.nan), reach=30.0)
    foretold = simulate_volumes(learned(pulses, 0.05, filling=True), pulses, seed=5).hit
    assert foretold.mean() == pytest.approx(bars.mean(), abs=0.01)
    assert (foretold == bars).mean() > 0.9


def test_what_is_around_is_what_was_measured_there() -> None:
    """Moments of a voxel and its 26 neighbours, against those of the points themselves."""
    rng = np.random.default_rng(7)
    points = rng.uniform(-3, 3, (400, 3))
    start = np.array([0.0, 0.0, -9.0])
    pulses = MeasuredPulses.of(start, points - start, np.linalg.norm(points - start, axis=1), reach=20.0)
    summing = Summing(0.8, 1)
    summing.add(pulses, pulses.hit)
    sums = summing.total()
    counts, means, scatter, _, _ = Surroundings.of(sums)
    cells = np.floor(points / 0.8)
    for row in rng.integers(0, len(sums), 30):
        near = points[np.abs(cells - sums.voxels[row]).max(1) <= 1]
        off = near - near.mean(0)
        assert counts[row] == len(near)
        assert means[row] + sums.voxels[row] * 0.8 == pytest.approx(near.mean(0), abs=1e-5)
        assert unpacked(scatter[row][None])[0] == pytest.approx(off.T @ off, abs=1e-3)
