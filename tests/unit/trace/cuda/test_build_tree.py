"""Trees of boxes: every item in one leaf, inside every box above it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tussock.trace.cuda.build import LINK0, LINK1, Tree, _Bins, _cheapest, build_tree


def leaves(tree: Tree, boxes: NDArray) -> tuple[list[int], int, int]:
    """The items in the order met, the most in a leaf, and the depth; asserts that boxes hold what is below them."""
    links = tree.nodes.view(np.int32)
    found, most, deepest = [], 0, 0
    waiting = [(0, np.full(3, -np.inf), np.full(3, np.inf), 1)]
    while waiting:
        node, low, high, depth = waiting.pop()
        for side, column in ((0, LINK0), (8, LINK1)):
            box_low, box_high = tree.nodes[node, side : side + 3], tree.nodes[node, side + 4 : side + 7]
            assert (box_low >= low).all()
            assert (box_high <= high).all()
            link = int(links[node, column])
            if link >= 0:
                waiting.append((link, box_low, box_high, depth + 1))
                continue
            items = tree.order[~link >> 3 : (~link >> 3) + (~link & 7) + 1]
            assert (boxes[items, :3] >= box_low).all()
            assert (boxes[items, 3:] <= box_high).all()
            found += items.tolist()
            most, deepest = max(most, len(items)), max(deepest, depth + 1)
    return found, most, deepest


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(1, 300),
    seed=st.integers(0, 2**32 - 1),
    leaf=st.integers(1, 8),
    flat=st.sampled_from([(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)]),
    spread=st.sampled_from([1e-3, 1.0, 1e5]),
)
def test_every_item_is_in_one_leaf(
    count: int, seed: int, leaf: int, flat: tuple[int, int, int], spread: float
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    middles = spread * rng.normal(size=(count, 3)) ** 3 * flat
    halves = spread * rng.uniform(0, 0.1, (count, 3))
    boxes = np.concatenate([middles - halves, middles + halves], 1).astype(np.float32)
    tree = build_tree(boxes, leaf)
    found, most, deepest = leaves(tree, boxes)
    if count <= leaf and deepest == 2 and len(found) == 2 * count:
        found = found[:count]  # a tree of one leaf names it twice
    assert sorted(found) == list(range(count))
    assert most <= leaf
    assert deepest == max(tree.depth, 2), "a tree of one leaf has it below its root, twice"


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_tree_is_as_deep_as_it_says(mirrored: bool) -> None:
    """Deeper on one side, whichever."""
    places = 2.0 ** -np.arange(12.0) * (-1 if mirrored else 1)
    boxes = np.repeat(places[:, None], 6, 1).astype(np.float32)
    tree = build_tree(boxes, 1)
    assert leaves(tree, boxes)[2] == tree.depth > 5


def test_items_that_halve_again_and_again_do_not_make_a_tree_deep() -> None:
    """Boxes at 1, ½, ¼, …: the cheapest split takes off one at a time."""
    places = 2.0 ** -np.arange(120.0)
    boxes = np.repeat(places[:, None], 6, 1).astype(np.float32)
    tree = build_tree(boxes, 1)
    assert sorted(leaves(tree, boxes)[0]) == list(range(120))
    assert tree.depth <= 32 + 7


@pytest.mark.parametrize("leaf", [1, 4])
def test_a_grid_is_parted_well(leaf: int) -> None:
    """Over an even grid a good tree is hardly deeper than a balanced one."""
    places = np.stack(np.meshgrid(*[np.arange(16.0)] * 3), -1).reshape(-1, 3)
    boxes = np.concatenate([places, places + 0.9], 1).astype(np.float32)
    assert build_tree(boxes, leaf).depth <= 16


def half_areas(boxes: NDArray) -> float:
    """Half the surface of the box around boxes."""
    x, y, z = boxes[:, 3:].max(0) - boxes[:, :3].min(0)
    return float(x * y + y * z + z * x)


def split_costs(boxes: NDArray) -> dict[tuple[int, int], float]:
    """What every split costs, by axis and last bin of the first part: 16 bins between the outermost middles."""
    middles = (boxes[:, :3] + boxes[:, 3:]).astype(float)
    low, high = middles.min(0), middles.max(0)
    costs = {}
    for axis in np.flatnonzero(high > low):
        bins = np.minimum((16 * (middles[:, axis] - low[axis]) / (high[axis] - low[axis])).astype(int), 15)
        for cut in range(15):
            one, other = boxes[bins <= cut], boxes[bins > cut]
            if len(one) and len(other):
                costs[int(axis), cut] = len(one) * half_areas(one) + len(other) * half_areas(other)
    return costs


def some_boxes(seed: int, count: int = 25) -> NDArray:
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(count, 3)) ** 3 * rng.permutation([5.0, 1.0, 0.3 * (seed % 3)])
    halves = rng.uniform(0, 0.5, (count, 3))
    return np.concatenate([middles - halves, middles + halves], 1).astype(np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_the_split_is_the_cheapest_of_all(seed: int) -> None:
    boxes = some_boxes(seed)
    middles = boxes[:, :3] + boxes[:, 3:]
    bins = _Bins(np.empty((3, 16, 6), np.float32), np.empty((3, 16), np.int64), np.empty((16, 6), np.float32))
    axis, cut, cost, area = _cheapest(
        boxes, np.arange(len(boxes)), 0, len(boxes), middles.min(0), middles.max(0), bins
    )  # fmt: skip
    costs = split_costs(boxes)
    assert cost == pytest.approx(min(costs.values()), rel=1e-5)
    assert costs[axis, cut] == pytest.approx(min(costs.values()), rel=1e-5)
    assert area == pytest.approx(half_areas(boxes), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_node_is_parted_where_that_is_cheapest_and_kept_where_it_is_not(seed: int) -> None:
    """Every node of a tree: the area of its two children is that of the cheapest split, a leaf is cheaper than any."""
    boxes = some_boxes(seed, 40) + np.float32([-1.5, -1.5, -1.5, 1.5, 1.5, 1.5])  # large enough for leaves of several
    tree = build_tree(boxes, 4)
    links = tree.nodes.view(np.int32)

    def below(link: int) -> list[int]:
        if link < 0:
            return tree.order[~link >> 3 : (~link >> 3) + (~link & 7) + 1].tolist()
        return below(int(links[link, LINK0])) + below(int(links[link, LINK1]))

    leaves_met = 0
    for node in range(len(links)):
        sides = [below(int(links[node, column])) for column in (LINK0, LINK1)]
        items = boxes[sides[0] + sides[1]]
        paid = sum(len(side) * half_areas(boxes[side]) for side in sides)
        assert paid == pytest.approx(min(split_costs(items).values()), rel=1e-5)
        if len(items) <= 4:
            assert len(items) * half_areas(items) > paid + half_areas(items)
        for column in (LINK0, LINK1):
            leaf = boxes[below(int(links[node, column]))]
            if links[node, column] < 0 and len(leaf) > 1:
                costs = split_costs(leaf)
                leaves_met += 1
                assert len(leaf) * half_areas(leaf) <= min(costs.values()) + half_areas(leaf) * (1 + 1e-6)
    assert leaves_met > 3
