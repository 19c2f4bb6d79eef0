"""Tussock's own mesh file: a binary PLY that loses nothing.

Vertices are float32 or float64 and triangles uint32, as in memory; each material is a JSON comment in the header, with its
texture, cut into lines that every reader can hold; each triangle names its own. Other programs read the shape, and
the materials' colours as face colours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.texture import refuse_outside_texture
from tussock.whole_files import whole_file

__all__ = ["is_tussock_ply", "load_ply", "save_ply"]

_MARK = "comment tussock mesh 1"
_MATERIAL = "comment material "
_MORE = "comment material+ "
_LONGEST_LINE = 900
_LONGEST_HEADER = 1 << 28

_TYPES = {"float": "<f4", "double": "<f8"}
_FACE = np.dtype([("corners", "u1"), ("triangle", "<u4", 3), ("rgb", "u1", 3)])
_FACE_OF_MATERIAL = np.dtype([*_FACE.descr, ("material", "<u2")])


def save_ply(mesh: Mesh, path: Path, *, force: bool = False) -> None:
    """Write ``mesh`` to ``path``; `load_ply` gives the same arrays, bit for bit."""
    several = mesh.triangle_materials is not None
    faces = np.empty(len(mesh.triangles), _FACE_OF_MATERIAL if several else _FACE)
    faces["corners"] = 3
    faces["triangle"] = mesh.triangles
    faces["rgb"] = _screen_colors(mesh)[mesh.material_of_triangles]
    if several:
        faces["material"] = mesh.triangle_materials
    header = [
        "ply",
        "format binary_little_endian 1.0",
        _MARK,
        *(line for material in mesh.materials for line in _lines(material)),
        f"element vertex {len(mesh.vertices)}",
        *(f"property {_word(mesh)} {axis}" for axis in "xyz"),
        *(f"property float {axis}" for axis in ("" if mesh.uv is None else "st")),
        f"element face {len(faces)}",
        "property list uchar uint vertex_indices",
        *(f"property uchar {color}" for color in ("red", "green", "blue")),
        *(["property ushort material"] if several else []),
        "end_header",
    ]
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        file.write("\n".join(header).encode("ascii") + b"\n")
        vertices = np.empty(len(mesh.vertices), _vertex(_word(mesh), mesh.uv is not None))
        vertices["xyz"] = mesh.vertices
        if mesh.uv is not None:
            vertices["uv"] = mesh.uv
        file.write(vertices.tobytes())
        file.write(faces.tobytes())


def is_tussock_ply(path: Path) -> bool:
    """Whether `save_ply` wrote this file."""
    with path.open("rb") as file:
        return _MARK.encode() in file.read(200).splitlines()


def load_ply(path: Path) -> Mesh:
    """Read what `save_ply` wrote; a file cut short or altered is an `InputError`."""
    content = path.read_bytes()
    end = content.find(b"end_header\n", 0, _LONGEST_HEADER)
    if end < 0:
        raise InputError("the mesh file is cut short in its header", source=path)
    try:
        lines = content[:end].decode("ascii").splitlines()
        counts = {words[1]: int(words[2]) for line in lines if (words := line.split())[0] == "element"}
        tables = [json.loads(text) for text in _joined(lines)]
        for table in tables:
            refuse_outside_texture(table)
        materials = [Material.parse(table, "material") for table in tables]
        textured = "property float s" in lines
        corner = _vertex("double" if "property double x" in lines else "float", textured)
        layout = _FACE_OF_MATERIAL if "property ushort material" in lines else _FACE
        vertex_count, face_count = counts["vertex"], counts["face"]
    except (ValueError, KeyError, IndexError, RecursionError):
        raise InputError("the mesh file's header is damaged", source=path) from None
    start = end + len(b"end_header\n")
    middle = start + vertex_count * corner.itemsize
    expected = middle + face_count * layout.itemsize
    if len(content) != expected:
        raise InputError(
            f"the mesh file must have {expected} bytes", given=len(content), remedy="it is damaged", source=path
        )
    vertices = np.frombuffer(content, corner, vertex_count, start)
    faces = np.frombuffer(content, layout, face_count, middle)
    if (faces["corners"] != 3).any():
        raise InputError("the mesh file is damaged: not all faces are triangles", source=path)
    return Mesh(
        vertices["xyz"].copy(),
        faces["triangle"].copy(),
        tuple(materials),
        faces["material"].copy() if layout is _FACE_OF_MATERIAL else None,
        vertices["uv"].copy() if textured else None,
    )


def _word(mesh: Mesh) -> str:
    """PLY's name of the type of the coordinates."""
    return "double" if mesh.vertices.dtype == np.float64 else "float"


def _vertex(word: str, textured: bool) -> np.dtype[Any]:
    """How a vertex lies in the file."""
    return np.dtype([("xyz", _TYPES[word], 3), *([("uv", "<f4", 2)] if textured else [])])


def _lines(material: Material) -> list[str]:
    """A material as one comment, or as several where it is long."""
    text = json.dumps(material.model_dump(mode="json", exclude_unset=True))
    pieces = [text[k : k + _LONGEST_LINE] for k in range(0, len(text), _LONGEST_LINE)]
    return [(_MORE if k else _MATERIAL) + piece for k, piece in enumerate(pieces)]


def _joined(lines: list[str]) -> list[str]:
    """The texts of the materials in a header; undoes `_lines`."""
    texts: list[list[str]] = []
    for line in lines:
        if line.startswith(_MATERIAL):
            texts.append([line.removeprefix(_MATERIAL)])
        elif line.startswith(_MORE):
            texts[-1].append(line.removeprefix(_MORE))
    return ["".join(pieces) for pieces in texts]


def _screen_colors(mesh: Mesh) -> NDArray[np.uint8]:
    """sRGB of each material, shape (n, 3); the grey of the reflectance where it has no colour"""
    linear = np.array([m.color or (m.reflectance,) * 3 for m in mesh.materials])
    return np.round(255 * np.clip(linear, 0, 1) ** (1 / 2.2)).astype(np.uint8)
