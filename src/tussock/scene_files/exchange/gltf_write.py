"""Writes a scene as GLB: a node an object, ``EXT_mesh_gpu_instancing`` for those of many placements.

The root node turns z up to glTF's y up, so that every number below it is the scene's own. Transforms that are more than
shift, turn and scale become nodes of their own.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import OutputError
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene, SceneObject
from tussock.scene_files.exchange.gltf_file import INSTANCING, glb_bytes
from tussock.scene_files.exchange.told import KEY, material_text, object_text, refuse_more
from tussock.scene_files.exchange.usd_write import simple_transforms
from tussock.whole_files import check_writable, whole_file

__all__ = ["save_glb"]

_Y_UP = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
"""z up to y up, column by column"""


def save_glb(scene: Scene, path: Path, *, force: bool = False) -> None:
    """Write ``scene`` as one .glb file."""
    if path.suffix.lower() != ".glb":
        raise OutputError(f"{path}: glTF scenes are written as .glb; name it {path.with_suffix('.glb').name}")
    refuse_more(scene, "glTF")
    check_writable(path, force=force)
    data = _Writer(scene).file()
    with whole_file(path, force=force) as temporary:
        temporary.write_bytes(data)


class _Writer:
    def __init__(self, scene: Scene) -> None:
        self._binary = bytearray()
        self._document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Tussock"}, "scene": 0,
            "scenes": [{"name": scene.name, "nodes": [0]}], "nodes": [], "meshes": [], "materials": [],
            "accessors": [], "bufferViews": [], "images": [], "textures": [],
        }  # fmt: skip
        self._meshes: dict[int, int] = {}
        self._materials: dict[Material, int] = {}
        root: dict[str, Any] = {"name": "z up", "matrix": _Y_UP, "children": []}
        self._nodes = self._document["nodes"]
        self._nodes.append(root)
        for thing in sorted(scene.objects, key=lambda thing: thing.id):
            root["children"].append(self._object(thing))

    def file(self) -> bytes:
        document = {key: value for key, value in self._document.items() if value != []}
        if any(INSTANCING in node.get("extensions", {}) for node in self._nodes):
            document["extensionsUsed"] = document["extensionsRequired"] = [INSTANCING]
        document["buffers"] = [{"byteLength": len(self._binary)}]
        return glb_bytes(document, bytes(self._binary))

    def _object(self, thing: SceneObject) -> int:
        matrices, mesh = thing.placements.matrices, self._mesh(thing.mesh, thing.name)
        node: dict[str, Any] = {"name": thing.name, "extras": {KEY: json.loads(object_text(thing))}}
        parts = simple_transforms(matrices) if len(matrices) > 1 else None
        number = len(self._nodes)
        self._nodes.append(node)
        if parts is not None:
            turns, sizes = parts
            given = {"TRANSLATION": matrices[:, :, 3], "ROTATION": turns, "SCALE": sizes}
            attributes = {
                name: self._accessor(values.astype(np.float32), "VEC4" if name == "ROTATION" else "VEC3")
                for name, values in given.items()
            }
            exact = self._view(np.ascontiguousarray(matrices, "<f8").tobytes())
            node |= {"mesh": mesh, "extensions": {INSTANCING: {"attributes": attributes, "extras": {KEY: exact}}}}
        elif len(matrices) == 1:
            node |= {"mesh": mesh, "matrix": _columns(matrices[0])}
        else:
            raise OutputError(
                f"object {thing.name!r}: placements with a skew cannot be instances in glTF; save the scene as .usd or .toml"
            )
        return number

    def _mesh(self, mesh: Mesh, name: str) -> int:
        if id(mesh) in self._meshes:
            return self._meshes[id(mesh)]
        bounds = mesh.bounds.tolist()
        attributes = {"POSITION": self._accessor(mesh.vertices, "VEC3", min=bounds[0], max=bounds[1])}
        if mesh.uv is not None:
            attributes["TEXCOORD_0"] = self._accessor(np.stack([mesh.uv[:, 0], 1 - mesh.uv[:, 1]], 1), "VEC2")
        parts = []
        for number, material in enumerate(mesh.materials):
            chosen = mesh.triangles[mesh.material_of_triangles == number]
            if len(chosen):
                indices = self._accessor(chosen.reshape(-1, 1).astype(np.uint32), "SCALAR")
                parts.append({"attributes": attributes, "indices": indices, "material": self._material(material)})
        self._document["meshes"].append({"name": name, "primitives": parts})
        self._meshes[id(mesh)] = len(self._document["meshes"]) - 1
        return self._meshes[id(mesh)]

    def _material(self, material: Material) -> int:
        if material in self._materials:
            return self._materials[material]
        color = material.color or (material.reflectance,) * 3
        look: dict[str, Any] = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": 1.0}
        entry: dict[str, Any] = {"name": material.name, "doubleSided": True, "pbrMetallicRoughness": look}
        if material.texture is not None:
            from PIL import Image

            file = io.BytesIO()
            Image.fromarray(material.texture.pixels).save(file, "PNG")
            view = self._view(file.getvalue())
            self._document["images"].append({"bufferView": view, "mimeType": "image/png"})
            self._document["textures"].append({"source": len(self._document["images"]) - 1})
            look["baseColorTexture"] = {"index": len(self._document["textures"]) - 1}
            look["baseColorFactor"] = [1.0, 1.0, 1.0, 1.0]  # the picture has the colour already
            if material.texture.least_opacity < 255:
                entry["alphaMode"], entry["alphaCutoff"] = "MASK", material.opacity_cutoff
        entry["extras"] = {"lidar_reflectance": material.reflectance, KEY: json.loads(material_text(material))}
        self._document["materials"].append(entry)
        self._materials[material] = len(self._document["materials"]) - 1
        return self._materials[material]

    def _accessor(self, values: NDArray[Any], kind: str, **more: Any) -> int:
        component = 5125 if values.dtype == np.uint32 else 5126
        data = np.ascontiguousarray(values, "<u4" if component == 5125 else "<f4").tobytes()
        entry = {"bufferView": self._view(data), "componentType": component, "count": len(values), "type": kind, **more}
        self._document["accessors"].append(entry)
        return len(self._document["accessors"]) - 1

    def _view(self, data: bytes) -> int:
        self._binary += bytes(-len(self._binary) % 8)
        entry = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": len(data)}
        self._binary += data
        self._document["bufferViews"].append(entry)
        return len(self._document["bufferViews"]) - 1


def _columns(matrix: NDArray[np.float64]) -> list[float]:
    """A transform (3, 4) as glTF writes it, column by column."""
    whole = np.eye(4)
    whole[:3] = matrix
    return [float(value) for value in whole.T.reshape(-1)]
