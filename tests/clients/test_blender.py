"""Scenes made in Blender scan as they look there. Needs bpy (the extra ``blender``) or a Blender program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tussock.blender.load import load_blend
from tussock.blender.process import blender_command
from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.poses import Pose
from tussock.scene.primitives import ground
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import load_mesh
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

try:
    COMMAND = blender_command()
except InputError as error:
    pytest.skip(f"no Blender here: {error}", allow_module_level=True)

START = """
import math
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 10

def paint(name, color, **properties):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1)
    for key, value in properties.items():
        material["tussock_" + key] = value
    return material

def box(name, size, materials):
    x, y, z = (s / 2 for s in size)
    corners = [(a, b, c) for a in (-x, x) for b in (-y, y) for c in (-z, z)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    for material in materials:
        mesh.materials.append(material)
    return mesh

def add(name, mesh, location=(0, 0, 0), collection=None):
    thing = bpy.data.objects.new(name, mesh)
    thing.location = location
    (collection or scene.collection).objects.link(thing)
    return thing

def camera(location, rotation=(math.pi / 2, 0, -math.pi / 2), sensor="vlp-16"):
    thing = bpy.data.objects.new("eye", bpy.data.cameras.new("eye"))
    thing.location, thing.rotation_euler = location, rotation
    scene.collection.objects.link(thing)
    if sensor:
        thing["tussock_sensor"] = sensor
    return thing
"""

WHOLE = """
soil = paint("soil", (0.2, 0.2, 0.2))
ground = add("ground", box("ground", (80, 80, 1), [soil]), (0, 0, -0.5))
ground["tussock_label"] = "terrain"

front, back = paint("front", (0.8, 0.8, 0.8), reflectance=0.7), paint("back", (0.1, 0.1, 0.1), label="glass")
two = box("two", (1, 4, 4), [front, back])
two.polygons[1].material_index = 1     # the face towards +x
add("two-sided", two, (0, 12, 2))

plants = bpy.data.collections.new("vegetation")
scene.collection.children.link(plants)
leaf = box("leaf", (0.2, 0.2, 0.6), [paint("leaf", (0.1, 0.4, 0.05), reflectance=0.45)])
for i in range(2000):
    add(f"plant{i}", leaf, (10 + i % 50 * 0.5, -10 - i // 50 * 0.5, 0.3), plants).rotation_euler = (0, 0, i)

wedge = bpy.data.meshes.new("wedge")
wedge.from_pydata([(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
wedge.materials.append(paint("wedge", (0.5, 0.5, 0.5)))
part = bpy.data.collections.new("part")
part.objects.link(bpy.data.objects.new("wedge", wedge))
for name, x, mirror in (("as-is", -10, 1), ("mirrored", -10, -1)):
    empty = bpy.data.objects.new(name, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", part
    empty.location, empty.scale = (x, 5 * mirror, 0.2), (1, mirror, 1)
    scene.collection.objects.link(empty)

car = add("car", box("car", (4, 2, 1.5), [paint("red", (0.6, 0.1, 0.1))]), (0, 6, 0.75))
car["tussock_label"] = "car"
car["tussock_tags"] = "vehicle, red"
car.modifiers.new("smooth", "SUBSURF").levels = 0
scene.frame_start, scene.frame_end = 1, 21
for frame, x in ((1, -10), (21, 10)):
    car.location.x = x
    car.keyframe_insert("location", frame=frame)
for layer in car.animation_data.action.fcurves:
    for key in layer.keyframe_points:
        key.interpolation = "LINEAR"
eye = camera((0, 0, 1.5))
eye["tussock.beam.rays"] = 1
eye["tussock.noise.ray_sigma_m"] = 0.0
eye["tussock.noise.bias_sigma_m"] = 0.0
eye["tussock.receiver.range_step_m"] = 0.0
"""


def make(folder: Path, name: str, script: str) -> Path:
    """Run a script in Blender and save what it made."""
    blend = folder / f"{name}.blend"
    file = folder / f"{name}.py"
    file.write_text(f"{START}\n{script}\nbpy.ops.wm.save_as_mainfile(filepath={str(blend)!r})\n")
    command = [str(file) if word.endswith("inside.py") else word for word in COMMAND]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert blend.exists(), done.stderr
    return blend


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make(tmp_path_factory.mktemp("blend"), "whole", WHOLE)


@pytest.fixture(scope="module")
def loaded(whole):
    return load_blend(whole)


def test_linked_plants_are_one_shape(loaded):
    plants = loaded.scene["leaf"]
    assert len(plants.placements) == 2000
    assert len(plants.mesh.triangles) == 12
    assert plants.label == "vegetation"
    assert plants.tags == {"vegetation"}
    assert plants.mesh.materials[0].reflectance == pytest.approx(0.45)


def test_a_collection_and_its_mirror_image_share_their_shape(loaded):
    wedge = loaded.scene["wedge"]
    turns = wedge.placements.matrices
    assert sorted(np.round(np.linalg.det(turns[:, :, :3]), 6)) == [-1.0, 1.0]
    np.testing.assert_allclose(sorted(turns[:, 1, 3]), [-5, 5])


def test_the_car_drives_its_path_with_its_label_and_tags(loaded):
    car = loaded.scene["car"]
    assert car.label == "car"
    assert {"vehicle", "red"} <= car.tags
    np.testing.assert_allclose(car.motion.pose(0.0).position, [-10, 6, 0.75], atol=1e-6)
    np.testing.assert_allclose(car.motion.pose(1.25).position, [2.5, 6, 0.75], atol=1e-5)


def test_the_camera_is_the_sensor_and_looks_where_it_looked(loaded):
    (eye,) = loaded.sensors
    assert eye.name == "eye"
    assert eye.sensor.name == "vlp-16"
    assert eye.sensor.noise.ray_sigma_m == 0
    np.testing.assert_allclose(eye.path.rotation, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(eye.path.position, [0, 0, 1.5])


def test_the_scene_scans_as_expected(loaded):
    (eye,) = loaded.sensors
    # At 1 s (frame 10) the car stands across the y axis, 5 m from the sensor; behind it stands the two-sided block.
    frame = scan(loaded.scene, eye.sensor, eye.path, frame=10)
    near = np.abs(np.abs(frame.azimuth) - np.pi / 2) < np.deg2rad(3)
    car = (frame.label == 10) & near & (frame.azimuth > 0)
    assert car.any()
    np.testing.assert_allclose(frame.true_xyz[car, 1], 5.0, atol=2e-3)
    names = [loaded.scene.objects[i - 1].name for i in np.unique(frame.object_id)]
    assert {"ground", "leaf", "wedge", "car"} <= set(names)
    floor = frame.object_id == loaded.scene["ground"].id
    np.testing.assert_allclose(frame.true_xyz[floor, 2], -1.5, atol=2e-3)


def test_each_face_has_its_own_material(loaded):
    block = loaded.scene["two-sided"].mesh
    assert [m.name for m in block.materials] == ["front", "back"]
    assert block.materials[0].reflectance == pytest.approx(0.7)
    assert block.materials[1].reflectance == pytest.approx(0.1, abs=1e-6)
    corners = block.vertices[block.triangles[block.material_of_triangles == 1]]
    np.testing.assert_allclose(corners[..., 0], 0.5)


def test_the_command_needs_nothing_but_the_blend_and_puts_points_back(whole, tmp_path, tussock):
    status, _, err = tussock("scan", whole, "--out", tmp_path / "a.npz", "--into", tmp_path / "b.blend")
    assert status == 0, err
    frame = load_frame(tmp_path / "a.npz")
    again = load_blend(whole)
    assert len(frame) > 5000
    status, _, err = tussock("scan", whole, "--out", tmp_path / "c.npz", "--into", tmp_path / "b.blend")
    assert status == 2
    assert "exists already" in err
    count = make(
        tmp_path,
        "counted",
        f"""
bpy.ops.wm.open_mainfile(filepath={str(tmp_path / "b.blend")!r})
open({str(tmp_path / "count.txt")!r}, "w").write(
    " ".join(str(len(bpy.data.meshes[n].vertices)) for n in ("tussock clean", "tussock noisy")))
""",
    )
    assert count.exists()
    assert (tmp_path / "count.txt").read_text().split() == [str(len(frame))] * 2
    assert again.scene.triangles == load_blend(tmp_path / "b.blend").scene.triangles


def test_obj_glb_and_blend_of_one_scene_give_the_same_ranges(tmp_path):
    script = f"""
import random
random.seed(3)
grey = paint("grey", (0.4, 0.4, 0.4))
for i in range(30):
    thing = add(f"b{{i}}", box(f"b{{i}}", (1 + random.random(), 1, 1 + 2 * random.random()), [grey]))
    angle = 2 * math.pi * i / 30
    thing.location = (8 * math.cos(angle), 8 * math.sin(angle), random.random())
    thing.rotation_euler = [random.random() for _ in range(3)]
camera((0, 0, 1))
import sys
target = {str(tmp_path / "same.obj")!r}
bpy.ops.wm.obj_export(filepath=target, forward_axis="Y", up_axis="Z", export_triangulated_mesh=True)
import trimesh, numpy as np
parts = []
graph = bpy.context.evaluated_depsgraph_get()
for thing in bpy.data.objects:
    if thing.type == "MESH":
        mesh = thing.evaluated_get(graph).data
        mesh.calc_loop_triangles()
        points = np.array([thing.matrix_world @ v.co for v in mesh.vertices])
        # glTF is y-up: what is up here is its y.
        faces = [t.vertices[:] for t in mesh.loop_triangles]
        parts.append(trimesh.Trimesh(points[:, [0, 2, 1]] * [1, 1, -1], faces, process=False))
trimesh.Scene(parts).export({str(tmp_path / "same.glb")!r})
"""
    blend = make(tmp_path, "same", script)
    found = load_blend(blend)
    (eye,) = found.sensors
    quiet = {"noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0, "receiver.range_step_m": 0.0}
    sensor = eye.sensor.with_(**quiet, **{"beam.rays": 1})
    frames = [scan(found.scene, sensor, eye.path, keep_misses=True)]
    for name in ("same.obj", "same.glb"):
        scene = Scene("same")
        scene.add(load_mesh(tmp_path / name))
        frames.append(scan(scene, sensor, eye.path, keep_misses=True))
    hits = [frame.hit for frame in frames]
    assert hits[0].sum() > 5000
    for frame, hit in zip(frames[1:], hits[1:], strict=True):
        # Pulses that graze an edge may fall to either side of it.
        assert (hit != hits[0]).sum() <= 5
        both = hit & hits[0]
        off = np.abs(frame.true_range[both] - frames[0].true_range[both])
        assert np.quantile(off, 0.999) < 1e-3


BAD = {
    "no-sensor": (
        "add('b', box('b', (1, 1, 1), [paint('p', (1, 1, 1))]))\ncamera((0, 0, 5), sensor=None)",
        "tussock_sensor",
    ),
    "empty": ("camera((0, 0, 1))", "nothing that a sensor could see"),
    "misspelt": ("add('b', box('b', (1, 1, 1), []))\ncamera((0, 0, 5), sensor='vlp-61')", "camera 'eye'.*'vlp-16'"),
    "colourless": (
        "m = paint('bare', (1, 1, 1))\nm.node_tree.nodes.clear()\n"
        "add('b', box('b', (1, 1, 1), [m]))\ncamera((0, 0, 5))",
        "material 'bare': has no colour",
    ),
    "mislabelled": (
        "add('b', box('b', (1, 1, 1), []))['tussock_label'] = 'tre'\ncamera((0, 0, 5))",
        "'b': tussock_label",
    ),
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    script = "\n".join(
        f"{START}\n{one}\nbpy.ops.wm.save_as_mainfile(filepath={str(folder / name)!r} + '.blend')"
        for name, (one, _) in BAD.items()
    )
    make(folder, "all", script)
    return folder


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_scanned_is_said_in_one_line(bad, name, tmp_path, tussock):
    status, _, err = tussock("scan", bad / f"{name}.blend", "--out", tmp_path / "a.npz")
    assert status == 2
    assert len(err.strip().splitlines()) == 1
    assert re.search(BAD[name][1], err), err
    assert not (tmp_path / "a.npz").exists()


def test_what_changes_its_shape_has_a_mesh_for_every_frame(tmp_path):
    script = """
bar = add("bar", box("bar", (1, 1, 1), [paint("p", (0.5, 0.5, 0.5))]), (5, 0, 1))
for vertex in bar.data.vertices:
    vertex.co.z += 0.5
bar.shape_key_add(name="low")
tall = bar.shape_key_add(name="tall")
for point in tall.data:
    point.co.z *= 3
scene.frame_start, scene.frame_end = 0, 10
for frame, value in ((0, 0.0), (10, 1.0)):
    tall.value = value
    tall.keyframe_insert("value", frame=frame)
grow = add("grow", box("grow", (1, 1, 1), []), (-5, 0, 1))
for frame, size in ((0, 1), (10, 2)):
    grow.scale = (1, size, 1)
    grow.keyframe_insert("scale", frame=frame)
camera((0, 0, 1.5))
"""
    found = load_blend(make(tmp_path, "forms", script))
    bar, grow = found.scene["bar"].forms, found.scene["grow"].forms
    assert len(bar.meshes) == len(grow.meshes) == 11
    assert bar.at(0.0).bounds[1, 2] == pytest.approx(1.0)
    assert bar.at(1.0).bounds[1, 2] == pytest.approx(3.0)
    np.testing.assert_allclose([grow.at(t).bounds[1, 1] for t in (0.0, 1.0)], [0.5, 1.0], atol=1e-6)
    sensor = found.sensors[0].sensor
    highest = [
        float(frame.true_xyz[frame.object_id == found.scene["bar"].id, 2].max())
        for frame in (scan(found.scene, sensor, found.sensors[0].path, frame=number) for number in (0, 9))
    ]
    assert highest[0] < 0.6 < 1.0 < highest[1]


def test_a_file_that_is_no_blend_is_refused(tmp_path):
    (tmp_path / "a.blend").write_bytes(b"BLENDER-v404" + bytes(100))
    with pytest.raises(InputError, match="not a readable"):
        load_blend(tmp_path / "a.blend")
    with pytest.raises(InputError, match="no such file"):
        load_blend(tmp_path / "b.blend")


def test_a_sensor_in_a_catalogue_scene_is_where_the_camera_was(tmp_path):
    # A camera that looks straight down sees the ground at its own height.
    script = "add('g', box('g', (20, 20, 1), []), (0, 0, -0.5))\ncamera((0, 0, 3), (0, 0, 0), 'tof-camera')"
    found = load_blend(make(tmp_path, "down", script))
    frame = scan(found.scene, found.sensors[0].sensor, found.sensors[0].path)
    middle = np.hypot(frame.azimuth, frame.elevation) < 0.02
    np.testing.assert_allclose(frame.true_range[middle], 3.0, atol=2e-3)
    flat = Scene("flat")
    flat.add(ground((20, 20)))
    same = scan(flat, load_sensor("tof-camera"), Pose.at(0, 0, 3, pitch=np.pi / 2))
    assert len(same) == len(frame)


MANY = """
scene.frame_start, scene.frame_end = 1, 41
blade = box("blade", (0.05, 0.05, 0.4), [paint("blade", (0.1, 0.4, 0.05), reflectance=0.45)])
far = bpy.data.collections.new("assets")
add("blade", blade, collection=far)
field = bpy.data.meshes.new("field")
field.from_pydata([(5 + i % 40 * 0.2, -4 + i // 40 * 0.2, 0) for i in range(1600)], [], [])
emitter = add("field", field)
emitter["tussock_label"] = "grass"
nodes = emitter.modifiers.new("scatter", "NODES")
tree = bpy.data.node_groups.new("scatter", "GeometryNodeTree")
tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
put, info = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new("GeometryNodeObjectInfo")
info.inputs["Object"].default_value = bpy.data.objects["blade"]
info.inputs["As Instance"].default_value = True
for a, b in ((start.outputs[0], put.inputs["Points"]), (info.outputs["Geometry"], put.inputs["Instance"]),
             (put.outputs[0], end.inputs[0])):
    tree.links.new(a, b)
nodes.node_group = tree
lawn = add("lawn", box("lawn", (60, 60, 1), [paint("soil", (0.2, 0.2, 0.2))]), (0, 0, -0.5))
lawn["tussock_label"] = "terrain"
lawn.modifiers.new("fur", "PARTICLE_SYSTEM")
lawn.particle_systems[0].settings.type = "HAIR"
lawn.particle_systems[0].settings.count = 20
car = add("car", box("car", (4, 2, 1.5), [paint("red", (0.6, 0.1, 0.1))]), (0, 6, 0.75))
for frame, x in ((1, -10), (41, 10)):
    car.location.x = x
    car.keyframe_insert("location", frame=frame)
for layer in car.animation_data.action.fcurves:
    for key in layer.keyframe_points:
        key.interpolation = "LINEAR"
eye = camera((0, 0, 1.5))
eye["tussock.pattern.rotation_hz"] = 20.0
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return make(tmp_path_factory.mktemp("many"), "many", MANY)


@pytest.fixture(scope="module")
def first(many):
    """Its first frame alone."""
    return load_blend(many, during=(0.0, 0.0))


def test_one_frame_reads_the_frames_around_it_alone(many, first):
    """Four seconds of animation, of which a scan takes a twentieth of one: 41 frames were evaluated for it."""
    whole, part = load_blend(many), load_blend(many, during=(2.03, 2.1))
    assert len(whole.scene["car"].motion.times) == 41
    assert first.scene["car"].motion is None
    np.testing.assert_allclose(part.scene["car"].motion.times, [2.0, 2.1], atol=1e-9)
    for time in (2.0, 2.04, 2.1):
        np.testing.assert_allclose(part.scene["car"].motion.at([time])[0], whole.scene["car"].motion.at([time])[0])
    same = [scan(blend.scene, blend.sensors[0].sensor, blend.sensors[0].path, frame=41) for blend in (whole, part)]
    np.testing.assert_array_equal(same[0].xyz, same[1].xyz)
    with pytest.raises(InputError, match="during: must be 0 <= start <= end"):
        load_blend(many, during=(1.0, 0.5))


def test_the_command_reads_what_it_scans(many, tmp_path, tussock):
    status, _, err = tussock("scan", many, "--from", "3", "--out", tmp_path / "a.npz")
    assert status == 0, err
    assert "note: " in err and "strand hair 'fur' is not read" in " ".join(err.split())
    frame = load_frame(tmp_path / "a.npz")
    assert frame.meta["frame"] == 60


def test_instances_have_the_label_of_their_emitter(first):
    assert first.scene["blade"].label == "grass" and len(first.scene["blade"].placements) == 1600
    assert first.scene["lawn"].label == "terrain"


def test_strand_hair_is_noted(first):
    assert first.notes == (
        "object 'lawn': strand hair 'fur' is not read; convert it to a mesh, or render it as objects",
    )
