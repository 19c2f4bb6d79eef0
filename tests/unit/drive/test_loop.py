"""Drives: to the goal, around what is in the way, and how they end otherwise."""

import numpy as np
import pytest
from small_drives import VEHICLE, eye, field, stage

from tussock.drive.autonomy.following import DriveCommand
from tussock.drive.autonomy.stack import Steps
from tussock.drive.files import save_truth
from tussock.drive.loop import drive_to
from tussock.drive.metrics import Ending
from tussock.drive.settings import DriveSettings, load_drive_settings
from tussock.drive.stage import Stage
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.simulate import scan

START = (-12.0, 5.0, 0.0)


@pytest.fixture(scope="module")
def place():
    return stage()


@pytest.fixture(scope="module")
def there(place):
    """One drive around the wall."""
    return drive_to(place, eye(), (12.0, 5.0), start=START, seed=3)


def test_it_finds_its_way_around_a_wall(there):
    m = there.metrics
    assert m.success
    assert m.ending == Ending.GOAL
    assert m.collisions == 0
    assert m.left_m <= 2.0
    # The wall ends at y = −3; the direct way is 24 m and goes through it.
    assert m.length_m > 25.0
    crossing = np.abs(there.truth[:, 0]) < 0.5
    assert there.truth[crossing, 1].max() < -3.5
    assert m.closest_m < 3.0
    assert m.replans >= 5
    assert m.direct_m == pytest.approx(24.0)
    assert 0 < m.position_error_m < 0.3
    assert m.time_s == pytest.approx(there.times[-1])


def test_grass_costs_work_and_is_pressed(there):
    assert there.metrics.plant_work_j > 50
    assert there.metrics.pressed_m2 > 5
    assert there.site.plants.pressed.any()
    assert there.metrics.drive_work_j > there.metrics.plant_work_j


def test_the_same_seed_gives_the_same_bits_on_any_threads_and_at_any_pace(place, there):
    again = drive_to(place, eye(), (12.0, 5.0), start=START, seed=3, threads=1)
    np.testing.assert_array_equal(again.truth, there.truth)
    np.testing.assert_array_equal(again.cost_map.costs, there.cost_map.costs)
    assert again.metrics == there.metrics
    paced = drive_to(
        place, eye(), (12.0, 5.0), start=START, seed=3, speed=8.0, settings=DriveSettings(time_limit_s=1.0)
    )
    assert paced.total_s >= 1.0 / 8.0
    n = len(paced.truth)
    np.testing.assert_array_equal(paced.truth, there.truth[:n])
    other = drive_to(place, eye(), (12.0, 5.0), start=START, seed=4)
    assert not np.array_equal(other.estimates[:10], there.estimates[:10])


def test_several_goals_are_headed_for_one_after_the_other(place):
    result = drive_to(place, eye(), [(-5.0, -8.0), (4.0, -9.0)], start=(-12.0, 0.0, -0.5))
    assert result.metrics.success
    assert np.hypot(*(result.truth[:, :2] - [-5.0, -8.0]).T).min() < 2.0


def test_a_closed_ring_has_no_way_and_the_drive_says_so():
    tries = DriveSettings(refuse_shut_in=False)
    result = drive_to(stage(ring=True), eye(), (12.0, -6.0), start=(-12.0, -6.0, 0.0), settings=tries)
    assert not result.metrics.success
    assert result.metrics.ending == Ending.NO_WAY
    assert result.metrics.message.startswith("no way from ")
    assert result.metrics.collisions == 0


def test_a_start_or_a_goal_that_is_shut_in_is_refused():
    ring = stage(ring=True)
    with pytest.raises(InputError, match=r"^goal: must not be shut in.* 1\.7 m wide, got '12,-6'; move it") as caught:
        drive_to(ring, eye(), (12.0, -6.0), start=(-12.0, -6.0, 0.0))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"^start: must not be shut in.*got '12,-6'; "):
        drive_to(ring, eye(), [(11.0, -6.0), (-12.0, -6.0)], start=(12.0, -6.0, 0.0))


def test_a_sensor_that_sees_nothing_ends_the_drive(place):
    blind = eye().with_(**{"receiver.max_range_m": 1.0})
    result = drive_to(place, blind, (12.0, 5.0), start=START)
    assert result.metrics.ending == Ending.BLIND
    assert "range of 1 m" in result.metrics.message
    assert result.metrics.returns == 0


def test_every_third_frame_may_be_looked_at_alone(place):
    steps = []

    class Kept:
        def watch(self, step):
            steps.append(step)

    settings = DriveSettings(time_limit_s=1.2, scan_every=3)
    drive_to(place, eye(), (12.0, 5.0), start=START, settings=settings, watchers=[Kept()])
    assert [step.sensed.frame.meta["frame"] for step in steps] == [2, 5, 8, 11]
    assert [round(step.sensed.end, 9) for step in steps] == [0.3, 0.6, 0.9, 1.2]
    times = steps[1].sensed.frame.time
    assert 0.5 <= times.min() < times.max() <= 0.6
    # Points are put where they were seen from, whatever lies between the frames: the wall stands where it does.
    points = steps[-1].thought.points
    wall = points[(points[:, 2] > 0.5) & (np.abs(points[:, 0]) < 2.0) & (points[:, 1] > -2.0)]
    assert len(wall) > 100
    assert np.median(np.abs(wall[:, 0] + 0.3)) < 0.2
    with pytest.raises(InputError, match="scan_every"):
        DriveSettings(scan_every=0)


def test_the_time_limit_ends_it_and_so_does_whoever_asks(place):
    limited = drive_to(place, eye(), (12.0, 5.0), start=START, settings=DriveSettings(time_limit_s=0.5))
    assert limited.metrics.ending == Ending.TIME
    assert limited.metrics.time_s == pytest.approx(0.5)
    asked = drive_to(place, eye(), (12.0, 5.0), start=START, stop=lambda: True)
    assert asked.metrics.ending == Ending.STOPPED
    assert asked.metrics.frames == 1


def test_one_that_drives_straight_on_runs_into_the_wall_and_is_stuck_there(place):
    straight = Steps(follow=lambda path, estimate, cost: DriveCommand(1.0, 0.0))
    settings = DriveSettings(stuck_s=6.0, autonomy={"back_off_s": 0.0})
    result = drive_to(place, eye(), (12.0, 5.0), start=(-6.0, 5.0, 0.0), steps=straight, settings=settings)
    assert result.metrics.ending == Ending.STUCK
    assert result.metrics.collisions == 1
    assert result.metrics.closest_m < 0.15
    assert result.truth[-1, 0] == pytest.approx(-0.3 - 1.5, abs=0.15)


def test_after_a_collision_it_backs_off_and_goes_around(place):
    # The map is blind to the wall: only the bumper finds it.
    blind = Steps(add=lambda cost_map, points, estimate: None)
    settings = DriveSettings(time_limit_s=120.0)
    result = drive_to(place, eye(), (12.0, -3.4), start=(-8.0, -3.4, 0.0), steps=blind, settings=settings)
    assert result.metrics.success
    assert result.metrics.collisions >= 1


def test_every_step_of_the_autonomy_can_be_ones_own(place):
    used = set()

    def register(frame, estimate, mount):
        used.add("register")
        return frame.world_xyz().astype(np.float32) - np.float32([0, 0, 0])

    def add(cost_map, points, estimate):
        used.add("add")
        assert points.shape[1] == 3

    def plan(cost_map, here, goal):
        used.add("plan")
        return np.array([here, (here[0] + 5, -6.0), goal])

    def follow(path, estimate, cost_ahead):
        used.add("follow")
        return DriveCommand(0.5, 0.1)

    steps = Steps(register=register, add=add, plan=plan, follow=follow)
    result = drive_to(place, eye(), (12.0, 5.0), start=START, steps=steps, settings=DriveSettings(time_limit_s=0.5))
    assert used == {"register", "add", "plan", "follow"}
    np.testing.assert_allclose(result.path[-1], (12.0, 5.0))


def test_a_plan_of_the_wrong_shape_is_refused(place):
    with pytest.raises(InputError, match=r"plan: must return a path"):
        drive_to(place, eye(), (12.0, 5.0), start=START, steps=Steps(plan=lambda m, a, b: np.zeros(5)))


NAN = float("nan")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            Steps(plan=lambda m, a, b: [(0.0, 1.0), (NAN, 2.0)]),
            r"plan: must return finite places \[m\]; number 1 is not",
        ),
        (Steps(plan=lambda m, a, b: "north"), r"plan: must return a path"),
        (Steps(plan=lambda m, a, b: []), r"plan: must return a path"),
        (Steps(follow=lambda path, estimate, ahead: (NAN, 0.0)), r"follow: must return two finite numbers"),
        (Steps(follow=lambda path, estimate, ahead: None), r"follow: must return two finite numbers"),
        (Steps(follow=lambda path, estimate, ahead: (1.0, 0.0, 0.0)), r"follow: must return two finite numbers"),
        (Steps(register=lambda frame, estimate, mount: np.zeros((4, 2))), r"register: must return points \(n, 3\)"),
    ],
)
def test_what_ones_own_step_returns_is_checked(place, steps, words):
    with pytest.raises(InputError, match=words):
        drive_to(place, eye(), (12.0, 5.0), start=START, steps=steps)


def test_a_path_may_be_a_list_of_places(place):
    steps = Steps(plan=lambda cost_map, here, goal: [here, (0, -6), goal])
    result = drive_to(place, eye(), (12.0, 5.0), start=START, steps=steps, settings=DriveSettings(time_limit_s=1.5))
    np.testing.assert_array_equal(result.path[1:], [(0, -6), (12, 5)])
    assert result.metrics.length_m > 0.1


def test_a_step_that_raises_ends_the_drive_with_its_own_error_and_leaves_plants_upright(place):
    def plan(cost_map, here, goal):
        if here[0] > 5.0:
            raise RuntimeError("of the user's own")
        return np.array([here, goal])

    before = scan(place.world, eye(), Pose.at(4, 0, 2.0))
    with pytest.raises(RuntimeError, match="of the user's own"):
        drive_to(place, eye(), (12.0, -6.0), start=(2.0, -6.0, 0.0), steps=Steps(plan=plan))
    after = scan(place.world, eye(), Pose.at(4, 0, 2.0))
    np.testing.assert_array_equal(after.range, before.range)


def test_a_pace_must_be_above_zero(place):
    for pace in (0.0, -1.0, NAN):
        with pytest.raises(InputError, match="speed: must be above 0"):
            drive_to(place, eye(), (12.0, 5.0), start=START, speed=pace)


@pytest.mark.parametrize("far", [(500_000.0, 4_500_000.0), (-3_000_000.0, 250_000.5)])
def test_coordinates_of_a_national_grid_change_nothing_of_a_drive(tmp_path, there, far):
    scene = Scene("far")
    for thing in field().objects:
        moved = thing.placements.matrices.copy()
        moved[:, :2, 3] += far
        scene.add(thing.mesh, name=thing.name, label=thing.label, tags=thing.tags, placements=Placements(moved))
    (x, y), start = np.add((12.0, 5.0), far), (START[0] + far[0], START[1] + far[1], START[2])
    result = drive_to(Stage(scene, VEHICLE), eye(), (x, y), start=start, seed=3)
    assert result.metrics.success
    assert result.metrics.collisions == 0
    # Rounding of a nanometre or so may turn a decision; what is asked for is the same way, not the same bits.
    assert result.metrics.length_m == pytest.approx(there.metrics.length_m, rel=0.02)
    seen, usual = result.cost_map, there.cost_map
    assert np.mean(seen.seen != usual.seen) < 0.002
    both = seen.seen & usual.seen
    assert np.mean(np.abs(seen.costs[both] - usual.costs[both]) > 20.0) < 0.05
    save_truth(result, tmp_path / "truth.csv")
    table = np.loadtxt(tmp_path / "truth.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 0], result.times, atol=1e-6)
    np.testing.assert_allclose(table[:, 1:4], result.truth[:, :3], atol=1e-3)
    with pytest.raises(InputError, match=r"goal: must be free of obstacles, got '-?\d{6,}"):
        drive_to(Stage(scene, VEHICLE), eye(), (far[0], far[1] + 4.0), start=start)


@pytest.mark.parametrize(
    ("goal", "start", "words"),
    [
        ((0.0, 4.0), START, "goal: must be free of obstacles"),
        ((0.0, 40.0), START, "goal: must lie on the scene's ground"),
        ((np.nan, 0.0), START, "goal: must be two finite numbers"),
        ((1.0, 2.0, 3.0), START, "goal: must be x,y"),
        ((12.0, 5.0), (-8.0, -10.0, 0.0), "start: must be free of obstacles"),
        ((12.0, 5.0), (30.0, 0.0, 0.0), "start: must have ground under all wheels"),
        ((12.0, 5.0), (1.0,), "start: must be x,y or x,y,yaw"),
    ],
)
def test_bad_places_are_one_line(place, goal, start, words):
    with pytest.raises(InputError) as caught:
        drive_to(place, eye(), goal, start=start)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_map_that_is_too_small_says_how_large_it_must_be(place):
    small = DriveSettings(autonomy={"map": {"cells": 20}})
    with pytest.raises(InputError, match=r"goal: must lie on a map of 10 m × 10 m"):
        drive_to(place, eye(), (12.0, 5.0), start=START, settings=small)


def test_settings_from_a_file(tmp_path):
    file = tmp_path / "drive.toml"
    file.write_text(
        'vehicle = "mrzr"\nmount_m = [0.5, 0, 1.8]\n[sensors]\ngps = "gps-sbas"\n[autonomy.plan]\nweight = 3\n'
    )
    settings = load_drive_settings(file)
    assert settings.vehicle.steering == "ackermann"
    assert settings.sensors.gps.rate_hz == 4.0
    assert settings.sensors.imu.name == "imu-mti-1"
    assert settings.autonomy.plan.weight == 3
    file.write_text('vehicle = "mrzzr"\n')
    with pytest.raises(InputError, match="did you mean 'mrzr'"):
        load_drive_settings(file)
    file.write_text('[sensors]\ngps = "gps-best"\n')
    with pytest.raises(InputError, match=r"gps.*not in the catalogue"):
        load_drive_settings(file)
    file.write_text("[autonomy.map]\ncell = 1\n")
    with pytest.raises(InputError, match=r"autonomy\.map\.cell: unknown key"):
        load_drive_settings(file)


def test_a_vehicle_of_ones_own_starts_from_another(tmp_path):
    from tussock.drive.vehicles.vehicle import load_vehicle

    file = tmp_path / "tall.toml"
    file.write_text('base = "skid-steer"\nheight_m = 3.0\n')
    tall = load_vehicle(file)
    assert (tall.name, tall.height_m, tall.length_m) == ("tall", 3.0, VEHICLE.length_m)
    file.write_text('base = "skid-steer"\nwheelbase_m = 30.0\n')
    with pytest.raises(InputError, match="wheelbase_m must be at most length_m"):
        load_vehicle(file)


def test_an_ackermann_drives_there_too():
    settings = DriveSettings(vehicle="mrzr", time_limit_s=60.0)
    result = drive_to(
        Stage(field(), settings.vehicle), eye(), (12.0, -6.0), start=(-14.0, -6.0, 0.0), settings=settings
    )
    assert result.metrics.success
