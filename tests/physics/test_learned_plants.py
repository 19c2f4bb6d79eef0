"""A plant learned from its scans and scanned again, against the plant itself: before the sky and before a wall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import join_pulses, measured_pulses
from tussock.plants.shrub import shrub
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.scene import Scene, SceneObject
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
