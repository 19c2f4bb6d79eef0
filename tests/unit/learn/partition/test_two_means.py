"""Top-down and bottom-up partition of a handful of points, each rule where it turns."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.partition.growing import grow_ellipsoids
from tussock.learn.partition.two_means import split_in_two


def together(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def rows(*clumps: tuple[float, int], size: float = 0.02, axis: int = 0) -> np.ndarray:
    """Clumps of so many points at so many metres along an axis."""
    points = np.random.default_rng(3).uniform(-size, size, (sum(n for _, n in clumps), 3))
    points[:, axis] += np.repeat([at for at, _ in clumps], [n for _, n in clumps])
    return points


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_clumps_are_parted_where_each_has_six_points(axis: int) -> None:
    labels = split_in_two(rows((0, 6), (2, 6), (5, 7), axis=axis), 0.5)
    assert together(labels) == {frozenset(range(6)), frozenset(range(6, 12)), frozenset(range(12, 19))}
    assert sorted(set(labels.tolist())) == [0, 1, 2]
    assert len(set(split_in_two(rows((0, 5), (2, 6), axis=axis), 0.5).tolist())) == 1, "eleven are too few"
    assert len(set(split_in_two(rows((0, 5), (2, 9), axis=axis), 0.5).tolist())) == 1, "one side would have five"


@pytest.mark.parametrize(("apart", "parts"), [(0.98, 1), (1.02, 2)])
def test_a_clump_as_small_as_a_cube_of_the_size_stays_whole(apart: float, parts: int) -> None:
    """Two points a metre apart have the standard deviation ½; a cube of the side s has s/√12."""
    points = np.zeros((12, 3))
    points[6:, 1] = apart
    assert len(set(split_in_two(points, 0.5 * np.sqrt(12)).tolist())) == parts


def test_centres_move_until_nothing_changes() -> None:
    """The first cut goes through the mean, at 1.75 m, and the next ones half-way between the centres, which is in the gap."""
    x = np.append(np.arange(21) / 10, np.full(7, 4.0))
    points = np.stack([x, np.zeros(28), np.zeros(28)], 1)
    assert x.mean() == pytest.approx(1.75)
    assert together(split_in_two(points, 0.8 * np.sqrt(12))) == {frozenset(range(21)), frozenset(range(21, 28))}


def test_neighbours_that_stay_dense_grow_together_and_no_others() -> None:
    """Along a line each pair is as dense as its parts; a lone clump, and what would be wider than the size, stay apart."""
    rng = np.random.default_rng(1)
    sheet = rng.uniform([0, 0, 0], [0.9, 0.9, 0.01], (90, 3))
    lone = rng.uniform(3.0, 3.05, (8, 3))
    points = np.concatenate([sheet, lone])
    labels = grow_ellipsoids(points, 0.6)
    groups = together(labels)
    assert frozenset(range(90, 98)) in groups
    seeds = {tuple(cell) for cell in np.floor(points / 0.2).astype(int).tolist()}
    assert 2 <= len(groups) < len(seeds) / 2
    assert sorted(set(labels.tolist())) == list(range(len(groups)))
    for group in groups:
        own = points[sorted(group)]
        assert np.linalg.eigvalsh(np.cov(own.T, bias=True))[2] <= 0.6**2 / 12 + 1e-12
    # What fell into one seed stays together.
    for cell in seeds:
        inside = np.flatnonzero((np.floor(points / 0.2).astype(int) == cell).all(1))
        assert len(set(labels[inside].tolist())) == 1


def test_two_seeds_merge_as_their_density_says() -> None:
    """Of two balls of n points, apart by d: kept = V₁ + V₂ over V, with a floor of a seed's own spread; from ½ on they merge."""
    size = 0.9
    floor = (size / 3) ** 2 / 12
    for apart in (0.05, 0.2, 0.35, 0.5):
        one = np.full((4, 3), 0.3 - 1e-9)
        one[:, 1:] = 0.1
        two = one + np.array([apart, 0, 0])
        spread = floor + (apart / 2) ** 2
        kept = 2 * floor**1.5 / np.sqrt(spread * floor * floor)
        fits = kept >= 0.5 and (apart / 2) ** 2 <= size**2 / 12
        assert len(set(grow_ellipsoids(np.concatenate([one, two]), size).tolist())) == (1 if fits else 2), apart
