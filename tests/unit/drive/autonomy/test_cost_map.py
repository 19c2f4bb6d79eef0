"""The cost map: eq (8), heights above the ground however it is known, and the cells that points fall into."""

import numpy as np
import pytest

from tussock.drive.autonomy.cost_map import CostMap, MapSettings, ground_source, height_cost
from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.site.ground import Ground
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor

HERE = Estimate(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_eq_8_with_its_misprint_corrected():
    heights = np.array([-0.3, 0.0, 0.15, 0.75, 1.5, 9.0])
    np.testing.assert_allclose(height_cost(heights, 1.5), [0, 0, 10, 50, 100, 100])


def random_points(count=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-120, 120, (count, 2)), rng.uniform(-0.5, 6, count)]).astype(np.float32)


def test_a_cell_keeps_the_highest_cost_of_its_points():
    points = random_points()
    settings = MapSettings(overhead_m=None, nearest_m=0.0, trusted_m=None)
    cost_map = CostMap(settings, (0.0, 0.0))
    for part in np.array_split(points, 5):
        cost_map.add(part, HERE, ground="wheels")
    expected = np.zeros((400, 400), np.float32)
    i, j = (np.floor((points[:, axis].astype(np.float64) + 100) / 0.5).astype(int) for axis in (0, 1))
    inside = (i >= 0) & (i < 400) & (j >= 0) & (j < 400)
    np.maximum.at(expected, (i[inside], j[inside]), height_cost(points[inside, 2], 1.5))
    np.testing.assert_allclose(cost_map.costs, expected, rtol=1e-6)
    assert cost_map.seen.sum() == len({*zip(i[inside], j[inside], strict=True)})


def test_what_hangs_overhead_is_passed_under_and_the_vehicle_does_not_see_itself():
    points = np.array([[10.2, 0.2, 3.0], [12.2, 0.2, 2.0], [0.5, 0.2, 1.4]], np.float32)
    cost_map = CostMap(MapSettings(overhead_m=2.6), (0.0, 0.0))
    cost_map.add(points, HERE, ground="wheels")
    assert cost_map.costs[cost_map.index(10.2, 0.2)] == 0
    assert cost_map.seen[cost_map.index(10.2, 0.2)]
    assert cost_map.costs[cost_map.index(12.2, 0.2)] == 100
    assert cost_map.costs[cost_map.index(0.5, 0.2)] == 0


def test_what_was_seen_from_far_is_replaced_by_the_first_look_from_near():
    branch, floor = np.array([[40.2, 0.2, 1.4]], np.float32), np.array([[40.2, 0.2, 0.1]], np.float32)
    cell = (280, 200)

    def after(*looks, **settings):
        cost_map = CostMap(MapSettings(**settings), (0.0, 0.0))
        for x, points in looks:
            cost_map.add(points, HERE._replace(x=x), ground="wheels")
        assert cost_map.index(40.2, 0.2) == cell
        return cost_map.costs[cell]

    high, low = 100 * 1.4 / 1.5, 100 * 0.1 / 1.5
    assert after((0.0, branch), (20.0, floor)) == pytest.approx(high)  # both from beyond 15 m
    assert after((0.0, branch), (26.0, floor)) == pytest.approx(low)
    assert after((0.0, branch), (26.0, floor), trusted_m=None) == pytest.approx(high)
    # What is there in the same look stays, and what was seen from near is never forgotten.
    assert after((0.0, branch), (26.0, np.concatenate([floor, branch]))) == pytest.approx(high)
    assert after((0.0, branch), (26.0, np.concatenate([branch, floor]))) == pytest.approx(high)
    assert after((0.0, branch), (26.0, branch), (36.0, floor)) == pytest.approx(high)
    met = CostMap(MapSettings(), (0.0, 0.0))
    met.block(40.2, 0.2)
    met.add(floor, HERE._replace(x=38.0), ground="wheels")
    assert met.costs[cell] == 100  # a bumper does not err


def hill(x, y):
    return 0.08 * x + 0.05 * y


def test_heights_are_above_the_ground_that_was_seen():
    rng = np.random.default_rng(2)
    ground = rng.uniform(-40, 40, (40_000, 2))
    posts = rng.uniform(-35, 35, (50, 2))
    points = np.concatenate([
        np.column_stack([ground, hill(*ground.T)]),
        np.column_stack([posts, hill(*posts.T) + 0.9]),
    ])  # fmt: skip
    cost_map = CostMap(MapSettings(), (0.0, 0.0))
    heights = cost_map.add(points.astype(np.float32), HERE, ground="seen")
    # The lowest ground within two metres lies up to 0.26 m lower on this slope.
    assert np.abs(heights[-50:] - 0.9).max() < 0.3
    assert heights[:-50].max() < 0.3
    surveyed = Ground.flat(1000.0, slope=(0.08, 0.05))
    exact = CostMap(MapSettings(), (0.0, 0.0)).add(points.astype(np.float32), HERE, ground="survey", survey=surveyed)
    np.testing.assert_allclose(exact[-50:], 0.9, atol=1e-4)
    np.testing.assert_allclose(exact[:-50], 0.0, atol=1e-4)


def leaning_on(slope, yaw):
    """The estimate of a vehicle that stands on a slope (along x, along y)."""
    up = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1 + slope[0] ** 2 + slope[1] ** 2)
    ahead, left = (np.cos(yaw), np.sin(yaw), 0.0), (-np.sin(yaw), np.cos(yaw), 0.0)
    # The body's z axis is Rz·Ry(pitch)·Rx(roll)·z: its part to the left is −sin(roll).
    return HERE._replace(yaw=yaw, pitch=np.arctan2(up @ ahead, up[2]), roll=-np.arcsin(up @ left))


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("slope", [(0.1, 0.0), (-0.08, 0.12)])
def test_on_a_slope_one_plane_of_a_scanner_is_as_high_above_the_ground_as_the_scanner(yaw, slope):
    rng = np.random.default_rng(4)
    trunks = rng.uniform(-40, 40, (200, 2))
    # The plane of the scanner leans as the vehicle does, 2 m above the slope.
    seen = np.column_stack([trunks, trunks @ slope + 2.0]).astype(np.float32)
    leaning = leaning_on(slope, yaw)
    cost_map = CostMap(MapSettings(nearest_m=0.0), (0.0, 0.0))
    np.testing.assert_allclose(cost_map.add(seen, leaning, ground="wheels"), 2.0, atol=1e-4)
    i, j = cost_map.index(*trunks.T)
    assert (cost_map.costs[i, j] == 100).all()  # uphill as well as downhill
    # A bump of a tenth of a second changes next to nothing of what is taken for the slope.
    level = HERE._replace(time=leaning.time + 0.1)
    after = cost_map.add(seen, level, ground="wheels")
    left = 1 - np.exp(-0.1 / 2.0)
    np.testing.assert_allclose(after, 2.0 + left * (trunks @ slope), atol=1e-3)


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
def test_a_vehicle_on_a_steep_slope_takes_the_hill_for_ground_and_posts_for_posts(yaw):
    slope = (0.2, -0.1)  # 12.6°, steeper than ground may rise before a vehicle that stands level
    rng = np.random.default_rng(3)
    ground, posts = rng.uniform(-40, 40, (40_000, 2)), rng.uniform(-35, 35, (50, 2))
    points = np.concatenate([
        np.column_stack([ground, ground @ slope]), np.column_stack([posts, posts @ slope + 1.2]),
    ]).astype(np.float32)  # fmt: skip
    leaning = leaning_on(slope, yaw)
    heights = CostMap(MapSettings(), (0.0, 0.0)).add(points, leaning, ground="seen")
    # The lowest ground within two metres lies up to 0.6 m lower on this slope.
    assert heights[:-50].max() < 0.6
    assert heights[-50:].min() > 1.1
    # One that stands level before the same hill takes it for an obstacle.
    assert CostMap(MapSettings(), (0.0, 0.0)).add(points, HERE, ground="seen")[:-50].max() > 3.0


def test_a_wall_without_ground_before_it_stands_level_with_the_wheels():
    wall = np.column_stack([np.full(50, 6.1), np.linspace(-5, 5, 50), np.full(50, 1.9)]).astype(np.float32)
    cost_map = CostMap(MapSettings(overhead_m=None), (0.0, 0.0))
    heights = cost_map.add(wall, HERE, ground="seen")
    np.testing.assert_allclose(heights, 1.9, atol=1e-6)


def test_the_ground_source_follows_the_sensor_unless_it_is_chosen():
    assert ground_source("auto", load_sensor("lms-291-s05")) == "wheels"
    assert ground_source("auto", load_sensor("vlp-16")) == "seen"
    assert ground_source("survey", load_sensor("vlp-16")) == "survey"


def test_cells_and_middles():
    cost_map = CostMap(MapSettings(cells=10, cell_m=2.0), (5.1, -3.0))
    assert cost_map.low_x == pytest.approx(-4.0)  # 5.1 is rounded to a multiple of the cell
    assert cost_map.index(*cost_map.middle(3, 7)) == (3, 7)
    assert cost_map.holds(5.0, -3.0)
    assert not cost_map.holds(20.0, -3.0)
    cost_map.block(5.0, -3.0)
    cost_map.block(500.0, 0.0)  # outside: nothing
    assert (cost_map.costs == 100).sum() == 1


@pytest.mark.parametrize(("key", "value"), [("cells", 0), ("cell_m", -1), ("ground", "guess"), ("ground_rise", 5)])
def test_bad_settings_are_one_line(key, value):
    with pytest.raises(InputError, match=key):
        MapSettings(**{key: value})
