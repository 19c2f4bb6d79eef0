"""A vehicle against closed forms: circles, braking, slopes, slip, and where the energy goes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.drive.site.ground import Ground
from tussock.drive.site.plants import Plants
from tussock.drive.site.site import Site
from tussock.drive.vehicles.body import VehicleBody
from tussock.drive.vehicles.motion import COLUMNS
from tussock.drive.vehicles.vehicle import GRAVITY, load_vehicle


def on(slope=(0.0, 0.0), name="skid-steer", yaw=0.0, **changes):
    vehicle = load_vehicle(name).changed(**changes)
    return VehicleBody(vehicle, Site.bare(Ground.flat(slope=slope)), 0.0, 0.0, yaw)


def circle(rows):
    """Middle and radius of the circle through points, by least squares."""
    points = rows[:, :2]
    a = np.column_stack([2 * points, np.ones(len(points))])
    x, y, c = np.linalg.lstsq(a, (points**2).sum(1), rcond=None)[0]
    return (x, y), np.sqrt(c + x * x + y * y)


@pytest.mark.parametrize("turn", [0.5, 0.1, -0.25])
def test_a_skid_steered_vehicle_turns_on_a_circle_of_speed_over_turn_rate(turn):
    body = on(rolling_resistance=0.0)
    body.drive(1.0, turn, 10.0)
    rows = body.drive(1.0, turn, 30.0).rows
    _, radius = circle(rows)
    assert radius == pytest.approx(1.0 / abs(turn), rel=1e-3)


def test_steered_wheels_turn_on_a_circle_of_wheelbase_over_tangent_and_no_tighter():
    body = on(name="mrzr", rolling_resistance=0.0)
    body.drive(1.0, 1.0, 10.0)
    _, radius = circle(body.drive(1.0, 1.0, 40.0).rows)
    assert radius == pytest.approx(2.72 / np.tan(np.deg2rad(17.5)), rel=1e-3)
    assert body.vehicle.turning_radius_m == pytest.approx(radius, rel=1e-3)
    wide = on(name="mrzr", rolling_resistance=0.0)
    wide.drive(2.0, 0.1, 10.0)
    assert circle(wide.drive(2.0, 0.1, 40.0).rows)[1] == pytest.approx(20.0, rel=2e-3)


def test_steered_wheels_do_not_turn_on_the_spot():
    body = on(name="mrzr")
    body.drive(0.0, 1.0, 5.0)
    assert body.motion.yaw == 0.0


@pytest.mark.parametrize(("speed", "braking", "lag"), [(2.0, 2.0, 0.3), (2.0, 1.0, 0.5), (0.3, 2.0, 0.3)])
def test_the_stopping_distance_is_that_of_full_braking_and_then_of_the_lag(speed, braking, lag):
    body = on(rolling_resistance=0.0, braking_m_s2=braking, speed_lag_s=lag, slip=0.0)
    body.drive(speed, 0.0, 20.0)
    v, x = body.motion.speed, body.motion.x
    body.drive(0.0, 0.0, 20.0)
    # Braking as hard as allowed down to v1 = a·T, and from there on exponentially.
    knee = min(v, braking * lag)
    expected = (v * v - knee * knee) / (2 * braking) + knee * lag
    assert body.motion.speed == 0.0
    assert body.motion.x - x == pytest.approx(expected, rel=0.01)


def test_speed_and_turn_rate_keep_to_their_limits():
    body = on()
    rows = body.drive(99.0, 0.0, 10.0)
    assert rows.column("wheel_speed").max() == pytest.approx(2.0, abs=1e-3)
    assert np.diff(rows.column("speed")).max() / 0.01 <= 1.0 + 1e-9
    rows = body.drive(0.0, 99.0, 10.0)
    assert np.abs(rows.column("turn_rate")).max() == pytest.approx(np.deg2rad(45.0), rel=1e-3)
    assert body.drive(-99.0, 0.0, 10.0).column("wheel_speed").min() == pytest.approx(-1.0, abs=1e-3)
    # Both sides share the greatest speed: 2 m/s less half the track (1.4 m) times the turn rate.
    turning = body.drive(2.0, 0.5, 10.0)
    assert turning.column("wheel_speed")[-1] == pytest.approx(2.0 - 0.7 * 0.5, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-np.pi, np.pi))
def test_on_a_plane_the_body_lies_in_the_plane(gx, gy, yaw):
    body = on((gx, gy), yaw=yaw)
    turn = body.pose.rotation
    normal = np.array([-gx, -gy, 1.0]) / np.sqrt(1 + gx * gx + gy * gy)
    np.testing.assert_allclose(turn[:, 2], normal, atol=1e-9)
    # Its nose points where the heading says, as seen from above.
    assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(yaw, abs=1e-9)
    assert body.pose.position[2] == pytest.approx(0.0, abs=1e-9)


def test_roll_and_pitch_on_a_slope():
    along = on((0.2, 0.0))
    assert along.pose.rotation[2, 0] == pytest.approx(np.sin(np.arctan(0.2)))
    across = on((0.0, 0.2))
    assert across.drive(0, 0, 0.1).column("roll")[-1] == pytest.approx(np.arctan(0.2))
    assert across.drive(0, 0, 0.1).column("pitch")[-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("grade", [0.0, 0.1, 0.25])
def test_uphill_the_wheels_slip_in_proportion_to_the_force(grade):
    body = on((grade, 0.0))
    rows = body.drive(2.0, 0.0, 30.0)
    angle, v = np.arctan(grade), body.vehicle
    force = v.mass_kg * GRAVITY * (np.sin(angle) + v.rolling_resistance * np.cos(angle))
    slip = v.slip * force / (v.traction * v.mass_kg * GRAVITY * np.cos(angle))
    assert rows.column("drive_force")[-1] == pytest.approx(force, rel=1e-3)
    assert rows.column("speed")[-1] == pytest.approx(2.0 * (1 - slip), rel=1e-3)
    assert rows.column("wheel_speed")[-1] == pytest.approx(2.0, rel=1e-3)


def test_across_a_slope_it_creeps_downhill():
    body = on((0.0, 0.2), rolling_resistance=0.0)
    body.drive(2.0, 0.0, 20.0)
    v, angle = body.vehicle, np.arctan(0.2)
    expected = v.side_slip * np.sin(angle) / (v.traction * np.cos(angle)) * np.cos(angle)
    assert body.motion.y / body.motion.x == pytest.approx(-expected, rel=0.01)


def test_too_steep_a_slope_is_not_climbed_and_standing_there_is_not_sliding():
    body = on((0.7, 0.0))  # steeper than the traction of 0.6
    body.drive(2.0, 0.0, 10.0)
    assert body.motion.x <= 1e-6
    assert body.motion.speed == 0.0


@pytest.mark.parametrize("slope", [(0.0, 0.0), (0.2, 0.1), (-0.3, 0.25)])
def test_standing_still_for_ten_minutes_does_not_drift(slope):
    body = on(slope, yaw=0.3)
    before = body.drive(0.0, 0.0, 0.1).rows[-1]
    after = body.drive(0.0, 0.0, 600.0).rows
    np.testing.assert_array_equal(after[-1, :8], before[:8])
    assert not after[:, 6].any()


def test_after_a_drive_it_stands_too():
    body = on((0.1, 0.05))
    body.drive(2.0, 0.4, 10.0)
    body.drive(0.0, 0.0, 10.0)
    place = body.motion
    body.drive(0.0, 0.0, 600.0)
    assert (body.motion.x, body.motion.y, body.motion.yaw) == (place.x, place.y, place.yaw)


def test_it_tips_over_where_the_slope_exceeds_half_the_track_over_the_height():
    limit = 0.5 * 1.4 / 0.7
    assert not on((0.0, 0.98 * limit)).tipped
    assert on((0.0, 1.02 * limit)).tipped


def grassy(area, height, slope=(0.0, 0.0), stems=0.0):
    """A plane with the same plants everywhere."""
    shape = (400, 400)
    plants = Plants.none(-100.0, -100.0, 0.5, shape)
    plants.area[:], plants.height[:], plants.stems[:] = area, height, stems
    bare = Site.bare(Ground.flat(slope=slope))
    return Site(bare.ground, bare.obstacles, plants, bare.movers)


def test_plants_hold_back_with_force_by_height_density_and_width():
    body = VehicleBody(load_vehicle("skid-steer"), grassy(3.0, 0.8), -50.0, 0.0, 0.0)
    rows = body.drive(2.0, 0.0, 20.0)
    assert rows.column("plant_force")[-1] == pytest.approx(100.0 * 1.7 * 3.0 * 0.8, rel=1e-6)


def test_plants_that_were_driven_over_hold_back_less():
    body = VehicleBody(load_vehicle("skid-steer"), grassy(3.0, 0.8), -50.0, 0.0, 0.0)
    first = body.drive(1.0, 0.0, 20.0)
    # Four cells of 0.5 m have their middles under the body, 3 m long; its ends are not over the plants yet.
    assert first.column("pressed_cells").sum() * 0.25 == pytest.approx(2.0 * (body.motion.x + 50 + 2.0), abs=1.0)
    body.drive(-1.0, 0.0, 15.0)
    again = body.drive(1.0, 0.0, 10.0)
    assert again.column("plant_force")[-1] == pytest.approx(0.2 * 100.0 * 1.7 * 3.0 * 0.8, rel=1e-6)


def test_plants_that_hold_more_than_it_can_push_stop_it():
    body = VehicleBody(load_vehicle("skid-steer"), grassy(40.0, 2.0), -50.0, 0.0, 0.0)
    body.drive(2.0, 0.0, 5.0)
    assert body.motion.speed == 0.0


@pytest.mark.parametrize("slope", [(0.0, 0.0), (0.15, 0.0), (-0.1, 0.05)])
def test_the_work_of_the_drive_goes_into_motion_height_and_resistance(slope):
    site = grassy(2.0, 0.6, slope)
    body = VehicleBody(load_vehicle("skid-steer").changed(side_slip=0.0), site, -40.0, 0.0, 0.0)
    rows = np.concatenate([body.drive(2.0, 0.0, 12.0).rows[1:], body.drive(0.5, 0.0, 6.0).rows[1:]])
    column = {name: rows[:, k] for k, name in enumerate(COLUMNS)}
    v = column["speed"]
    middle = 0.5 * (v + np.concatenate([[0.0], v[:-1]]))
    way = middle * 0.01

    def work(force):
        return float((column[force] * way).sum())

    mass = body.vehicle.mass_kg
    motion, height = 0.5 * mass * v[-1] ** 2, mass * GRAVITY * (rows[-1, 2] - slope[0] * -40.0)
    given_by_drive = work("drive_force")
    spent = motion + height + work("soil_force") + work("plant_force")
    scale = abs(work("soil_force")) + abs(height) + motion
    assert given_by_drive == pytest.approx(spent, abs=0.003 * scale)
    assert work("plant_force") == pytest.approx(100.0 * 1.7 * 2.0 * 0.6 * way.sum(), rel=0.02)
