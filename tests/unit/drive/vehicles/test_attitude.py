"""Attitudes in plain arithmetic, against SciPy's rotations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tussock.drive.site.ground import Ground
from tussock.drive.site.site import Site
from tussock.drive.vehicles.attitude import matrices, quaternions, rates_between, times
from tussock.drive.vehicles.body import VehicleBody
from tussock.drive.vehicles.vehicle import load_vehicle
from tussock.poses import Pose

ANGLES = st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3)


@given(ANGLES, st.floats(-10, 10))
def test_angles_become_the_same_rotation(angles, more):
    yaw, pitch, roll = angles[0] + more, angles[1], angles[2]
    expected = Rotation.from_euler("ZYX", [yaw, pitch, roll])
    np.testing.assert_allclose(matrices(yaw, pitch, roll), expected.as_matrix(), atol=1e-12)
    found = quaternions(yaw, pitch, roll)
    np.testing.assert_allclose(Rotation.from_quat(found).as_matrix(), expected.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found), 1.0)
    pose = Pose.at(yaw=yaw, pitch=pitch, roll=roll)
    np.testing.assert_allclose(pose.rotation, expected.as_matrix(), atol=1e-12)


@given(ANGLES, ANGLES)
def test_products(a, b):
    p, q = quaternions(*a), quaternions(*b)
    expected = (Rotation.from_quat(p) * Rotation.from_quat(q)).as_matrix()
    np.testing.assert_allclose(Rotation.from_quat(times(p, q)).as_matrix(), expected, atol=1e-12)


def test_rates():
    rng = np.random.default_rng(0)
    turns = quaternions(*(np.cumsum(rng.normal(0, 0.02, (3, 200)), 1)))
    r = Rotation.from_quat(turns)
    np.testing.assert_allclose(rates_between(turns, 0.01), (r[:-1].inv() * r[1:]).as_rotvec() / 0.01, atol=1e-9)
    np.testing.assert_allclose(rates_between(np.repeat(turns[:1], 5, 0), 0.01), 0.0, atol=1e-14)


def test_a_mounted_sensor_goes_where_a_trajectory_would_take_it():
    body = VehicleBody(load_vehicle("warthog"), Site.bare(Ground.flat(slope=(0.1, 0.2))), 0.0, 0.0, 0.3)
    body.drive(2.0, 1.0, 2.0)
    driven = body.drive(2.0, 1.0, 0.1)
    mount = Pose.at(0.4, -0.2, 1.8, yaw=0.5, pitch=0.2, roll=-0.1)
    ours, theirs = driven.mounted(mount), driven.path.mounted(mount)
    at = np.linspace(driven.times[0], driven.times[-1], 37)
    np.testing.assert_allclose(ours.at(at)[0], theirs.at(at)[0], atol=1e-4)
    np.testing.assert_allclose(np.abs((ours.at(at)[1] * theirs.at(at)[1]).sum(1)), 1.0, atol=1e-6)
