"""Trees of boxes: every item in one leaf, inside every box above it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tussock.trace.cuda.build import LINK0, LINK1, Tree, build_tree


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
