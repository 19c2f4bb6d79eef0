"""Small files of what surrounds a scan: weather, wind, cut-out leaves, photographs, survey trajectories, drives in full."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from tussock.drive.settings import DriveSettings
from tussock.scene.material import Material
from tussock.scene.primitives import box, card
from tussock.scene.scene import Scene
from tussock.scene.volumes import Volumes
from tussock.scene_files.scene_save import save_scene
from tussock.scene_files.volume_file import save_volumes
from tussock.wire.livox.commands import CommandId, Key, pack_values

__all__ = ["PAINTED", "furnish_outdoors"]

PAINTED = ("painted.usda", "painted.glb", "packed.usdz")
"""scenes in the formats of others that carry pictures, and one in one file"""

AIR = """
[materials.leaf]
texture = "leaf.webp"
opacity_cutoff = 0.6
reflectance = 0.4
leaf_transmission = 0.2
spectrum = [{wavelength_nm = 1550, reflectance = 0.5, leaf_transmission = 0.8}]
film = 0.2
variation = 0.3
[[objects]]
name = "ground"
plane = {size_m = [20, 20]}
[[objects]]
name = "leaves"
card = {size_m = [2, 2], crossed = 2}
material = "leaf"
position_m = [2, 0, 1]
[[objects]]
name = "grass"
label = "grass"
grow = {kind = "grass", blades = 4, size_m = 0.4}
placements = {positions_m = [[1, 1, 0], [-2, 1, 0]], yaw_deg = [0, 90], scale = [1, 1.5]}
[[objects]]
name = "cart"
box = {size_m = [0.4, 0.4, 0.4]}
[objects.motion]
times_s = [0, 1]
positions_m = [[4, -2, 0.2], [4, 2, 0.2]]
[[objects]]
name = "flag"
mesh = "part.ply"
position_m = [-4, 0, 1]
[objects.forms]
times_s = [0, 1]
meshes = ["part.ply", "part.ply"]
[weather]
rain_mm_h = 5
snow_mm_h = 0.5
flake_density_g_cm3 = 0.2
fog = {visibility_m = 80}
dust_g_m3 = 0.01
grain_um = 20
dust = [{puff_m = 1, position_m = [3, 1, 1], density_g_m3 = 2, settles_s = 4}]
dust_trails = [{behind = "cart", every_s = 0.5, lasts_s = 3}, {times_s = [-2, 2], positions_m = [[0, 3, 0], [4, 3, 0]]}]
fog_banks = [{box_m = [4, 2, 2], position_m = [-4, 0, 1], visibility_m = 15}]
showers = [{rain_mm_h = 30, radius_m = 20, position_m = [5, 0], velocity_m_s = [-1, 0]}]
changes = [{time_s = 2, rain_mm_h = 30}, {time_s = 4, visibility_m = 500}]
wind_m_s = [1, 0, 0]
wet = 0.5
[wind]
speed_m_s = 6
from_deg = 240
gusts = 0.5
seed = 3
still = ["leaves"]
[wind.stems]
grass = {frequency_hz = 2, mass_kg_m = 0.003, drag_width_m = 0.004, damping = 0.1}
"""

PLAN_OF_WEATHERS = """
name = "weathers"
frames = 1
[worlds]
recipe = "recipe.toml"
count = 2
[[sensors]]
name = "low"
sensor = "vlp-16"
height_m = 1.2
settings = {"pattern.rotation_hz" = 20}
camera = {width = 24, height = 12}
[[sensors]]
rig = "rig.toml"
[[paths]]
kind = "drive"
speed_m_s = 1.5
[[weather]]
name = "fog80"
fog_visibility_m = 80
[[weather]]
name = "rain"
rain_mm_h = 8
snow_mm_h = 1
[output]
layout = "kitti"
labels = "goose"
"""

RECIPE_IN_FULL = """
name = "full"
side_m = [20, 22]
biomes = {thin = 1}
seasons = {summer = 3, bare = 1}
slope_deg = [0, 12]
relief = [0.5, 1.5]
density = [0.1, 0.2]
trail = 0.5
trail_width_m = [1.6, 3.2]
puddles = [0, 1]
rocks = [0.3, 1.5]
deadwood = [0.3, 1.5]
people = [0, 1]
animals = [0, 1]
vehicles = [0, 1]
weather = {clear = 1, fog = 1, rain = 1, snow = 1}
fog_visibility_m = [30, 200]
rain_mm_h = [1, 25]
snow_mm_h = [0.2, 4]
sun_elevation_deg = [10, 60]
sun_azimuth_deg = [0, 360]
clouds = [0, 0.9]
[own.thin]
meaning = "few plants"
ground = "soil"
relief_m = [0.1, 0.5]
wavelength_m = [25, 70]
fence = 0.5
shore = true
[[own.thin.layers]]
species = {hazel = 1, blackthorn = 1}
density_ha = [0, 40]
spacing_m = 2
patchy = 0.5
ages = {young = 1, grown = 1}
[[own.thin.layers]]
species = {meadow-grass = 1}
cover = [0.01, 0.02]
"""

WORDS = "rain 10 mm/h, fog 0.08 km\n6 m/s from 240 gusts 0.5\n1,2,3,0,10,90\nsmall.toml\n"
"""one line each: weather, wind, a pose, the name of a dropped file"""


def furnish_outdoors(folder: Path, volumes: Volumes) -> None:
    """Beside what `workshop.furnish` makes."""
    for name, text in (
        ("air.toml", AIR), ("weathers.toml", PLAN_OF_WEATHERS), ("full.toml", RECIPE_IN_FULL), ("words.txt", WORDS),
        ("of_full.toml", PLAN_OF_WEATHERS.replace("recipe.toml", "full.toml")),
        ("photos.toml", '[[photos]]\nimage = "front.jpg"\ncamera = "front.toml"\npose = [0, 0, 1.6, 0, 0, 90]\n'),
        ("front.toml", "width = 12\nheight = 8\n[lens]\nkind = \"fisheye\"\nfx = 8\n"),
        ("stiff.toml", tomli_w.dumps(_without_nones(DriveSettings().model_dump(mode="json")))),
    ):  # fmt: skip
        (folder / name).write_text(text)
    _pictures(folder)
    (folder / "survey.sbet").write_bytes(_sbet())
    (folder / "datagram.bin").write_bytes(_datagram())
    _volumes_of_all_kinds(folder, volumes)
    scene = Scene("painted")
    leaf = Material(name="leaf", texture=folder / "clay.png", reflectance=0.4)
    scene.add(card((1, 1), material=leaf), name="card", position=(4, 0, 1))
    scene.add(box((1, 1, 1)), name="box", position=(0, 4, 1))
    save_scene(scene, folder / "painted.usda")
    save_scene(scene, folder / "painted.glb")
    from pxr import UsdUtils  # as SCENES want it

    UsdUtils.CreateNewUsdzPackage(str(folder / "exchanged.usda"), str(folder / "packed.usdz"))


def _without_nones(tree: Any) -> Any:
    """TOML has no word for nothing."""
    if isinstance(tree, dict):
        return {key: _without_nones(value) for key, value in tree.items() if value is not None}
    return [_without_nones(value) for value in tree] if isinstance(tree, list) else tree


def _pictures(folder: Path) -> None:
    from PIL import Image

    random = np.random.default_rng(5)
    Image.fromarray(random.integers(0, 255, (9, 7, 4), np.uint8), "RGBA").save(folder / "leaf.webp", lossless=True)
    Image.fromarray(random.integers(0, 255, (8, 12, 3), np.uint8)).save(folder / "front.jpg")


def _sbet() -> bytes:
    rows = np.zeros((20, 17))
    rows[:, 0] = 300_000 + 0.005 * np.arange(20)
    rows[:, 1], rows[:, 2] = np.deg2rad(48.1) + 1e-8 * np.arange(20), np.deg2rad(11.5)
    rows[:, 3], rows[:, 9] = 520.0, np.deg2rad(30.0)
    return rows.astype("<f8").tobytes()


def _datagram() -> bytes:
    """What a driver sets: the command's number, then its data; checksums are put on by who reads it."""
    host = bytes([127, 0, 0, 1]) + struct.pack("<HH", 56301, 56300)
    values = {Key.POINT_TYPE: b"\x01", Key.POINT_HOST: host, Key.WORK_MODE: b"\x02", Key.ATTITUDE: bytes(24)}
    return struct.pack("<HHH", CommandId.SET, len(values), 0) + pack_values(values)


def _volumes_of_all_kinds(folder: Path, volumes: Volumes) -> None:
    """With labels and colours; and as an older version wrote them."""
    from dataclasses import replace

    n = len(volumes)
    full = replace(volumes, labels=np.full(n, 3, np.uint16), colors=np.full((n, 4), 200, np.uint8))
    save_volumes(full, folder / "colored.volumes")
    with np.load(folder / "hedge.volumes") as archive:
        arrays = dict(archive)
    about = json.loads(arrays.pop("about").tobytes()) | {"version": 3}
    kept = {name: array for name, array in arrays.items() if name not in ("held", "second", "levels")}
    with (folder / "older.volumes").open("wb") as file:
        np.savez_compressed(file, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **kept)
