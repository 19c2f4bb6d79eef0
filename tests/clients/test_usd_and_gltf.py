"""USD and glTF of other programs: scenes authored with USD's own library, GLB files of trimesh, and ours read by them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

from tussock.errors import InputError
from tussock.poses import Pose
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, sphere
from tussock.scene.scene import Scene
from tussock.scene_files.exchange.told import SceneWarning
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


def quad(stage, path: str, size: float = 100.0):  # type: ignore[no-untyped-def]
    """A square in the plane of x and y, as a mesh of one polygon."""
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr([(-size, -size, 0), (size, -size, 0), (size, size, 0), (-size, size, 0)])
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    return mesh


def test_instances_of_a_stage_in_centimetres_with_y_up(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

    stage = Usd.Stage.CreateNew(str(tmp_path / "stage.usda"))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    root = UsdGeom.Xform.Define(stage, "/World")
    root.AddTranslateOp().Set((1000, 0, 0))
    made = UsdGeom.PointInstancer.Define(stage, "/World/bushes")
    made.AddRotateYOp().Set(90)
    quad(stage, "/World/bushes/protos/a")
    inner = UsdGeom.Xform.Define(stage, "/World/bushes/protos/b")
    inner.AddScaleOp().Set((2, 2, 2))
    quad(stage, "/World/bushes/protos/b/leaf").AddTranslateOp().Set((0, 10, 0))
    made.CreatePrototypesRel().SetTargets(["/World/bushes/protos/a", "/World/bushes/protos/b"])
    made.CreateProtoIndicesAttr([0, 1, 0, 1])
    made.CreatePositionsAttr([(0, 0, 0), (100, 0, 0), (0, 200, 0), (0, 0, 300)])
    made.CreateInvisibleIdsAttr([2])
    paint = UsdShade.Material.Define(stage, "/World/paint")
    look = UsdShade.Shader.Define(stage, "/World/paint/look")
    look.CreateIdAttr("UsdPreviewSurface")
    look.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(0.5, 0.25, 0.125))
    paint.CreateSurfaceOutput().ConnectToSource(look.ConnectableAPI(), "surface")
    UsdShade.MaterialBindingAPI.Apply(made.GetPrim()).Bind(paint)
    made.GetPrim().AddAppliedSchema("SemanticsLabelsAPI:class")
    made.GetPrim().CreateAttribute("semantics:labels:class", Sdf.ValueTypeNames.TokenArray).Set(["Shrub"])
    UsdGeom.Camera.Define(stage, "/World/camera")
    hidden = quad(stage, "/World/hidden")
    hidden.MakeInvisible()
    stage.GetRootLayer().Save()

    scene = load_scene(tmp_path / "stage.usda")
    assert [len(thing.placements) for thing in scene.objects] == [1, 2]
    assert {thing.label for thing in scene.objects} == {"shrub"}
    material = scene.objects[0].mesh.materials[0]
    assert material.color == (0.5, 0.25, 0.125)
    assert material.reflectance == pytest.approx(0.2126 * 0.5 + 0.7152 * 0.25 + 0.0722 * 0.125)
    # By hand: turned by 90° about y (x to -z), shifted by 10 m along x; then y up becomes z up, z becomes -y.
    a, b = (thing.placements.matrices for thing in scene.objects)
    np.testing.assert_allclose(a[0, :, 3], (10, 0, 0), atol=1e-6)
    np.testing.assert_allclose(b[0, :, 3], (10, 1, 0.2), atol=1e-6)
    np.testing.assert_allclose(b[1, :, 3], (13, 0, 0.2), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(b[0, :, :3], axis=0), 0.02, atol=1e-6)
    # All corners where USD's own composition puts them.
    cache = UsdGeom.XformCache()
    world = np.array(cache.GetLocalToWorldTransform(made.GetPrim()))
    own = np.array(made.ComputeInstanceTransformsAtTime(Usd.TimeCode.Default(), Usd.TimeCode.Default()))
    corner = np.array([-100.0, -100.0, 0.0, 1.0])
    for place, row in zip([a[0]], [own[0]], strict=True):
        x, y, z = (corner @ row @ world)[:3] * 0.01
        np.testing.assert_allclose(place @ corner, (x, -z, y), atol=1e-6)


def test_shapes_subsets_texture_corners_and_what_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    from pxr import Usd, UsdGeom, UsdShade

    stage = Usd.Stage.CreateNew(str(tmp_path / "stage.usda"))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.Cube.Define(stage, "/cube").CreateSizeAttr(3.0)
    UsdGeom.Sphere.Define(stage, "/ball").CreateRadiusAttr(2.0)
    rod = UsdGeom.Cylinder.Define(stage, "/rod")
    rod.CreateAxisAttr("X")
    rod.CreateHeightAttr(8.0)
    rod.CreateRadiusAttr(0.5)
    sheet = UsdGeom.Plane.Define(stage, "/sheet")
    sheet.CreateAxisAttr("Y")
    sheet.CreateWidthAttr(4.0)
    sheet.CreateLengthAttr(6.0)
    mesh = UsdGeom.Mesh.Define(stage, "/mesh")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)])
    mesh.CreateFaceVertexCountsAttr([4, 3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 1, 4, 2])
    for name, faces in (("one", [0]), ("two", [1])):
        subset = UsdShade.MaterialBindingAPI(mesh.GetPrim()).CreateMaterialBindSubset(name, faces)
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(UsdShade.Material.Define(stage, f"/m_{name}"))
    UsdGeom.BasisCurves.Define(stage, "/hair")
    stage.GetRootLayer().Save()
    with pytest.warns(SceneWarning, match=r"1 prims of the kind BasisCurves cannot be read"):
        scene = load_scene(tmp_path / "stage.usda")
    sizes = {thing.name: np.ptp(thing.mesh.bounds, axis=0) for thing in scene.objects}
    np.testing.assert_allclose(sizes["cube"], 3.0)
    np.testing.assert_allclose(sizes["ball"], 4.0, atol=0.02)
    np.testing.assert_allclose(sizes["rod"], (8, 1, 1), atol=0.01)
    np.testing.assert_allclose(sizes["sheet"], (4, 0, 6))
    flat = scene["mesh"].mesh
    assert [material.name for material in flat.materials] == ["m_one", "m_two"]
    assert flat.material_of_triangles.tolist() == [0, 0, 1] and flat.areas.sum() == pytest.approx(1.5)


def test_instanceable_prims_are_placements(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    from pxr import Usd, UsdGeom

    tree = Usd.Stage.CreateNew(str(tmp_path / "tree.usda"))
    tree.SetDefaultPrim(UsdGeom.Xform.Define(tree, "/tree").GetPrim())
    quad(tree, "/tree/crown", 1.0)
    tree.GetRootLayer().Save()
    stage = Usd.Stage.CreateNew(str(tmp_path / "stage.usda"))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    for number in range(50):
        copy = UsdGeom.Xform.Define(stage, f"/wood/tree{number}")
        copy.GetPrim().GetReferences().AddReference("./tree.usda")
        copy.GetPrim().SetInstanceable(True)
        copy.AddTranslateOp().Set((number, 0, 0))
    stage.GetRootLayer().Save()
    scene = load_scene(tmp_path / "stage.usda")
    assert [len(thing.placements) for thing in scene.objects] == [50]
    np.testing.assert_array_equal(scene.objects[0].placements.matrices[:, 0, 3], np.arange(50))


def test_time_samples_of_transforms_are_motion(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "stage.usda"))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(30.0)
    stage.SetStartTimeCode(60.0)
    stage.SetEndTimeCode(120.0)
    # A mast that turns once in two seconds about USD's upright axis, an arm on it, and what hangs on the arm.
    mast = UsdGeom.Xform.Define(stage, "/mast")
    turn = mast.AddRotateYOp()
    turn.Set(0.0, 60.0)
    turn.Set(360.0, 120.0)
    arm = UsdGeom.Xform.Define(stage, "/mast/arm")
    arm.AddTranslateOp().Set((300.0, 100.0, 0.0))
    quad(stage, "/mast/arm/board")
    copies = UsdGeom.PointInstancer.Define(stage, "/mast/leaves")
    quad(stage, "/mast/leaves/leaf")
    copies.CreatePrototypesRel().SetTargets(["/mast/leaves/leaf"])
    copies.CreateProtoIndicesAttr([0, 0, 0])
    copies.CreatePositionsAttr([(100.0, 0.0, 0.0), (200.0, 0.0, 0.0), (0.0, 0.0, 100.0)])
    grows = UsdGeom.Xform.Define(stage, "/grows")
    size = grows.AddScaleOp()
    size.Set((1.0, 1.0, 1.0), 60.0)
    size.Set((2.0, 2.0, 2.0), 120.0)
    quad(stage, "/grows/patch")
    quad(stage, "/stands")
    stage.GetRootLayer().Save()
    with pytest.warns(SceneWarning, match="1 prims change over time in ways that cannot be read"):
        scene = load_scene(tmp_path / "stage.usda")
    moving = {thing.name: thing for thing in scene.objects if thing.motion is not None}
    assert len(scene.objects) == 4 and len(moving) == 2
    for thing in moving.values():
        assert thing.motion is not None
        assert thing.motion.times[0] == 0.0 and thing.motion.times[-1] == pytest.approx(2.0)
        for time in np.linspace(0, 2, 23):
            # USD's turn about y is one about z here, half a turn a second of it and of nothing else.
            pose, angle = thing.motion.pose(time), np.pi * time
            np.testing.assert_allclose(pose.position, 0, atol=1e-6)
            half = np.abs(np.dot(pose.quaternion, [0, 0, np.sin(angle / 2), np.cos(angle / 2)]))
            assert half == pytest.approx(1.0, abs=2e-5)  # a chord of 1/24 s
    counts = sorted(len(thing.placements) for thing in moving.values())
    assert counts == [1, 3]
    # The whole, written and read again, is where it was, at any time.
    save_scene(scene, tmp_path / "again.usda")
    again = load_scene(tmp_path / "again.usda")
    for thing in moving.values():
        other = again[thing.name]
        assert thing.motion is not None and other.motion is not None
        for time in (0.0, 0.37, 1.2, 5.0):
            places = [
                np.einsum("ij,njk->nik", _whole(one.motion.matrices([time])[0]), _wholes(one.placements.matrices))
                for one in (thing, other)
            ]
            np.testing.assert_allclose(places[0], places[1], atol=1e-6)


def _whole(matrix: np.ndarray) -> np.ndarray:
    return np.vstack([matrix, [0, 0, 0, 1]])


def _wholes(matrices: np.ndarray) -> np.ndarray:
    return np.stack([_whole(matrix) for matrix in matrices])


def test_layers_outside_the_folder_and_missing_ones_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    from pxr import Usd

    (tmp_path / "inner").mkdir()
    other = Usd.Stage.CreateNew(str(tmp_path / "other.usda"))
    quad(other, "/sheet")
    other.SetDefaultPrim(other.GetPrimAtPath("/sheet"))
    other.GetRootLayer().Save()
    text = '#usda 1.0\ndef "a" (references = @{}@) {{}}\n'
    (tmp_path / "inner" / "stage.usda").write_text(text.format("../other.usda"))
    with pytest.raises(InputError, match="must not lead out of the folder"):
        load_scene(tmp_path / "inner" / "stage.usda")
    (tmp_path / "inner" / "gone.usda").write_text(text.format("nowhere.usda"))
    with pytest.raises(InputError, match="names what is not there"):
        load_scene(tmp_path / "inner" / "gone.usda")


def test_100_000_instances_are_one_shape_and_scan_as_from_toml(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
    rng = np.random.default_rng(1)
    n = 100_000
    scene = Scene("wood")
    places = Placements.of(
        rng.uniform(-300, 300, (n, 3)) * (1, 1, 0.01), yaw=rng.uniform(-3, 3, n), scale=rng.uniform(0.5, 1.5, n)
    )
    scene.add(sphere(0.5, subdivisions=1), name="bushes", label="shrub", placements=places)
    save_scene(scene, tmp_path / "wood.usdc")
    save_scene(scene, tmp_path / "wood.glb")
    save_scene(scene, tmp_path / "wood.toml")
    frames = []
    for name in ("wood.toml", "wood.usdc", "wood.glb"):
        read = load_scene(tmp_path / name)
        assert len(read.objects) == 1 and len(read.objects[0].placements) == n and read.placement_count == n
        frames.append(scan(read, load_sensor("vlp-16"), Pose.at(0, 0, 1.0), seed=2))
    for frame in frames[1:]:
        for column in ("range", "intensity", "object_id", "instance_id", "label", "pulse"):
            if hasattr(frame, column):
                np.testing.assert_array_equal(getattr(frame, column), getattr(frames[0], column), column)


def test_trimesh_reads_our_glb_and_we_read_its(tmp_path: Path) -> None:
    scene = Scene("two")
    scene.add(box((1, 2, 3)), name="box", position=(4, 5, 6), yaw=0.5)
    scene.add(sphere(1.0, subdivisions=2), name="ball", position=(-3, 0, 0))
    save_scene(scene, tmp_path / "ours.glb")
    seen = trimesh.load_scene(str(tmp_path / "ours.glb"))
    low, high = scene.bounds
    # y up: (x, z, -y).
    np.testing.assert_allclose(seen.bounds, [(low[0], low[2], -high[1]), (high[0], high[2], -low[1])], atol=1e-6)
    theirs = trimesh.Scene()
    theirs.add_geometry(
        trimesh.creation.box((1, 2, 3)), node_name="a", transform=trimesh.transformations.translation_matrix((1, 2, 3))
    )
    theirs.export(str(tmp_path / "theirs.glb"))
    read = load_scene(tmp_path / "theirs.glb")
    np.testing.assert_allclose(read.bounds, [(0.5, -4.5, 1), (1.5, -1.5, 3)], atol=1e-6)


def test_gltf_instancing_by_hand(tmp_path: Path) -> None:
    """A document written by hand from the specification: instances under a node that is moved itself, in a .gltf with a
    buffer beside it, of which the translations are interleaved with padding."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    shifts = b"".join(struct.pack("<3f4x", float(k), 0, 0) for k in range(3))
    turns = struct.pack("<12h", *(0, 0, 0, 32767) * 2, *(0, 32767, 0, 0))
    (tmp_path / "data.bin").write_bytes(points + shifts + turns)
    document = {
        "asset": {"version": "2.0"}, "extensionsUsed": ["EXT_mesh_gpu_instancing"],
        "buffers": [{"uri": "data.bin", "byteLength": 108}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 48, "byteStride": 16},
            {"buffer": 0, "byteOffset": 84, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5122, "count": 3, "type": "VEC4", "normalized": True},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"name": "row", "mesh": 0, "translation": [0, 5, 0], "extensions": {
            "EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1, "ROTATION": 2}}}}],
        "scenes": [{"nodes": [0]}], "animations": [{}],
    }  # fmt: skip
    (tmp_path / "row.gltf").write_text(json.dumps(document))
    with pytest.warns(SceneWarning, match="1 animations are not read"):
        scene = load_scene(tmp_path / "row.gltf")
    places = scene["row"].placements.matrices
    np.testing.assert_allclose(places[:, :, 3], [(0, 0, 5), (1, 0, 5), (2, 0, 5)], atol=1e-6)
    # Turned by 180° about glTF's y: its x points to -x, z up stays.
    np.testing.assert_allclose(places[2] @ (1, 0, 0, 1), (1, 0, 5), atol=1e-6)
    np.testing.assert_allclose(places[2] @ (0, 1, 0, 1), (2, 0, 6), atol=1e-6)
    document["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    (tmp_path / "row.gltf").write_text(json.dumps(document))
    with pytest.raises(InputError, match="KHR_draco_mesh_compression"):
        load_scene(tmp_path / "row.gltf")
