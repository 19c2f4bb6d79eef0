"""A pulse meets learned volumes as one beam: how many sub-rays sample it changes neither hits nor second returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.scene import Scene, SceneObject
from tussock.scene.volumes import Volumes
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

GREY = Material(name="grey", reflectance=0.5)
GAP, TWICE = 1.5, 0.08


def thicket(n: int = 60_000, seed: int = 0) -> MeasuredPulses:
    """Leaves from 6 to 12 m; of the pulses that end there some return again from at least `GAP` further."""
    rng = np.random.default_rng(seed)
    azimuth, elevation = rng.uniform(-0.2, 0.2, n), rng.uniform(-0.12, 0.12, n)
    level = np.cos(elevation)
    way = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1)
    depth = rng.exponential(3.0, n)
    ranges = np.where(depth < 6, 6 + depth, np.nan)
    behind = ranges + GAP + rng.exponential(1.0, n)
    others = np.where((rng.random(n) < TWICE) & (behind < 12), behind, np.nan)
    return MeasuredPulses.of(np.zeros(3), way, ranges, reach=30.0, others=others)


@pytest.fixture(scope="module")
def leaves() -> Volumes:
    return fit_volumes(thicket(), voxel=0.15)


def grid(pencil: Callable[..., Sensor], rays: int, mode: str = "strongest+last") -> Sensor:
    return pencil(
        azimuth_deg=np.linspace(-10, 10, 160).tolist(), elevation_deg=np.linspace(-6, 6, 120).tolist(),
        **{"beam.divergence_horizontal_mrad": 3.0, "beam.divergence_vertical_mrad": 3.0, "beam.rays": rays, "receiver.mode": mode, "receiver.model": "echoes"},
    )  # fmt: skip


def shares(scene: Scene, sensor: Sensor) -> tuple[float, float]:
    """Of all pulses: those with a return, those with two that differ."""
    frame = scan(World(scene), sensor, Pose.at(), seed=5)
    pulses = measured_pulses(scan(World(scene), sensor, Pose.at(), seed=5, keep_misses=True))
    assert len(np.unique(frame.pulse)) == int(pulses.hit.sum())
    return float(pulses.hit.mean()), float(np.isfinite(pulses.others).mean())


def test_hits_and_second_returns_do_not_depend_on_the_number_of_sub_rays(
    leaves: Volumes, pencil: Callable[..., Sensor]
) -> None:
    """25 sub-rays had 4 % more hits than one, and ten times the second returns."""
    scene = Scene("leaves")
    scene.add_volumes(leaves, name="leaves")
    found = {rays: shares(scene, grid(pencil, rays)) for rays in (1, 9, 25)}
    for rays in (9, 25):
        assert found[rays][0] == pytest.approx(found[1][0], rel=0.005)
        assert found[rays][1] == pytest.approx(found[1][1], abs=0.005)
    recorded = thicket()
    assert found[9][0] == pytest.approx(recorded.hit.mean(), rel=0.01)
    assert found[9][1] == pytest.approx(np.isfinite(recorded.others).mean(), rel=0.15)


def test_where_no_second_return_was_recorded_none_is_made(leaves: Volumes, pencil: Callable[..., Sensor]) -> None:
    scene = Scene("leaves")
    single = fit_volumes(replace(thicket(), others=np.full(60_000, np.nan, np.float32)), voxel=0.15)
    assert leaves.second.any() and not single.second.any()
    scene.add_volumes(single, name="leaves")
    assert shares(scene, grid(pencil, 9))[1] == 0.0


def test_second_returns_lie_behind_the_first_and_may_be_a_wall(
    leaves: Volumes, pencil: Callable[..., Sensor], add_wall: Callable[..., SceneObject]
) -> None:
    scene = Scene("leaves before a wall")
    scene.add_volumes(replace(leaves, second=np.full(len(leaves), 65535, np.uint16)), name="leaves")
    wall = add_wall(scene, (12.5, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY, size=9.0)
    frame = scan(World(scene), grid(pencil, 9), Pose.at(), seed=5)
    first, second = frame.select(frame.return_number == 1), frame.select(frame.return_number == 2)
    one, two = (np.full(int(frame.pulse.max()) + 1, np.nan) for _ in range(2))
    one[first.pulse], two[second.pulse] = first.range, second.range
    apart = np.abs(two - one)[np.isfinite(two) & (two != one)]
    assert len(apart) > 0.5 * np.isfinite(one).sum()
    assert apart.min() > 0.9 * leaves.gap
    others = second.object_id == wall.id
    assert 0.05 < others.mean() < 0.95, "where no leaf is behind, the wall is"
    last = scan(World(scene), grid(pencil, 9, "last"), Pose.at(), seed=5)
    strongest = scan(World(scene), grid(pencil, 9, "strongest"), Pose.at(), seed=5)
    assert last.range.mean() > strongest.range.mean() + 0.5


def test_dual_scans_are_learned_and_made_again(pencil: Callable[..., Sensor]) -> None:
    """From frame to volumes to frame: as many pulses with two returns as there were."""
    plants = Scene("leaves")
    plants.add_volumes(fit_volumes(thicket(seed=3), voxel=0.15), name="leaves")
    sensor = grid(pencil, 9)
    frames = [scan(World(plants), sensor, Pose.at(), seed=s, keep_misses=True) for s in range(4)]
    learned = Scene("learned")
    learned.add_volumes(fit_volumes(join_pulses([measured_pulses(f) for f in frames]), voxel=0.15), name="leaves")
    assert shares(learned, sensor)[1] == pytest.approx(shares(plants, sensor)[1], rel=0.15)
