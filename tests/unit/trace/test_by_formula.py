"""Small steps of tracing by their formulas: widths of bands, narrow triangles, where in a volume a ray ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tussock.kernels import kernel
from tussock.randomness import normal_pair
from tussock.scene.volumes import WHOLE, Volumes
from tussock.trace.placed_volumes import _entry, _in_copy, _inverse
from tussock.trace.ray import Ray
from tussock.trace.rounding.edges import band_of, edge_of, is_thin, third_corner
from tussock.trace.triangles import Corners
from tussock.trace.volume_cells import new_walk
from tussock.trace.volume_hits import Gaussians, end_behind, end_in_volumes, gaussians_of


@pytest.mark.parametrize("seed", range(4))
def test_the_width_of_a_band_is_a_sum_of_coordinates(seed: int) -> None:
    """γ(|o| + |b| + |a − o| + |b − a| + |c − a|), γ = 2⁻²⁴."""
    rng = np.random.default_rng(seed)
    o, a, b, c = rng.normal(0, 9, (4, 3))
    ray = Ray(*o, 1.0, 0.0, 0.0, 0.0, 100.0, 0.0)
    for reach in (0.0, 33.0):
        wanted = 2.0**-24 * (reach + np.abs(a - o).sum() + np.abs(b - a).sum() + np.abs(c - a).sum())
        assert band_of(ray, Corners(*a, *b, *c), reach) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("edge", [0, 1, 2])
def test_a_triangle_is_thin_where_another_edge_is_near(edge: int) -> None:
    """From above, a ray in the middle of an edge; within eight bands of either other edge, on whichever side of it."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    at = Corners(*corners.ravel())
    for share in (0.001, 0.02, 0.5, 0.98, 0.999):
        place = corners[edge] + share * (corners[(edge + 1) % 3] - corners[edge])
        ray = Ray(*(place + np.array([0, 0, 5.0])), 0.0, 0.0, -1.0, 0.0, 9.0, 0.0)
        apart = []
        for k in ((edge + 1) % 3, (edge + 2) % 3):
            p, q = corners[k], corners[(k + 1) % 3]
            apart.append(abs(np.cross(q - p, place - p)[2]) / np.linalg.norm(q - p))
        for band in (0.9 * min(apart) / 8, 1.1 * min(apart) / 8):
            assert bool(is_thin(ray, at, edge, band)) == (band > min(apart) / 8)
    seen = edge_of(ray, at, edge, third_corner(at, edge))
    assert seen.ray / seen.length == pytest.approx(0.0, abs=1e-12) and abs(seen.corner) > 0


@kernel
def _ends(gaussians: Gaussians, walk: object, ray: Ray, words: np.ndarray, behind: bool, out: np.ndarray) -> None:
    for i in range(len(words)):
        four = (words[i, 0], words[i, 1], words[i, 2], words[i, 3])
        if behind:
            t, k = end_behind(gaussians, 0, walk, ray, four)
        else:
            t, k = end_in_volumes(gaussians, 0, walk, ray, True, four)
        out[i, 0], out[i, 1] = t, k


def row(shares: list[float], closure: float, sigma: float = 0.3) -> Gaussians:
    n = len(shares)
    means = np.stack([np.arange(n) + 0.5, np.full(n, 0.5), np.full(n, 0.5)], 1)
    packed = np.tile(np.array([1.0, 0, 0, 1, 0, 1]) / sigma**2, (n, 1))
    none = np.zeros(n)
    closed = np.full(n, round(closure * WHOLE))
    return gaussians_of(
        [
            Volumes(
                means,
                packed,
                none,
                np.round(np.array(shares) * WHOLE)[:, None],
                closed,
                none,
                none,
                1.0,
                np.array([np.inf]),
            )
        ]
    )


@pytest.mark.parametrize("closure", [0.0, 1.0])
@pytest.mark.parametrize("behind", [False, True])
def test_where_a_ray_ends_is_told_by_one_number(closure: float, behind: bool) -> None:
    """The first volume k with S(k) < u; what gets away is given back in the same shares; then a normal deviate, never below 0."""
    shares = [0.8, 0.5, 0.9]
    gaussians = row(shares, closure)
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**32, (300, 4), np.uint32).astype(np.int64)
    out = np.zeros((300, 2))
    ray = Ray(0.1, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, math.inf, 0.0)
    _ends(gaussians, new_walk(), ray, words, behind, out)
    survival = np.cumprod(np.round(np.array(shares) * WHOLE) / WHOLE)
    below = 0
    for word, (t, k) in zip(words, out, strict=True):
        u = (word[0] + 0.5) / 2.0**32
        if behind:
            u = survival[-1] + (1 - survival[-1]) * u
        elif u < survival[-1] and closure:
            u = survival[-1] + (1 - survival[-1]) * u / survival[-1]
        volume = int(np.argmax(survival < u)) if (survival < u).any() else -1
        assert k == volume
        if volume < 0:
            assert t == math.inf
            continue
        where = volume + 0.4 + 0.3 * float(normal_pair(np.uint32(word[1]), np.uint32(word[2]))[0])
        below += where < 0
        assert t == pytest.approx(max(where, 0.0), abs=1e-5)
    assert below > 2 and (out[:, 1] < 0).any() == (closure == 0 and not behind)


@kernel
def _seen_in_copy(matrix: np.ndarray, ray: Ray, box: np.ndarray, out: np.ndarray) -> None:
    own = _in_copy(matrix, ray, 7.0)
    out[0], out[1], out[2], out[3], out[4], out[5] = own.x, own.y, own.z, own.dx, own.dy, own.dz
    out[6], out[7] = own.near, own.far
    out[8] = _entry(box, ray, _inverse(ray.dx), _inverse(ray.dy), _inverse(ray.dz))


@pytest.mark.parametrize("seed", range(6))
def test_a_ray_in_a_copy_and_where_it_enters_a_box(seed: int) -> None:
    """Places go through the whole matrix, directions through its turn; boxes by the three slabs, from the start on."""
    rng = np.random.default_rng(seed)
    matrix, origin, way = rng.normal(size=(3, 4)), rng.normal(0, 3, 3), rng.normal(size=3)
    way /= np.linalg.norm(way)
    if seed == 5:
        way = np.array([0.0, 1.0, 0.0])
    low = rng.normal(size=3) - 1.5
    high = low + rng.uniform(1, 4, 3)
    if seed % 2:
        origin = (low + high) / 2 - 3.0 * way
    out = np.zeros(9)
    _seen_in_copy(matrix.ravel(), Ray(*origin, *way, 0.5, 9.0, 0.3), np.concatenate([low, high]), out)
    assert out[:3] == pytest.approx(matrix @ np.append(origin, 1.0)) and out[3:6] == pytest.approx(matrix[:, :3] @ way)
    assert out[6:8].tolist() == [0.0, 7.0]
    t = np.linspace(0, 20, 200_001)
    inside = ((origin + t[:, None] * way >= low) & (origin + t[:, None] * way <= high)).all(1)
    assert out[8] == (pytest.approx(t[inside.argmax()], abs=2e-4) if inside.any() else math.inf)
