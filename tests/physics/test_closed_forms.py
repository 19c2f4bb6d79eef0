"""Planes, boxes, spheres and ellipsoids have ranges and normals on paper; a scan must find them to 1 mm at 100 m."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.receiver import Receiver
from tussock.simulate import scan

MILLIMETRE = 1e-3
RHO = 0.6
GREY = Material(name="grey", reflectance=RHO)
FAR = np.array([1000.0, 0.0, 0.0])
"""where a second copy stands out of sight, which makes a shape a shared one"""


def plane_along(normal: NDArray, point: NDArray, origins: NDArray, directions: NDArray) -> NDArray:
    """Range of every ray to an endless plane, infinite where it looks away."""
    with np.errstate(divide="ignore"):
        t = (point - origins) @ normal / (directions @ normal)
    return np.where(t > 0, t, np.inf)


def assert_near(frame: object, expected: NDArray, cosine: NDArray, *, sure: NDArray | None = None) -> None:
    """Rows of a frame with misses against range and cos θ of every pulse; ``sure`` leaves out edges."""
    sure = np.ones(len(expected), bool) if sure is None else sure
    met = np.isfinite(expected)
    assert (frame.hit == met)[sure].all()
    rows = met & sure
    assert rows.sum() > 100
    assert np.abs(frame.true_range - expected)[rows].max() < MILLIMETRE
    assert np.abs(frame.intensity - RHO * cosine)[rows].max() < 1e-5


@pytest.mark.parametrize("shared", [False, True], ids=["one copy", "shared shape"])
@pytest.mark.parametrize(
    "centre",
    # A float32 has steps of 0.03 to 0.5 m there.
    [(0, 0, 0), (500_000.137, 5_200_000.291, 300.073), (-3_100_000.389, 71.113, -0.057)],
    ids=["near zero", "map coordinates", "west"],
)
def test_wall_at_100_m(
    centre: tuple[float, float, float], shared: bool, plain_sensor: Callable, closed_rays: Callable
) -> None:
    middle = np.array(centre, float)
    upright = Rotation.from_euler("y", -90, degrees=True).as_quat()
    wall = middle + np.array([100.0, 0, 0])
    places = [wall] + ([middle + FAR] if shared else [])
    scene = Scene()
    scene.add(
        plane((2000, 2000), material=GREY),
        placements=Placements.of(places, quaternions=np.repeat(upright[None], len(places), 0)),
    )
    # Not a whole number of float32 steps from the wall: rounding both alike must not hide it.
    sensor, pose = plain_sensor(), Pose(middle + np.array([0.0113, 0.0071, 0.0131]))
    frame = scan(scene, sensor, pose, keep_misses=True)
    origins, directions, _ = closed_rays(sensor, pose)
    expected = plane_along(np.array([1.0, 0, 0]), wall, origins, directions)
    assert_near(frame, np.where(expected < 200, expected, np.inf), directions[:, 0], sure=np.abs(expected - 200) > 0.01)
    returns = frame.select(frame.hit)
    assert np.abs(returns.world_xyz(true=True)[:, 0] - (middle[0] + 100)).max() < MILLIMETRE


def test_ground_at_grazing_incidence(plain_sensor: Callable, closed_rays: Callable) -> None:
    """From 2 m up the ground is met at 100 m under 1.1°: what is wrong in height is 50 times wrong in range."""
    scene = Scene()
    scene.add(ground((400, 400), cells=(40, 40), material=GREY))
    sensor = plain_sensor(elevation_deg=(-1.146, -1.5, -2.0, -5.0, -20.0, -45.0))
    pose = Pose.at(0.3, 0.2, 2)
    frame = scan(scene, sensor, pose, keep_misses=True)
    _, directions, _ = closed_rays(sensor, pose)
    assert 99 < frame.true_range.max() < 101
    assert_near(frame, 2 / -directions[:, 2], -directions[:, 2])


@pytest.mark.parametrize("shared", [False, True], ids=["one copy", "shared shape"])
def test_inside_a_turned_box(shared: bool, plain_sensor: Callable, closed_rays: Callable) -> None:
    size, turn = np.array([180.0, 120.0, 60.0]), Rotation.from_euler("zyx", [0.4, 0.2, -0.1])
    scene = Scene()
    places = [np.zeros(3)] + ([FAR] if shared else [])
    scene.add(
        box(size, material=GREY),
        placements=Placements.of(places, quaternions=np.repeat(turn.as_quat()[None], len(places), 0)),
    )
    sensor, pose = plain_sensor(), Pose.at(5, -7, 3, yaw=0.3)
    frame = scan(scene, sensor, pose, keep_misses=True)
    origins, directions, _ = closed_rays(sensor, pose)
    o, d = turn.inv().apply(origins), turn.inv().apply(directions)
    walls = (np.sign(d) * size / 2 - o) / d
    nearest = walls.argmin(1)
    rows = np.arange(len(d))
    # In a corner, which of two walls is met is a matter of rounding, and with it the cosine.
    two = np.sort(walls, 1)
    assert_near(frame, walls[rows, nearest], np.abs(d[rows, nearest]), sure=two[:, 1] - two[:, 0] > 0.01)
    assert frame.hit.all(), "a closed box has no holes"


def test_sphere(plain_sensor: Callable, closed_rays: Callable) -> None:
    """A ball of 10 m at 100 m, in triangles of 8 cm that lie up to 0.1 mm below its surface."""
    radius, centre = 10.0, np.array([95.0, 20.0, 5.0])
    scene = Scene()
    scene.add(sphere(radius, subdivisions=7, material=GREY), position=centre)
    sensor = plain_sensor(elevation_deg={"first": -4, "last": 9, "count": 40}, steps=1440)
    frame = scan(scene, sensor, Pose(), keep_misses=True)
    origins, directions, _ = closed_rays(sensor, Pose())
    along = ((centre - origins) * directions).sum(1)
    inside = radius**2 - (centre @ centre - along**2)
    with np.errstate(invalid="ignore"):
        expected = np.where((inside > 0) & (along > 0), along - np.sqrt(inside), np.inf)
        cosine = np.sqrt(inside) / radius
    # Triangles are flat: their edges show at the rim, and their normals differ from the ball's by half a degree.
    sure = ~np.isfinite(expected) & (inside < -1) | (cosine > 0.3)
    assert (frame.hit == np.isfinite(expected))[sure].all()
    rows = np.isfinite(expected) & sure
    assert rows.sum() > 500
    assert np.abs(frame.true_range - expected)[rows].max() < MILLIMETRE
    assert np.abs(frame.intensity - RHO * cosine)[rows].max() < 5e-3


@pytest.mark.parametrize("shared", [False, True], ids=["one copy", "shared shape"])
@pytest.mark.parametrize("mirrored", [False, True], ids=["plain", "mirrored"])
def test_tilted_and_stretched_plane(
    mirrored: bool, shared: bool, plain_sensor: Callable, closed_rays: Callable
) -> None:
    """Normals turn by the inverse transpose: stretching a tilted shape along one axis must tilt them more."""
    rng = np.random.default_rng(5)
    tilt = Rotation.from_euler("yx", [-60, 25], degrees=True).as_matrix()
    stretch = np.diag([3.0, 0.5, -2.0 if mirrored else 2.0])
    axes = Rotation.from_euler("zy", [20, 10], degrees=True).as_matrix() @ stretch @ tilt
    matrices = np.concatenate([axes, [[70.0], [5.0], [2.0]]], 1)[None]
    if shared:
        other = matrices.copy()
        other[0, :, 3] += FAR
        matrices = np.concatenate([other, matrices])
    scene = Scene()
    scene.add(plane((400, 400), material=GREY), placements=Placements(matrices))
    sensor, pose = plain_sensor(), Pose.at(*rng.uniform(-1, 1, 3))
    frame = scan(scene, sensor, pose, keep_misses=True)
    origins, directions, _ = closed_rays(sensor, pose)
    normal = np.linalg.inv(axes).T @ [0.0, 0.0, 1.0]
    normal /= np.linalg.norm(normal)
    expected = plane_along(normal, np.array([70.0, 5.0, 2.0]), origins, directions)
    expected = np.where(expected < 200, expected, np.inf)
    sure = np.abs(np.nan_to_num(expected, posinf=0) - 200) > 0.01
    near = frame.hit & (frame.true_range < 150)
    assert (frame.placement[near] == (1 if shared else 0)).all()
    with np.errstate(invalid="ignore"):
        inside = (
            np.linalg.inv(axes) @ (origins + np.nan_to_num(expected, posinf=0)[:, None] * directions - [70, 5, 2]).T
        )
    sure &= (np.abs(inside[:2]) < 199).all(0) & np.isfinite(expected)
    assert_near(frame, expected, np.abs(directions @ normal), sure=sure)


def test_ellipsoid(plain_sensor: Callable, closed_rays: Callable) -> None:
    """A unit ball stretched to half axes of 30, 6 and 12 m and turned: |A⁻¹(o + t·d − c)| = 1."""
    axes = Rotation.from_euler("zyx", [0.5, 0.3, -0.2]).as_matrix() * [30.0, 6.0, 12.0]
    centre = np.array([90.0, -10.0, 4.0])
    matrices = np.concatenate([axes, centre[:, None]], 1)[None]
    scene = Scene()
    scene.add(sphere(1.0, subdivisions=7, material=GREY), placements=Placements(np.repeat(matrices, 2, 0)))
    sensor = plain_sensor(elevation_deg={"first": -4, "last": 9, "count": 40}, steps=1440)
    frame = scan(scene, sensor, Pose(), keep_misses=True)
    origins, directions, _ = closed_rays(sensor, Pose())
    o, d = (origins - centre) @ np.linalg.inv(axes).T, directions @ np.linalg.inv(axes).T
    a, b, c = (d * d).sum(1), (o * d).sum(1), (o * o).sum(1) - 1
    root = b * b - a * c
    with np.errstate(invalid="ignore"):
        t = (-b - np.sqrt(root)) / a
        normal = (o + t[:, None] * d) @ np.linalg.inv(axes)
        cosine = np.abs((normal * directions).sum(1)) / np.linalg.norm(normal, axis=1)
        rows = (root > 0) & (t > 0) & (cosine > 0.4)
    assert rows.sum() > 500
    assert frame.hit[rows].all()
    assert np.abs(frame.true_range - t)[rows].max() < MILLIMETRE
    assert np.abs(frame.intensity - RHO * cosine)[rows].max() < 1e-2


def test_range_limits_are_kept(plain_sensor: Callable, closed_rays: Callable) -> None:
    """Nothing nearer than the least range and nothing beyond the greatest; the near thing still hides the far."""
    scene = Scene()
    upright = Rotation.from_euler("y", -90, degrees=True).as_quat()[None]
    scene.add(plane((2000, 2000), material=GREY), placements=Placements.of([[100.0, 0, 0]], quaternions=upright))
    scene.add(plane((1, 1), material=GREY), placements=Placements.of([[2.0, 0, 0]], quaternions=upright))
    sensor = plain_sensor(receiver=Receiver(min_range_m=5.0, max_range_m=102.0))
    frame = scan(scene, sensor, keep_misses=True)
    _, directions, _ = closed_rays(sensor, Pose())
    with np.errstate(divide="ignore", invalid="ignore"):
        wall = np.where(directions[:, 0] > 0, 100 / directions[:, 0], np.inf)
        screen = np.abs(directions[:, 1:] / directions[:, :1] * 2).max(1)
    behind = (directions[:, 0] > 0) & (screen < 0.5)
    sure = (np.abs(screen - 0.5) > 1e-3) & (np.abs(wall - 102) > 1e-3)
    assert (frame.hit == ((wall <= 102) & ~behind))[sure].all()
    assert behind.sum() > 10
