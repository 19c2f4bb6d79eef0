"""Trees of boxes for rays: binary, split where the surface area heuristic says it is cheapest.

A node holds the boxes of its two children, so that one look at memory decides about both: 64 bytes,

    0-2 lowest corner of the first child, 3 its link, 4-6 highest corner, 7 link of the second child,
    8-10 lowest corner of the second child, 12-14 highest corner.

A link ≥ 0 is a node; below 0 it is a leaf, ~link = first·8 + number of items − 1. Which split is cheapest is asked of
16 bins along each axis (Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007). Below a depth of
32 nodes are halved, so that no tree is deeper than a walk's stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, inline_kernel, kernel

__all__ = ["LINK0", "LINK1", "NODE", "Tree", "build_tree"]

NODE = 16
"""numbers of a node"""
LINK0, LINK1 = 3, 7
_BINS = 16
_HALVE_FROM = 32
_COST_OF_A_NODE = np.float32(1.0)  # in tests of an item


class Tree(NamedTuple):
    """A tree over boxes."""

    nodes: NDArray[np.float32]
    """shape (n, 16); the root is the first"""
    order: NDArray[np.int64]
    """the items in the order of the leaves"""
    depth: int
    """of the deepest leaf"""


def build_tree(boxes: NDArray[np.float32], leaf: int) -> Tree:
    """A tree over boxes (n, 6), n > 0, lowest then highest corner, with at most ``leaf`` (1 to 8) of them in a leaf."""
    nodes = np.zeros((len(boxes), NODE), np.float32)
    order = np.arange(len(boxes))
    used, depth = _build(np.ascontiguousarray(boxes, np.float32), leaf, nodes, nodes.view(np.int32), order)
    return Tree(np.ascontiguousarray(nodes[:used]), order, int(depth))


class _Bins(NamedTuple):
    """Room to sort the items of a range along every axis."""

    bounds: Array
    """boxes of the bins, shape (3, bins, 6)"""
    counts: Array
    """items in them, shape (3, bins)"""
    right: Array
    """boxes of a bin and all behind it, shape (bins, 6)"""


@kernel
def _build(boxes: Array, leaf: int, nodes: Array, links: Array, order: Array) -> tuple[int, int]:
    """Fill ``nodes`` and put ``order`` into the order of the leaves; how many nodes there are, and how deep."""
    count = len(boxes)
    bins = _Bins(np.empty((3, _BINS, 6), np.float32), np.empty((3, _BINS), np.int64), np.empty((_BINS, 6), np.float32))
    box = np.empty(6, np.float32)
    # Ranges of items that wait for a node: first, last, parent, side, depth.
    waiting = np.empty((256, 5), np.int64)
    waiting[0] = (0, count, -1, 0, 1)
    height, used, deepest = 1, 0, 1
    while height > 0:
        height -= 1
        first, last, parent, side, depth = waiting[height]
        deepest = max(deepest, depth)
        _box_of(boxes, order, first, last, box)
        middle = -1
        if last - first > 1:
            middle = _split(boxes, order, first, last, leaf, depth, bins)
        link = ~(first * 8 + last - first - 1) if middle < 0 else used
        if parent >= 0:
            _set_child(nodes, links, parent, side, box, link)
        elif middle < 0:  # a tree of one leaf: both children are that
            _set_child(nodes, links, 0, 0, box, link)
            _set_child(nodes, links, 0, 1, box, link)
            used = 1
        if middle >= 0:
            used += 1
            waiting[height] = (middle, last, link, 1, depth + 1)
            waiting[height + 1] = (first, middle, link, 0, depth + 1)
            height += 2
    return used, deepest


@kernel
def _split(boxes: Array, order: Array, first: int, last: int, leaf: int, depth: int, bins: _Bins) -> int:
    """Part the items of a range in two; where the second part begins, −1 where they are to be one leaf."""
    low, high = np.full(3, np.inf, np.float32), np.full(3, -np.inf, np.float32)
    for i in range(first, last):
        for a in range(3):
            centre = boxes[order[i], a] + boxes[order[i], a + 3]
            low[a], high[a] = min(low[a], centre), max(high[a], centre)
    if depth >= _HALVE_FROM or not (high > low).any():
        return -1 if last - first <= leaf else (first + last) // 2
    axis, cut, cost, area = _cheapest(boxes, order, first, last, low, high, bins)
    if last - first <= leaf and np.float32(last - first) * area <= cost + _COST_OF_A_NODE * area:
        return -1
    at, end = first, last
    while at < end:
        if _bin(boxes, order[at], axis, low[axis], high[axis]) <= cut:
            at += 1
        else:
            end -= 1
            order[at], order[end] = order[end], order[at]
    return at if first < at < last else (first + last) // 2


@kernel
def _cheapest(
    boxes: Array, order: Array, first: int, last: int, low: Array, high: Array, bins: _Bins
) -> tuple[int, int, Real, Real]:
    """The axis and the bin after which a split costs least, that cost times the area, and the area of the whole."""
    bounds, counts, right = bins
    for a in range(3):
        counts[a] = 0
        bounds[a, :, :3] = np.inf
        bounds[a, :, 3:] = -np.inf
    for i in range(first, last):
        for a in range(3):
            if high[a] > low[a]:
                b = _bin(boxes, order[i], a, low[a], high[a])
                counts[a, b] += 1
                _grow(bounds[a, b], boxes[order[i]])
    best_axis, best_bin, best = 0, 0, np.float32(np.inf)
    whole = np.float32(0.0)
    left = np.empty(6, np.float32)
    for a in range(3):
        if not high[a] > low[a]:
            continue
        right[_BINS - 1] = bounds[a, _BINS - 1]
        for b in range(_BINS - 2, -1, -1):
            right[b] = right[b + 1]
            _grow(right[b], bounds[a, b])
        whole = _half_area(right[0])
        left[:3], left[3:] = np.inf, -np.inf
        before = 0
        for b in range(_BINS - 1):
            _grow(left, bounds[a, b])
            before += counts[a, b]
            behind = last - first - before
            if before > 0 and behind > 0:
                cost = np.float32(before) * _half_area(left) + np.float32(behind) * _half_area(right[b + 1])
                if cost < best:
                    best_axis, best_bin, best = a, b, cost
    return best_axis, best_bin, best, whole


@inline_kernel
def _bin(boxes: Array, item: int, axis: int, low: Real, high: Real) -> int:
    share = (boxes[item, axis] + boxes[item, axis + 3] - low) / (high - low)
    return min(max(int(share * np.float32(_BINS)), 0), _BINS - 1)


@inline_kernel
def _grow(box: Array, other: Array) -> None:
    for a in range(3):
        box[a] = min(box[a], other[a])
        box[a + 3] = max(box[a + 3], other[a + 3])


@inline_kernel
def _half_area(box: Array) -> Real:
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


@inline_kernel
def _box_of(boxes: Array, order: Array, first: int, last: int, out: Array) -> None:
    for a in range(3):
        out[a], out[a + 3] = np.float32(np.inf), np.float32(-np.inf)
    for i in range(first, last):
        _grow(out, boxes[order[i]])


@inline_kernel
def _set_child(nodes: Array, links: Array, node: int, side: int, box: Array, link: int) -> None:
    for a in range(3):
        nodes[node, 8 * side + a] = box[a]
        nodes[node, 8 * side + 4 + a] = box[a + 3]
    links[node, LINK0 if side == 0 else LINK1] = link
