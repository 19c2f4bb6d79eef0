"""Meshes from files: OBJ with MTL, PLY, STL, glTF and GLB, read through trimesh.

A file becomes one `Mesh`: all its geometries where the file places them, each triangle with the material it has
there. Vertices are not merged; triangles without area are dropped. glTF is y-up by its standard and is turned
to z-up (x stays, y up becomes z up); the other formats are taken as they are.

What a camera sees is not what a LIDAR sees. A glTF material may carry its reflectance in its ``extras`` as
``lidar_reflectance`` or ``reflectance``. Where nothing says it, the reflectance is the grey value of the base
colour (0.2126 R + 0.7152 G + 0.0722 B, linear; the mean over its opaque part for a texture), as in Jayaraman et
al.; green plants come out far too dark that way, so give theirs in the scene file. Without any colour a material
has Tussock's default reflectance. A PLY or STL coloured face by face gets one material a colour, up to 64 of them;
with more, or with coloured vertices, one of their mean colour. Pictures see the base colour texture itself, where
the mesh has texture coordinates; a texture that is missing or cannot be read is an error. An OBJ whose MTL file is
missing loses the names of its materials.

What a texture leaves out is cut out of the surface: glTF's alphaMode MASK at its cutoff, BLEND at 0.5 unless the
material's ``extras`` say another ``opacity_cutoff``; of an OBJ the opacity of map_d, else that of map_Kd itself, at 0.5.
"""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, cause, nearest, reason
from tussock.reach import Reach, refuse_special
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.pictures import check_picture
from tussock.scene.texture import Texture
from tussock.scene_files.material_names import MaterialNames
from tussock.scene_files.mesh_companions import Companions, gltf_header, opacity_pictures
from tussock.scene_files.mesh_ply import is_tussock_ply, load_ply, save_ply
from tussock.scene_files.texture_places import place_on_texture

__all__ = [
    "MESH_SUFFIXES",
    "gltf_cutoff",
    "load_mesh",
    "material_of_color",
    "mean_color",
    "save_mesh",
    "tinted",
    "with_opacity",
]

MESH_SUFFIXES = (".glb", ".gltf", ".obj", ".ply", ".stl")

_Y_UP_TO_Z_UP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
_MOST_FACE_COLORS = 64


def save_mesh(mesh: Mesh, path: Path | str, *, force: bool = False) -> None:
    """Write ``mesh`` as a PLY that keeps every bit of it and its materials (see `tussock.scene_files.mesh_ply`).

    >>> tussock.save_mesh(tussock.box((1, 2, 3)), "crate.ply")
    """
    path = Path(path)
    if path.suffix.lower() != ".ply":
        raise InputError.of(str(path), "meshes are written as .ply", path.suffix)
    save_ply(mesh, path, force=force)


def load_mesh(path: Path | str, *, up_axis: Literal["y", "z"] | None = None, reach: Reach | None = None) -> Mesh:
    """Read a mesh file; ``up_axis`` says which of its axes is up (y for glTF, z for the rest, unless given).

    ``reach`` says where the files may be that it names, its materials and textures; anywhere unless given.

    >>> tussock.save_mesh(tussock.box((1, 2, 3)), "crate.ply")
    >>> len(tussock.load_mesh("crate.ply").triangles)
    12
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in MESH_SUFFIXES:
        raise InputError(f"unknown kind of mesh file; {nearest(suffix, MESH_SUFFIXES)}", source=path)
    if up_axis not in (None, "y", "z"):
        raise InputError.of("up_axis", "must be 'y' or 'z'", up_axis)
    if not path.exists():
        raise InputError("no such mesh file", source=path)
    if path.is_dir():
        raise InputError("is a folder, not a mesh file", source=path)
    refuse_special(path)
    try:
        if suffix == ".ply" and is_tussock_ply(path):
            return load_ply(path)
        parts = list(_parts(path, reach))
    except InputError as error:
        raise _about(path, error) from None
    except PermissionError as error:
        raise InputError(f"cannot be read ({reason(error)})", source=path) from None
    except MemoryError:
        raise InputError("out of memory while reading this mesh; use a smaller one", source=path) from None
    except Exception as error:  # trimesh raises whatever its parsers ran into
        raise InputError(f"not a readable {suffix[1:].upper()} file ({cause(error)})", source=path) from None
    if not parts:
        raise InputError("holds no triangles", source=path)
    upright = _Y_UP_TO_Z_UP if (up_axis or ("y" if suffix in (".glb", ".gltf") else "z")) == "y" else np.eye(4)
    try:
        meshes = [_placed(mesh, upright @ transform) for mesh, transform in parts]
        return _without_flat_triangles(Mesh.joined(meshes))
    except InputError as error:
        raise _about(path, error) from None


def _parts(path: Path, reach: Reach | None) -> Iterator[tuple[Mesh, NDArray[np.float64]]]:
    """Every geometry of the file as often as its scene graph places it, with its transform (4, 4)."""
    import trimesh

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # NumPy's text parser only warns when it stops at something that is no number.
        warnings.filterwarnings("error", message=".*string or file could not be read.*")
        _refuse_cut_short(path)
        companions = Companions(path, reach)
        companions.refuse_missing(path)
        resolver: Any = companions
        scene: Any = trimesh.load_scene(str(path), process=False, resolver=resolver)
        if companions.refused is not None:
            raise companions.refused
        extras, opacities = _gltf_materials(path), opacity_pictures(path, companions)
        shapes: dict[str, Mesh] = {}
        names = MaterialNames()
        for node in scene.graph.nodes_geometry:
            transform, name = scene.graph.get(node)
            geometry = scene.geometry[name]
            if not isinstance(geometry, trimesh.Trimesh) or len(geometry.faces) == 0:
                continue
            _refuse_missing_rows(geometry.metadata.get("_ply_raw", {}))
            if name not in shapes:
                _check_texture(geometry, extras, companions, path)
                shapes[name] = _converted(geometry, extras, opacities, names)
            yield shapes[name], np.asarray(transform, float)


def _refuse_cut_short(path: Path) -> None:
    """Damage that trimesh passes over or reports as something else."""
    size = path.stat().st_size
    if size == 0:
        raise InputError("is empty")
    if path.suffix.lower() == ".stl":
        with path.open("rb") as file:
            head = file.read(84)
        if not head.lstrip().startswith(b"solid"):
            expected = 84 + 50 * struct.unpack_from("<I", head, 80)[0] if len(head) == 84 else 84
            if size != expected:
                raise InputError.of("STL file", f"must have {expected} bytes", size, "it is cut short or damaged")
    elif path.suffix.lower() == ".obj":
        text = path.read_text(encoding="utf-8", errors="replace")
        short = re.search(r"^f[ \t]+\S+(?:[ \t]+\S+)?[ \t]*$", text, re.MULTILINE)
        if short:
            raise InputError.of("OBJ face", "must have three corners or more", short.group(), "is the file cut short?")


def _refuse_missing_rows(elements: dict[str, Any]) -> None:
    """An ASCII PLY that ends before the rows its header promises."""
    for name, element in elements.items():
        rows = element.get("data")
        got = len(next(iter(rows.values()), ())) if isinstance(rows, dict) else len(() if rows is None else rows)
        if got != element["length"]:
            raise InputError.of(f"PLY element {name}", f"must have {element['length']} rows", got, "it is cut short")


def _check_texture(geometry: Any, gltf: dict[str, Any], companions: Companions, path: Path) -> None:
    """Refuse a texture that takes too much memory, or that the file has and trimesh could not read."""
    material = getattr(geometry.visual, "material", None)
    picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    if picture is not None and picture.size not in companions.checked:
        check_picture(picture.size, path.stat().st_size)
    entry = gltf.get(getattr(material, "name", None) or "", {})
    if picture is None and "baseColorTexture" in entry.get("pbrMetallicRoughness", {}):
        raise InputError.of(
            f"texture of material {entry['name']!r}", "must be a picture inside the file or beside it", "none",
            "store it as PNG or JPEG, or remove it",
        )  # fmt: skip


def _converted(geometry: Any, gltf: dict[str, Any], opacities: dict[str, Any], names: MaterialNames) -> Mesh:
    visual = geometry.visual
    chosen = None
    if visual is not None and visual.defined and visual.kind == "face":
        colors, chosen = np.unique(np.asarray(visual.face_colors)[:, :3], axis=0, return_inverse=True)
        if len(colors) > _MOST_FACE_COLORS:
            colors, chosen = np.asarray(visual.face_colors)[:, :3].mean(0, keepdims=True), None
        materials = tuple(
            names.named(material_of_color("color-{:02x}{:02x}{:02x}".format(*c.astype(int)), linear_of_srgb(c / 255)))
            for c in colors
        )
    elif visual is not None and visual.defined and visual.kind == "vertex":
        mean = np.asarray(visual.vertex_colors)[:, :3].mean(0)
        materials = (names.named(material_of_color("vertex-colors", linear_of_srgb(mean / 255))),)
    else:
        materials = (names.named(_of_visual(getattr(visual, "material", None), gltf, opacities)),)
    one = chosen is None or len(materials) == 1
    uv = getattr(visual, "uv", None) if any(material.texture for material in materials) else None
    entry = gltf.get(getattr(getattr(visual, "material", None), "name", None) or "")
    if uv is not None and entry is not None:
        uv = place_on_texture(entry).of(uv)
    return Mesh.of(np.asarray(geometry.vertices), np.asarray(geometry.faces), materials, None if one else chosen, uv)


def _of_visual(material: Any, gltf: dict[str, Any], opacities: dict[str, Any]) -> Material:
    """Our material for trimesh's: MTL's diffuse colour, or glTF's base colour, with its texture."""
    name = getattr(material, "name", None) or "default"
    if material is None or (name == "material_0" and not gltf):
        return Material()  # trimesh's own stand-in for "none given"
    entry, alpha, cutoff = gltf.get(name), 1.0, None
    if entry is not None:
        alpha, cutoff = gltf_cutoff(entry)
        factor = entry.get("pbrMetallicRoughness", {}).get("baseColorFactor", (1.0, 1.0, 1.0, 1.0))
        linear = np.clip(np.asarray(factor, float)[:3], 0, 1)
        picture = getattr(material, "baseColorTexture", None)
        if picture is not None and entry.get("alphaMode", "OPAQUE") == "OPAQUE":
            picture = picture.convert("RGB")
    elif hasattr(material, "baseColorTexture"):  # a glTF material without a name: trimesh's copy is all there is
        factor = getattr(material, "baseColorFactor", None)
        linear = np.ones(3) if factor is None else np.asarray(factor, float)[:3] / 255
        picture = material.baseColorTexture
        if picture is not None and (material.alphaMode or "OPAQUE") == "OPAQUE":
            picture = picture.convert("RGB")
        cutoff = getattr(material, "alphaCutoff", None)
    else:
        # MTL does not say whether Kd is linear; the programs that write it mostly mean it so.
        diffuse = getattr(material, "diffuse", None)
        linear = np.asarray(material.main_color if diffuse is None else diffuse, float)[:3] / 255
        exact = np.asarray(getattr(material, "kwargs", {}).get("kd", ()), float)  # before trimesh rounds it
        linear = np.clip(exact, 0, 1) if exact.shape == (3,) else linear
        picture = getattr(material, "image", None)
        if name in opacities:
            picture = with_opacity(picture, opacities[name])
    texture = None
    if picture is not None:
        texture = tinted(picture, linear, alpha)
        linear = linear * mean_color(picture)
    extras = entry.get("extras") if entry is not None else None
    given = extras if isinstance(extras, dict) else {}
    reflectance = given.get("lidar_reflectance", given.get("reflectance"))
    return material_of_color(name, linear, reflectance, texture, cutoff)


def gltf_cutoff(entry: dict[str, Any]) -> tuple[float, Any]:
    """What the texture's opacity is multiplied with, and where it is cut off; for a glTF material as it stands there."""
    extras = entry.get("extras")
    said = extras.get("opacity_cutoff") if isinstance(extras, dict) else None
    if entry.get("alphaMode") != "MASK":
        return 1.0, said
    factor = entry.get("pbrMetallicRoughness", {}).get("baseColorFactor", (1.0, 1.0, 1.0, 1.0))
    alpha = float(np.clip(factor[3], 0.0, 1.0)) if len(factor) > 3 else 1.0
    return alpha, entry.get("alphaCutoff", 0.5) if said is None else said


def material_of_color(
    name: str, linear: NDArray[np.float64], reflectance: Any = None, texture: Texture | None = None, cutoff: Any = None
) -> Material:
    """A material by its linear colour; ``cutoff`` is that of the texture's opacity, None for the usual one."""
    if reflectance is None:
        reflectance = float(np.clip(linear @ (0.2126, 0.7152, 0.0722), 0, 1))
    color = tuple(float(c) for c in np.clip(linear, 0, 1))
    given = {"name": name, "reflectance": reflectance, "color": color}
    if texture is not None:
        given["texture"] = texture
        if cutoff is not None:
            given["opacity_cutoff"] = cutoff
    return Material.parse(given, f"material {name!r}")


def with_opacity(picture: Any | None, opacity: Any) -> Any:
    """A picture of Pillow with the opacity of another one: its own opacity, or else its brightness."""
    from PIL import Image

    whole = opacity.convert("RGBA")
    alpha = whole.getchannel("A")
    if alpha.getextrema() == (255, 255):
        alpha = whole.convert("L")
    if picture is None:
        picture = Image.new("RGB", alpha.size, "white")
    joined = picture.convert("RGB")
    if joined.size != alpha.size:
        joined = joined.resize(alpha.size, Image.Resampling.NEAREST)
    joined.putalpha(alpha)
    return joined


def tinted(picture: Any, linear: NDArray[np.float64], alpha: float = 1.0) -> Texture:
    """The texture times the material's own colour and opacity, which mostly are white and 1."""
    texture = Texture.of_image(picture)
    if alpha < 1.0:
        pixels = texture.pixels.copy()
        pixels[..., 3] = np.round(alpha * pixels[..., 3])
        texture = Texture(pixels)
    if np.allclose(linear, 1.0, atol=1e-3):
        return texture
    pixels = texture.pixels.copy()
    colors = linear_of_srgb(pixels[..., :3] / 255) * linear
    srgb = np.where(colors <= 0.0031308, 12.92 * colors, 1.055 * np.maximum(colors, 1e-9) ** (1 / 2.4) - 0.055)
    pixels[..., :3] = np.round(255 * srgb)
    return Texture(pixels)


def mean_color(picture: Any) -> NDArray[np.float64]:
    """Mean linear RGB of a texture, weighted by its opacity."""
    small = picture.convert("RGBA")
    small.thumbnail((256, 256))
    pixels = np.asarray(small, float).reshape(-1, 4) / 255
    weight = pixels[:, 3] if pixels[:, 3].any() else np.ones(len(pixels))
    return np.asarray(np.average(linear_of_srgb(pixels[:, :3]), axis=0, weights=weight))


def linear_of_srgb(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear values of sRGB ones (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _gltf_materials(path: Path) -> dict[str, Any]:
    """The materials of a glTF or GLB file by name, as they stand there: trimesh drops their extras."""
    return {entry["name"]: entry for entry in gltf_header(path).get("materials", []) if "name" in entry}


def _placed(mesh: Mesh, transform: NDArray[np.float64]) -> Mesh:
    if np.array_equal(transform, np.eye(4)):
        return mesh
    turn, shift = transform[:3, :3], transform[:3, 3]
    mirrored = np.linalg.det(turn) < 0
    triangles = mesh.triangles[:, [0, 2, 1]] if mirrored else mesh.triangles
    vertices = mesh.vertices.astype(float) @ turn.T + shift
    return Mesh.of(vertices, triangles, mesh.materials, mesh.triangle_materials, mesh.uv)


def _without_flat_triangles(mesh: Mesh) -> Mesh:
    keep = mesh.areas > 0
    if keep.all():
        return mesh
    if not keep.any():
        raise InputError("mesh: holds no triangle with an area")
    chosen = None if mesh.triangle_materials is None else mesh.triangle_materials[keep]
    return Mesh(mesh.vertices, mesh.triangles[keep], mesh.materials, chosen, mesh.uv)


def _about(path: Path, error: InputError) -> InputError:
    return error.within(path)
