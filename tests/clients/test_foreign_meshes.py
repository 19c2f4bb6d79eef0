"""Meshes that other programs made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.scene_files.mesh_files import load_mesh, save_mesh

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "mesh"


def test_grass_of_ez_tree(tmp_path):
    path = SHARED / "eztree_grass.glb"
    if not path.exists():
        pytest.skip("the shared mesh eztree_grass.glb is not on this machine")
    mesh = load_mesh(path)
    assert len(mesh.triangles) == 6
    # y-up in the file, as glTF is: the blades stand on the ground and are 2 m high.
    np.testing.assert_allclose(mesh.bounds[:, 2], [0, 2], atol=1e-6)
    (material,) = mesh.materials
    assert material.name == "GrassMaterial"
    assert 0 < material.reflectance < 1
    save_mesh(mesh, tmp_path / "grass.ply")
    again = load_mesh(tmp_path / "grass.ply")
    assert again.vertices.tobytes() == mesh.vertices.tobytes()
    assert again.materials == mesh.materials
