"""Planning, following and the autonomy around them."""

import numpy as np
import pytest
from scipy.ndimage import maximum_filter

from tussock.drive.autonomy.cost_map import CostMap, MapSettings
from tussock.drive.autonomy.estimate import Estimate, Estimator
from tussock.drive.autonomy.following import DriveCommand, FollowSettings, follow
from tussock.drive.autonomy.planning import PlanSettings, _grow, distances, plan
from tussock.drive.autonomy.stack import Autonomy, AutonomySettings
from tussock.drive.settings import DriveSettings
from tussock.drive.vehicles.vehicle import load_vehicle
from tussock.poses import Pose

VEHICLE = load_vehicle("skid-steer")


def at(x, y, yaw=0.0, time=0.0):
    return Estimate(time, x, y, yaw, 0.0, 0.0, 0.0, 0.0)


def test_how_far_the_next_obstacle_is():
    costs = np.zeros((21, 21), np.float32)
    costs[10, 10] = 100
    i, j = np.indices(costs.shape)
    away = np.hypot(i - 10, j - 10)
    np.testing.assert_allclose(distances(costs, 100, 3.2), np.where(away <= 3.2, away, np.inf), rtol=1e-6)
    assert np.isinf(distances(costs, 101, 3.2)).all()


def test_a_plan_leads_around_what_is_lethal_and_prefers_short_grass():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50:54, 20:] = 100  # a wall with a way around its low end
    path = plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(), 0.85)
    assert path[:, 1].min() < -14.0
    i, j = cost_map.index(path[:, 0], path[:, 1])
    assert distances(cost_map.costs, 100, 9.0)[i, j].min() > (0.85 + 0.25) / 0.5
    cost_map.costs[:] = 0
    cost_map.costs[50:54, 20:] = 60  # tall grass: cheaper to go through or around, by the weight
    through = plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(weight=1.0), 0.85)
    around = plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(weight=100.0), 0.85)
    assert np.abs(through[:, 1] - 10).max() < 1.0
    assert around[:, 1].min() < -14.0


def test_a_gap_without_room_for_the_margin_is_gone_through_where_there_is_no_other_way():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50] = 100
    cost_map.costs[50, 48:52] = 0  # 2 m: the vehicle is 1.7 m wide, and 2.2 m with its margins
    path = plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(), 0.85)
    crossing = path[np.abs(path[:, 0] - 0.25) < 0.3]
    assert np.abs(crossing[:, 1]).max() < 0.5
    cost_map.costs[50, 10:20] = 0  # 5 m, further off: there the margin is kept
    path = plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(), 0.85)
    assert path[:, 1].min() < -15.0
    cost_map.costs[50], cost_map.costs[50, 49:51] = 100, 0  # 1 m: too narrow for the vehicle itself
    assert plan(cost_map, (-15.0, 10.0), (15.0, 10.0), PlanSettings(), 0.85) is None


def test_the_whole_body_keeps_off_a_post_that_is_no_obstacle_yet():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50, 50] = 73  # a post of 1.1 m, on the straight way
    path = plan(cost_map, (-15.0, 0.25), (15.0, 0.25), PlanSettings(), 0.85)
    assert np.hypot(path[:, 0] - 0.25, path[:, 1] - 0.25).min() > 0.85
    thin = plan(cost_map, (-15.0, 0.25), (15.0, 0.25), PlanSettings(), 0.2)
    assert np.hypot(thin[:, 0] - 0.25, thin[:, 1] - 0.25).min() < 0.85


def test_costs_grow_to_the_highest_within_a_radius():
    rng = np.random.default_rng(5)
    costs = (100 * rng.random((30, 40))).astype(np.float32)
    i, j = np.indices((5, 5)) - 2
    for radius in (0.5, 1.0, 1.7, 2.0):
        grown = np.empty_like(costs)
        _grow(costs, radius, grown)
        disc = i**2 + j**2 <= radius**2
        np.testing.assert_array_equal(grown, maximum_filter(costs, footprint=disc, mode="constant", cval=0.0))


def test_a_blocked_goal_is_come_as_near_to_as_counts():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[70, 50] = 100  # one stray cell beside the goal
    goal = (10.0, 0.6)
    assert plan(cost_map, (-15.0, 0.25), goal, PlanSettings(), 0.85) is None
    path = plan(cost_map, (-15.0, 0.25), goal, PlanSettings(), 0.85, 1.5)
    assert 0.0 < np.hypot(*(path[-1] - goal)) <= 1.5
    cost_map.costs[:] = 0
    path = plan(cost_map, (-15.0, 0.25), goal, PlanSettings(), 0.85, 1.5)
    np.testing.assert_array_equal(path[-1], goal)


def test_what_was_seen_from_afar_alone_is_costly_and_blocks_nothing():
    wall = np.column_stack([np.full(801, 20.2), np.linspace(-100, 100, 801), np.full(801, 2.0)]).astype(np.float32)
    start, goal = (0.0, 0.25), (30.0, 0.25)

    def planned(*places, **settings):
        cost_map = CostMap(MapSettings(**settings), (0.0, 0.0))
        for x in places:
            cost_map.add(wall, at(x, 0.0), ground="wheels")
        return plan(cost_map, start, goal, PlanSettings(), 0.85)

    assert planned(0.0) is not None
    assert planned(0.0, trusted_m=None) is None
    # From 12 m the wall is trusted for 9 m to each side; a drive along it finds the rest.
    assert np.abs(planned(0.0, 8.2)[:, 1]).max() > 9.0
    near = CostMap(MapSettings(), (0.0, 0.0))
    for y in np.arange(-100.0, 101.0, 10.0):
        near.add(wall, at(12.0, y), ground="wheels")
    assert plan(near, start, goal, PlanSettings(), 0.85) is None


@pytest.mark.parametrize("bumps", [(), ((1.55, 0.8),), ((0.2, -0.9), (1.5, 3.0))])
def test_what_the_bumper_met_is_marked_where_it_was_met(bumps):
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    mind = Autonomy(VEHICLE, AutonomySettings(), cost_map, Estimator(DriveSettings().sensors.gps, 0, 0, 0), Pose.at())
    mind.bumped(at(3.0, 2.0, np.pi / 2), ahead=True, at=bumps)
    marked = np.argwhere(cost_map.costs == 100)
    if not bumps:
        assert len(marked) >= 4
    else:
        expected = [cost_map.index(3.0 - left, 2.0 + ahead) for ahead, left in bumps]  # it looks along y
        assert sorted(map(tuple, marked.tolist())) == sorted((int(i), int(j)) for i, j in expected)


def test_there_is_no_plan_through_a_closed_wall_or_off_the_map():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50:54] = 100
    assert plan(cost_map, (-15.0, 0.0), (15.0, 0.0), PlanSettings(), 0.85) is None
    assert plan(cost_map, (-15.0, 0.0), (-900.0, 0.0), PlanSettings(), 0.85) is None


def test_a_plan_goes_through_grass_and_not_around_it_beyond_the_fence():
    fence = (-20.0, -15.0, 20.0, 15.0)
    paths = {}
    for bounds in (None, fence):
        cost_map = CostMap(MapSettings(cells=200), (0.0, 0.0), bounds)
        j = slice(*(int(v) for v in cost_map.index([0, 0], [-15.0, 15.0])[1]))
        cost_map.costs[95:105, j] = 45  # grass from one edge of the ground to the other
        paths[bounds] = plan(cost_map, (-12.0, 10.0), (12.0, 10.0), PlanSettings(), 0.85)
    assert paths[None][:, 1].max() > 15.0, "beyond the edge nothing has been seen, and nothing costs nothing"
    assert np.abs(paths[fence][:, 1]).max() < 15.0 - 0.85 - 0.25 + 0.25


@pytest.mark.parametrize(("goal", "near"), [((12.0, 14.9), 0.0), ((19.95, -14.95), 0.0), ((12.0, 14.0), 1.5)])
def test_a_goal_at_the_fence_is_reached(goal, near):
    cost_map = CostMap(MapSettings(cells=200), (0.0, 0.0), (-20.0, -15.0, 20.0, 15.0))
    path = plan(cost_map, (-12.0, 0.0), goal, PlanSettings(), 0.85, near)
    assert np.hypot(*(path[-1] - goal)) <= near + 1e-9
    assert plan(cost_map, (-12.0, 0.0), (12.0, 16.0), PlanSettings(), 0.85) is None, "what lies beyond is not"


def test_a_wall_from_edge_to_edge_is_no_way_with_a_fence_and_gone_around_without():
    for fence, way in (((-20.0, -15.0, 20.0, 15.0), False), (None, True)):
        cost_map = CostMap(MapSettings(cells=200), (0.0, 0.0), fence)
        j = slice(*(int(v) for v in cost_map.index([0, 0], [-15.0, 15.0])[1]))
        cost_map.costs[99:102, j] = 100
        assert (plan(cost_map, (-12.0, 0.0), (12.0, 0.0), PlanSettings(), 0.85) is not None) == way


def test_a_vehicle_beside_an_obstacle_still_finds_its_way_from_there():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50, 50] = 100
    assert plan(cost_map, (-0.6, 0.1), (15.0, 0.0), PlanSettings(), 0.85) is not None


def test_following_a_straight_path_goes_straight_and_slows_before_the_goal():
    path = np.column_stack([np.arange(0, 30, 0.5), np.zeros(60)])
    command = follow(path, at(5.0, 0.0), VEHICLE, FollowSettings())
    assert command == pytest.approx((2.0, 0.0), abs=1e-6)
    assert follow(path, at(29.2, 0.0), VEHICLE, FollowSettings()).speed < 1.3
    assert follow(path, at(5.0, 0.0), VEHICLE, FollowSettings(), 100.0).speed == pytest.approx(0.8)


def test_following_turns_to_the_path_and_on_the_spot_where_it_lies_behind():
    path = np.column_stack([np.arange(0, 30, 0.5), np.zeros(60)])
    assert follow(path, at(5.0, 1.0), VEHICLE, FollowSettings()).turn_rate < 0
    assert follow(path, at(5.0, -1.0), VEHICLE, FollowSettings()).turn_rate > 0
    back = follow(path, at(5.0, 0.0, np.pi), VEHICLE, FollowSettings())
    assert back.speed == 0
    assert abs(back.turn_rate) > 0.5
    assert follow(path, at(5.0, 0.0, np.pi), load_vehicle("mrzr"), FollowSettings()).speed > 0


def test_a_closed_loop_on_a_winding_path_stays_on_it():
    from tussock.drive.site.site import Site
    from tussock.drive.vehicles.body import VehicleBody

    x = np.arange(0, 60, 0.5)
    path = np.column_stack([x, 3 * np.sin(x / 6)])
    for name in ("skid-steer", "mrzr", "warthog"):
        vehicle = load_vehicle(name)
        body = VehicleBody(vehicle, Site.bare(), 0.0, 0.0, 0.4)
        off = []
        for _ in range(900):
            m = body.motion
            command = follow(path, at(m.x, m.y, m.yaw), vehicle, FollowSettings())
            body.drive(command.speed, command.turn_rate, 0.1)
            off.append(np.hypot(*(path - [m.x, m.y]).T).min())
            if np.hypot(*(path[-1] - [m.x, m.y])) < 1.0:
                break
        else:
            pytest.fail(f"{name} did not arrive")
        assert max(off) < 1.0, name
        assert isinstance(command, DriveCommand)
