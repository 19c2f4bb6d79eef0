"""Plants learned from their scans and scanned again, against the plants themselves: hits, and the size of voxels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import compare
from tussock.plants.shrub import shrub
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene, SceneObject
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

GREY = Material(name="grey", reflectance=0.5)


@pytest.fixture(scope="module")
def grid(pencil: Callable[..., Sensor]) -> Sensor:
    """32,000 pulses over a shrub 8 m ahead, each thrown a little aside so that no two scans ask the same leaves."""
    return pencil(
        azimuth_deg=np.linspace(-14, 14, 200).tolist(),
        elevation_deg=np.linspace(-8, 14, 160).tolist(),
        **{"noise.pointing_sigma_mrad": 1.5},
    )


@pytest.mark.parametrize(("wall", "bound"), [(False, 0.01), (True, 0.02)])
def test_as_many_pulses_end_in_learned_shrubs_as_in_shrubs(
    wall: bool, bound: float, grid: Sensor, add_wall: Callable[..., SceneObject]
) -> None:
    """Learned before the sky; scanned again before the sky, and before a wall that was not there."""
    plant = Scene("shrub")
    plant.add(shrub(height=3.0, radius=1.5, leaf_area=14.4, triangles=30_000, seed=0), position=(8.0, 0.0, 0.0))
    pose = Pose.at(0, 0, 1.0)
    scans = [measured_pulses(scan(World(plant), grid, pose, seed=s, keep_misses=True)) for s in range(12)]
    volumes = fit_volumes(join_pulses(scans), voxel=0.1)
    learned, unclosed = Scene("learned"), Scene("without closure")
    learned.add_volumes(volumes, name="shrub")
    unclosed.add_volumes(replace(volumes, closure=np.zeros(len(volumes), np.uint16)), name="shrub")
    if wall:
        for scene in (plant, learned, unclosed):
            add_wall(scene, (14.0, 0.0, 2.0), (-1.0, 0.0, 0.0), material=GREY, size=20.0)

    def share(scene: Scene) -> float:
        frames = [scan(World(scene), grid, pose, seed=100 + s, keep_misses=True) for s in range(6)]
        return float(np.mean([(frame.range < 12).mean() for frame in frames]))

    assert share(learned) == pytest.approx(share(plant), rel=bound)
    assert share(unclosed) < (1 - 2 * bound) * share(plant), "closure is what makes it so"


def test_among_shrubs_the_chosen_size_scores_as_the_best_one() -> None:
    """Four revolutions learned, four more foretold; the size at which each pulse by itself is likeliest has 1.4 times the best score."""
    place = Scene("shrubs")
    place.add(plane((40, 40)), name="ground")
    for seed, (x, y) in enumerate([(5, 0), (0, 6), (-7, 1), (1, -5), (5, 5)]):
        plant = shrub(height=2.5, radius=1.5, leaf_area=12, triangles=20_000, seed=seed)
        place.add(plant, name=f"shrub {seed}", position=(x, y, 0))
    world, sensor = World(place), load_sensor("vlp-16").with_(**{"beam.rays": 1})

    def seen(seeds: range) -> MeasuredPulses:
        frames = [scan(world, sensor, Pose.at(0, 0, 1), frame=k, seed=k, keep_misses=True) for k in seeds]
        return join_pulses([measured_pulses(frame) for frame in frames])

    learned, later = seen(range(4)), seen(range(4, 8))

    def score(size: float) -> tuple[float, float]:
        again = simulate_volumes(fit_volumes(learned, voxel=size), later, seed=3)
        found = compare(later, again, angle_bin=np.deg2rad(1.0), range_bin=0.1)
        return found.distance, found.hit_rate_difference

    chosen, off = score(choose_voxel(learned))
    assert chosen <= 1.1 * min(score(0.02 * 2 ** (k / 2))[0] for k in range(7))
    assert abs(off) < 0.01
