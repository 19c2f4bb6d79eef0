"""Which triangle is beyond an edge: against a count by hand, for any triangles."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.trace.rounding import neighbours
from tussock.trace.rounding.neighbours import BORDER, LEFT_ALONE, beyond_edges

_corner = st.integers(0, 7)


def unwelded(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    corners = np.asarray(mesh.vertices[mesh.triangles], np.float32).reshape(-1, 3)
    return corners, np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)


@pytest.mark.parametrize("mixed_up", [False, True])
@given(st.lists(st.tuples(_corner, _corner, _corner), min_size=1, max_size=20))
def test_edges_are_paired_as_a_count_pairs_them(mixed_up: bool, chosen: list[tuple[int, int, int]]) -> None:
    """Also where every place has the same mixture of its bits, so that places must be compared whole."""
    points = np.array([[x, y, z] for x in (-0.0, 0.01) for y in (0, 0.01) for z in (0, 0.01)], np.float32)
    triangles = np.array(chosen, np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        if mixed_up:
            patch.setattr(neighbours, "_MIX", np.zeros(3, np.uint64))
        found = beyond_edges(points, triangles).ravel()
    users = defaultdict(list)
    for k, ends in enumerate(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)):
        users[frozenset(ends.tolist())].append(k)
    for ends, edges in users.items():
        for k in edges:
            if len(ends) == 1 or len(edges) > 2:
                assert found[k] == LEFT_ALONE
            elif len(edges) == 1:
                assert found[k] == BORDER
            else:
                assert found[k] == edges[1 - edges.index(k)]


@pytest.mark.parametrize("mesh", [box((1, 2, 3)), sphere(1.0, subdivisions=2)], ids=["box", "ball"])
def test_a_closed_surface_has_a_neighbour_everywhere(mesh: Mesh) -> None:
    """Files that repeat the corners for every triangle have the same neighbours."""
    found = beyond_edges(mesh.vertices.astype(np.float32), mesh.triangles)
    assert found.min() >= 0
    assert np.array_equal(found.ravel()[found.ravel()], np.arange(found.size))
    assert np.array_equal(beyond_edges(*unwelded(mesh)), found)


def test_another_floor_may_begin_where_one_ends_and_no_leaf_does() -> None:
    for mesh, border in (
        (plane((2, 2)), LEFT_ALONE),
        (ground((4, 4), cells=(90, 90)), LEFT_ALONE),
        (plane((0.1, 0.1)), BORDER),
    ):
        found = beyond_edges(mesh.vertices.astype(np.float32), mesh.triangles)
        assert set(found[found < 0].tolist()) == {border}
