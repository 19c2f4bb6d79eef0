"""Mesh files: what they hold, where it lands, and what is wrong with the bad ones."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import trimesh

from tussock.errors import InputError, OutputError
from tussock.plants.tree import tree
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box
from tussock.scene_files.mesh_files import load_mesh, save_mesh


@pytest.fixture
def crate():
    """A box of 1 × 2 × 3 m whose middle is at (10, 20, 30)."""
    shape = trimesh.creation.box((1, 2, 3))
    shape.apply_translation((10, 20, 30))
    return shape


@pytest.mark.parametrize("suffix", ["stl", "ply", "obj"])
def test_z_up_formats_are_taken_as_they_are(crate, tmp_path, suffix):
    path = tmp_path / f"crate.{suffix}"
    crate.export(path)
    mesh = load_mesh(path)
    np.testing.assert_allclose(mesh.bounds, [[9.5, 19, 28.5], [10.5, 21, 31.5]])
    assert mesh.areas.sum() == pytest.approx(22)
    assert mesh.materials == (Material(),)
    np.testing.assert_allclose(load_mesh(path, up_axis="y").bounds, [[9.5, -31.5, 19], [10.5, -28.5, 21]])


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_gltf_is_turned_from_y_up_to_z_up(crate, tmp_path, suffix):
    path = tmp_path / f"crate.{suffix}"
    if suffix == "gltf":
        for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(crate)).items():
            (tmp_path / name).write_bytes(data)
        (tmp_path / "model.gltf").rename(path)
    else:
        crate.export(path)
    np.testing.assert_allclose(load_mesh(path).bounds, [[9.5, -31.5, 19], [10.5, -28.5, 21]], rtol=1e-6)
    np.testing.assert_allclose(load_mesh(path, up_axis="z").bounds, [[9.5, 19, 28.5], [10.5, 21, 31.5]], rtol=1e-6)


def test_all_nodes_are_placed_and_mirrored_ones_still_face_outward(tmp_path):
    scene = trimesh.Scene()
    shape = trimesh.creation.icosphere(subdivisions=2)
    mirrored = np.diag([-1.0, 1.0, 1.0, 1.0])
    mirrored[:3, 3] = (5, 0, 0)
    scene.add_geometry(shape, node_name="one", geom_name="ball")
    scene.graph.update(frame_to="two", matrix=mirrored, geometry="ball")
    scene.export(tmp_path / "two.glb")
    mesh = load_mesh(tmp_path / "two.glb")
    assert len(mesh.triangles) == 2 * len(shape.faces)
    np.testing.assert_allclose(mesh.bounds, [[-1, -1, -1], [6, 1, 1]], atol=1e-2)
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(float) for i in range(3))
    for chosen, middle in ((a[:, 0] < 2, (0, 0, 0)), (a[:, 0] > 2, (5, 0, 0))):
        outward = (np.cross(b - a, c - a) * ((a + b + c) / 3 - middle)).sum(1)[chosen]
        assert (outward > 0).all()


OBJ = "mtllib x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 2 3\nusemtl dark\nf 1 2 4\nf 1 1 2\n"


def test_obj_takes_names_and_colours_from_its_mtl_and_drops_flat_triangles(tmp_path):
    (tmp_path / "x.obj").write_text(OBJ)
    (tmp_path / "x.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl dark\nKd 0.1 0.1 0.1\n")
    mesh = load_mesh(tmp_path / "x.obj")
    assert len(mesh.triangles) == 2
    by_name = {m.name: (i, m) for i, m in enumerate(mesh.materials)}
    assert by_name["red"][1].color == (1, 0, 0)
    assert by_name["red"][1].reflectance == pytest.approx(0.2126)
    assert by_name["dark"][1].reflectance == pytest.approx(0.1)
    upright = mesh.vertices[mesh.triangles][..., 2].max(1) > 0.5
    assert mesh.material_of_triangles[upright].tolist() == [by_name["dark"][0]]


def glb(path, materials, primitives, positions, indices):
    """A GLB by hand: every primitive shares positions and indices."""
    blob = np.asarray(positions, "<f4").tobytes() + np.asarray(indices, "<u4").tobytes()
    n = len(positions)
    header = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": m} for m in primitives]}],
        "materials": materials,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": n, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": np.size(indices), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 12 * n},
            {"buffer": 0, "byteOffset": 12 * n, "byteLength": 4 * np.size(indices)},
        ],
        "buffers": [{"byteLength": len(blob)}],
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return path


CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_gltf_extras_carry_the_reflectance(tmp_path):
    color = {"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 0.125, 1]}}
    materials = [
        {"name": "leaf", "extras": {"lidar_reflectance": 0.47}, **color},
        {"name": "bark", "extras": {"reflectance": 0.33}},
        {"name": "plain", **color},
    ]
    mesh = load_mesh(glb(tmp_path / "a.glb", materials, [0, 1, 2], CORNERS, [0, 1, 2]))
    found = {m.name: m for m in mesh.materials}
    assert found["leaf"].reflectance == 0.47
    assert found["leaf"].color == (0.5, 0.25, 0.125)
    assert found["bark"].reflectance == 0.33
    assert found["plain"].reflectance == pytest.approx(0.2126 * 0.5 + 0.7152 * 0.25 + 0.0722 * 0.125)
    assert sorted(mesh.material_of_triangles) == [0, 1, 2]


def test_gltf_reflectance_outside_its_range(tmp_path):
    path = glb(tmp_path / "a.glb", [{"name": "x", "extras": {"reflectance": 3}}], [0], CORNERS, [0, 1, 2])
    with pytest.raises(
        InputError, match=r"a\.glb: material 'x': reflectance: should be less than or equal to 1, got 3"
    ):
        load_mesh(path)


@pytest.mark.parametrize(
    ("positions", "indices", "said"),
    [
        ([[0, 0, 0], [1, float("nan"), 0], [0, 1, 0]], [0, 1, 2], "must be finite"),
        ([[0, 0, 0], [1, float("inf"), 0], [0, 1, 0]], [0, 1, 2], "must be finite"),
        (CORNERS, [0, 1, 9], "must index vertices 0 to 2, got 9"),
        (CORNERS, [0, 1, 1], "no triangle with an area"),
    ],
)
def test_bad_geometry_in_a_glb(tmp_path, positions, indices, said):
    path = glb(tmp_path / "bad.glb", [{"name": "x"}], [0], positions, indices)
    with pytest.raises(InputError, match=said) as caught:
        load_mesh(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_face_colours_become_materials(crate, tmp_path):
    crate.visual.face_colors = [[255, 0, 0, 255]] * 6 + [[0, 0, 255, 255]] * 6
    crate.export(tmp_path / "two.ply")
    mesh = load_mesh(tmp_path / "two.ply")
    assert {m.name for m in mesh.materials} == {"color-ff0000", "color-0000ff"}
    assert np.bincount(mesh.material_of_triangles).tolist() == [6, 6]
    crate.visual = trimesh.visual.ColorVisuals(crate, vertex_colors=[[255, 255, 255, 255]] * 8)
    crate.export(tmp_path / "white.ply")
    (white,) = load_mesh(tmp_path / "white.ply").materials
    assert white.reflectance == pytest.approx(1.0)


@pytest.mark.parametrize("suffix", ["stl", "ply", "glb"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.97])
def test_cut_short(crate, tmp_path, suffix, share):
    path = tmp_path / f"crate.{suffix}"
    crate.export(path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError) as caught:
        load_mesh(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_ascii_ply_cut_short(crate, tmp_path):
    path = tmp_path / "crate.ply"
    crate.export(path, encoding="ascii")
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:-2]))
    with pytest.raises(InputError, match="PLY element face: must have 12 rows, got 10"):
        load_mesh(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n", "not a readable OBJ file"),
        ("v 0 nan 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "must be finite"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "holds no triangles"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", "not a readable OBJ file"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2", "three corners"),
        ("", "is empty"),
    ],
)
def test_bad_obj(tmp_path, text, said):
    (tmp_path / "bad.obj").write_text(text)
    with pytest.raises(InputError, match=said):
        load_mesh(tmp_path / "bad.obj")


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="no such mesh file"):
        load_mesh(tmp_path / "absent.ply")
    with pytest.raises(InputError, match=r"unknown kind of mesh file; did you mean '\.stl'"):
        load_mesh(tmp_path / "a.stll")
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        load_mesh(tmp_path / "folder.obj")
    (tmp_path / "noise.glb").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="not a readable GLB file"):
        load_mesh(tmp_path / "noise.glb")
    with pytest.raises(InputError, match="up_axis"):
        load_mesh(tmp_path / "absent.ply", up_axis="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [box, lambda: tree(triangles=6_000)])
def test_saved_mesh_comes_back_bit_for_bit(tmp_path, make):
    mesh = make()
    save_mesh(mesh, tmp_path / "m.ply")
    again = load_mesh(tmp_path / "m.ply")
    assert again.vertices.tobytes() == mesh.vertices.tobytes()
    np.testing.assert_array_equal(again.triangles, mesh.triangles)
    assert again.materials == mesh.materials
    if mesh.triangle_materials is None:
        assert again.triangle_materials is None
    else:
        np.testing.assert_array_equal(again.triangle_materials, mesh.triangle_materials)
    assert [p.name for p in tmp_path.iterdir()] == ["m.ply"]


def test_saved_mesh_keeps_flat_triangles_minus_zero_and_odd_names(tmp_path):
    odd = Material(name='odd "näme"\n2', reflectance=1 / 3)
    mesh = Mesh.of([[-0.0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2], [1, 1, 1]], (odd, Material()), [1, 0])
    save_mesh(mesh, tmp_path / "m.ply")
    again = load_mesh(tmp_path / "m.ply")
    assert again.vertices.tobytes() == mesh.vertices.tobytes()
    assert again.materials == mesh.materials
    assert len(again.triangles) == 2


def test_other_programs_read_the_saved_mesh(tmp_path):
    mesh = tree(triangles=6_000)
    save_mesh(mesh, tmp_path / "m.ply")
    seen = trimesh.load_mesh(tmp_path / "m.ply", process=False)
    np.testing.assert_array_equal(seen.faces, mesh.triangles)
    np.testing.assert_array_equal(np.asarray(seen.vertices, np.float32), mesh.vertices)
    assert len(np.unique(seen.visual.face_colors, axis=0)) == 3


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5, 0.999])
def test_saved_mesh_cut_short(tmp_path, share):
    save_mesh(box(), tmp_path / "m.ply")
    whole = (tmp_path / "m.ply").read_bytes()
    (tmp_path / "m.ply").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError):
        load_mesh(tmp_path / "m.ply")
    (tmp_path / "m.ply").write_bytes(whole.replace(b"element vertex 8", b"element vertex x"))
    with pytest.raises(InputError, match="header is damaged"):
        load_mesh(tmp_path / "m.ply")


def test_saving_does_not_overwrite_unasked(tmp_path):
    save_mesh(box(), tmp_path / "m.ply")
    with pytest.raises(OutputError, match="exists already"):
        save_mesh(box(), tmp_path / "m.ply")
    save_mesh(box((2, 2, 2)), tmp_path / "m.ply", force=True)
    assert load_mesh(tmp_path / "m.ply").bounds[1, 0] == 1
    with pytest.raises(InputError, match=r"written as \.ply"):
        save_mesh(box(), tmp_path / "m.obj")
