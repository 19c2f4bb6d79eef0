"""Triangles with a margin: every edge moves out by it, in the triangle's plane."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.trace.exact.margins import least_scales, margin_of, with_margin


def heights(corners: np.ndarray) -> np.ndarray:
    """Height over each side [m] of triangles (m, 3, 3), shape (m, 3)."""
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return area[:, None] / np.linalg.norm(np.roll(corners, -1, 1) - np.roll(corners, -2, 1), axis=2)


def test_every_edge_moves_out_by_the_margin() -> None:
    corners = np.random.default_rng(1).normal(size=(500, 3, 3))
    corners = corners[heights(corners).min(1) > 0.1]
    count, margin = len(corners), 1e-3
    found = with_margin(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), margin).reshape(-1, 3, 3)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    for j in range(3):
        a, b = corners[:, j], corners[:, (j + 1) % 3]
        out = np.cross(b - a, normal)
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        for corner in (j, (j + 1) % 3):
            assert np.einsum("ni,ni->n", found[:, corner] - a, out) == pytest.approx(np.full(count, margin), abs=2e-6)
            assert np.einsum("ni,ni->n", found[:, corner] - a, normal) == pytest.approx(np.zeros(count), abs=2e-6)


def test_small_triangles_grow_by_half_at_most_and_flat_ones_not_at_all() -> None:
    corners = np.array([[0, 0, 0], [1e-6, 0, 0], [0, 1e-6, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], float)
    found = with_margin(corners, np.arange(6).reshape(2, 3), 1e-4)
    assert np.linalg.norm(found[1] - found[0]) == pytest.approx(1.5e-6)
    assert np.array_equal(found[3:], corners[3:].astype(np.float32))


def test_small_copies_have_the_margin_too() -> None:
    scene, crate = Scene(), box()
    scene.add(crate, placements=Placements.of([[0, 0, 0], [9, 0, 0]], scale=np.array([0.5, 0.1])))
    scene.add(crate, position=(3, 3, 3))
    assert least_scales(scene.objects)[id(crate)] == pytest.approx(0.1)
    assert margin_of(20.0, 0.1) == pytest.approx(10 * margin_of(20.0))
    assert margin_of(1e6) == margin_of(1e5) == 1e-4, "not wider than a tenth of a millimetre"
