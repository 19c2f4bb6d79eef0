"""The shapes of USD prims as meshes with materials, each shape once.

Polygons become triangles as a fan; a subdivision surface is taken as its cage. Texture coordinates are the primvar
``st``. A material is read from its UsdPreviewSurface: the diffuse colour or its picture, whose grey value is the
reflectance unless the material has an attribute ``lidar_reflectance``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.reach import Reach
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, cylinder, plane, sphere
from tussock.scene.texture import Texture
from tussock.scene_files.exchange.told import KEY, read_material
from tussock.scene_files.material_names import MaterialNames
from tussock.scene_files.mesh_files import material_of_color, mean_color, with_opacity

__all__ = ["SHAPES", "Shapes"]

SHAPES = ("Mesh", "Cube", "Sphere", "Cylinder", "Plane")


class Shapes:
    """Reads shapes and materials, those of equal content once."""

    def __init__(self, pxr: Any, time: Any, reach: Reach) -> None:
        self._pxr, self._time, self._reach = pxr, time, reach
        self._meshes: dict[bytes, Mesh] = {}
        self._materials: dict[str, Material] = {}
        self._names = MaterialNames()
        self._of_prototype: dict[str, Mesh | None] = {}

    def of(self, prim: Any) -> Mesh | None:
        """The mesh of a prim; None where it has no triangle with an area."""
        if not prim.IsInstanceProxy():
            return self._read(prim)
        # Thousands of instances share a prototype: it is looked at once.
        path = str(prim.GetPrimInPrototype().GetPath())
        if path not in self._of_prototype:
            self._of_prototype[path] = self._read(prim)
        return self._of_prototype[path]

    def _read(self, prim: Any) -> Mesh | None:
        kind = str(prim.GetTypeName())
        try:
            mesh = self._mesh(prim) if kind == "Mesh" else self._form(prim, kind)
        except InputError as error:
            raise error.within(str(prim.GetPath())) from None
        if mesh is None:
            return None
        digest = hashlib.blake2b(digest_size=16)
        for array in (mesh.vertices, mesh.triangles, mesh.material_of_triangles, mesh.uv):
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        digest.update(repr([hash(material) for material in mesh.materials]).encode())
        return self._meshes.setdefault(digest.digest(), mesh)

    def _form(self, prim: Any, kind: str) -> Mesh:
        geometry, time = self._pxr.UsdGeom, self._time
        material = self._bound(prim)
        match kind:
            case "Cube":
                return box((float(geometry.Cube(prim).GetSizeAttr().Get(time)),) * 3, material=material)
            case "Sphere":
                return sphere(float(geometry.Sphere(prim).GetRadiusAttr().Get(time)), material=material)
            case "Plane":
                made = geometry.Plane(prim)
                width, length = (float(a.Get(time)) for a in (made.GetWidthAttr(), made.GetLengthAttr()))
                axis = str(made.GetAxisAttr().Get(time))
                size = (width, length) if axis == "Z" else (length, width)
                return _turned(plane(size, material=material), axis)
            case _:
                made = geometry.Cylinder(prim)
                radius, height = (float(a.Get(time)) for a in (made.GetRadiusAttr(), made.GetHeightAttr()))
                return _turned(cylinder(radius, height, material=material), str(made.GetAxisAttr().Get(time)))

    def _mesh(self, prim: Any) -> Mesh | None:
        made = self._pxr.UsdGeom.Mesh(prim)
        points = np.array(made.GetPointsAttr().Get(self._time) or (), np.float32).reshape(-1, 3)
        counts = np.array(made.GetFaceVertexCountsAttr().Get(self._time) or (), np.int64)
        corners = np.array(made.GetFaceVertexIndicesAttr().Get(self._time) or (), np.int64)
        if not len(points) or not len(counts):
            return None
        if counts.min() < 0 or counts.sum() != len(corners):
            raise InputError.of("faceVertexIndices", f"must be as many as the faces have, {counts.sum()}", len(corners))
        holes = np.array(made.GetHoleIndicesAttr().Get(self._time) or (), np.int64)
        slots, face = _fan(counts)
        keep = ~np.isin(face, holes)
        slots, face = slots[keep], face[keep]
        if str(made.GetOrientationAttr().Get(self._time)) == "leftHanded":
            slots = slots[:, ::-1]
        triangles = corners[slots]
        if triangles.min(initial=0) < 0 or triangles.max(initial=0) >= len(points):
            raise InputError.of("faceVertexIndices", f"must index {len(points)} points", int(triangles.max()))
        materials, of_face = self._parts(prim, len(counts))
        uv, by_corner = self._corners(prim, len(points), len(corners))
        if uv is not None and by_corner and any(material.texture for material in materials):
            # Texture coordinates by corner: every corner is a vertex of its own.
            points, triangles = points[corners], slots
        elif by_corner or not any(material.texture for material in materials):
            uv = None
        sides = points[triangles]
        area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1)
        solid = area > 0
        if not solid.any():
            return None
        chosen = None if len(materials) == 1 else of_face[face[solid]]
        return Mesh.of(points, triangles[solid], materials, chosen, uv)

    def _parts(self, prim: Any, faces: int) -> tuple[tuple[Material, ...], NDArray[np.int64]]:
        """The materials of a mesh, and which of them every face has."""
        binding = self._pxr.UsdShade.MaterialBindingAPI(prim)
        materials, of_face = [self._bound(prim)], np.zeros(faces, np.int64)
        covered = np.zeros(faces, bool)
        for subset in binding.GetMaterialBindSubsets():
            chosen = np.array(subset.GetIndicesAttr().Get(self._time) or (), np.int64)
            if len(chosen) and (chosen.min() < 0 or chosen.max() >= faces):
                raise InputError.of(f"subset {subset.GetPrim().GetName()}", f"must index {faces} faces", chosen.max())
            material = self._bound(subset.GetPrim())
            if material not in materials:
                materials.append(material)
            of_face[chosen], covered[chosen] = materials.index(material), True
        if covered.all() and not (of_face == 0).any():
            materials, of_face = materials[1:], of_face - 1
        return tuple(materials), of_face

    def _corners(self, prim: Any, points: int, corners: int) -> tuple[NDArray[np.float32] | None, bool]:
        """Texture coordinates, and whether they are by the corners of faces."""
        shown = self._pxr.UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
        values = shown.ComputeFlattened(self._time) if shown and shown.HasValue() else None
        if values is None:
            return None, False
        uv = np.array(values, np.float32).reshape(-1, 2)
        if len(uv) not in (points, corners):
            return None, False
        return uv, str(shown.GetInterpolation()) == "faceVarying" or len(uv) != points

    def _bound(self, prim: Any) -> Material:
        bound, _ = self._pxr.UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        if not bound:
            return self._colored(prim)
        path = str(bound.GetPath())
        if path not in self._materials:
            self._materials[path] = self._names.named(self._material(bound))
        return self._materials[path]

    def _colored(self, prim: Any) -> Material:
        """Without a material: the colour that the prim is displayed in, if it has one."""
        shown = self._pxr.UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayColor")
        values = shown.Get(self._time) if shown and shown.HasValue() else None
        if values is None or not len(values):
            return Material()
        mean = np.array(values, float).reshape(-1, 3).mean(0)
        return self._names.named(material_of_color("color-{:02x}{:02x}{:02x}".format(*_bytes(mean)), mean))

    def _material(self, bound: Any) -> Material:
        prim = bound.GetPrim()
        source = bound.ComputeSurfaceSource()
        look = source[0] if isinstance(source, tuple) else source
        color, texture = self._look(look) if look else (np.full(3, 0.18), None)
        cutoff = None
        if look:
            texture, cutoff = self._cut(look, texture)
        said = prim.GetCustomDataByKey(KEY)
        if said is not None:
            return read_material(said, texture)
        given = prim.GetAttribute("lidar_reflectance")
        reflectance = given.Get(self._time) if given else None
        if texture is not None:
            from PIL import Image

            color = mean_color(Image.fromarray(texture.pixels))
        return material_of_color(
            prim.GetName(), color, None if reflectance is None else float(reflectance), texture, cutoff
        )

    def _look(self, look: Any) -> tuple[NDArray[np.float64], Texture | None]:
        """Colour and picture of a surface."""
        wanted = look.GetInput("diffuseColor") or look.GetInput("diffuse_color_constant")
        color = np.full(3, 0.18)  # what the standard takes
        if not wanted:
            return color, None
        source = wanted.GetConnectedSources()[0]
        if not source:
            value = wanted.Get(self._time)
            return (color if value is None else np.clip(np.array(value, float), 0, 1)), None
        return color, self._picture(source[0])

    def _picture(self, source: Any) -> Texture | None:
        """The picture that an input of a surface is connected to."""
        picture = self._pxr.UsdShade.Shader(source.source.GetPrim())
        file = picture.GetInput("file")
        asset = file.Get(self._time) if file else None
        if asset is None:
            return None
        place = str(asset.resolvedPath)
        if not place or "[" in place:
            raise InputError.of("texture", "must be a file beside the scene", str(asset.path), "unpack it")
        return Texture.load(self._reach.file(Path(place).absolute()))

    def _cut(self, look: Any, texture: Texture | None) -> tuple[Texture | None, float | None]:
        """The picture of a surface with the opacity that it is said to have, and where that is cut off."""
        opacity, threshold = look.GetInput("opacity"), look.GetInput("opacityThreshold")
        sources = opacity.GetConnectedSources()[0] if opacity else []
        mask = self._picture(sources[0]) if sources else None
        if mask is None:
            whole = None if texture is None or texture.least_opacity == 255 else Texture(texture.pixels[..., :3])
            return whole or texture, None
        channel = "rgba".find(str(sources[0].sourceName)[:1])
        from PIL import Image

        own = None if texture is None else Image.fromarray(texture.pixels)
        joined = with_opacity(own, Image.fromarray(mask.pixels[..., max(channel, 0)]))
        least = threshold.Get(self._time) if threshold else None
        return Texture.of_image(joined), float(least) if least else None


def _fan(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Polygons as triangles: the places of their corners in the list of all, shape (m, 3), and the face of each."""
    first = np.cumsum(counts) - counts
    many = np.maximum(counts - 2, 0)
    face = np.repeat(np.arange(len(counts)), many)
    step = np.arange(len(face)) - np.repeat(np.cumsum(many) - many, many)
    start = first[face]
    return np.stack([start, start + step + 1, start + step + 2], 1), face


def _turned(mesh: Mesh, axis: str) -> Mesh:
    """A shape along z, along another axis."""
    order = {"Z": [0, 1, 2], "X": [2, 0, 1], "Y": [1, 2, 0]}[axis]
    return Mesh(mesh.vertices[:, order], mesh.triangles, mesh.materials, mesh.triangle_materials, mesh.uv)


def _bytes(color: NDArray[np.float64]) -> list[int]:
    return [round(255 * value) for value in np.clip(color, 0, 1).tolist()]
