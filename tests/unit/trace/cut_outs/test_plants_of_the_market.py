"""Cards as shops for plants make them: one atlas for several materials, shifted, turned and scaled on it, MASK and BLEND,
seen from both sides; read as a scene and as a mesh, and USD with an opacity of its own."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tussock.errors import InputError
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import load_mesh
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

RNG = np.random.default_rng(5)
ATLAS = np.full((16, 16, 4), 255, np.uint8)
ATLAS[..., 3] = RNG.choice([0, 90, 160, 255], (16, 16))
PLACES = [
    {"offset": [0.5, 0.0], "scale": [0.5, 0.5]},
    {"offset": [0.25, 0.75], "rotation": 0.7, "scale": [0.6, 1.3]},
    {"rotation": -np.pi / 2, "texCoord": 1},
]
MATERIALS = [
    {"alphaMode": "MASK", "alphaCutoff": 0.3},
    {"alphaMode": "BLEND", "extras": {"opacity_cutoff": 0.6}},
    {"alphaMode": "MASK"},
]
CUTOFFS = (0.3, 0.6, 0.5)
UV = (np.array([[0, 1], [1, 1], [1, 0], [0, 0]]), np.array([[0.1, 0.9], [0.8, 0.9], [0.8, 0.2], [0.1, 0.2]]))
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)  # y up, facing z


def plant(folder: Path, places: list[dict] = PLACES, *, webp: bool = False) -> Path:
    """Three cards one metre apart, all of one mesh: each a part with a material of its own; ``webp``: as Blender stores pictures
    where it is told to."""
    picture = io.BytesIO()
    Image.fromarray(ATLAS).save(picture, "WEBP" if webp else "PNG", lossless=True)
    blocks, views, accessors = [], [], []

    def stored(array: np.ndarray, kind: str) -> int:
        views.append({"buffer": 0, "byteOffset": sum(map(len, blocks)), "byteLength": array.nbytes})
        entry = {"bufferView": len(views) - 1, "componentType": 5126 if kind != "SCALAR" else 5125, "count": len(array)}
        if kind == "VEC3":
            entry |= {"min": array.min(0).tolist(), "max": array.max(0).tolist()}
        accessors.append(entry | {"type": kind})
        blocks.append(array.tobytes())
        return len(accessors) - 1

    order = stored(np.array([0, 1, 2, 0, 2, 3], np.uint32), "SCALAR")
    uv = [stored(one.astype(np.float32), "VEC2") for one in UV]
    parts = [
        {
            "attributes": {
                "POSITION": stored((CORNERS + np.array([2.0 * k, 0, 0])).astype(np.float32), "VEC3"),
                "TEXCOORD_0": uv[0], "TEXCOORD_1": uv[1],
            },
            "indices": order, "material": k,
        }
        for k in range(3)
    ]  # fmt: skip
    looks = [
        {"name": f"leaf{k}", "doubleSided": True, **MATERIALS[k], "pbrMetallicRoughness": {
            "baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": places[k]}}}}
        for k in range(3)
    ]  # fmt: skip
    told = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"name": "plant", "primitives": parts}], "materials": looks, "textures": [{"source": 0}],
        "images": [{"uri": "data:image/png;base64," + base64.b64encode(picture.getvalue()).decode()}],
        "extensionsUsed": ["KHR_texture_transform"], "extensionsRequired": ["KHR_texture_transform"],
        "accessors": accessors, "bufferViews": views,
        "buffers": [{
            "byteLength": sum(map(len, blocks)),
            "uri": "data:application/octet-stream;base64," + base64.b64encode(b"".join(blocks)).decode(),
        }],
    }  # fmt: skip
    if webp:
        told["images"][0]["uri"] = told["images"][0]["uri"].replace("image/png", "image/webp")
        told["textures"] = [{"extensions": {"EXT_texture_webp": {"source": 0}}}]
        for key in ("extensionsUsed", "extensionsRequired"):
            told[key] = [*told[key], "EXT_texture_webp"]
    (folder / "plant.gltf").write_text(json.dumps(told))
    return folder / "plant.gltf"


def wanted(k: int, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether there is a leaf at the share (a, b up) of card ``k``, and where that is beyond doubt: by the extension's own
    formula, as matrices."""
    place, (low, high) = PLACES[k], (UV[PLACES[k].get("texCoord", 0)][3], UV[PLACES[k].get("texCoord", 0)][1])
    uv = np.stack([low[0] + a * (high[0] - low[0]), high[1] + b * (low[1] - high[1]), np.ones_like(a)])
    angle, (sx, sy), (ox, oy) = place.get("rotation", 0.0), place.get("scale", (1, 1)), place.get("offset", (0, 0))
    turn = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    u, v, _ = np.array([[1, 0, ox], [0, 1, oy], [0, 0, 1]]) @ turn @ np.diag([sx, sy, 1]) @ uv
    x, y = (u % 1) * 16, (v % 1) * 16
    clear = (np.abs(x - np.round(x)) > 1e-3) & (np.abs(y - np.round(y)) > 1e-3)
    return ATLAS[y.astype(int) % 16, x.astype(int) % 16, 3] >= 255 * CUTOFFS[k], clear


def check(scene: Scene, cards: tuple[int, ...] = (0, 1, 2)) -> None:
    """Rays along the cards' normals, from both sides. What is y in the file is z in a scene, z is −y."""
    world = World(scene)
    for k in cards:
        a, b = RNG.uniform(0.01, 0.99, (2, 4000))
        there, clear = wanted(k, a, b)
        assert 0.2 < there.mean() < 0.9
        for side in (1.0, -1.0):
            start = np.stack([2.0 * k + a, np.full(4000, 3.0 * side), b], 1)
            met = np.isfinite(trace_rays(world, start, np.tile([0.0, -side, 0.0], (4000, 1)), 9.0))
            assert np.array_equal(met[clear], there[clear]), (k, side)


def test_an_atlas_is_cut_where_each_material_has_its_place(tmp_path):
    check(load_scene(plant(tmp_path)))
    alone = Scene()
    alone.add(load_mesh(plant(tmp_path)))
    check(alone, (0, 1))  # trimesh reads the first texture coordinates alone


def test_pictures_in_webp_are_cut_out_too(tmp_path):
    check(load_scene(plant(tmp_path, webp=True)))
    alone = Scene()
    alone.add(load_mesh(plant(tmp_path, webp=True)))
    check(alone, (0, 1))


def test_the_atlas_survives_our_own_files(tmp_path):
    scene = load_scene(plant(tmp_path))
    save_scene(scene, tmp_path / "again.glb")
    check(load_scene(tmp_path / "again.glb"))
    pytest.importorskip("pxr", reason="OpenUSD is not installed: pip install 'tussock[usd]'")
    save_scene(scene, tmp_path / "again.usda")
    check(load_scene(tmp_path / "again.usda"))


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"offset": [1]}, "offset"),
        ({"scale": ["a", 1]}, "scale"),
        ({"rotation": None}, "rotation"),
        ({"texCoord": -1}, "texCoord"),
    ],
)
def test_a_place_that_is_none_is_refused(tmp_path, place, words):
    with pytest.raises(InputError, match=words):
        load_scene(plant(tmp_path, [place, *PLACES[1:]]))
