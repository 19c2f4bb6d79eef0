"""Small scans, number by number, against those kept in ``kept_frames.json``: a change that is not meant shows here.

Each case is a few dozen pulses that go through one part of the loop. The physics itself has its closed forms in
tests/physics; those need many pulses, these so few that the loop can be run uncompiled (NUMBA_DISABLE_JIT=1), where
`tools/mutants.py` puts mistakes into it. A change of the physics that is meant is kept with

    python tests/unit/pulse/test_kept_frames.py [CASE …]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tussock.air.weather import Fog, Weather
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, card, ground, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.texture import Texture
from tussock.scene.volumes import Volumes
from tussock.scene.wind import Wind
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

KEPT = Path(__file__).parent / "kept_frames.json"
GREY = Material(name="grey", reflectance=0.5)
DRIVE = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0.5), Pose.at(4, 1, 0.7, yaw=0.6, pitch=0.1, roll=-0.1)])


def sensor(lasers: int = 4, steps: int = 8, **settings: object) -> Sensor:
    """A spinning sensor of few pulses; dotted settings change the rest."""
    pattern = SpinningPattern(
        elevation_deg={"first": -12.0, "last": 9.0, "count": lasers}, rotation_hz=10.0, steps=steps,
        vertical_offset_m=[0.01 * i for i in range(lasers)],
    )  # fmt: skip
    return Sensor(name="small", pattern=pattern, receiver=Receiver(max_range_m=60.0)).with_(**settings)


def yard() -> Scene:
    """Uneven ground, a wall around, a shiny post, a sign, balls turned and stretched, and a box that moves."""
    scene = Scene("yard")
    scene.add(ground((40, 40), cells=(6, 6), heights=lambda x, y: 0.2 * np.sin(x) * np.cos(y)), position=(0, 0, -1))
    scene.add(box((24, 20, 12), material=GREY), name="walls", position=(1, 0.5, 3))
    shiny = Material(name="shiny", reflectance=0.2, specular=0.3, shininess=8.0)
    scene.add(box((0.5, 0.5, 6), material=shiny), name="post", position=(4, -0.3, 1))
    scene.add(plane((1.5, 1.5), material=Material(name="sign", reflectance=0.1, retro=30.0)), position=(0, -6, -0.4))
    places = np.array([[-3.0, 0.2, 0.1], [-2.5, -2.3, 0.2], [3.0, 3.2, 0.3]])
    turns = np.array([[0.1, 0.2, 0.3, 0.9], [0.5, 0.5, -0.5, 0.5], [0.0, 0.6, 0.0, 0.8]])
    sizes = np.array([[1.0, 2.0, 1.5], [1.2, -0.8, 1.0], [1.0, 1.0, 2.0]])
    balls = Placements.of(places, quaternions=turns, scale=sizes)
    scene.add(sphere(0.5, subdivisions=1, material=Material(name="ball", reflectance=0.7)), placements=balls)
    path = Trajectory.through([0.0, 0.1], [Pose.at(-1, 5, 0), Pose.at(1, 4, 0.2, yaw=0.5)])
    scene.add(box((2, 1, 2), material=GREY), motion=path, name="mover")
    return scene


def panes() -> Scene:
    """A room with a mirror, a thick block of glass with something in it, and a thin pane that is half a mirror."""
    scene = Scene("panes")
    scene.add(box((20, 18, 10), material=GREY), name="walls")
    scene.add(box((0.2, 8, 6), material=Material(name="mirror", reflectance=0.05, mirror=0.9)), position=(6, 1, 0))
    glass = Material(name="glass", reflectance=0.02, transmission=0.9, refractive_index=1.5)
    scene.add(box((2, 2, 4), material=glass), position=(0.3, 4, 0))
    scene.add(sphere(0.4, subdivisions=1, material=GREY), position=(0.2, 4.1, 0.1))
    half = Material(name="half", reflectance=0.1, mirror=0.3, transmission=0.5)
    scene.add(box((0.02, 8, 6), material=half), position=(-4, 0, 0), yaw=0.3)
    return scene


def under_water() -> Scene:
    scene = Scene("under water")
    water = Material(name="water", reflectance=0.02, transmission=0.95, refractive_index=1.33)
    scene.add(box((4, 5, 3), material=water), name="pool")
    scene.add(box((14, 12, 8), material=GREY), name="walls")
    scene.add(box((0.5, 0.5, 2), material=GREY), name="pile", position=(1.2, 0.4, 0))
    return scene


def nested() -> Scene:
    """Three clear bodies in one another, of which two touch the next one's face, and something to see inside of each."""
    scene = Scene("nested")
    for size, index, name in ((6.0, 1.33, "water"), (4.0, 1.6, "glass"), (2.0, 1.2, "ice")):
        clear = Material(name=name, reflectance=0.01, transmission=0.97, refractive_index=index)
        scene.add(box((size, size, 3.0), material=clear), name=name, position=(5.0, 0.5, 0.2))
    scene.add(box((0.6, 0.6, 4), material=GREY), name="core", position=(5.0, 0.7, 0.0))
    scene.add(box((0.3, 0.3, 4), material=GREY), name="pile", position=(6.6, -0.4, 0.0))
    scene.add(box((30, 26, 10), material=GREY), name="walls")
    return scene


def hedge() -> Scene:
    """Coarse shapes that respond like plants, in front of walls."""
    scene = Scene("hedge")
    scene.add(box((20, 20, 10), material=GREY), name="walls")
    leaves = Material(name="leaves", reflectance=0.6)
    for number, (x, y) in enumerate([(4, 0), (0, 4), (-4, 0.5)]):
        response = VegetationResponse(mean_m=0.2 * number, sigma_m=0.6)
        scene.add(
            box((1.5, 2.5, 3), material=leaves), name=f"hedge {number}", position=(x, y, 0), tags=["vegetation"],
            response=response,
        )  # fmt: skip
    return scene


def squall() -> Scene:
    """The yard in rain and snow, thin fog, a box of fog that drifts, and puffs of dust, two of them in one line."""
    scene = yard()
    puffs = [
        {"puff_m": 1.0, "position_m": (3.0, 2.0, 0.2), "density_g_m3": 2.0},
        {"puff_m": 0.7, "position_m": (5.0, 4.0, 0.3), "density_g_m3": 4.0, "drifts": False},
        {"box_m": (3.0, 4.0, 4.0), "position_m": (-5.0, 1.0, 0.0), "density_g_m3": 0.5},
    ]
    scene.weather = Weather(
        rain_mm_h=150.0, snow_mm_h=20.0, fog=Fog(visibility_m=60.0), dust=puffs, wind_m_s=(2.0, -1.0, 0.0), wet=0.7,
        fog_banks=[{"box_m": (6.0, 5.0, 3.0), "position_m": (0.0, -5.0, 0.0), "visibility_m": 20.0}],
    )  # fmt: skip
    return scene


def dust() -> Scene:
    """The yard in one wide thin puff and a box of dust: most of what is met lies within, or between parts of, the clouds."""
    scene = yard()
    clouds = [
        {"puff_m": 6.0, "position_m": (2.0, 1.0, 0.0), "density_g_m3": 1.5},
        {"box_m": (5.0, 12.0, 6.0), "position_m": (-5.0, 1.0, 0.0), "density_g_m3": 0.2},
    ]
    scene.weather = Weather(dust=clouds, wind_m_s=(1.0, 0.5, 0.0), wet=0.0)
    return scene


def downpour() -> Scene:
    """The yard in more rain and snow than there is, so that a few dozen pulses meet many drops."""
    scene = yard()
    scene.weather = Weather(rain_mm_h=300.0, snow_mm_h=50.0, wet=0.0)
    return scene


def puddles() -> Scene:
    """A wet floor that mirrors the walls where it lies smooth, under one thin cloud."""
    scene = Scene("puddles")
    floor = Material(name="floor", reflectance=0.2, film=0.8, film_gloss=0.9)
    scene.add(plane((60, 60), material=floor), position=(0, 0, -1.0))
    scene.add(box((50, 40, 12), material=GREY), name="walls", position=(1, 0.5, 3))
    scene.weather = Weather(dust=[{"puff_m": 3.0, "position_m": (9.0, 0.5, 0.0), "density_g_m3": 1.0}])
    return scene


def foliage() -> Scene:
    """Leaves that light goes through, one behind the other, some of a spot wide and some not, and a wall behind them."""
    scene = Scene("foliage")
    leaf = Material(name="leaf", reflectance=0.4, leaf_transmission=0.45)
    scene.add(box((14, 12, 8), material=GREY), name="walls")
    for number in range(10):
        angle = 0.7 * number
        place = (np.cos(angle) * (2 + 0.3 * number), np.sin(angle) * (2 + 0.3 * number), 0.1 * (number % 3))
        scene.add(box((0.02, 1.0, 0.8), material=leaf), name=f"leaf {number}", position=place, yaw=angle + 0.4)
    return scene


def glade() -> Scene:
    """Leaves and boards in the open, some with the sun behind them, some with their normals turned away from the sensor."""
    scene = Scene("glade")
    leaf = Material(name="leaf", reflectance=0.4, leaf_transmission=0.45)
    for number in range(12):
        angle = 0.52 * number
        place = (np.cos(angle) * 3.0, np.sin(angle) * 3.0, 0.1 * (number % 3))
        corners = np.array([[0, -0.8, -1.0], [0, 0.8, -1.0], [0.5, 0.8, 1.0], [0.5, -0.8, 1.0]])
        faces = np.array([[0, 1, 2], [0, 2, 3]]) if number % 2 else np.array([[0, 2, 1], [0, 3, 2]])
        sheet = Mesh.of(corners, faces, (leaf if number % 3 else GREY,))
        scene.add(sheet, name=f"sheet {number}", position=place, yaw=angle)
    scene.add(plane((20, 20), material=GREY), position=(0, 0, -1.0))
    return scene


def lattice() -> Scene:
    """Pictures with holes: one in place, copies of another, one that moves and one that sways, before walls."""
    pixels = np.full((6, 5, 4), 200, np.uint8)
    pixels[..., 3] = np.random.default_rng(4).choice([0, 90, 255], (6, 5))
    holed = Material(name="holed", texture=Texture(pixels), reflectance=0.5)
    wide = card((3.0, 2.0), material=holed)
    tiled = Mesh.of(
        wide.vertices, wide.triangles, (holed,), uv=np.array([[-0.5, 0.2], [1.7, 0.2], [1.7, 1.9], [-0.5, 1.9]])
    )
    scene = Scene("lattice")
    scene.add(wide, name="one", position=(0.2, 3.0, -1.0), yaw=0.2)
    places = Placements.of([[3.0, 0.1, -0.9], [3.5, 0.0, -1.0], [0.0, -3.0, -1.1]], yaw=np.array([1.4, 1.6, 0.1]))
    scene.add(tiled, name="copies", placements=places)
    path = Trajectory.through([0.0, 0.1], [Pose.at(-3, -0.5, -1, yaw=1.5), Pose.at(-3.2, 0.5, -0.9, yaw=1.7)])
    scene.add(wide, name="mover", motion=path)
    scene.add(wide, name="reed", label="grass", position=(-2.0, 2.5, -1.0), yaw=0.9)
    scene.add(box((16, 14, 8), material=GREY), name="walls", position=(0.5, 0.3, 1.0))
    scene.wind = Wind(speed_m_s=8.0, from_deg=140.0, gusts=0.5, seed=2)
    return scene


def reeds() -> Scene:
    """Tall strips with a leaf at their side, turned, sloping, small and large, in a strong and gusty wind before a wall."""
    z = np.linspace(0.0, 1.5, 5)
    strip = np.concatenate([np.stack([0.1 * z, np.full(5, y), z], 1) for y in (-0.3, 0.3)])
    k = np.arange(4)
    faces = np.concatenate([np.stack([k, k + 5, k + 6], 1), np.stack([k, k + 6, k + 1], 1)])
    leaf = np.array([[0.1, 0.3, 0.8], [0.0, 0.9, 1.0], [0.1, 0.3, 1.4]])
    vertices, triangles = np.concatenate([strip, leaf]), np.concatenate([faces, [[10, 11, 12]]])
    materials = (Material(name="stalk", reflectance=0.5), Material(name="blade", reflectance=0.6, label="leaf"))
    mesh = Mesh.of(vertices, triangles, materials, [0] * 8 + [1])
    angle = np.linspace(0.0, 5.5, 6)
    places = np.stack([3.0 * np.cos(angle), 3.0 * np.sin(angle), np.full(6, -1.0)], 1)
    placed = Placements.of(places, yaw=angle + 0.4, scale=np.linspace(0.8, 1.5, 6)).matrices.copy()
    placed[:, 2, 0] += 0.15
    scene = Scene("reeds")
    scene.add(mesh, name="reed", label="grass", placements=Placements(placed))
    scene.add(box((16, 14, 8), material=GREY), name="walls", position=(0.5, 0.3, 1.0))
    stem = Stem(frequency_hz=1.3, mass_kg_m=0.01, drag_width_m=0.02, damping=0.12)
    scene.wind = Wind(speed_m_s=9.0, from_deg=200.0, gusts=0.6, seed=3, stems={"reed": stem})
    return scene


def thicket() -> Scene:
    """The haze, whose volumes return pulses a second time, and hold some of the sensor's noise."""
    scene = haze()
    volumes = scene.volumes[0].volumes
    count = len(volumes)
    scene.volumes.clear()
    scene.add_volumes(
        replace(volumes, second=np.linspace(20_000, 65_535, count).astype(np.uint16), gap=0.3,
                held=np.linspace(0, 400, count).astype(np.uint16)), name="thicket", position=(0.1, 0.2, 0.0), yaw=0.3,
    )  # fmt: skip
    return scene


def haze() -> Scene:
    """Gaussians of several permeabilities around the sensor, a wall behind them."""
    rng = np.random.default_rng(3)
    cell = 1.0
    voxels = np.argwhere(np.ones((8, 8, 4), bool)) - [4, 4, 2]
    voxels = voxels[np.abs(voxels + 0.5).max(1) > 1]
    means = (voxels + 0.5) * cell + rng.uniform(-0.2, 0.2, voxels.shape)
    axes = np.linalg.qr(rng.normal(size=(len(voxels), 3, 3)))[0]
    spread = axes * rng.uniform(0.15, 0.4, (len(voxels), 1, 3))
    precision = np.linalg.inv(spread @ spread.transpose(0, 2, 1))[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    open_share = rng.uniform(0.4, 0.95, len(voxels))
    shells = np.stack([open_share * 0.5, open_share], 1)
    volumes = Volumes(
        means.astype(np.float32), precision.astype(np.float32), open_share.astype(np.float32),
        np.round(shells * 65535).astype(np.uint16), np.linspace(30_000, 60_000, len(voxels)).astype(np.uint16),
        np.full(len(voxels), 10, np.uint32), np.linspace(0.2, 0.9, len(voxels)).astype(np.float32), cell,
        np.float32([1.0, 2.0]),
    )  # fmt: skip
    scene = Scene("haze")
    scene.add_volumes(volumes, name="haze")
    scene.add(box((16, 14, 10), material=GREY), name="walls")
    return scene


NINE = {"beam.rays": 9, "beam.divergence_horizontal_mrad": 60.0, "beam.divergence_vertical_mrad": 40.0}
SPOT = NINE | {"beam.rays": 5, "beam.sampling": "random"}
HITS = {"receiver.model": "hits"}
MANY = {"steps": 4, "lasers": 2, "beam.rays": 100} | {
    f"beam.divergence_{way}_mrad": wide for way, wide in (("horizontal", 900.0), ("vertical", 700.0))
}
SHEET = {"receiver.detects": "10 % at 20 m with probability 0.9", "noise.ray_sigma_m": 0.03}
CASES: dict[str, tuple[Callable[[], Scene], dict[str, object], dict[str, Any]]] = {
    "one ray": (yard, {}, {}),
    "hits, steps, bias": (
        yard, HITS | {"noise.ray_sigma_m": 0.05, "noise.bias_sigma_m": 0.1, "receiver.range_step_m": 0.002,
                      "receiver.intensity_step": 1 / 255, "receiver.min_range_m": 2.0}, {"pose": DRIVE},
    ),
    "laplace, losses": (
        yard, HITS | {"noise.ray_sigma_m": 0.05, "noise.distribution": "laplace", "noise.dropout": 0.3,
                      "receiver.extinction_per_m": 0.02, "receiver.min_intensity": 0.05,
                      "receiver.spreading_reference_m": 5.0, "noise.pointing_sigma_mrad": 20.0}, {"frame": 2},
    ),
    "folded, limited": (
        yard, HITS | {"receiver.backfolding": True, "receiver.max_range_m": 12.0, "receiver.detection_limit.near_m": 3.0,
                      "receiver.detection_limit.far_m": 11.0, "receiver.detection_limit.near_reflectivity": 0.1,
                      "receiver.detection_limit.far_reflectivity": 0.6}, {},
    ),
    "nine rays, strongest and last hit": (yard, HITS | NINE | {"receiver.mode": "strongest+last"}, {"pose": DRIVE}),
    "nine rays, all hits": (
        yard, HITS | NINE | {"receiver.mode": "all", "receiver.signal_cutoff_m": 0.4, "noise.ray_sigma_m": 0.02}, {},
    ),
    "nine rays, first hit": (yard, HITS | NINE | {"receiver.mode": "first", "beam.sampling": "full"}, {}),
    "nine rays, last hit": (yard, HITS | NINE | {"receiver.mode": "last", "beam.shape": "rectangle"}, {}),
    "echoes of nine rays": (yard, NINE | SHEET | {"receiver.mode": "all", "receiver.pulse_fwhm_ns": 3.0}, {}),
    "echoes by chance": (
        yard, SPOT | SHEET | {"beam.shape": "ellipse", "beam.profile": "gaussian", "receiver.mode": "strongest+second",
                              "noise.false_alarms": 0.2, "noise.interference": 0.2, "noise.dropout": 0.1,
                              "noise.stated_at": {"distance_m": 10.0}, "noise.floor_sigma_m": 0.01,
                              "noise.bias_sigma_m": 0.05}, {"pose": DRIVE},
    ),
    "echoes that walk": (
        yard, SPOT | SHEET | {"beam.shape": "rectangle", "receiver.range_walk": 0.5, "receiver.mode": "first+last",
                              "receiver.intensity_ceiling": 2.0, "receiver.ceiling_gain": 20.0,
                              "receiver.min_separation_m": 1.5, "noise.speed_sigma_m_s": 0.1},
        {"pose": DRIVE},
    ),
    "strongest and last with noise": (
        yard, HITS | NINE | {"receiver.mode": "strongest+last", "noise.ray_sigma_m": 0.05, "noise.dropout": 0.2}, {},
    ),
    "up and down": (
        yard, NINE | {"pattern.elevation_deg": [-90.0, 90.0, -89.0, 40.0], "noise.pointing_sigma_mrad": 30.0}, {},
    ),
    "echoes of a hundred rays": (yard, SHEET | MANY | {"receiver.mode": "all"}, {}),
    "a hundred rays, all hits": (yard, HITS | MANY | {"receiver.mode": "all", "receiver.signal_cutoff_m": 0.2}, {}),
    "a halo": (
        yard, NINE | {"beam.halo_share": 0.05, "beam.halo_mrad": 300.0, "beam.halo_rays": 4, "beam.profile": "gaussian",
                      "receiver.spreading_reference_m": 5.0, "receiver.mode": "first+strongest"}, {},
    ),
    "waveforms": (yard, SPOT | SHEET | {"steps": 3, "receiver.extinction_per_m": 0.01}, {"waveform": True}),
    "waveforms into the open": (
        glade, SPOT | SHEET | {"steps": 6, "lasers": 2, "pattern.elevation_deg": [8.0, 40.0]},
        {"waveform": True, "keep_misses": True},
    ),
    "mirrors and glass": (panes, {"receiver.mode": "all"}, {"pose": Pose.at(0.1, 0.2, 0.3, yaw=0.05)}),
    "mirrors and glass, nine rays": (panes, NINE | HITS | {"receiver.mode": "strongest+last"}, {}),
    "few bounces": (panes, {"receiver.mode": "last", "receiver.max_bounces": 1}, {}),
    "under water": (under_water, HITS | {"receiver.extinction_per_m": 0.01}, {"pose": Pose.at(0.2, -0.1, 0.1)}),
    "three media in one another": (
        nested, HITS | {"receiver.mode": "last", "receiver.max_bounces": 8, "steps": 48, "lasers": 1}, {},
    ),
    "a response": (hedge, HITS, {}),
    "a response and what stands behind": (hedge, NINE | {"receiver.mode": "strongest+last"}, {}),
    "rain, snow, fog and dust": (squall, NINE | SHEET | {"receiver.mode": "all", "beam.rays": 4, "beam.exit_mm": 8.0}, {}),
    "drops in a narrow beam": (
        downpour, SHEET | {"receiver.mode": "all", "receiver.near_reflectivity": 0.0, "beam.exit_mm": 2.0,
                           "beam.divergence_horizontal_mrad": 0.5, "beam.divergence_vertical_mrad": 0.5}, {},
    ),
    "in the midst of dust": (
        dust, NINE | SHEET | {"receiver.mode": "all", "beam.rays": 20, "steps": 4}, {"pose": Pose.at(0, 0, 0.2)},
    ),
    "weather to a receiver of hits": (squall, HITS | {"receiver.mode": "strongest"}, {"frame": 1}),
    "weather in waveforms": (squall, SHEET | {"steps": 3, "receiver.overlap_m": (0.5, 2.0)}, {"waveform": True}),
    "puddles": (puddles, SHEET | {"receiver.mode": "all", "receiver.near_reflectivity": 0.02}, {"pose": DRIVE}),
    "leaves in the sun": (foliage, NINE | SHEET | {"receiver.mode": "all", "receiver.near_infrared": True}, {"sun": (150.0, 35.0)}),
    "sheets in the sun": (glade, {"receiver.near_infrared": True}, {"sun": (150.0, 35.0), "pose": DRIVE}),
    "sheets with the sun low": (glade, {"receiver.near_infrared": True}, {"sun": (-40.0, 8.0)}),
    "reeds in the wind": (reeds, {"steps": 24, "lasers": 2}, {"frame": 7}),
    "reeds in the wind, nine rays": (reeds, NINE | SHEET | {"receiver.mode": "all"}, {"pose": DRIVE, "frame": 3}),
    "reeds from above": (
        reeds, HITS | {"pattern.elevation_deg": [-61.0, -58.0, -55.0, -52.0], "steps": 32},
        {"frame": 2, "pose": Pose.at(0.1, -0.2, 4.5)},
    ),
    "holes": (lattice, {"steps": 24}, {"frame": 4}),
    "holes, nine rays": (lattice, NINE | SHEET | {"receiver.mode": "all"}, {"pose": DRIVE}),
    "adaptive": (yard, NINE | {"beam.rays": 16, "beam.profile": "gaussian", "beam.sampling": "sequence", "beam.adaptive": True}, {"pose": DRIVE}),
    "volumes": (haze, {}, {}),
    "volumes, two returns": (haze, {"receiver.mode": "strongest+last", "receiver.min_separation_m": 0.4}, {}),
    "volumes that return twice": (thicket, SHEET | {"receiver.mode": "all", "receiver.min_separation_m": 0.1}, {}),
    "volumes that return twice, nine rays": (
        thicket, NINE | HITS | {"receiver.mode": "all", "steps": 4, "noise.ray_sigma_m": 0.05}, {"pose": DRIVE},
    ),
    "volumes and several rays": (haze, NINE | HITS | {"receiver.mode": "all", "steps": 4}, {"frame": 1}),
}  # fmt: skip


def numbers(frame: Frame) -> dict[str, list[Any]]:
    """A frame as it is kept: whole numbers as they are, others to six digits."""
    found: dict[str, list[Any]] = {
        name: frame.columns[name].tolist() for name in ("pulse", "return_kind", "return_count", "object_id")
    }
    for name in ("range", "true_range", "intensity", "signal", "speed", "near_infrared"):
        column = getattr(frame, name, None)
        if column is not None and np.isfinite(column).any():
            found[name] = [None if np.isnan(x) else float(f"{x:.6g}") for x in column]
    found["true_y"] = [None if np.isnan(x) else float(f"{x:.6g}") for x in frame.true_xyz[:, 1]]
    if frame.waveforms is not None:
        found["starts"] = [None if np.isnan(x) else float(f"{x:.6g}") for x in frame.waveforms.start]
        found["samples"] = [float(f"{x:.5g}") for x in frame.waveforms.samples[:4, :48].ravel()]
    return found


def made(case: str, world: Callable[[Callable[[], Scene]], World]) -> dict[str, list[Any]]:
    scene, settings, options = CASES[case]
    return numbers(scan(world(scene), sensor(**settings), seed=5, threads=1, **options))


@pytest.mark.parametrize("case", CASES)
def test_a_small_scan_is_as_it_was(case: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[case]
    now = made(case, lambda scene: World(scene()))
    assert set(now) == set(kept)
    for name, column in kept.items():
        if name in ("pulse", "return_kind", "return_count", "object_id"):
            assert now[name] == column, name
        else:
            # Uncompiled, a float32 and a number of Python's make another float32 than compiled, by a last bit.
            np.testing.assert_allclose(
                np.array(now[name], float), np.array(column, float), rtol=2e-4, atol=2e-4, err_msg=name
            )


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(CASES)
    known = json.loads(KEPT.read_text(encoding="utf-8"))
    kept = {case: made(case, lambda scene: World(scene())) if case in chosen else known[case] for case in CASES}
    lines = [f"{json.dumps(case)}: {json.dumps(columns, separators=(',', ':'))}" for case, columns in kept.items()]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
