from __future__ import annotations

import numpy as np
import pytest

from tussock.trace.normals import PlacedCopies
from tussock.trace.placed_copies import Transform, apply_transform, mirrored_side, transform_of
from tussock.trace.transforms import column_major


def placed(matrices: np.ndarray, *, copy: int, time: float) -> tuple[np.ndarray, float]:
    """The kernel's transform as a matrix (3, 4), and its side; ``matrices`` (steps, copies, 3, 4)."""
    steps, copies = matrices.shape[:2]
    table = column_major(matrices).reshape(-1, 12)
    one = np.ones(1, np.int32)
    found = transform_of(PlacedCopies(np.zeros(1, np.int64), steps * one, copies * one, table, table), 0, copy, time)
    return np.array(found).reshape(4, 3).T, float(mirrored_side(found))


@pytest.mark.parametrize("seed", range(5))
def test_the_transform_of_a_copy_that_stands(seed: int) -> None:
    matrices = np.random.default_rng(seed).normal(size=(1, 3, 3, 4))
    for copy in range(3):
        found, side = placed(matrices, copy=copy, time=0.7)
        assert np.array_equal(found, matrices[0, copy].astype(np.float32))
        assert side == np.sign(np.linalg.det(matrices[0, copy, :, :3]))


@pytest.mark.parametrize("time", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_moves_as_embree_moves_the_matrix(time: float) -> None:
    """Straight between neighbouring time steps, the last included."""
    matrices = np.eye(3, 4) + 0.3 * np.random.default_rng(9).normal(size=(5, 2, 3, 4))
    place = time * 4
    low = min(int(place), 3)
    share = place - low
    for copy in range(2):
        expected = (1 - share) * matrices[low, copy] + share * matrices[low + 1, copy]
        assert np.allclose(placed(matrices, copy=copy, time=time)[0], expected, atol=1e-6)


def test_points_are_put_where_the_matrix_says() -> None:
    matrix = np.random.default_rng(2).normal(size=(3, 4))
    point = np.array([0.3, -2.0, 5.0])
    found = apply_transform(Transform(*matrix.T.ravel()), *point)
    assert np.allclose(found, matrix[:, :3] @ point + matrix[:, 3], rtol=1e-14)
