"""Sizes by what was seen, each case by hand; what fills the gaps is disjoint from all else and knows what it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.levels import levelled
from tussock.learn.partition.voxel_sums import Summing, VoxelSums


def sums_of(points: np.ndarray, voxel: float) -> VoxelSums:
    start = np.array([0.0, 0.0, -100.0])
    way = points - start
    n = len(points)
    pulses = MeasuredPulses.of(
        start, way, np.linalg.norm(way, axis=1), intensity=np.linspace(0.1, 0.9, n), turns=np.arange(n), reach=999.0
    )
    summing = Summing(voxel, 1)
    summing.add(pulses, pulses.hit)
    return summing.total()


RETURNS = {
    # the block at 0: a brick of four voxels with one each, and one of two voxels with two each
    (0, 0, 0): 1, (1, 0, 0): 1, (0, 3, 0): 1, (2, 2, 3): 1, (4, 0, 0): 2, (5, 0, 0): 2,
    # a block of one brick of one voxel with one
    (16, 0, 0): 1,
    # a block of two bricks that are too empty for their voxels but not for themselves
    (48, 0, 0): 1, (49, 0, 0): 2, (52, 0, 0): 1, (55, 3, 3): 2,
    # below zero
    (-1, -1, -1): 1, (-20, -1, -1): 2,
}  # fmt: skip


def test_a_brick_or_block_is_one_where_its_parts_hold_fewer_than_asked_on_average() -> None:
    points = np.array([cell for cell, n in RETURNS.items() for _ in range(n)]) + 0.5
    tree = levelled(sums_of(points, 1.0), fewest=2.0)
    found = {
        tuple(voxel): (level, n)
        for voxel, level, n in zip(tree.voxels.tolist(), tree.levels.tolist(), tree.counts.tolist(), strict=True)
    }
    assert found == {
        (0, 0, 0): (1, 4), (4, 0, 0): (0, 2), (5, 0, 0): (0, 2), (16, 0, 0): (2, 1),
        (48, 0, 0): (1, 3), (52, 0, 0): (1, 3), (-16, -16, -16): (2, 1), (-20, -1, -1): (0, 2),
    }  # fmt: skip
    assert tree.sides.tolist() == [4**level for level in tree.levels.tolist()]
    for level in (1, 2):
        bricks = np.unique(np.floor_divide(tree.voxels, 4**level), axis=0, return_inverse=True)[1].ravel()
        pairs = {(int(a), int(b)) for a, b in zip(bricks, tree.inside(level), strict=True)}
        assert len(pairs) == len(set(bricks.tolist())) == len(set(tree.inside(level).tolist()))
    assert levelled(sums_of(points, 1.0), fewest=0.0).levels.max() == 0


@pytest.mark.parametrize("fewest", [0.0, 1.5])
def test_what_is_filled_in_is_nowhere_else_and_knows_what_it_was_made_of(fewest: float) -> None:
    """A floor in lines with gaps between them that are wider than voxels and narrower than bricks."""
    rng = np.random.default_rng(2)
    points = rng.uniform([-3.0, -3.0, -0.06], [3.0, 3.0, 0.06], (140, 3))
    points[:, 0] = np.round(points[:, 0] / 0.4) * 0.4 + rng.uniform(-0.02, 0.02, 140)
    sums = sums_of(points, 0.1)
    bricks, brick = sums.coarser(4)
    blocks, _ = bricks.coarser(4)
    tree = levelled(sums, fewest, filling=True)
    assert tree.counts.sum() == 140 and tree.filled.sum() > 20 and {0, 1} <= set(tree.levels[tree.filled].tolist())
    cells = set()
    for voxel, side in zip(tree.voxels, tree.sides, strict=True):
        own = {tuple(cell) for cell in (voxel + np.argwhere(np.ones((side,) * 3))).tolist()}
        assert not own & cells
        cells |= own
    places = tree.places / 0.1
    assert ((places >= tree.voxels) & (places <= tree.voxels + tree.sides[:, None])).all()
    for i in np.flatnonzero(tree.filled):
        source = (bricks, blocks)[tree.levels[i]]
        row = np.flatnonzero((source.voxels == tree.voxels[i] // 4 ** (tree.levels[i] + 1)).all(1))[0]
        assert tree.counts[i] == 0 and not tree.noise[i].any() and not tree.between[i].any()
        assert tree.seen[i].tolist() == source.seen[row].tolist()
        assert (tree.intensity[i], tree.variance[i]) == (source.intensity[row], source.variance[row])
    fine = levelled(sums, 0.0)
    assert not fine.filled.any() and fine.voxels.shape == sums.voxels.shape
    assert len(brick) == len(sums)
