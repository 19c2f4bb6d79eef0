"""Nothing falls through a closed surface, nor through the ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.plants.grass import grass_tile
from tussock.poses import Pose, Trajectory
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, cylinder, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.noise import Noise
from tussock.sensors.receiver import Receiver
from tussock.simulate import scan
from tussock.trace.rays import trace_rays
from tussock.trace.watertight import needs_to_be_tight
from tussock.trace.world import World

RAYS = 300_000


def everywhere(seed: int, *, down: bool = False) -> NDArray[np.float64]:
    """Directions drawn evenly, shape (n, 3); ``down``: at least 3° below level."""
    way = np.random.default_rng(seed).normal(size=(RAYS, 3))
    if down:
        way[:, 2] = -np.abs(way[:, 2]) - 0.05 * np.linalg.norm(way[:, :2], axis=1)
    return way / np.linalg.norm(way, axis=1, keepdims=True)


def lost(scene: Scene, origin: tuple[float, float, float], directions: NDArray[np.float64]) -> int:
    ranges = trace_rays(World(scene), np.broadcast_to(origin, directions.shape), directions, 1e4)
    return int(np.isnan(ranges).sum())


def test_rays_along_a_line_of_the_grid_meet_the_ground() -> None:
    """In the plane y = 0.2, which holds edges of 1000 × 1000 cells: one ray in five fell through."""
    scene = Scene()
    scene.add(ground((200, 200), cells=(1000, 1000)))
    angle = np.linspace(-1.5, -0.0205, 20_001)
    assert lost(scene, (0.2, 0.2, 2.0), np.stack([np.cos(angle), 0 * angle, np.sin(angle)], 1)) == 0


@pytest.mark.parametrize("placed", ["once", "as copies", "turned and stretched copies"])
@pytest.mark.parametrize("shape", ["grid", "terrain", "two triangles", "sphere", "box", "cylinder"])
def test_random_rays(shape: str, placed: str) -> None:
    mesh = {
        "grid": ground((2000, 2000), cells=(100, 100)),
        "terrain": ground((2000, 2000), cells=(400, 400), heights=lambda x, y: np.sin(x / 7) * np.cos(y / 5)),
        "two triangles": plane((2000, 2000)),
        "sphere": sphere(5.0),
        "box": box((9.0, 8.0, 7.0)),
        "cylinder": cylinder(6.0, 12.0),
    }[shape]
    flat = shape in ("grid", "terrain", "two triangles")
    scene = Scene()
    if placed == "once":
        scene.add(mesh)
    else:
        places = np.array([[0.0, 0.0, -3.0 if flat else 0.0], [1e4, 0.0, 0.0]])
        bent = placed != "as copies"
        turn, stretch = (np.array([0.3, 0.1]), np.array([[1.0, 1.2, 0.9]] * 2)) if bent else (0.0, np.ones((2, 3)))
        scene.add(mesh, placements=Placements.of(places, yaw=turn, scale=stretch))
    start = (0.3, 0.1, 2.0) if flat else (0.3, 0.1, 0.2)
    assert lost(scene, start, everywhere(len(shape + placed), down=flat)) == 0


def test_a_sensor_in_a_moving_ball_sees_nothing_but_the_ball(plain_sensor: Callable) -> None:
    """Shape and sensor drive on together; nothing else is there to be met."""
    ride = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(30, 4, 1, yaw=2.0)])
    scene = Scene()
    scene.add(sphere(3.0, subdivisions=5), motion=ride)
    sensor = plain_sensor(noise=Noise(), receiver=Receiver(max_range_m=50, min_range_m=0.0))
    pulses = 0
    for frame in range(9):
        points = scan(scene, sensor, ride, frame=frame)
        pulses += len(points)
        assert len(points) == points.pulses
        assert abs(points.true_range - 3.0).max() < 0.02
    assert pulses > 30_000


@pytest.mark.parametrize(
    ("mesh", "tight"),
    [
        (box((0.01, 0.01, 0.01)), True),
        (sphere(0.02, subdivisions=1), True),
        (plane((1, 1)), True),
        (ground((4, 4), cells=(400, 400)), True),
        (cylinder(0.1, 1.0, capped=False), True),
        (cylinder(0.001, 0.1, capped=False), False),
        (plane((0.02, 0.05)), False),
        (grass_tile(seed=1), False),
    ],
    ids=["box", "ball", "floor", "fine terrain", "trunk", "twig", "leaf", "grass"],
)
def test_what_must_be_tight(mesh: Mesh, tight: bool) -> None:
    assert needs_to_be_tight(mesh) is tight
    # Files often repeat the corners for every triangle; what is closed is closed all the same.
    loose = Mesh.of(mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(3 * len(mesh.triangles)).reshape(-1, 3))
    assert needs_to_be_tight(loose) is tight
    assert needs_to_be_tight(Mesh.joined([grass_tile(seed=2), mesh])) is tight
