"""Which shapes must not leak: closed ones and large ones, however their corners are written; blades need not be tight.

The rule is that of `tussock.trace.watertight`; what the tracer makes of it, of `tussock.trace.watertight.needs_to_be_tight` alone.
"""

from __future__ import annotations

import numpy as np
import pytest

from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, plane, sphere
from tussock.trace.watertight import _has_rim, _parts, needs_to_be_tight


def without(mesh: Mesh, *left_out: int) -> Mesh:
    """A mesh that lacks some of its triangles."""
    return Mesh.of(mesh.vertices, np.delete(mesh.triangles, left_out, axis=0))


def torn(mesh: Mesh) -> Mesh:
    """The same triangles, each with corners of its own."""
    return Mesh.of(mesh.vertices[mesh.triangles.ravel()], np.arange(3 * len(mesh.triangles)).reshape(-1, 3))


@pytest.mark.parametrize("shape", [box((0.1, 0.1, 0.1)), sphere(0.05, subdivisions=1)])
def test_what_is_closed_is_tight_until_it_has_a_hole(shape: Mesh) -> None:
    for written in (shape, torn(shape)):
        assert needs_to_be_tight(written)
        assert not needs_to_be_tight(without(written, 0))
        assert not needs_to_be_tight(without(written, 1, 4))


def test_a_closed_part_among_open_ones() -> None:
    blade, ball = without(box((0.1, 0.1, 0.1)), 2), sphere(0.03, subdivisions=1)
    both = Mesh.of(
        np.concatenate([blade.vertices, ball.vertices + np.float32(3)]),
        np.concatenate([blade.triangles, ball.triangles + len(blade.vertices)]),
    )
    assert needs_to_be_tight(both)
    assert not needs_to_be_tight(without(both, len(blade.triangles)))


@pytest.mark.parametrize(("side", "tight"), [(0.3, False), (0.33, True), (3.0, True)])
def test_what_is_open_is_tight_from_a_tenth_of_a_square_metre_on(side: float, tight: bool) -> None:
    """Counted over all triangles that hang together."""
    assert needs_to_be_tight(plane((side, side))) is tight


def test_a_rim_is_an_edge_of_one_triangle() -> None:
    """Of a strip of three triangles all have one; of four around a closed corner, and a loose one, only the loose one."""
    strip = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4]])
    closed = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    assert _has_rim(strip).tolist() == [True] * 3
    assert _has_rim(closed).tolist() == [False] * 4
    assert _has_rim(np.concatenate([closed, [[7, 8, 9]]])).tolist() == [False] * 4 + [True]
    parts = _parts(np.concatenate([closed, [[7, 8, 9]], [[9, 10, 11]]]))
    assert len(set(parts[:4].tolist())) == 1 and parts[4] == parts[5] != parts[0]
