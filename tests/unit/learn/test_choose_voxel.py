"""The size of voxels: by the score of scans, of a part of the pulses that is as dense as the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.held_out import HeldOutScore

CHOOSING = "tussock.learn.choose_voxel"
BOX = (5.0, -1.5, -1.5, 7.0, 1.5, 1.5)
RINGS = 16


def leaves(n: int, seed: int = 0, rings: int = 1) -> MeasuredPulses:
    """A slab of leaves from 5.5 to 6.5 m that a third of the pulses pass, and a wall at 9 m."""
    rng = np.random.default_rng(seed)
    ring = np.arange(n) % rings
    way = np.stack([np.ones(n), rng.uniform(-0.1, 0.1, n), 0.2 * (ring + 0.5) / rings - 0.1], 1)
    depth = rng.exponential(0.9, n)
    ahead = np.where(depth < 1, 5.5 + depth, 9.0)
    return MeasuredPulses.of(np.zeros(3), way, ahead * np.linalg.norm(way, axis=1), rings=ring, reach=15.0)


def test_pulses_without_rings_are_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of them all elevations would be one."""
    asked: list[str] = []
    monkeypatch.setattr(f"{CHOOSING}.log_likelihood", lambda *given, **options: asked.append("pulse by pulse") or 0.0)
    monkeypatch.setattr(HeldOutScore, "of", lambda self, volumes: asked.append("together") or 0.0)
    choose_voxel(leaves(3000, rings=1))
    assert set(asked) == {"pulse by pulse"}
    asked.clear()
    choose_voxel(leaves(3000, rings=RINGS))
    assert set(asked) == {"together"}


@pytest.mark.parametrize("regions", [False, True])
def test_from_several_places_the_size_is_one_for_what_they_all_saw(
    regions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many pulses from four places: windows of azimuth of each have seen other things, and voxels grew to metres."""
    rng = np.random.default_rng(4)
    parts = []
    for k in range(4):
        azimuth, ring = rng.uniform(-np.pi, np.pi, 50_000), rng.integers(0, RINGS, 50_000)
        rise = np.deg2rad(2.0 * ring - 24)
        way = np.stack([np.cos(rise) * np.cos(azimuth), np.cos(rise) * np.sin(azimuth), np.sin(rise)], 1)
        at = np.array([4.0 * k, 0.0, 1.8])
        ranges = np.where(way[:, 2] < 0, -1.8 / np.minimum(way[:, 2], -1e-9), np.nan)  # level ground
        hedge = (3.0 + rng.uniform(0, 0.6, len(way))) / np.maximum(np.abs(way[:, 1]), 1e-9)  # to both sides
        ranges = np.fmin(ranges, np.where(np.abs(way[:, 2] * hedge + 0.3) < 1.5, hedge, np.nan))
        ranges[ranges > 40] = np.nan
        pulses = MeasuredPulses.of(at, way, ranges, rings=ring, azimuths=azimuth, reach=60.0)
        parts.append(replace(pulses, turns=np.full(len(pulses), k)))
    place = join_pulses(parts)
    monkeypatch.setattr(f"{CHOOSING}._ENOUGH", 12_000)
    monkeypatch.setattr(f"{CHOOSING}._ENOUGH_RETURNS", 12_000)
    assert choose_voxel(place, regions=regions) < 0.5


def test_all_pulses_of_some_directions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thinned part would ask for larger voxels."""
    monkeypatch.setattr(f"{CHOOSING}._ENOUGH", 5000)
    asked: list[int] = []
    monkeypatch.setattr(f"{CHOOSING}.in_windows", lambda pulses, most: (asked.append(most), pulses)[1])
    choose_voxel(leaves(8000))
    assert asked == [5000]


@pytest.mark.parametrize("rings", [1, RINGS])
def test_a_wall_behind_the_box_changes_no_size(rings: int) -> None:
    pulses = leaves(20_000, rings=rings)
    free = replace(pulses, ranges=np.where(pulses.points[:, 0] > 8, np.nan, pulses.ranges))
    assert choose_voxel(pulses, box=BOX) == choose_voxel(free)


def test_hits_that_are_lost_weigh_more_than_a_distance() -> None:
    pulses, test = leaves(20_000, rings=RINGS), leaves(5000, 1, rings=RINGS)
    score = HeldOutScore(pulses, test, box=None, seed=0, threads=1)
    volumes = fit_volumes(pulses, voxel=0.2)
    good = score.of(volumes)
    assert -0.5 < good < 0
    shells = volumes.shells + ((65535 - volumes.shells.astype(int)) * 0.4).astype(np.uint16)
    open_ones = replace(volumes, shells=shells, closure=np.zeros_like(volumes.closure))
    lost = test.hit.mean() - simulate_volumes(open_ones, test, seed=0).hit.mean()
    assert lost > 0.03 and score.of(open_ones) < good - 8 * (lost - 0.03)


@pytest.mark.parametrize(
    ("better_at", "tried", "chosen"),
    [
        # likelihoods of the steps down from the first size (0), then up: two in a row that are worse end it
        ({0: 1.0}, [0, 1, 2, -1, -2], 0),
        ({0: 1.0, 1: 2.0}, [0, 1, 2, 3], 1),
        ({0: 1.0, 2: 2.0}, [0, 1, 2, 3, 4], 2),
        ({0: 1.0, 3: 2.0}, [0, 1, 2, -1, -2], 0),  # the third is not reached any more
        ({0: 1.0, 1: 2.0, 3: 3.0}, [0, 1, 2, 3, 4, 5], 3),
        ({0: 1.0, 1: 1.0, 2: 1.0, 3: 2.0}, [0, 1, 2, -1, -2], 0),  # as good is not better
        ({0: 1.0, -1: 2.0}, [0, 1, 2, -1, -2, -3], -1),
        ({0: 1.0, -2: 2.0}, [0, 1, 2, -1, -2, -3, -4], -2),
    ],
)
def test_the_search_for_a_size_has_patience_for_one_that_is_worse(
    better_at: dict[int, float], tried: list[int], chosen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[float] = []
    monkeypatch.setattr(f"{CHOOSING}.fit_volumes", lambda training, *, voxel, **options: voxel)

    def scored(size: float, test: MeasuredPulses, **options: object) -> float:
        sizes.append(size)
        return better_at.get(round(2 * np.log2(sizes[0] / size)), 0.0)

    monkeypatch.setattr(f"{CHOOSING}.log_likelihood", scored)
    found = choose_voxel(leaves(2000), threads=1)  # several threads try two sizes at a time
    assert [round(2 * np.log2(sizes[0] / size)) for size in sizes] == tried
    assert found == pytest.approx(sizes[0] * np.sqrt(0.5) ** chosen, rel=0.01)
