"""Textures: from files, through mesh files, and errors for those that are missing."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from PIL import Image

from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.texture import Texture
from tussock.scene_files.mesh_files import load_mesh, save_mesh
from tussock.scene_files.scene_file import load_scene

PIXELS = np.random.default_rng(0).integers(0, 256, (8, 12, 4), dtype=np.uint8)
OBJ = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nusemtl paper\nf 1/1 2/2 3/3\n"


def test_equal_pixels_are_equal_textures_and_survive_as_text():
    texture = Texture(PIXELS)
    again = Texture.parse(texture.data())
    assert again == texture and hash(again) == hash(texture) and again.cut_out
    assert Texture(PIXELS[..., :3]) != texture and not Texture(PIXELS[..., :3]).cut_out


def test_a_textured_mesh_survives_its_file(tmp_path):
    big = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    poster = Material(name="poster", reflectance=0.4, texture=Texture(big))
    mesh = Mesh.of(np.eye(3), [[0, 1, 2]], (poster,), uv=[[0, 0], [1, 0], [0.25, 1]])
    save_mesh(mesh, tmp_path / "a.ply")
    back = load_mesh(tmp_path / "a.ply")
    assert back.materials == mesh.materials
    np.testing.assert_array_equal(back.uv, mesh.uv)
    header = (tmp_path / "a.ply").read_bytes().split(b"end_header")[0]
    assert max(map(len, header.splitlines())) < 1000  # other readers hold 1024 characters a line
    assert len(trimesh.load_mesh(tmp_path / "a.ply").faces) == 1


def test_obj_and_glb_bring_their_textures(tmp_path):
    Image.fromarray(PIXELS[..., :3]).save(tmp_path / "paper.png")
    (tmp_path / "a.obj").write_text(OBJ)
    (tmp_path / "a.mtl").write_text("newmtl paper\nKd 1 1 1\nmap_Kd paper.png\n")
    mesh = load_mesh(tmp_path / "a.obj")
    assert mesh.materials[0].texture == Texture(PIXELS[..., :3])
    np.testing.assert_allclose(mesh.uv, [[0, 0], [1, 0], [1, 1]])
    trimesh.load_scene(tmp_path / "a.obj").export(tmp_path / "a.glb")
    glb = load_mesh(tmp_path / "a.glb")
    np.testing.assert_allclose(glb.uv, mesh.uv, atol=1e-6)
    assert glb.materials[0].texture == mesh.materials[0].texture


def test_a_missing_texture_is_an_error(tmp_path):
    (tmp_path / "a.obj").write_text(OBJ)
    (tmp_path / "a.mtl").write_text("newmtl paper\nKd 1 1 1\nmap_Kd lost.png\n")
    with pytest.raises(InputError, match=r"a\.obj: texture of a\.mtl.*lost\.png"):
        load_mesh(tmp_path / "a.obj")
    scene = tmp_path / "s.toml"
    scene.write_text(
        '[materials.brick]\ntexture = "lost.png"\n[[objects]]\nbox = {size_m = [1, 1, 1]}\nmaterial = "brick"\n'
    )
    with pytest.raises(InputError, match=r"materials\.brick\.texture.*lost\.png: no such texture file"):
        load_scene(scene)


def test_a_scene_file_names_textures_beside_it(tmp_path):
    Image.fromarray(PIXELS).save(tmp_path / "brick.png")
    scene = tmp_path / "s.toml"
    scene.write_text(
        '[materials.brick]\ntexture = "brick.png"\n[[objects]]\nbox = {size_m = [1, 1, 1]}\nmaterial = "brick"\n'
    )
    assert load_scene(scene).materials["brick"].texture == Texture(PIXELS)


@pytest.mark.parametrize("bad", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)])
def test_pixels_that_are_none(bad):
    with pytest.raises(InputError, match="texture"):
        Texture(bad)


def test_a_picture_that_is_none(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(InputError, match="not a readable picture"):
        Texture.load(tmp_path / "a.png")
    with pytest.raises(InputError, match="uv"):
        Mesh.of(np.eye(3), [[0, 1, 2]], uv=[[0, 0]])


def test_a_gltf_brings_pictures_of_other_folders(tmp_path):
    (tmp_path / "textures").mkdir()
    (tmp_path / "models").mkdir()
    Image.new("RGB", (2, 2), (255, 0, 0)).save(tmp_path / "textures" / "red.png")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")
    places = np.array([[0, 0], [1, 0], [0, 1]], "<f4")
    data = corners.tobytes() + places.tobytes()
    (tmp_path / "models" / "m.bin").write_bytes(data)
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "materials": [{"name": "m", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"uri": "../textures/red.png"}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24},
        ],
        "buffers": [{"uri": "m.bin", "byteLength": len(data)}],
    }  # fmt: skip
    (tmp_path / "models" / "m.gltf").write_text(json.dumps(document))
    assert load_mesh(tmp_path / "models" / "m.gltf").materials[0].reflectance == pytest.approx(0.2126, abs=1e-3)
