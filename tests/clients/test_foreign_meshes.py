"""Meshes that other programs made."""

from __future__ import annotations

import numpy as np

from real_recordings import recorded
from tussock.scene_files.mesh_files import load_mesh, save_mesh


def test_grass_of_ez_tree(tmp_path):
    mesh = load_mesh(recorded("mesh/eztree_grass.glb"))
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
