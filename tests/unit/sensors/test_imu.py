"""An inertial sensor on paths whose accelerations are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.imu import GRAVITY, Imu


def test_at_rest_it_feels_gravity_in_its_own_axes() -> None:
    for pose, force in (
        (Pose(), [0, 0, GRAVITY]),
        (Pose.at(roll=np.pi / 2), [0, GRAVITY, 0]),  # its y looks up
        (Pose.at(3, 4, 5, pitch=np.pi / 2), [-GRAVITY, 0, 0]),  # its x looks down
    ):
        told = Imu(rate_hz=100, position_m=(0.1, 0.2, 0.3)).measure(Trajectory.standing(pose), range(7))
        np.testing.assert_allclose(told.force, np.tile(force, (7, 1)), atol=1e-12)
        np.testing.assert_array_equal(told.rate, np.zeros((7, 3)))
        np.testing.assert_allclose(told.time, np.arange(7) / 100)


def circle(turns: float = 1.0) -> Trajectory:
    """Radius 5 m at 2 rad/s, looking ahead."""
    times = np.linspace(0, turns * np.pi, 400)
    poses = [Pose.at(5 * np.cos(2 * t), 5 * np.sin(2 * t), 1, yaw=2 * t + np.pi / 2) for t in times]
    return Trajectory.through(times, poses)


def test_on_a_circle_it_feels_the_pull_to_the_centre_and_the_turn() -> None:
    told = Imu(rate_hz=200).measure(circle(), range(100, 500))
    np.testing.assert_allclose(told.force, np.tile([0, 5 * 4, GRAVITY], (400, 1)), atol=2e-3)
    np.testing.assert_allclose(told.rate, np.tile([0, 0, 2], (400, 1)), atol=1e-4)


def test_off_the_axis_it_feels_the_arm() -> None:
    """1 m to the left of the middle, towards the centre: a circle of 4 m."""
    told = Imu(rate_hz=200, position_m=(0, 1, 0)).measure(circle(), range(100, 500))
    np.testing.assert_allclose(told.force, np.tile([0, 4 * 4, GRAVITY], (400, 1)), atol=2e-3)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_its_readings_add_up_to_the_way(seed: int) -> None:
    """Dead reckoning from the readings arrives where the path does."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 4, 41)
    wave = rng.uniform(-1, 1, (6, 3))
    angle = 0.3 * sum(w * np.sin((k + 1) * times[:, None] * 0.7) for k, w in enumerate(wave[:3]))
    place = 2.0 * sum(w * np.cos((k + 1) * times[:, None] * 0.7) for k, w in enumerate(wave[3:]))
    path = Trajectory(times, place, Rotation.from_rotvec(angle).as_quat())
    rate = 2000
    told = Imu(rate_hz=rate).measure(path, range(rate, 3 * rate))
    position, turn = path.at([1.0])
    step = 1 / rate
    (before, _), (after, _) = path.at([1.0 - 0.05]), path.at([1.0 + 0.05])
    velocity, heading = ((after - before) / 0.1)[0], Rotation.from_quat(turn[0])
    position = position[0].copy()
    for force, omega in zip(told.force, told.rate, strict=True):
        heading = heading * Rotation.from_rotvec(omega * step / 2)
        acceleration = heading.apply(force) - [0, 0, GRAVITY]
        position += velocity * step + acceleration * step**2 / 2
        velocity += acceleration * step
        heading = heading * Rotation.from_rotvec(omega * step / 2)
    end, turned = path.at([3.0])
    assert np.linalg.norm(position - end[0]) < 0.15  # of some 5 m; the start's velocity is a chord's
    assert (heading.inv() * Rotation.from_quat(turned[0])).magnitude() < 2e-3


@settings(max_examples=20, deadline=None)
@given(first=st.integers(0, 300), count=st.integers(1, 200), seed=st.integers(0, 5))
def test_any_cut_of_the_samples_gives_the_same(first: int, count: int, seed: int) -> None:
    imu = Imu(rate_hz=100, accelerometer_noise=0.01, gyroscope_noise=0.001)
    whole = imu.measure(circle(2), range(500), seed=seed)
    part = imu.measure(circle(2), range(first, first + count), seed=seed)
    # To the last bits, which depend on how many SciPy turns at once.
    np.testing.assert_allclose(part.force, whole.force[first : first + count], rtol=0, atol=1e-11)
    np.testing.assert_allclose(part.rate, whole.rate[first : first + count], rtol=0, atol=1e-12)


def test_noise_has_its_density() -> None:
    imu = Imu(rate_hz=100, accelerometer_noise=0.002, gyroscope_noise=0.0003)
    told = imu.measure(Trajectory.standing(Pose()), range(20_000))
    assert (told.force - [0, 0, GRAVITY]).std() == pytest.approx(0.02, rel=0.02)
    assert told.rate.std() == pytest.approx(0.003, rel=0.02)
    assert abs(np.corrcoef(told.force[:, 0], told.rate[:, 0])[0, 1]) < 0.03


def test_samples_cut_at_frames_come_once() -> None:
    imu = Imu(rate_hz=100)
    parts = [imu.samples(k * 0.1, (k + 1) * 0.1) for k in range(50)]
    assert [k for part in parts for k in part] == list(range(500))


def test_a_path_ends_at_rest() -> None:
    told = Imu(rate_hz=10).measure(Trajectory.through([1, 2], [Pose(), Pose.at(1)]), range(40))
    np.testing.assert_allclose(told.force, np.tile([0, 0, GRAVITY], (40, 1)), atol=1e-9)  # even speed between two


def test_wrong_settings_are_one_line() -> None:
    with pytest.raises(InputError, match="rate_hz"):
        Imu(rate_hz=0)
