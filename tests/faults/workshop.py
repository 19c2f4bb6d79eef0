"""A folder with one small valid file of every kind that Tussock reads, and a command line for every command.

What is tried with damaged files, failing disks and signals is tried with these.
"""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
from workshop_outdoors import furnish_outdoors
from workshop_recordings import furnish_recordings, furnish_scenes, shortened

from tussock.datasets.write import write_dataset
from tussock.drive.vehicles.vehicle import vehicle_names
from tussock.files.formats import FORMATS, save_frame
from tussock.frames.frame import Frame
from tussock.jobs.engines import here
from tussock.jobs.plan import load_plan
from tussock.jobs.run import run_plan
from tussock.pack import save_pack
from tussock.poses import Pose
from tussock.rigs.rig import load_rig
from tussock.runs import Run
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import save_mesh
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.volume_file import load_volumes, save_volumes
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.wire.recording import open_recording

__all__ = ["COMMANDS", "furnish", "furnish_for_fuzzing"]

SCENE = """
name = "workshop"

[materials.clay]
reflectance = 0.4
texture = "clay.png"

[labels]
shed = 900

[[objects]]
name = "hills"
label = "terrain"
terrain = {size_m = [30, 20], cells = [12, 8], noise = {height_m = 0.4, wavelength_m = 12}, slopes = [{above_deg = 30, material = "rock"}]}

[[objects]]
name = "ground"
ground = {size_m = [4, 4], heights = "heights.npy"}
position_m = [20, 0, 0]

[[objects]]
name = "mound"
terrain = {size_m = [4, 4], image = "heights.png", height_range_m = [0, 1]}
position_m = [-20, 0, 0]

[[objects]]
name = "bushes"
label = "shrub"
tags = ["vegetation"]
response = {mean_m = 0.1, sigma_m = 0.4}
box = {size_m = [1, 1, 1]}
material = "clay"
[objects.populate]
on = "hills"
density_per_m2 = 0.02
spacing_m = 1
exclude = [{centre_m = [0, 0], radius_m = 2}]
scale = [0.8, 1.2]

[[objects]]
name = "model"
mesh = "model.obj"
placements = {file = "places.csv"}

[[objects]]
name = "part"
mesh = "part.ply"
placements = {file = "places.npz"}

[[objects]]
name = "solid"
mesh = "solid.stl"
position_m = [3, 3, 0]

[[objects]]
name = "scene"
mesh = "scene.gltf"
position_m = [4, -3, 0]

[[objects]]
name = "binary"
mesh = "binary.glb"
position_m = [-4, -3, 0]

[[objects]]
name = "cart"
label = "shed"
cylinder = {radius_m = 0.5, height_m = 1}
[objects.motion]
file = "cart.tum"

[[objects]]
name = "grass"
grow = {kind = "grass", blades = 5, size_m = 0.5}
placements = {positions_m = [[1, 1, 0], [2, 1, 0]], yaw_deg = [0, 90], scale = [1, 1.5]}

[[objects]]
name = "hedge"
volumes = "hedge.volumes"
position_m = [6, 2, 0]
"""

SENSOR = """
description = "a table of pulses"
wavelength_nm = 905
[pattern]
kind = "table"
file = "pulses.csv"
[beam]
rays = 3
divergence_horizontal_mrad = 2
[receiver]
mode = "strongest+last"
max_range_m = 60
[noise]
ray_sigma_m = 0.01
dropout = 0.1
"""

OWN = """
base = "vlp-16"
[pattern]
rotation_hz = 10
[receiver]
detection_limit = {near_m = 10, far_m = 90}
"""

CAMERA = """
width = 24
height = 12
samples = 2
[lens]
kind = "pinhole"
fx = 20
k1 = -0.05
[shutter]
exposure_s = 0.001
"""

RIG = """
name = "buggy"
scene = "scene.toml"
rate_hz = 10
[body.path]
times_s = [0, 2]
positions_m = [[-3, 0, 0], [3, 0, 0]]
yaw_deg = [0, 10]
[[lidars]]
name = "top"
sensor = "vlp-16"
position_m = [0.2, 0, 1.9]
settings = {"pattern.rotation_hz" = 20}
[[cameras]]
name = "front"
position_m = [0.4, 0, 1.6]
camera = {width = 24, height = 12, samples = 1, lens = {kind = "pinhole", fx = 20}}
[light]
sun_elevation_deg = 30
"""

PLAN = """
name = "little"
frames = 1
[worlds]
scenes = ["scene.toml"]
[[sensors]]
sensor = "vlp-16"
[[paths]]
kind = "stand"
"""

OBJ = """mtllib model.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl red
f 1/1 2/2 3/3
f 1/1 3/3 4/4
"""
MTL = "newmtl red\nKd 0.8 0.2 0.2\nmap_Kd clay.png\n"


def furnish(folder: Path) -> Path:
    """Fill ``folder``, which is made; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    _small_files(folder)
    for name, text in (
        ("scene.toml", SCENE), ("table.toml", SENSOR), ("own.toml", OWN), ("camera.toml", CAMERA), ("rig.toml", RIG), ("plan.toml", PLAN),
        ("again.toml", PLAN.replace("scene.toml", "rods")),  # a plan notes where its files are, and the workshop is copied
        ("model.obj", OBJ), ("model.mtl", MTL),
    ):  # fmt: skip
        (folder / name).write_text(text)
    _meshes(folder)
    frame = _frame()
    save_volumes(_volumes(frame), folder / "hedge.volumes")
    scene = load_scene(folder / "scene.toml")
    for suffix in FORMATS:
        save_frame(frame, folder / f"frame{suffix}")
    sensor = load_sensor("vlp-16").with_(rotation_hz=20)
    for name in ("run.pcap", "run.mcap"):
        with open_recording(folder / name, sensor) as run:
            for number in range(3):
                run.write(scan(scene, sensor, Pose.at(0, 0, 1.5), frame=number))
    save_pack(
        _little(), folder / "pack.tussock", sensor=load_sensor(folder / "table.toml"), place=Pose.at(0, 0, 2), seed=3
    )
    run_plan(load_plan(folder / "again.toml"), str(folder / "jobs"), engine=here(1))
    write_dataset(load_rig(folder / "rig.toml"), scene, folder / "set", end=0.2)
    return folder


SMALL = """
[[objects]]
plane = {size_m = [20, 20]}
[[objects]]
name = "box"
box = {size_m = [1, 1, 1]}
position_m = [3, 0, 0]
label = "building"
"""
MOVING = (
    SMALL
    + """
[objects.motion]
file = "cart.tum"
"""
)
FEW = """
[pattern]
kind = "table"
file = "pulses.csv"
"""
DRIVE = """
vehicle = "skid-steer"
mount_m = [0, 0, 2]
time_limit_s = 0.2
[sensors]
gps = "gps-sbas"
[autonomy.map]
max_height_m = 1.2
"""
RECIPE = """
biomes = {meadow = 1, orchard = 2}
seasons = {summer = 1}
"""


def furnish_for_fuzzing(folder: Path) -> Path:
    """The workshop, where it is not there yet, and small files that are read thousands of times."""
    if not (folder / "set").exists():
        furnish(folder)
    for name, text in (
        ("small.toml", SMALL), ("moving.toml", MOVING), ("few.toml", FEW), ("recipe.toml", RECIPE),
        ("drive.toml", DRIVE),
        ("vehicle.toml", f'base = "{vehicle_names()[0]}"\nmass_kg = 80\nmax_speed_m_s = 2\n'),
    ):  # fmt: skip
        (folder / name).write_text(text)
    (folder / "short.pcap").write_bytes(shortened((folder / "run.pcap").read_bytes(), 6))
    furnish_recordings(_little(), folder)
    furnish_scenes(_little(), folder)
    furnish_outdoors(folder, load_volumes(folder / "hedge.volumes"))
    _half_done(folder)
    run = Run(
        load_scene(folder / "small.toml"),
        load_sensor("lms-291-s05"),  # a file of one's own is noted with its folder, and the workshop is copied
        Pose.at(0, 0, 1.5),
        folder / "range.npz",
        0.0,
        0.2,
    )
    run.prepare()
    return folder


def _half_done(folder: Path) -> None:
    """A data set whose writing was stopped after its first moment."""
    half = Path(shutil.copytree(folder / "set", folder / "half"))
    manifest = json.loads((half / "manifest.json").read_text())
    first = {name: manifest["files"][name] for name in manifest["files_of_moments"]["0"]}
    lines = [{"settings": manifest["settings"]}, {"moment": 0, "files": first}]
    (half / "progress.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (half / "manifest.json").unlink()


def _little() -> Scene:
    from tussock.scene.primitives import box, ground

    scene = Scene("little")
    scene.add(ground((30, 30), cells=(3, 3)), name="ground", label="terrain")
    scene.add(box((1, 2, 2)), name="box", position=(5, 0, 1))
    return scene


def _frame() -> Frame:
    """A few hundred returns."""
    sensor = load_sensor("vlp-16").with_(**{"pattern.rotation_hz": 20, "receiver.mode": "strongest+last"})
    frame = scan(_little(), sensor, Pose.at(0, 0, 1.5), seed=1)
    return frame.select(np.arange(len(frame)) % 29 == 0)


def _volumes(frame: Frame):
    from tussock.learn.learn_volumes import learn_volumes
    from tussock.learn.measured_pulses import measured_pulses

    return learn_volumes(measured_pulses(frame), voxel=2.0, say=lambda note: None)


def _small_files(folder: Path) -> None:
    from PIL import Image

    random = np.random.default_rng(0)
    Image.fromarray(random.integers(0, 255, (8, 8, 3), np.uint8)).save(folder / "clay.png")
    Image.fromarray(random.integers(0, 65535, (6, 5), np.uint16)).save(folder / "heights.png")
    np.save(folder / "heights.npy", random.uniform(0, 0.3, (5, 5)))
    (folder / "places.csv").write_text("x,y,z,yaw_deg,scale\n1,2,0,30,1\n-2,4,0,0,0.5\n")
    np.savez_compressed(folder / "places.npz", positions_m=random.uniform(-5, 5, (4, 3)), yaw_deg=np.arange(4.0))
    (folder / "cart.tum").write_text("# t x y z qx qy qz qw\n0 5 -5 0 0 0 0 1\n1 5 5 0 0 0 0.6 0.8\n")
    (folder / "path.csv").write_text("time_s,x,y,z,yaw_deg\n0,0,0,1.5,0\n3,1,0,1.5,20\n")
    rows = [f"{a},{e},{0.001 * k}" for k, (a, e) in enumerate((a, e) for a in range(0, 360, 20) for e in (-20, -5))]
    (folder / "pulses.csv").write_text("azimuth_deg,elevation_deg,time_s\n" + "\n".join(rows) + "\n")


def _meshes(folder: Path) -> None:
    from tussock.scene.primitives import box

    save_mesh(box((0.5, 0.5, 0.5)), folder / "part.ply")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], "<f4")
    (folder / "solid.stl").write_bytes(
        b"solid".ljust(80, b" ").replace(b"solid", b"stone") + struct.pack("<I", 1)
        + struct.pack("<3f", 0, -1, 0) + corners.tobytes() + b"\0\0"
    )  # fmt: skip
    data = corners.tobytes() + np.array([0, 1, 2], "<u2").tobytes() + b"\0\0"
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [0, 0.5, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"name": "green", "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.6, 0.1, 1]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 0, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
    }
    (folder / "scene.bin").write_bytes(data)
    (folder / "scene.gltf").write_text(
        json.dumps(document | {"buffers": [{"uri": "scene.bin", "byteLength": len(data)}]})
    )
    text = json.dumps(document | {"buffers": [{"byteLength": len(data)}]}).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    (folder / "binary.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


COMMANDS: dict[str, list[str]] = {
    "scan": ["scan", "scene.toml", "--sensor", "own.toml", "--out", "out.npz", "--picture", "out.png"],
    "scan a range": ["scan", "scene.toml", "--sensor", "table.toml", "--to", "0.1", "--out", "out.pcd", "--table", "t.csv"],
    "scan a capture": ["scan", "scene.toml", "--sensor", "vlp-16", "--to", "0.2", "--out", "out.pcap"],
    "scan to mcap": ["scan", "scene.toml", "--sensor", "vlp-16", "--trajectory", "path.csv", "--to", "0.1", "--out", "out.mcap"],
    "scan to rosbag2": ["scan", "scene.toml", "--sensor", "vlp-16", "--to", "0.1", "--out", "out.rosbag2"],
    "scan a pack": ["scan", "pack.tussock", "--out", "out.parquet"],
    "scan to las": ["scan", "scene.toml", "--sensor", "vlp-16", "--out", "out.laz"],
    "scan to e57": ["scan", "scene.toml", "--sensor", "vlp-16", "--out", "out.e57"],
    "render": ["render", "scene.toml", "--camera", "camera.toml", "--pose", "0,0,2", "--out", "out.png"],
    "render depth": ["render", "scene.toml", "--kind", "depth", "--camera", "camera.toml", "--pose", "0,0,2", "--out", "out.exr"],
    "render boxes": ["render", "scene.toml", "--kind", "boxes", "--camera", "camera.toml", "--pose", "0,0,2", "--out", "out.json"],
    "dataset": ["dataset", "rig.toml", "--to", "0.2", "--out", "out"],
    "dataset raw": ["dataset", "rig.toml", "--to", "0.1", "--layout", "raw", "--out", "out"],
    "dataset log": ["dataset", "rig.toml", "--to", "0.1", "--out", "out.mcap"],
    "learn": ["learn", "frame.npz", "--voxel-m", "2", "--out", "out.volumes", "--picture", "out.png"],
    "noise": ["noise", "frame.npz", "--box=-30,-30,-3,30,30,3", "--window-deg", "20", "--picture", "out.png"],
    "compare": ["compare", "frame.npz", "frame.parquet", "--picture", "out.png"],
    "motion": ["motion", "scene.toml", "--to", "0.5", "--out", "out.csv"],
    "pack": ["pack", "scene.toml", "--sensor", "table.toml", "--out", "out.tussock"],
    "unpack": ["unpack", "pack.tussock", "--out", "out"],
    "sensors": ["sensors"],
    "sensors own": ["sensors", "table.toml", "--plot", "out.png"],
    "scenes": ["scenes"],
    "scenes rods": ["scenes", "rods", "--save", "out.toml"],
    "run": ["run", "plan.toml", "--out", "out"],
    "check": ["check", "jobs"],
    "worlds": ["worlds", "--count", "1", "--save", "out.toml"],
    "validate list": ["validate", "--list"],
}  # fmt: skip
"""what to run in a furnished folder, by name; everything written is called out… or t…"""
