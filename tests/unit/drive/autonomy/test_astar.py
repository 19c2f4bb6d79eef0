"""A* finds the cheapest way: compared with SciPy's Dijkstra on random maps."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from tussock.drive.autonomy.astar import astar, path_cost


def cheapest(costs, blocked, start, goal):
    """Cost of the cheapest way by Dijkstra on the graph of all allowed steps."""
    n, m = costs.shape
    number = np.arange(n * m).reshape(n, m)
    rows, columns, weights = [], [], []
    for di, dj in ((1, 0), (0, 1), (1, 1), (1, -1)):
        a = np.s_[0 : n - di, max(0, -dj) : m - max(0, dj)]
        b = np.s_[di:n, max(0, dj) : m + min(0, dj)]
        free = ~blocked[a] & ~blocked[b]
        if di and dj:
            free &= ~blocked[a[0], b[1]] & ~blocked[b[0], a[1]]
        rows.append(number[a][free])
        columns.append(number[b][free])
        weights.append((np.hypot(di, dj) * (costs[a] + costs[b]) / 2)[free])
    graph = coo_array(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(n * m, n * m)
    ).tocsr()
    return dijkstra(graph, directed=False, indices=number[start])[number[goal]]


@pytest.mark.parametrize("batch", range(10))
def test_the_cost_is_optimal_on_a_hundred_random_maps_each(batch):
    rng = np.random.default_rng(batch)
    ways = 0
    for _ in range(100):
        n, m = rng.integers(1, 40, 2)
        high = 10 ** rng.uniform(0, 5)
        costs = 1 + rng.uniform(0, high, (n, m)) * (rng.random((n, m)) < rng.random())
        blocked = rng.random((n, m)) < rng.uniform(0, 0.5)
        start, goal = ((int(rng.integers(n)), int(rng.integers(m))) for _ in range(2))
        if rng.random() < 0.9:
            blocked[start] = blocked[goal] = False
        path, cost = astar(costs, blocked, start, goal)
        expected = np.inf if blocked[start] or blocked[goal] else cheapest(costs, blocked, start, goal)
        assert cost == pytest.approx(expected, rel=1e-12), (start, goal, costs.shape)
        if path is None:
            assert np.isinf(expected)
            continue
        ways += 1
        assert tuple(path[0]) == start
        assert tuple(path[-1]) == goal
        assert not blocked[path[:, 0], path[:, 1]].any()
        steps = np.abs(np.diff(path, axis=0))
        assert (steps.max(1, initial=0) == 1).all()
        assert path_cost(costs, path) == pytest.approx(cost, rel=1e-12)
    assert ways > 30


def test_large_maps_too():
    rng = np.random.default_rng(1)
    costs = 1 + 10 * np.clip(rng.normal(0, 0.3, (150, 230)), 0, 1)
    blocked = rng.random(costs.shape) < 0.1
    blocked[3, 3] = blocked[140, 220] = False
    assert astar(costs, blocked, (3, 3), (140, 220))[1] == pytest.approx(cheapest(costs, blocked, (3, 3), (140, 220)))


def test_no_step_squeezes_between_two_blocked_cells():
    blocked = np.array([[False, True], [True, False]])
    assert astar(np.ones((2, 2)), blocked, (0, 0), (1, 1)) == (None, np.inf)


def test_a_wall_has_no_way_through():
    blocked = np.zeros((9, 9), bool)
    blocked[4] = True
    assert astar(np.ones((9, 9)), blocked, (0, 0), (8, 8))[0] is None
    blocked[4, 7] = False
    path, _ = astar(np.ones((9, 9)), blocked, (0, 0), (8, 8))
    assert [4, 7] in path.tolist()


def test_the_start_may_be_the_goal():
    path, cost = astar(np.ones((3, 3)), np.zeros((3, 3), bool), (1, 1), (1, 1))
    assert cost == 0.0
    assert path.tolist() == [[1, 1]]
