"""The arithmetic of partitions against NumPy: Gaussians made safe, their inverses, clusters merged and halved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.learn.partition.gaussians import added, fit_gaussians, inverse, regular
from tussock.learn.partition.growing import _best_pairs, _merged, _volume
from tussock.learn.partition.two_means import _halves, _means, _shapes, split_in_two
from tussock.scene.volumes import unpacked

PAIRS = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])


def spread(points: NDArray[np.float64]) -> NDArray[np.float64]:
    off = points - points.mean(0)
    return np.asarray(off.T @ off)


@pytest.mark.parametrize("size", [0.1, 3.0])
def test_a_gaussian_is_made_safe_by_one_more_point(size: float) -> None:
    """Σ(p − m)(p − m)ᵀ and one point 0.16 of a side away, over n + 1, and a millimetre in each direction."""
    rng = np.random.default_rng(1)
    points, labels = rng.normal(0, 0.3, (40, 3)) @ rng.normal(0, 1, (3, 3)) + 1e6, np.repeat([0, 1, 2], [1, 9, 30])
    means, packed = fit_gaussians(points, labels, 3, size)
    for i in range(3):
        own = points[labels == i]
        wanted = (spread(own) + (0.16 * size) ** 2 * np.eye(3)) / (len(own) + 1) + 1e-6 * np.eye(3)
        assert means[i] == pytest.approx(own.mean(0), rel=1e-12) and unpacked(packed)[i] == pytest.approx(
            wanted, rel=1e-6, abs=1e-9
        )
        # What that adds along a line, to the variance that the points have there by themselves.
        line = np.array([0.6, 0.0, 0.8])
        alone = line @ spread(own) @ line / len(own)
        assert added(np.array([alone]), np.array([len(own)]), size)[0] == pytest.approx(
            line @ wanted @ line - alone, rel=1e-5, abs=1e-9
        )
    scatter = np.array([[4.0, 1, 2, 5, 3, 6]])
    assert regular(scatter, np.array([3]), np.array([2.0]))[0] == pytest.approx(
        np.array([4 + 0.1024, 1, 2, 5 + 0.1024, 3, 6 + 0.1024]) / 4 + 1e-6 * np.array([1, 0, 0, 1, 0, 1])
    )


def test_inverses_of_packed_matrices() -> None:
    rng = np.random.default_rng(2)
    full = np.stack([matrix @ matrix.T + 0.1 * np.eye(3) for matrix in rng.normal(size=(20, 3, 3))])
    found = inverse(full[:, PAIRS[0], PAIRS[1]])
    assert unpacked(found) == pytest.approx(np.linalg.inv(full), rel=1e-9)


def test_two_clusters_taken_together_are_their_points_taken_together() -> None:
    rng = np.random.default_rng(3)
    parts = [rng.normal(rng.normal(0, 3, 3), 1, (count, 3)) for count in (1, 5, 8, 20)]
    n = np.array([float(len(part)) for part in parts])
    mean, squares = np.stack([part.mean(0) for part in parts]), np.stack([spread(part) for part in parts])
    one, two = np.array([0, 2, 1]), np.array([1, 3, 3])
    count, centre, both = _merged(n, mean, squares, one, two)
    for k in range(3):
        joined = np.concatenate([parts[one[k]], parts[two[k]]])
        assert (
            count[k] == len(joined)
            and centre[k] == pytest.approx(joined.mean(0))
            and both[k] == pytest.approx(spread(joined))
        )
    assert _volume(np.diag([3.0, 8.0, 15.0])[None], 1.0) == pytest.approx([4 / 3 * math.pi * math.sqrt(4 * 9 * 16)])


def clusters(*places: float) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Round clusters of ten points each along x, a tenth wide."""
    count = len(places)
    mean = np.stack([np.array(places), np.zeros(count), np.zeros(count)], 1)
    return np.full(count, 10.0), mean, np.tile(0.1 * np.eye(3), (count, 1, 1))


def test_pairs_are_those_that_pick_each_other() -> None:
    """The middle one of three picks the nearer, whom it is picked by; who is left over picks in vain."""
    one, two = _best_pairs(*clusters(0.0, 0.10, 0.25), 0.001, 9.0)
    assert list(zip(one.tolist(), two.tolist(), strict=True)) == [(0, 1)]
    one, two = _best_pairs(*clusters(0.0, 5.0, 0.1, 5.2), 0.001, 9.0)
    assert list(zip(one.tolist(), two.tolist(), strict=True)) == [(0, 2), (1, 3)]
    for alone in (clusters(0.0), clusters(0.0, 5.0)):
        assert [len(part) for part in _best_pairs(*alone, 0.001, 9.0)] == [0, 0]


@pytest.mark.parametrize(("share", "merge"), [(0.501, True), (0.499, False)])
def test_a_pair_keeps_half_of_its_density(share: float, merge: bool) -> None:
    """Of two equal clusters with the variance v, d apart, it is 2/√(1 + d²/4v): twice the number in √(1 + d²/4v) of the room."""
    v, floor = 0.01, 0.0
    apart = math.sqrt(4 * v * ((2 / share) ** 2 - 1))
    one, _ = _best_pairs(*clusters(0.0, apart), floor, 9.0)
    assert (len(one) == 1) is merge


@pytest.mark.parametrize(("wider", "merge"), [(1e-9, True), (-1e-9, False)])
def test_no_cluster_is_wider_than_allowed(wider: float, merge: bool) -> None:
    v, apart = 0.01, 0.1
    one, _ = _best_pairs(*clusters(0.0, apart), 0.0, v + apart**2 / 4 + wider)
    assert (len(one) == 1) is merge


def test_shapes_of_clusters() -> None:
    """Mean, longest axis and the standard deviation along it, of each cluster by itself."""
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = np.concatenate(
        [rng.normal(0, 1, (50, 3)) * [3, 1, 0.5] @ turn + 7, rng.normal(0, 1, (30, 3)) * [0.2, 0.1, 2]]
    )
    part = np.repeat([1, 0], [50, 30])
    means, axes, lengths, counts = _shapes(points, part, 2)
    assert counts.tolist() == [30, 50]
    for i in range(2):
        own = points[part == i]
        values, vectors = np.linalg.eigh(np.cov(own.T, bias=True))
        assert means[i] == pytest.approx(own.mean(0)) and lengths[i] == pytest.approx(math.sqrt(values[2]))
        assert abs(axes[i] @ vectors[:, 2]) == pytest.approx(1.0)
    assert _means(points, part, 3, np.array([30, 50, 0]))[2].tolist() == [0.0, 0.0, 0.0]


def test_halves_are_nearer_to_their_own_centre() -> None:
    """Two clusters at once; what lies half-way belongs to the lower one."""
    x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 100.0, 104.0, 102.0])
    points = np.stack([x, np.zeros(8), np.zeros(8)], 1)
    part = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    means = np.array([[4.8, 0, 0], [102.0, 0, 0]])
    upper = _halves(points, part, 2, means, np.array([[4.0, 0, 0], [1.5, 0, 0]]))
    assert upper.tolist() == [False, False, False, True, True, False, True, False]


def test_what_cannot_be_parted_keeps_one_number() -> None:
    for points in (np.zeros((40, 3)), np.random.default_rng(5).normal(0, 1, (11, 3))):
        assert not split_in_two(points, 0.01).any()
    twelve = np.repeat([[0.0, 0, 0], [1.0, 0, 0]], 6, axis=0)
    assert sorted(np.bincount(split_in_two(twelve, 0.1)).tolist()) == [6, 6]
