"""Planning, following and the autonomy around them."""

import numpy as np
import pytest

from tussock.drive.autonomy.cost_map import CostMap, MapSettings
from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.autonomy.following import DriveCommand, FollowSettings, follow
from tussock.drive.autonomy.planning import PlanSettings, distances, plan
from tussock.drive.vehicles.vehicle import load_vehicle

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


def test_there_is_no_plan_through_a_closed_wall_or_off_the_map():
    cost_map = CostMap(MapSettings(cells=100), (0.0, 0.0))
    cost_map.costs[50:54] = 100
    assert plan(cost_map, (-15.0, 0.0), (15.0, 0.0), PlanSettings(), 0.85) is None
    assert plan(cost_map, (-15.0, 0.0), (-900.0, 0.0), PlanSettings(), 0.85) is None


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
