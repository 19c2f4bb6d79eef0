"""All moves while a revolution lasts: each pulse must see the world, and leave from the sensor, at its time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.receiver import Receiver
from tussock.simulate import scan
from tussock.trace.reference import trace_reference

MILLIMETRE = 1e-3
RHO = 0.6
GREY = Material(name="grey", reflectance=RHO)
UPRIGHT = Rotation.from_euler("y", -90, degrees=True).as_quat()
STRAIGHT = np.array([0.0, 0.0, 0.0, 1.0])
WIDE = Receiver(max_range_m=400.0)


def upright_wall() -> Placements:
    """The plane x = 0 of the object it belongs to."""
    return Placements.of([[0.0, 0, 0]], quaternions=UPRIGHT[None])


@pytest.mark.parametrize("centre", [(0, 0, 0), (500_000, 5_200_000, 300)], ids=["near zero", "map coordinates"])
@pytest.mark.parametrize("number", [0, 3])
def test_wall_that_drives_away_at_20_m_per_s(
    number: int, centre: tuple[int, int, int], plain_sensor: Callable, closed_rays: Callable
) -> None:
    """It is 2 m further at the end of the revolution; seen at one time, the last pulse would be off by that."""
    middle = np.array(centre, float)
    scene = Scene()
    away = Trajectory([0, 1], middle + np.array([[90.0, 0, 0], [110.0, 0, 0]]), [STRAIGHT, STRAIGHT])
    scene.add(plane((2000, 2000), material=GREY), placements=upright_wall(), motion=away)
    scene.add(box(material=GREY), position=middle + np.array([0, 0, -50]), name="what stands")
    sensor, pose = plain_sensor(receiver=WIDE), Pose(middle)
    frame = scan(scene, sensor, pose, frame=number, keep_misses=True)
    _, directions, times = closed_rays(sensor, pose, number)
    with np.errstate(divide="ignore"):
        expected = np.where(directions[:, 0] > 0, (90 + 20 * times) / directions[:, 0], np.inf)
    near = expected < 200
    assert frame.hit[near].all()
    assert np.abs(frame.true_range - expected)[near].max() < MILLIMETRE
    assert np.abs(frame.intensity - RHO * directions[:, 0])[near].max() < 1e-5
    walls = frame.world_xyz(true=True)[near]
    assert np.abs(walls[:, 0] - middle[0] - (90 + 20 * times[near])).max() < MILLIMETRE


@pytest.mark.parametrize("number", [0, 7])
def test_sensor_that_turns_and_drives(number: int, plain_sensor: Callable, closed_rays: Callable) -> None:
    """15 m/s along x and 1 rad/s to the left, towards a wall at x = 115 m."""
    scene = Scene()
    scene.add(plane((4000, 4000), material=GREY), placements=Placements.of([[115.0, 0, 0]], quaternions=UPRIGHT[None]))
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(15, 0, 0, yaw=1.0)])
    sensor = plain_sensor(receiver=WIDE)
    frame = scan(scene, sensor, path, frame=number, keep_misses=True)

    # The pose on paper, not as `Trajectory` interpolates it: x = 15 t, yaw = t.
    pulses = sensor.pulses(number)
    times = 0.1 * number + pulses.offsets
    azimuth = -2 * np.pi * 10 * times + times
    elevation = np.deg2rad(sensor.pattern.elevation_deg)[pulses.lasers]
    forward = np.cos(elevation) * np.cos(azimuth)
    with np.errstate(divide="ignore"):
        expected = np.where(forward > 0, (115 - 15 * times) / forward, np.inf)
    near = expected < 200
    assert near.sum() > 1000
    assert frame.hit[near].all()
    assert np.abs(frame.true_range - expected)[near].max() < MILLIMETRE
    assert np.abs(frame.intensity - RHO * forward)[near].max() < 1e-5
    assert np.array_equal(frame.time, times)
    assert np.abs(frame.world_xyz(true=True)[near][:, 0] - 115).max() < MILLIMETRE
    # Put into the world with the pose of the frame's middle, the same points miss the wall by a metre and more.
    frozen = path.pose(0.1 * number + 0.05).apply(frame.true_xyz[near])
    assert np.abs(frozen[:, 0] - 115).max() > 1


def test_sensor_on_a_crooked_path_and_a_wall_that_moves(plain_sensor: Callable, rays_of: Callable) -> None:
    """Knots that fall anywhere within the frame, turns about all axes, a mount with a lever."""
    rng = np.random.default_rng(3)
    times = np.sort(np.concatenate([[0, 0.4], rng.uniform(0, 0.4, 30)]))
    positions = np.stack([12 * times, np.sin(9 * times), 0.2 * np.cos(15 * times)], 1)
    turns = Rotation.from_euler("zyx", np.stack([times, 0.1 * np.sin(20 * times), 0.05 * np.cos(17 * times)], 1))
    path = Trajectory(times, positions, turns.as_quat()).mounted(Pose.at(1.2, 0.1, 1.9, pitch=0.1))
    scene = Scene()
    wall = Trajectory([0, 0.4], [[100.0, 0, 0], [108.0, 0, 0]], [STRAIGHT, STRAIGHT])
    scene.add(plane((4000, 4000), material=GREY), placements=upright_wall(), motion=wall)
    sensor = plain_sensor(receiver=WIDE)
    frame = scan(scene, sensor, path, frame=2, keep_misses=True)
    origins, directions, when = rays_of(sensor, path, 2)
    with np.errstate(divide="ignore"):
        expected = np.where(directions[:, 0] > 0, (100 + 20 * when - origins[:, 0]) / directions[:, 0], np.inf)
    near = expected < 200
    assert frame.hit[near].all()
    assert np.abs(frame.true_range - expected)[near].max() < MILLIMETRE


@pytest.mark.parametrize("lever", [0.0, 40.0])
def test_what_turns_stays_on_its_circle(lever: float, plain_sensor: Callable, rays_of: Callable) -> None:
    """A box stretched to a bar on a boom that turns at 2 rad/s: the further out, the more time steps it needs."""
    scene = Scene()
    spin = Trajectory.through([0.0, 0.5, 1.0], [Pose.at(60, 0, 0, yaw=yaw) for yaw in (3.0, 4.0, 5.0)])
    scene.add(box(material=GREY), placements=Placements.of([[lever, 0, 0]], scale=[[1.0, 30.0, 30.0]]), motion=spin)
    sensor = plain_sensor(steps=720)
    frame = scan(scene, sensor, keep_misses=True)
    rays = rays_of(sensor, Pose())
    hits = trace_reference(scene, *rays)
    met = np.isfinite(hits.range) & (hits.cos_incidence > 0.3)
    assert met.sum() > 200
    assert (frame.hit == np.isfinite(hits.range)).mean() > 0.999
    both = met & frame.hit
    assert np.abs(frame.true_range - hits.range)[both].max() < 0.2 * MILLIMETRE
    assert np.abs(frame.intensity - RHO * hits.cos_incidence)[both].max() < 1e-4


def test_pulses_after_the_end_of_the_revolution_have_their_own_time(plain_sensor: Callable) -> None:
    """A cycle that starts just before the revolution ends fires its last lasers after it, in the same frame."""
    scene = Scene()
    away = Trajectory([0, 1], [[90.0, 0, 0], [110.0, 0, 0]], [STRAIGHT, STRAIGHT])
    scene.add(plane((2000, 2000), material=GREY), placements=upright_wall(), motion=away)
    sensor = plain_sensor(
        elevation_deg=[0.0, 0.0], azimuth_deg=[0.0, 0.0], firing_us=[0.0, 6500.0], cycle_us=6600.0, receiver=WIDE
    )
    pulses = sensor.pulses(0)
    assert pulses.offsets[-1] > 0.104, "the test needs a pulse after the end"
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(15.0, 0, 0)])
    frame = scan(scene, sensor, path, keep_misses=True)
    forward = np.cos(-2 * np.pi * 10 * pulses.offsets)
    seen = forward > 0.5
    assert seen[-1]
    assert np.abs(frame.true_range - (90 + 5 * pulses.offsets) / forward)[seen].max() < MILLIMETRE
    wall = 90 + 20 * pulses.offsets[seen]
    assert np.abs(frame.world_xyz(true=True)[seen][:, 0] - wall).max() < MILLIMETRE


def test_a_path_that_ends_too_early_is_refused(plain_sensor: Callable) -> None:
    scene = Scene()
    scene.add(plane((10, 10)))
    path = Trajectory.through([0.0, 0.25], [Pose.at(0, 0, 1), Pose.at(1, 0, 1)])
    assert len(scan(scene, plain_sensor(), path, frame=1, keep_misses=True)) == 16 * 360
    with pytest.raises(InputError, match=r"^trajectory: must cover the frame from 0\.2 s to 0\.3 s, got .*; .*$"):
        scan(scene, plain_sensor(), path, frame=2)
