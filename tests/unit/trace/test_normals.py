from __future__ import annotations

import numpy as np
import pytest

from tussock.trace.normals import PlacedCopies, world_normal
from tussock.trace.transforms import column_major


def turned(matrices: np.ndarray, normal: np.ndarray, *, copy: int, steps: int, copies: int, time: float) -> np.ndarray:
    """The kernel's normal at unit length; ``matrices`` (steps, copies, 3, 4)."""
    table = column_major(matrices).reshape(-1, 12)
    one = np.ones(1, np.int32)
    placed = PlacedCopies(np.zeros(1, np.int64), steps * one, copies * one, table, table)
    out = np.array(world_normal(placed, 0, copy, np.float32(time), *normal.astype(np.float32)), float)
    return out / np.linalg.norm(out)


@pytest.mark.parametrize("seed", range(5))
def test_stands_upright_on_a_placed_triangle(seed: int) -> None:
    """The normal of the triangle with its corners moved is the same, mirrored copies turned to look outward."""
    rng = np.random.default_rng(seed)
    matrices = rng.normal(size=(1, 3, 3, 4))
    corners = rng.normal(size=(3, 3))
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    for copy in range(3):
        axes = matrices[0, copy, :, :3]
        placed = corners @ axes.T
        expected = np.cross(placed[1] - placed[0], placed[2] - placed[0]) * np.sign(np.linalg.det(axes))
        got = turned(matrices, normal, copy=copy, steps=1, copies=3, time=0.7)
        assert np.allclose(got, expected / np.linalg.norm(expected), atol=1e-4)
        inverse_transpose = np.linalg.inv(axes).T @ normal
        assert np.allclose(got, inverse_transpose / np.linalg.norm(inverse_transpose), atol=1e-4)


@pytest.mark.parametrize("time", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_moves_as_embree_moves_the_matrix(time: float) -> None:
    """Straight between neighbouring time steps, the last included."""
    rng = np.random.default_rng(9)
    matrices = np.eye(3, 4) + 0.3 * rng.normal(size=(5, 2, 3, 4))
    normal = rng.normal(size=3)
    place = time * 4
    low = min(int(place), 3)
    share = place - low
    for copy in range(2):
        axes = ((1 - share) * matrices[low, copy] + share * matrices[low + 1, copy])[:, :3]
        expected = np.linalg.inv(axes).T @ normal
        got = turned(matrices, normal, copy=copy, steps=5, copies=2, time=time)
        assert np.allclose(got, expected / np.linalg.norm(expected), atol=1e-4)
