"""The car: its size, its budget, its skin without holes, its windows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tussock.scene.surfaces import SURFACES
from tussock.scenes.car import _body, _Parts, _wheel, car

PAINT = SURFACES["car-paint"]


def test_a_car_is_as_large_as_it_was_and_stands_on_its_wheels():
    mesh = car(PAINT)
    low, high = mesh.bounds
    np.testing.assert_allclose(high - low, [4.31, 1.785, 1.45], atol=0.015)
    assert low[2] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(low[1], -high[1], atol=1e-6)
    assert len(mesh.triangles) < 10_000
    assert mesh.areas.min() > 0
    names = {material.name for material in mesh.materials}
    assert {"car-paint", "windscreen", "rubber", "rim", "headlight", "tail-light"} <= names


def test_the_body_is_closed_and_faces_outwards():
    rubber = SURFACES["rubber"]
    body = _body(_Parts(PAINT, SURFACES["windscreen"], rubber, rubber, rubber))
    # Corners at the same place are one: each edge then belongs to as many triangles one way as the other.
    _, same = np.unique(np.round(body.vertices, 5) + 0.0, axis=0, return_inverse=True)
    corners = same.ravel()[body.triangles]
    ways = Counter((int(a), int(b)) for t in corners for a, b in zip(t, np.roll(t, -1), strict=True) if a != b)
    assert all(ways[b, a] == count for (a, b), count in ways.items())
    assert 3.0 < _volume(body) < 5.5  # 4.3 m × 1.7 m × 0.65 m without wells and corners


@pytest.mark.parametrize("side", [-1, 1])
def test_wheels_face_outwards(side):
    rubber = SURFACES["rubber"]
    wheel = _wheel(_Parts(PAINT, rubber, rubber, rubber, rubber), side)
    assert 0.7 < _volume(wheel) / (np.pi * 0.32**2 * 0.2) < 1.0


def _volume(mesh):
    """[m³] of a closed mesh; negative where it is inside out"""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]].astype(float) for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def test_windows_look_to_all_four_sides():
    mesh = car(PAINT)
    glass = mesh.material_of_triangles == [material.name for material in mesh.materials].index("windscreen")
    a, b, c = (mesh.vertices[mesh.triangles[glass][:, k]].astype(float) for k in range(3))
    area = np.cross(b - a, c - a) / 2
    for axis, sign, least in ((0, 1, 0.25), (0, -1, 0.25), (1, 1, 0.35), (1, -1, 0.35)):
        assert (np.maximum(sign * area[:, axis], 0)).sum() > least
