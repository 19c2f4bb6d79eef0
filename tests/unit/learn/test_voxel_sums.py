"""Sums of returns by voxel: against plain NumPy, whatever the parts and threads; larger voxels out of smaller ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition import voxel_sums
from tussock.learn.partition.voxel_sums import Summing, VoxelSums
from tussock.learn.range_noise import RangeNoise, constant_noise
from tussock.scene.volumes import voxels_of

PAIRS = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])


def some_pulses(n: int, seed: int, *, far: float = 0.0) -> MeasuredPulses:
    rng = np.random.default_rng(seed)
    ranges = np.where(rng.random(n) < 0.2, np.nan, rng.uniform(1, 9, n))
    ranges[0] = 5.0
    return MeasuredPulses.of(
        rng.normal(far, 1, (n, 3)), rng.normal(0, 1, (n, 3)), ranges, intensity=rng.random(n), reach=20.0,
        turns=rng.integers(0, 50, n), noise=constant_noise(0.02),
    )  # fmt: skip


def summed(pulses: MeasuredPulses, voxel: float, *, threads: int = 1, parts: int = 1) -> VoxelSums:
    summing = Summing(voxel, threads)
    for rows in np.array_split(np.arange(len(pulses)), min(parts, len(pulses))):
        part = pulses.select(rows)
        summing.add(part, part.hit)
    return summing.total()


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 3000), st.floats(0.05, 4.0), st.integers(0, 99), st.integers(1, 4), st.integers(1, 5))
def test_they_are_those_of_numpy(n: int, voxel: float, seed: int, threads: int, parts: int) -> None:
    pulses = some_pulses(n, seed, far=100.0 * (seed % 2))
    found = summed(pulses, voxel, threads=threads, parts=parts)
    points, turns = pulses.points[pulses.hit], pulses.turns[pulses.hit]
    cells, labels = np.unique(voxels_of(points, voxel).astype(np.int64), axis=0, return_inverse=True)
    labels = labels.ravel()
    assert np.array_equal(found.voxels, cells)
    for i in np.random.default_rng(seed).integers(0, len(cells), 8):
        own = points[labels == i]
        assert found.counts[i] == len(own)
        assert found.places[i] == pytest.approx(own.mean(0), abs=2e-6 * voxel + 1e-12)
        off = own - own.mean(0)
        assert found.scatter[i] == pytest.approx(
            (off[:, PAIRS[0]] * off[:, PAIRS[1]]).sum(0), abs=1e-5 * len(own) * voxel**2
        )
        assert found.variance[i] == pytest.approx(0.02**2, rel=1e-6)
        assert found.seen[i].tolist() == [turns[labels == i].min(), turns[labels == i].max()]


def test_threads_and_parts_do_not_change_a_bit() -> None:
    """Tables grow several times meanwhile."""
    pulses = some_pulses(40_000, 3)
    wanted = summed(pulses, 0.11)
    assert len(wanted) > 8192
    for threads, parts in ((2, 7), (3, 1), (8, 2)):
        found = summed(pulses, 0.11, threads=threads, parts=parts)
        assert np.array_equal(found.voxels, wanted.voxels) and np.array_equal(found.sums, wanted.sums)


@pytest.mark.parametrize("seed", range(5))
def test_larger_voxels_are_those_that_were_summed_up_at_once(seed: int) -> None:
    pulses = some_pulses(5000, seed)
    fine, wanted = summed(pulses, 0.3), summed(pulses, 1.2)
    found, inside = fine.coarser(4)
    assert np.array_equal(found.voxels, wanted.voxels) and np.array_equal(found.counts, wanted.counts)
    assert np.array_equal(found.voxels[inside], np.floor_divide(fine.voxels, 4))
    for name in ("places", "scatter", "variance", "noise", "intensity", "seen"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=1e-4), name


def test_voxels_too_small_for_the_distance_are_refused() -> None:
    with pytest.raises(InputError, match=r"voxel: must be at least 2\^-21 of the distance"):
        summed(some_pulses(50, 0, far=1e5), 0.01)


def few_pulses(seed: int) -> MeasuredPulses:
    """Of many rings and scans; how far and how bright they returned decides their noise."""
    rng = np.random.default_rng(seed)
    noise = RangeNoise(floor=1e-4, shot=2e-3, thermal=1e-3, scale=300.0)
    return replace(some_pulses(70, seed), rings=rng.integers(0, 64, 70), noise=noise)


@pytest.mark.parametrize(("threads", "parts"), [(1, 1), (3, 2)])
def test_every_column_of_a_few_returns(monkeypatch: pytest.MonkeyPatch, threads: int, parts: int) -> None:
    """Against NumPy, row by row; tables that begin with two rows grow several times meanwhile."""
    monkeypatch.setattr(voxel_sums, "_ROWS", 2)
    pulses, voxel = few_pulses(4), 5.0
    found = summed(pulses, voxel, threads=threads, parts=parts)
    hit = pulses.select(pulses.hit)
    cells, labels = np.unique(np.floor(hit.points / voxel).astype(int), axis=0, return_inverse=True)
    assert found.voxels.tolist() == cells.tolist() and found.counts.max() > 2
    variances = hit.noise.variances(hit.intensity, hit.ranges)
    assert np.ptp(variances) > 1e-4
    for i in range(len(cells)):
        own = labels.ravel() == i
        points, ways, n = hit.points[own], hit.directions[own], own.sum()
        off = points - points.mean(0)
        assert found.counts[i] == n
        assert found.places[i] == pytest.approx(points.mean(0), abs=1e-6 * voxel)
        squares, products = off[:, PAIRS[0]] * off[:, PAIRS[1]], ways[:, PAIRS[0]] * ways[:, PAIRS[1]]
        assert found.scatter[i] == pytest.approx(squares.sum(0), abs=2e-6 * n * voxel**2)
        assert found.variance[i] == pytest.approx(variances[own].mean(), abs=1e-11)
        assert found.noise[i] == pytest.approx((variances[own, None] * products).sum(0), abs=1e-10)
        assert found.intensity[i] == pytest.approx(hit.intensity[own].mean(), abs=1e-6)
        assert found.seen[i].tolist() == [hit.turns[own].min(), hit.turns[own].max()]
        assert found.rings[i].tolist() == [hit.rings[own].min(), hit.rings[own].max()]
        mean = ways.mean(0)
        assert found.ways[i] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
        assert found.square_ranges[i] == pytest.approx((hit.ranges[own] ** 2).mean(), abs=1e-5)


@pytest.mark.parametrize("times", [3, 4])
def test_every_column_of_larger_voxels(times: int) -> None:
    pulses = few_pulses(5)
    found, inside = summed(pulses, 1.5).coarser(times)
    wanted = summed(pulses, 1.5 * times)
    assert found.voxels.tolist() == wanted.voxels.tolist() and found.voxel == 1.5 * times
    assert np.bincount(inside, summed(pulses, 1.5).counts).tolist() == wanted.counts.tolist()
    for name in ("counts", "seen", "rings"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist(), name
    for name in ("places", "variance", "noise", "intensity", "ways", "square_ranges"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=2e-5), name
    # A place is known to 2⁻²⁰ of a side, so the product of two to twice that.
    step = 2 * 2.0**-20 * found.voxel**2
    assert found.scatter == pytest.approx(wanted.scatter, abs=2 * step * found.counts.max())


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("cell", "fits"), [(2**21, True), (2**21 + 1, False), (-(2**21), True), (-(2**21) - 1, False)])
def test_the_furthest_voxel_is_the_one_that_numbers_have_room_for(axis: int, cell: int, fits: bool) -> None:
    middle = np.full(3, 0.25)
    middle[axis] = (cell + 0.5) * 0.5
    pulses = MeasuredPulses.of(middle - [1, 0, 0], [[1, 0, 0]], [1.0], reach=5.0)
    if not fits:
        with pytest.raises(InputError, match="voxel"):
            summed(pulses, 0.5)
        return
    assert summed(pulses, 0.5).voxels[0, axis] == cell


def test_nothing_inside_adds_nothing() -> None:
    summing = Summing(1.0, 1)
    summing.add(few_pulses(6), np.zeros(70, np.bool_))
    assert len(summing.total()) == 0


@pytest.mark.parametrize("far", [300, 2**40])
def test_voxels_are_sorted_by_x_then_y_then_z(far: int) -> None:
    """Whether one number tells the order or the grid is too wide for that."""
    rng = np.random.default_rng(4)
    voxels = np.unique(rng.integers(-3, 4, (200, 3)), axis=0) * np.array([far, 1, far])
    shuffled = rng.permutation(voxels)
    assert (shuffled[voxel_sums._by_place(shuffled)] == voxels).all()
