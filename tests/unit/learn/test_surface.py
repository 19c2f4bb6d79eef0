"""The surface baseline: a plane comes back as a plane, and what MeshLab leaves undefined does no harm."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn import surface
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.surface import scan_surface, surface_mesh

pytest.importorskip("pymeshlab", reason="PyMeshLab is not installed: pip install 'tussock[surface]'")


@pytest.fixture(scope="module")
def wall() -> MeasuredPulses:
    """A square metre of a wall 8 m ahead, with the range noise of an HDL-64E."""
    rng = np.random.default_rng(0)
    way = np.stack([np.full(20_000, 8.0), *rng.uniform(-0.5, 0.5, (2, 20_000))], 1)
    ranges = np.linalg.norm(way, axis=1) + rng.normal(0, 0.005, len(way))
    return MeasuredPulses.of(np.zeros(3), way, ranges, reach=20.0)


def test_a_wall_is_found_where_it_stands(wall: MeasuredPulses) -> None:
    mesh = surface_mesh(wall, cell=0.02, kernel=0.08)
    seen = scan_surface(mesh, wall, seed=3)
    middle = np.abs(wall.points[:, 1:]).max(1) < 0.45
    assert seen.hit[middle].mean() > 0.99
    off = (seen.points[middle, 0] - 8)[seen.hit[middle]]
    assert abs(off.mean()) < 0.002
    assert off.std() == pytest.approx(0.005, rel=0.1)
    bare = scan_surface(mesh, wall, sigma=0.0)
    assert np.nanstd(bare.points[middle, 0]) < 0.002
    beside = MeasuredPulses.of(np.zeros(3), [[8.0, 2.0, 0.0]], [np.nan], reach=20.0)
    assert not scan_surface(mesh, beside).hit.any()


def test_corners_that_are_undefined_are_left_out(wall: MeasuredPulses, monkeypatch) -> None:
    def cloud() -> SimpleNamespace:
        """As PyMeshLab, with a good triangle and three that have an undefined corner."""
        good = [[-0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
        corners = np.array([*good, [np.nan, 0, 0], [0, -np.inf, 0], [0, 0, 1.7e308]])
        made = SimpleNamespace(
            vertex_matrix=lambda: corners, face_matrix=lambda: np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4], [1, 2, 5]])
        )
        return SimpleNamespace(
            add_mesh=lambda mesh: None, generate_marching_cubes_rimls=lambda **_: None, current_mesh=lambda: made
        )

    monkeypatch.setattr(surface, "_meshlab", lambda: SimpleNamespace(MeshSet=cloud, Mesh=lambda **_: None))
    mesh = surface_mesh(wall, cell=0.02, kernel=0.08)
    assert len(mesh.triangles) == 1
    assert np.isfinite(mesh.vertices).all()
    way = np.stack([np.full(17, 8.0), np.arange(17) % 5 - 2.0, np.arange(17) // 5 - 1.0], 1)
    few = MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=20.0)
    with pytest.raises(InputError, match="no surface was found"):  # as many as it takes, only far apart
        surface_mesh(few, cell=0.02, kernel=0.08)


def test_what_no_surface_can_be_laid_through(wall: MeasuredPulses) -> None:
    with pytest.raises(InputError, match="need 17 returns or more for a surface, got 3"):
        surface_mesh(wall.select(slice(0, 3)))
    for sizes in ({"cell": 0.0}, {"kernel": -1.0}, {"kernel": np.nan}):
        with pytest.raises(InputError, match=f"surface {next(iter(sizes))}: must be a length above 0"):
            surface_mesh(wall, **sizes)
    with pytest.raises(InputError, match="leaves too few points"):
        surface_mesh(wall, kernel=10.0)
