"""GPS, compass, odometry and IMU err as they were asked to: variances and Allan deviations of long runs."""

import numpy as np
import pytest

from tussock.drive.sensing.errors import Errors, ErrorSettings
from tussock.drive.sensing.imu import Imu
from tussock.drive.sensing.suite import Suite, SuiteAtWork
from tussock.drive.site.ground import Ground
from tussock.drive.site.site import Site
from tussock.drive.vehicles.body import VehicleBody
from tussock.drive.vehicles.vehicle import GRAVITY, load_vehicle

READINGS = 1_000_000


def allan(readings, cluster):
    """Overlapping Allan deviation of readings (n, axes) over clusters of ``cluster``, mean over the axes."""
    sums = np.concatenate([np.zeros((1, readings.shape[1])), np.cumsum(readings, 0)])
    means = (sums[cluster:] - sums[:-cluster]) / cluster
    steps = means[cluster:] - means[:-cluster]
    return float(np.sqrt(0.5 * (steps**2).mean()))


def drift_deviation(sigma, time, tau):
    """Allan deviation of a Gauss-Markov process."""
    x = tau / time
    fade = 1 - np.exp(-x)
    return float(np.sqrt(2 * sigma**2 / x * (1 - fade / x) - (sigma * fade / x) ** 2))


def errors(dt=0.01, axes=8, **settings):
    return Errors(ErrorSettings(**settings), dt, axes=axes, seed=3, purpose=40).take(READINGS // axes)


@pytest.mark.parametrize("cluster", [1, 10, 100, 1000])
def test_white_noise_averages_out_with_the_root_of_the_number(cluster):
    series = errors(white=0.2)
    assert allan(series, cluster) == pytest.approx(0.2 / np.sqrt(cluster), rel=0.05)
    assert series.std() == pytest.approx(0.2, rel=0.005)


@pytest.mark.parametrize("tau", [0.1, 1.0, 2.0, 5.0])
def test_drift_wanders_with_its_time(tau):
    series = errors(drift=1.5, drift_time_s=2.0)
    assert allan(series, round(tau / 0.01)) == pytest.approx(drift_deviation(1.5, 2.0, tau), rel=0.05)
    assert series.std() == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize("tau", [0.1, 1.0, 10.0])
def test_what_wanders_off_grows_with_the_root_of_time(tau):
    series = errors(walk=0.3)
    # A walk that goes on in steps: sums of squares instead of the integral, which matters for few of them.
    cluster = round(tau / 0.01)
    expected = 0.3 * np.sqrt(tau * (2 * cluster**2 + 1) / (6 * cluster**2))
    assert allan(series, cluster) == pytest.approx(expected, rel=0.05)


def test_the_readings_of_a_run_are_the_same_however_it_is_cut():
    settings = ErrorSettings(white=0.1, drift=1.0, drift_time_s=3.0, walk=0.2)
    whole = Errors(settings, 0.1, axes=3, seed=9, purpose=41).take(1000)
    cut = Errors(settings, 0.1, axes=3, seed=9, purpose=41)
    parts = np.concatenate([cut.take(n) for n in (1, 0, 399, 600)])
    np.testing.assert_array_equal(parts, whole)
    assert not np.array_equal(Errors(settings, 0.1, axes=3, seed=8, purpose=41).take(1000), whole)


def standing(suite, seconds):
    """Readings of all sensors on a vehicle that stands."""
    body = VehicleBody(load_vehicle("skid-steer"), Site.bare(Ground.flat(slope=(0.1, 0.05))), 3.0, -2.0, 0.4)
    return body, SuiteAtWork(suite, seed=1).read(body.drive(0.0, 0.0, seconds))


def test_data_sheets_are_met_by_a_standing_vehicle():
    suite = Suite()
    body, readings = standing(suite, 2000.0)
    imu = suite.imu
    rates = readings.imu.rates
    # Up to a second the gyro's noise density rules, 10 s and its bias is there too; both are known.
    for tau in (0.1, 1.0, 10.0):
        white = np.deg2rad(0.007) / np.sqrt(tau)
        drift = drift_deviation(np.deg2rad(10 / 3600), imu.bias_time_s, tau)
        assert allan(rates, round(tau * 100)) == pytest.approx(np.hypot(white, drift), rel=0.05)
    for tau in (0.1, 1.0):
        expected = np.hypot(120e-6 * GRAVITY / np.sqrt(tau), drift_deviation(0.03e-3 * GRAVITY, 100.0, tau))
        assert allan(readings.imu.forces, round(tau * 100)) == pytest.approx(expected, rel=0.05)
    np.testing.assert_allclose(readings.imu.forces.mean(0), body.pose.rotation.T @ [0, 0, GRAVITY], atol=0.01)

    antenna = body.pose.apply([[0.0, 0.0, 2.0]])[0]
    off = readings.gps.positions - antenna
    assert allan(off[:, :2], 1) == pytest.approx(np.hypot(0.008, drift_deviation(0.010, 60.0, 0.1)), rel=0.05)
    angles = readings.compass.angles - [0.4, *(body.drive(0, 0, 0.1).rows[-1, 4:6])]
    assert np.rad2deg(allan(angles[:, :1], 1)) == pytest.approx(0.3, rel=0.05)
    assert np.rad2deg(allan(angles[:, 1:], 1)) == pytest.approx(0.1, rel=0.05)
    assert not readings.odometry.speeds.any(), "wheels that stand say so"


def test_variances_of_gps_and_compass_over_many_runs_are_those_asked_for():
    body, _ = standing(Suite(), 0.1)
    driven = body.drive(0.0, 0.0, 1.0)
    suite = Suite(gps="gps-sbas")
    level, heading = [], []
    for seed in range(4000):
        work = SuiteAtWork(suite, seed=seed)
        level.append(work._gps.read(driven).positions[0, :2])
        heading.append(work._compass.read(driven).angles[0, 0])
    truth = body.pose.apply([[0.0, 0.0, 2.0]])[0, :2]
    assert np.sqrt(((np.array(level) - truth) ** 2).mean()) == pytest.approx(np.hypot(0.15, 1.7), rel=0.05)
    assert np.rad2deg(np.std(heading)) == pytest.approx(np.hypot(0.3, 0.95), rel=0.05)


def test_an_exact_suite_says_the_truth_in_motion():
    body = VehicleBody(load_vehicle("skid-steer"), Site.bare(), 0.0, 0.0, 0.0)
    body.drive(2.0, 0.3, 10.0)
    work = SuiteAtWork(Suite.exact(), seed=0)
    work.read(body.drive(2.0, 0.3, 1.0))
    driven = body.drive(2.0, 0.3, 2.0)
    readings = work.read(driven)
    v, w = driven.column("speed")[-1], driven.column("turn_rate")[-1]
    np.testing.assert_allclose(readings.imu.rates.mean(0), [0, 0, w], atol=1e-6)
    # On a circle the body is pressed outwards: the force inwards is v·w, to the left.
    np.testing.assert_allclose(readings.imu.forces.mean(0), [0, v * w, GRAVITY], atol=0.01)
    np.testing.assert_allclose(readings.odometry.speeds, driven.column("wheel_speed")[-1], rtol=1e-6)
    np.testing.assert_allclose(readings.odometry.turn_rates, w, rtol=1e-6)
    np.testing.assert_allclose(np.hypot(*readings.gps.velocities.T), v, rtol=1e-6)


@pytest.mark.parametrize("slope", [(0.25, 0.0), (-0.15, 0.1)])
def test_a_gps_tells_the_level_part_of_a_speed_on_a_slope(slope):
    body = VehicleBody(
        load_vehicle("skid-steer").changed(side_slip=0.0), Site.bare(Ground.flat(slope=slope)), 0, 0, 0.3
    )
    body.drive(1.5, 0.0, 10.0)
    driven = body.drive(1.5, 0.0, 2.0)
    seconds = driven.times[-1] - driven.times[0]
    over_ground = np.hypot(*(driven.rows[-1, :2] - driven.rows[0, :2])) / seconds
    fixes = SuiteAtWork(Suite.exact(), seed=0)._gps.read(driven)
    np.testing.assert_allclose(np.hypot(*fixes.velocities.T), over_ground, rtol=1e-4)


def test_noise_densities_become_the_noise_of_a_reading_by_the_root_of_the_rate():
    imu = Imu(rate_hz=400.0, gyro_noise_deg_s_rthz=0.01, accel_noise_ug_rthz=100.0)
    assert imu.gyro.white == pytest.approx(np.deg2rad(0.2))
    assert imu.accelerometer.white == pytest.approx(100e-6 * GRAVITY * 20)
