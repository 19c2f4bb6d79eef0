"""What a vehicle can get to: against SciPy's distances and connected parts, and with gaps of known width."""

import numpy as np
import pytest
from scipy import ndimage

from tussock.drive.site.ground import Ground
from tussock.drive.site.movers import Movers
from tussock.drive.site.obstacles import Obstacles
from tussock.drive.site.plants import Plants
from tussock.drive.site.reach import Reach
from tussock.drive.site.site import Site

SIDE = 20.0


def site_of(taken: np.ndarray) -> Site:
    """Cells of 0.1 m over 20 m × 20 m of flat ground around the origin."""
    obstacles = Obstacles(-SIDE / 2, -SIDE / 2, 0.1, taken.astype(np.uint8))
    return Site(Ground.flat(SIDE), obstacles, Plants.none(0.0, 0.0, 1.0, (1, 1)), Movers(()))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_connected_part_of_what_keeps_half_the_width(seed):
    rng = np.random.default_rng(seed)
    taken = rng.random((200, 200)) < 0.012
    taken[100, 100] = False
    width = 1.0
    far = ndimage.distance_transform_edt(~taken)
    free = far >= 0.5 * width / 0.1 - np.sqrt(0.5)
    start = tuple(np.argwhere(free)[rng.integers(free.sum())])
    parts, _ = ndimage.label(free, np.ones((3, 3)))
    reach = Reach(site_of(taken), (-10 + 0.1 * start[0] + 0.05, -10 + 0.1 * start[1] + 0.05), width)
    np.testing.assert_array_equal(reach._state == 2, parts == parts[start])
    assert reach.cells == (parts == parts[start]).sum()


@pytest.mark.parametrize(("gap", "open_"), [(0.0, False), (0.8, False), (1.4, False), (2.0, True), (4.0, True)])
def test_a_gap_as_wide_as_the_vehicle_lets_it_through(gap, open_):
    taken = np.zeros((200, 200), bool)
    taken[99:101] = True
    cells = round(gap / 0.1)
    taken[99:101, 100 - cells // 2 : 100 - cells // 2 + cells] = False
    reach = Reach(site_of(taken), (-5.0, 0.0), 1.7)
    assert reach.within(5.0, 3.0, 2.0) is open_
    assert reach.within(-5.0, 3.0, 2.0)


def test_a_goal_behind_a_wall_counts_as_reached_from_where_its_radius_ends():
    taken = np.zeros((200, 200), bool)
    taken[100] = True
    reach = Reach(site_of(taken), (-5.0, 0.0), 1.7)
    assert reach.within(0.5, 0.0, 2.0)
    assert not reach.within(2.5, 0.0, 2.0)
