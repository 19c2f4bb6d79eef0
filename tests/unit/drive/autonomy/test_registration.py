"""Registration and the estimate that it rests on."""

import numpy as np
import pytest

from tussock.drive.autonomy.estimate import Estimate, Estimator
from tussock.drive.autonomy.registration import register
from tussock.drive.sensing.suite import Suite, SuiteAtWork
from tussock.drive.site.ground import Ground
from tussock.drive.site.site import Site
from tussock.drive.vehicles.body import VehicleBody
from tussock.drive.vehicles.vehicle import load_vehicle
from tussock.poses import Pose
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


def driven_scan(slope, speed, turn, mount):
    """A frame of a moving vehicle, its exact readings, and what is true."""
    scene = Scene()
    scene.add(plane((300, 300)), label="terrain")
    scene.add(box((0.5, 40, 10)), label="wall", position=(15, 0, 0))
    scene.add(box((40, 0.5, 10)), label="wall", position=(0, 12, 0))
    body = VehicleBody(load_vehicle("skid-steer"), Site.bare(Ground.flat(slope=slope)), 2.0, -3.0, 0.7)
    sensor, suite = load_sensor("vlp-16"), Suite.exact()
    estimator, sensing = Estimator(suite.gps, 2.0, -3.0, 0.7), SuiteAtWork(suite, seed=0)
    for k in range(20):
        driven = body.drive(speed, turn, 0.1)
        estimate = estimator.update(sensing.read(driven), (k + 1) * 0.1)
    frame = scan(scene, sensor, driven.mounted(mount), frame=19)
    return frame, estimate, driven


@pytest.mark.parametrize(("slope", "speed", "turn"), [((0, 0), 0, 0), ((0, 0), 2, 0.5), ((0.1, -0.08), 1, -0.7)])
def test_exact_sensors_register_points_where_they_are(slope, speed, turn):
    mount = Pose.at(0.3, 0.1, 2.0, yaw=0.2, pitch=0.1)
    frame, estimate, driven = driven_scan(slope, speed, turn, mount)
    points = register(frame, estimate, mount)
    truth = frame.world_xyz()
    height = driven.rows[-1, 2]
    error = points[:, :2] - truth[:, :2]
    # The wheels' speed is a few per cent above the true one where they slip, over a tenth of a second.
    assert np.abs(error).max() < 0.03
    # Pitch and roll are taken as the same for the whole frame, in which a turn on a slope changes them.
    leaned = abs(turn) * 0.1 * np.hypot(*slope) * np.abs(frame.range).max()
    assert np.abs(points[:, 2] - (truth[:, 2] - height)).max() < 0.03 + leaned


def test_the_estimate_ends_where_the_vehicle_is():
    _, estimate, driven = driven_scan((0.1, 0.05), 1.5, 0.4, Pose.at(z=2.0))
    row = driven.rows[-1]
    assert estimate.x == pytest.approx(row[0], abs=0.02)
    assert estimate.y == pytest.approx(row[1], abs=0.02)
    assert estimate.yaw == pytest.approx((row[3] + np.pi) % (2 * np.pi) - np.pi, abs=0.002)
    assert estimate.pitch == pytest.approx(row[4], abs=0.01)


def test_between_fixes_the_wheels_lead():
    suite = Suite.exact().changed(gps={"rate_hz": 0.5})
    body = VehicleBody(load_vehicle("skid-steer").changed(slip=0.0), Site.bare(), 0.0, 0.0, 0.0)
    estimator, sensing = Estimator(suite.gps, 0.0, 0.0, 0.0), SuiteAtWork(suite, seed=0)
    for k in range(55):
        estimate = estimator.update(sensing.read(body.drive(2.0, 0.2, 0.1)), (k + 1) * 0.1)
    assert np.hypot(estimate.x - body.motion.x, estimate.y - body.motion.y) < 0.05


def test_headings_across_the_south_are_averaged_as_directions():
    suite = Suite(compass={"heading_deg": {"white": 2.0}, "rate_hz": 100.0})
    body = VehicleBody(load_vehicle("skid-steer"), Site.bare(), 0.0, 0.0, np.pi)
    estimator = Estimator(suite.gps, 0.0, 0.0, np.pi)
    estimate = estimator.update(SuiteAtWork(suite, seed=0).read(body.drive(0, 0, 1.0)), 1.0)
    assert abs(abs(estimate.yaw) - np.pi) < np.deg2rad(1.0)


def test_a_frame_without_returns_has_no_points():
    frame, estimate, _ = driven_scan((0, 0), 0, 0, Pose.at(z=2.0))
    none = frame.select(np.zeros(len(frame), bool))
    assert register(none, Estimate(*estimate), Pose.at(z=2.0)).shape == (0, 3)


def test_points_of_a_national_grid_lie_where_those_near_zero_do():
    mount = Pose.at(z=2.0)
    frame, estimate, _ = driven_scan((0, 0), 2, 0.5, mount)
    near = register(frame, estimate, mount)
    far = register(frame, estimate._replace(x=estimate.x + 500_000.0, y=estimate.y + 4_500_000.0), mount)
    np.testing.assert_allclose(far - (500_000.0, 4_500_000.0, 0.0), near, atol=1e-6)
