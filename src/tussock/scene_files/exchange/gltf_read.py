"""Scenes from glTF files (.gltf, .glb): nodes as objects, ``EXT_mesh_gpu_instancing`` as placements.

A node with a mesh is an object; its instances are the placements. Nodes that share a mesh share the shape. y up becomes
z up. Materials are read as for meshes (see `tussock.scene_files.mesh_files`): a reflectance of its own may stand in a
material's ``extras`` as ``lidar_reflectance``. Animations, skins and points or lines are left out and said; compressed
geometry (Draco, meshopt) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.reach import Reach, refuse_special
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene
from tussock.scene_files.exchange.gltf_file import INSTANCING, GltfFile
from tussock.scene_files.exchange.told import KEY, add_object, exact_places, read_material, warn
from tussock.scene_files.material_names import MaterialNames
from tussock.scene_files.mesh_files import gltf_cutoff, material_of_color, mean_color, tinted
from tussock.scene_files.texture_places import TexturePlace, place_on_texture

__all__ = ["GLTF_SUFFIXES", "load_gltf"]

GLTF_SUFFIXES = (".gltf", ".glb")
_Z_UP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_DEEPEST = 500


def load_gltf(path: Path | str, *, reach: Reach | None = None, say: Callable[[str], None] = warn) -> Scene:
    """Read a glTF file as a scene, with the buffers and textures that it names within its ``reach``."""
    path = Path(path)
    if not path.is_file():
        refuse_special(path)
        raise InputError("no such scene file", source=path)
    try:
        reader = _Reader(GltfFile(path, reach or Reach.of(path)))
        scene = reader.scene(path.stem)
    except InputError as error:
        raise error.within(path) from None
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        why = " ".join(str(error).split())[:100]
        raise InputError(f"is no glTF document that can be read ({why}); it is damaged", source=path) from None
    for note in reader.notes:
        say(f"{path}: {note}")
    return scene


class _Reader:
    def __init__(self, file: GltfFile) -> None:
        self._file, self._json = file, file.json
        self._meshes: dict[int, Mesh | None] = {}
        self._materials: dict[Any, Material] = {}
        self._names = MaterialNames()
        self._lines = 0

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        found = []
        if self._json.get("animations"):
            found.append(f"{len(self._json['animations'])} animations are not read; everything stands")
        if self._json.get("skins"):
            found.append(f"{len(self._json['skins'])} skins are not read; shapes are as they rest")
        if self._lines:
            found.append(f"{self._lines} parts of points or lines are left out")
        return found

    def scene(self, name: str) -> Scene:
        number = self._json.get("scene", 0)
        if self._json.get("scenes"):
            shown = self._file.entry("scenes", number)
            roots = shown.get("nodes", [])
        else:
            shown = {}
            below = {child for node in self._json.get("nodes", []) for child in node.get("children", [])}
            roots = [k for k in range(len(self._json.get("nodes", []))) if k not in below]
        scene = Scene(str(shown.get("name") or name))
        for root in roots:
            self._node(scene, root, _Z_UP, 0)
        if not scene.objects:
            raise InputError("holds no mesh of triangles")
        return scene

    def _node(self, scene: Scene, number: Any, above: NDArray[np.float64], depth: int) -> None:
        if depth > _DEEPEST:
            raise InputError.of("nodes", f"must not be deeper than {_DEEPEST}", number, "does one hold itself?")
        node = self._file.entry("nodes", number)
        here = above @ _local(node)
        if "mesh" in node:
            mesh = self._mesh(node["mesh"])
            if mesh is not None:
                extras = node.get("extras")
                said = extras.get(KEY) if isinstance(extras, dict) else None
                named = str(node.get("name") or self._file.entry("meshes", node["mesh"]).get("name") or f"node{number}")
                add_object(scene, mesh, self._places(node, here), named, said, None)
        for child in node.get("children", []):
            self._node(scene, child, here, depth + 1)

    def _places(self, node: dict[str, Any], here: NDArray[np.float64]) -> NDArray[np.float64]:
        """The transforms of a node's copies, shape (n, 3, 4)."""
        given = node.get("extensions", {}).get(INSTANCING)
        if given is None:
            return here[None, :3]
        told = {name: self._file.accessor(number).astype(float) for name, number in given["attributes"].items()}
        plain = {name: told[name] for name in ("TRANSLATION", "ROTATION", "SCALE") if name in told}
        count = {len(values) for values in plain.values()}
        if len(count) != 1:
            raise InputError.of(INSTANCING, "must have as many of each attribute", sorted(count))
        n = count.pop()
        local = np.tile(np.eye(4), (n, 1, 1))
        if "ROTATION" in plain:
            turns = plain["ROTATION"]
            if not (np.linalg.norm(turns, axis=1) > 1e-9).all():
                raise InputError(f"{INSTANCING}: rotations must not be zero")
            local[:, :3, :3] = Rotation.from_quat(turns).as_matrix()
        if "SCALE" in plain:
            local[:, :3, :3] *= plain["SCALE"][:, None, :]
        if "TRANSLATION" in plain:
            local[:, :3, 3] = plain["TRANSLATION"]
        exact = None
        if KEY in given.get("extras", {}):
            data = np.frombuffer(self._file.view(given["extras"][KEY])[0], "<f8")
            exact = data.reshape(-1, 3, 4) if data.size % 12 == 0 else None
        places = exact_places(local[:, :3], exact)
        whole = np.concatenate([places, np.tile([[[0.0, 0.0, 0.0, 1.0]]], (n, 1, 1))], 1)
        return np.asarray((here @ whole)[:, :3])

    def _mesh(self, number: Any) -> Mesh | None:
        """A mesh with all its parts; None where it has no triangle with an area."""
        if number not in self._meshes:
            # Parts that share their vertices, one a material, stay one.
            sharing: dict[tuple[Any, Any, TexturePlace], list[dict[str, Any]]] = {}
            for part in self._file.entry("meshes", number).get("primitives", []):
                if part.get("mode", _TRIANGLES) not in (_TRIANGLES, _STRIP, _FAN):
                    self._lines += 1
                    continue
                named, place = part["attributes"], self._place(part.get("material"))
                sharing.setdefault((named["POSITION"], named.get(f"TEXCOORD_{place.which}"), place), []).append(part)
            there = [mesh for key, parts in sharing.items() if (mesh := self._part(parts, key[2])) is not None]
            self._meshes[number] = Mesh.joined(there) if len(there) > 1 else there[0] if there else None
        return self._meshes[number]

    def _place(self, material: Any) -> TexturePlace:
        return TexturePlace() if material is None else place_on_texture(self._file.entry("materials", material))

    def _part(self, parts: list[dict[str, Any]], place: TexturePlace) -> Mesh | None:
        attributes = parts[0]["attributes"]
        points = self._file.accessor(attributes["POSITION"]).astype(np.float32)
        corners, chosen = [], []
        materials: list[Material] = []
        for part in parts:
            order = np.arange(len(points))
            if "indices" in part:
                order = self._file.accessor(part["indices"])[:, 0].astype(np.int64)
            triangles = _triangles(order, part.get("mode", _TRIANGLES))
            material = self._material(part.get("material"))
            if material not in materials:
                materials.append(material)
            corners.append(triangles)
            chosen.append(np.full(len(triangles), materials.index(material)))
        triangles, of = np.concatenate(corners), np.concatenate(chosen)
        if not len(triangles):
            return None
        uv = None
        if any(material.texture for material in materials) and f"TEXCOORD_{place.which}" in attributes:
            uv = self._file.accessor(attributes[f"TEXCOORD_{place.which}"]).astype(np.float32)
            uv = place.of(np.stack([uv[:, 0], 1 - uv[:, 1]], 1))  # glTF counts from the top
        solid = Mesh.of(points, triangles).areas > 0
        if not solid.any():
            return None
        return Mesh.of(points, triangles[solid], tuple(materials), of[solid] if len(materials) > 1 else None, uv)

    def _material(self, number: Any) -> Material:
        if number is None:
            return Material()
        if number in self._materials:
            return self._materials[number]
        entry = self._file.entry("materials", number)
        look = entry.get("pbrMetallicRoughness", {})
        color = np.clip(np.asarray(look.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0)), float)[:3], 0, 1)
        extras = entry.get("extras") if isinstance(entry.get("extras"), dict) else {}
        assert isinstance(extras, dict)
        picture = None
        if "baseColorTexture" in look:
            from PIL import Image

            picture = Image.fromarray(self._file.picture(look["baseColorTexture"].get("index")).pixels)
            if entry.get("alphaMode", "OPAQUE") == "OPAQUE":
                picture = picture.convert("RGB")
        alpha, cutoff = gltf_cutoff(entry)
        texture = None if picture is None else tinted(picture, color, alpha)
        if KEY in extras:
            made = read_material(extras[KEY], texture)
        else:
            seen = color if picture is None else color * mean_color(picture)
            reflectance = extras.get("lidar_reflectance", extras.get("reflectance"))
            made = material_of_color(str(entry.get("name") or f"material{number}"), seen, reflectance, texture, cutoff)
        self._materials[number] = self._names.named(made)
        return self._materials[number]


def _local(node: dict[str, Any]) -> NDArray[np.float64]:
    """A node's own transform, shape (4, 4)."""
    if "matrix" in node:
        return np.asarray(node["matrix"], float).reshape(4, 4).T
    local = np.eye(4)
    local[:3, :3] = Rotation.from_quat(np.asarray(node.get("rotation", (0, 0, 0, 1)), float)).as_matrix()
    local[:3, :3] *= np.asarray(node.get("scale", (1, 1, 1)), float)
    local[:3, 3] = np.asarray(node.get("translation", (0, 0, 0)), float)
    return local


def _triangles(order: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    """Corners (m, 3) of a list, a strip or a fan."""
    if mode == _TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if len(order) < 3:
        return np.empty((0, 3), np.int64)
    if mode == _FAN:
        return np.stack([np.full(len(order) - 2, order[0]), order[1:-1], order[2:]], 1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], 1)
    strip[1::2] = strip[1::2, [1, 0, 2]]
    return strip
