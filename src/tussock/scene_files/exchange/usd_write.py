"""Writes a scene as USD: a mesh a shape, a PointInstancer an object of many placements (extra ``usd``).

    /NAME                    Xform, z up, in metres
    /NAME/Materials/M        Material with a UsdPreviewSurface, for pictures
    /_shapes/S               class: every shape once
    /NAME/OBJECT             Xform with a mesh of that class, or PointInstancer whose prototype is one;
                             of what moves, the Xform that does, and that below it as ``placed``

Textures lie in the folder ``NAME_textures`` beside the file (``NAME`` is that of a TOML file's meshes). Transforms that are
more than shift, turn and scale, which instancers have no
words for, become instanceable prims. Labels are written as USD's semantics (``semantics:labels:class``) too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.extras import load_extra
from tussock.scene.labels import UNLABELLED
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene, SceneObject
from tussock.scene_files.exchange.told import KEY, material_text, object_text, refuse_more
from tussock.scene_files.exchange.usd_motion import write_motion
from tussock.whole_files import check_folder, check_writable, whole_file, whole_folder

__all__ = ["save_usd", "simple_transforms"]


def save_usd(scene: Scene, path: Path, *, force: bool = False) -> None:
    """Write ``scene`` as .usd, .usda or .usdc."""
    refuse_more(scene, "USD", motion=True)
    pxr = load_extra("pxr", extra="usd", purpose="writing USD")
    for part in ("Gf", "Sdf", "Usd", "UsdGeom", "UsdShade", "Vt"):
        load_extra(f"pxr.{part}", extra="usd", purpose="writing USD")
    check_writable(path, force=force)
    folder = path.with_name(f"{path.stem}_textures")
    if not any(material.texture for material in scene.materials.values()):
        with whole_file(path, force=force) as temporary:
            _Writer(pxr, scene, None).export(temporary, path.suffix)
        return
    check_folder(folder, force=force)
    with whole_file(path, force=force) as temporary, whole_folder(folder, force=force) as growing:
        growing.mkdir()
        _Writer(pxr, scene, growing).export(temporary, path.suffix)


class _Writer:
    """One stage in the making."""

    def __init__(self, pxr: Any, scene: Scene, folder: Path | None) -> None:
        self._pxr, self._folder = pxr, folder
        self._stage = pxr.Usd.Stage.CreateInMemory()
        self._root = f"/{_word(scene.name)}"
        self._taken: set[str] = {"Materials"}
        geometry = pxr.UsdGeom
        geometry.SetStageUpAxis(self._stage, geometry.Tokens.z)
        geometry.SetStageMetersPerUnit(self._stage, 1.0)
        self._stage.SetDefaultPrim(geometry.Xform.Define(self._stage, self._root).GetPrim())
        self._stage.GetRootLayer().customLayerData = {KEY: {"name": scene.name}}
        self._materials: dict[Material, Any] = {}
        self._shapes: dict[int, str] = {}
        for thing in sorted(scene.objects, key=lambda thing: thing.id):
            self._object(thing)

    def export(self, temporary: Path, suffix: str) -> None:
        # The library goes by the ending.
        named = temporary.with_name(temporary.name + suffix)
        try:
            self._stage.GetRootLayer().Export(str(named))
            named.replace(temporary)
        finally:
            named.unlink(missing_ok=True)

    def _object(self, thing: SceneObject) -> None:
        geometry = self._pxr.UsdGeom
        path = f"{self._root}/{self._free(thing.name)}"
        if thing.motion is not None:
            # What moves lies below a transform with time samples.
            write_motion(self._pxr, self._stage, path, thing.motion)
            path += "/placed"
        shape, matrices = self._shape(thing.mesh, thing.name), thing.placements.matrices
        if len(matrices) == 1:
            prim = geometry.Xform.Define(self._stage, path)
            prim.AddTransformOp().Set(self._matrix(matrices[0]))
            self._mesh_of(f"{path}/shape", shape)
        elif (parts := simple_transforms(matrices)) is not None:
            prim = self._instancer(path, shape, matrices, *parts)
        else:
            prim = geometry.Xform.Define(self._stage, path)
            for number, matrix in enumerate(matrices):
                copy = geometry.Xform.Define(self._stage, f"{path}/copy{number}")
                copy.GetPrim().GetReferences().AddInternalReference(shape.rpartition("/")[0])
                copy.GetPrim().SetInstanceable(True)
                copy.AddTransformOp().Set(self._matrix(matrix))
        prim.GetPrim().SetCustomDataByKey(KEY, object_text(thing))
        if thing.label != UNLABELLED:
            self._semantics(prim.GetPrim(), thing.label)

    def _instancer(self, path: str, shape: str, matrices: NDArray[np.float64], turns: Any, sizes: Any) -> Any:
        pxr, vt = self._pxr, self._pxr.Vt
        made = pxr.UsdGeom.PointInstancer.Define(self._stage, path)
        self._mesh_of(f"{path}/shape", shape)
        made.CreatePrototypesRel().SetTargets([f"{path}/shape"])
        count = len(matrices)
        made.CreateProtoIndicesAttr(vt.IntArray.FromNumpy(np.zeros(count, np.int32)))
        made.CreatePositionsAttr(vt.Vec3fArray.FromNumpy(matrices[:, :, 3].astype(np.float32)))
        made.CreateOrientationsfAttr(vt.QuatfArray([pxr.Gf.Quatf(w, x, y, z) for x, y, z, w in turns.tolist()]))
        made.CreateScalesAttr(vt.Vec3fArray.FromNumpy(sizes.astype(np.float32)))
        exact = made.GetPrim().CreateAttribute(f"{KEY}:matrices", pxr.Sdf.ValueTypeNames.DoubleArray, True)
        exact.Set(vt.DoubleArray.FromNumpy(np.ascontiguousarray(matrices).reshape(-1)))
        return made

    def _mesh_of(self, path: str, shape: str) -> None:
        mesh = self._pxr.UsdGeom.Mesh.Define(self._stage, path)
        mesh.GetPrim().GetReferences().AddInternalReference(shape)

    def _shape(self, mesh: Mesh, name: str) -> str:
        if id(mesh) in self._shapes:
            return self._shapes[id(mesh)]
        pxr, vt = self._pxr, self._pxr.Vt
        holder = f"/_shapes/{self._free('shape_' + name)}"
        self._stage.CreateClassPrim("/_shapes")
        path = f"{holder}/mesh"
        made = pxr.UsdGeom.Mesh.Define(self._stage, path)
        made.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
        made.CreateDoubleSidedAttr(True)
        made.CreatePointsAttr(vt.Vec3fArray.FromNumpy(mesh.vertices))
        made.CreateExtentAttr(vt.Vec3fArray.FromNumpy(mesh.bounds))
        made.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, np.int32)))
        made.CreateFaceVertexIndicesAttr(vt.IntArray.FromNumpy(mesh.triangles.reshape(-1).astype(np.int32)))
        if mesh.uv is not None:
            kinds, steps = pxr.Sdf.ValueTypeNames, pxr.UsdGeom.Tokens
            shown = pxr.UsdGeom.PrimvarsAPI(made).CreatePrimvar("st", kinds.TexCoord2fArray, steps.vertex)
            shown.Set(vt.Vec2fArray.FromNumpy(mesh.uv))
        binding = pxr.UsdShade.MaterialBindingAPI
        binding.Apply(made.GetPrim()).Bind(self._material(mesh.materials[0]))
        if len(mesh.materials) > 1:
            for number, material in enumerate(mesh.materials):
                faces = np.flatnonzero(mesh.material_of_triangles == number).astype(np.int32)
                subset = binding(made.GetPrim()).CreateMaterialBindSubset(f"part{number}", vt.IntArray.FromNumpy(faces))
                binding.Apply(subset.GetPrim()).Bind(self._material(material))
        self._shapes[id(mesh)] = path
        return path

    def _material(self, material: Material) -> Any:
        if material in self._materials:
            return self._materials[material]
        pxr, kinds = self._pxr, self._pxr.Sdf.ValueTypeNames
        path = f"{self._root}/Materials/{self._free('m_' + material.name)}"
        made = pxr.UsdShade.Material.Define(self._stage, path)
        look = pxr.UsdShade.Shader.Define(self._stage, f"{path}/look")
        look.CreateIdAttr("UsdPreviewSurface")
        color = material.color or (material.reflectance,) * 3
        look.CreateInput("diffuseColor", kinds.Color3f).Set(pxr.Gf.Vec3f(*color))
        look.CreateInput("roughness", kinds.Float).Set(1.0)
        look.CreateInput("opacity", kinds.Float).Set(1.0 - material.transmission)
        made.CreateSurfaceOutput().ConnectToSource(look.ConnectableAPI(), "surface")
        if material.texture is not None and self._folder is not None:
            self._texture(path, look, material)
        made.GetPrim().SetCustomDataByKey(KEY, material_text(material))
        reflectance = made.GetPrim().CreateAttribute("lidar_reflectance", kinds.Float, True)
        reflectance.Set(material.reflectance)
        self._materials[material] = made
        return made

    def _texture(self, path: str, look: Any, material: Material) -> None:
        from PIL import Image

        assert material.texture is not None and self._folder is not None
        pxr, kinds = self._pxr, self._pxr.Sdf.ValueTypeNames
        name = f"{path.rpartition('/')[2]}.png"
        Image.fromarray(material.texture.pixels).save(self._folder / name, "PNG")
        corner = pxr.UsdShade.Shader.Define(self._stage, f"{path}/corner")
        corner.CreateIdAttr("UsdPrimvarReader_float2")
        corner.CreateInput("varname", kinds.String).Set("st")
        picture = pxr.UsdShade.Shader.Define(self._stage, f"{path}/picture")
        picture.CreateIdAttr("UsdUVTexture")
        picture.CreateInput("file", kinds.Asset).Set(pxr.Sdf.AssetPath(f"./{self._folder.name}/{name}"))
        picture.CreateInput("sourceColorSpace", kinds.Token).Set("sRGB")
        picture.CreateInput("st", kinds.Float2).ConnectToSource(corner.ConnectableAPI(), "result")
        picture.CreateOutput("rgb", kinds.Float3)
        look.GetInput("diffuseColor").ConnectToSource(picture.ConnectableAPI(), "rgb")
        if material.texture.least_opacity < 255:
            picture.CreateOutput("a", kinds.Float)
            look.GetInput("opacity").ConnectToSource(picture.ConnectableAPI(), "a")
            look.CreateInput("opacityThreshold", kinds.Float).Set(material.opacity_cutoff)

    def _semantics(self, prim: Any, label: str) -> None:
        prim.AddAppliedSchema("SemanticsLabelsAPI:class")
        kinds = self._pxr.Sdf.ValueTypeNames
        prim.CreateAttribute("semantics:labels:class", kinds.TokenArray).Set([label])

    def _matrix(self, matrix: NDArray[np.float64]) -> Any:
        """USD's matrices act on rows."""
        whole = np.eye(4)
        whole[:, :3] = matrix.T
        return self._pxr.Gf.Matrix4d(whole.tolist())

    def _free(self, name: str) -> str:
        word, number = _word(name), 1
        while word in self._taken:
            number += 1
            word = f"{_word(name)}_{number}"
        self._taken.add(word)
        return word


def _word(name: str) -> str:
    """A name as USD takes them."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    return f"_{word}" if word[0].isdigit() else word


def simple_transforms(matrices: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Turns as quaternions (x, y, z, w) and sizes along the shape's axes; None where transforms are more than that."""
    axes = matrices[:, :, :3]
    sizes = np.linalg.norm(axes, axis=1)
    sizes[np.linalg.det(axes) < 0, 0] *= -1  # a mirror image
    turns = axes / sizes[:, None, :]
    if np.abs(np.swapaxes(turns, 1, 2) @ turns - np.eye(3)).max() > 1e-6:
        return None
    return np.asarray(Rotation.from_matrix(turns).as_quat()), sizes
