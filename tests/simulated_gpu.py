"""A graphics processor that is none: Numba's CUDA simulator, one Python thread a thread, behind the driver's names.

Run with NUMBA_ENABLE_CUDASIM=1, it scans small scenes on both processors and prints how the two compare, as JSON.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import numpy as np

from tussock.air.weather import Weather
from tussock.cameras import on_gpu
from tussock.cameras.camera import Camera
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.render import look
from tussock.cameras.shutter import Shutter
from tussock.gpu import kernels, worlds
from tussock.many import scan_many
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import LABELS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, card, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene.wind import Wind
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World


class SimulatedArray(np.ndarray):
    """What `DeviceArray` is on a device."""

    def fill(self, values: Any) -> None:
        self[...] = values

    def rows(self, first: int, last: int) -> Any:
        return self[first:last]

    def first(self, rows: int) -> Any:
        return self[:rows]

    def last(self) -> Any:
        return self[-1:]

    def as_type(self, dtype: Any) -> Any:
        return self.view(dtype)

    def to_host(self) -> Any:
        return np.array(self)

    def start_copy(self, where: Any) -> None:
        where[...] = self[: len(where)]


class SimulatedLaunch:
    def __init__(self, function: Any, args: Any, threads: int, block: int) -> None:
        self._kernel = import_module("numba.cuda").jit(function)
        self._args, self._blocks, self._block = args, max(-(-threads // block), 1), block

    def start(self) -> None:
        with np.errstate(all="ignore"):
            self._kernel[self._blocks, self._block](*self._args)


class SimulatedDevice:
    processors = 1

    def enter(self) -> None: ...

    def wait(self) -> None: ...

    def free_memory(self) -> int:
        return 2**30

    def empty(self, shape: Any, dtype: Any) -> Any:
        # Never zeros: what a kernel does not write must show.
        array = np.empty(shape, dtype).view(SimulatedArray)
        array.view(np.ndarray).view(np.uint8)[...] = 0xA5
        return array

    def copied(self, array: Any) -> Any:
        return np.array(array).view(SimulatedArray)

    def staging(self, size: int) -> Any:
        return np.zeros(size, np.uint8)

    def launch(self, function: Any, args: Any, threads: int, block: int) -> SimulatedLaunch:
        return SimulatedLaunch(function, args, threads, block)


def simulate_gpu() -> None:
    """Let scans on the graphics processor go to the simulator."""
    device = SimulatedDevice()
    worlds.gpu = lambda: device  # type: ignore[assignment, return-value]
    cuda = import_module("numba.cuda")

    def wrap(function: Any, original: Any) -> Any:
        # What names the device itself gets it from the simulator; the rest is quicker as it is.
        return cuda.jit(device=True)(function) if "cuda" in function.__code__.co_names else function

    worlds.codes_for = lambda _, examples: kernels.bound(wrap, examples)
    on_gpu.view_codes = lambda there, arguments: on_gpu.bound_views(wrap, arguments["walk_kernel"][0])


def grid_sensor(**settings: Any) -> Sensor:
    """A few pulses straight ahead."""
    pattern = {
        "kind": "grid", "azimuth_deg": np.linspace(25, -25, 8).tolist(),
        "elevation_deg": np.linspace(8, -20, 4).tolist(), "frame_hz": 10.0,
    }  # fmt: skip
    return Sensor(name="few pulses", pattern=pattern).with_(**{"beam.rays": 3, **settings})


def room() -> Scene:
    """A floor, a wall, copies that are turned and scaled."""
    scene = Scene("room")
    scene.add(plane((60, 60), material=Material(name="soil", reflectance=0.3)), name="floor", label="terrain")
    scene.add(box((0.5, 40, 20), material=Material(name="wall", reflectance=0.6)), name="wall", position=(15, 0, 5))
    places = np.array([[4.0, 1.0, 0.5], [6.0, -1.5, 0.8], [8.0, 2.5, 0.4], [5.0, -0.2, 0.3]])
    scene.add(sphere(0.6, subdivisions=1), name="bushes", label="vegetation",
              placements=Placements.of(places, yaw=np.arange(4.0), scale=[0.5, 1.0, 0.8, 1.2]))  # fmt: skip
    return scene


def holes() -> Scene:
    """Cards with holes before the room: in place, as copies, and on the move; through leaves one looks again."""
    pixels = np.full((6, 5, 4), 255, np.uint8)
    pixels[..., 3] = 255 * (np.indices((6, 5)).sum(0) % 2)
    sheet = Material(name="sheet", reflectance=0.4, texture=Texture(pixels))
    leaf = Material(name="leaf", reflectance=0.2, leaf_transmission=0.6, texture=Texture(pixels))
    scene = room()
    scene.add(card((2, 3), material=sheet), name="sheet", position=(3, 1.5, 0), yaw=1.4)
    scene.add(card((2, 2), crossed=2, material=leaf), name="leaves", label="vegetation",
              placements=Placements.of([[2.5, -0.5, 0], [5, -1.5, 0.5], [4, 0.5, 0]], yaw=np.arange(3.0)))  # fmt: skip
    path = Trajectory(
        np.array([0.0, 0.3]), np.array([[4.0, -2.0, 0.5], [4.0, 0.5, 0.5]]), np.array([[0, 0, 0.6, 0.8]] * 2)
    )
    scene.add(card((1.5, 2), material=sheet), name="carried", motion=path)
    return scene


def blowing() -> Scene:
    """Plants that bend, from near and from above, one with holes; beside them what stands and what moves."""
    scene = holes()
    scene.wind = Wind(speed_m_s=9.0, from_deg=250.0, gusts=0.5)
    leaf, stem = Material(name="blade", label="leaf", reflectance=0.5), Material(name="stem", reflectance=0.3)
    rows = np.linspace(0.0, 1.4, 8)
    corners = np.array([[0, y, z] for z in rows for y in (-0.25, 0.25)])
    triangles = [[2 * k + a, 2 * k + b, 2 * k + c] for k in range(7) for a, b, c in ((0, 1, 3), (0, 3, 2))]
    plant = Mesh.of(corners, triangles, (leaf, stem), triangle_materials=np.arange(14) // 7)
    places = np.array([[2.0 + 0.45 * k, -2.0 + 0.8 * (k % 5), 0.0] for k in range(10)])
    scene.add(plant, name="plants", label="grass", placements=Placements.of(places, yaw=0.2 * np.arange(10)))
    return scene


def flooded() -> Scene:
    """A room that is under water on one side."""
    scene = room()
    water = Material(name="water", reflectance=0.05, transmission=0.9, refractive_index=1.33)
    scene.add(box((30, 10, 8), material=water), name="water", position=(10, 5.2, 4.5))
    return scene


def cases() -> dict[str, tuple[Scene, Sensor]]:
    found: dict[str, tuple[Scene, Sensor]] = {}
    noisy = {"noise.ray_sigma_m": 0.02, "noise.bias_sigma_m": 0.01, "noise.dropout": 0.1}
    found["echoes"] = (room(), grid_sensor(**noisy))
    by_hit = {"receiver.model": "hits", "receiver.mode": "strongest+last"}
    found["hit by hit"] = (room(), grid_sensor(**noisy, **by_hit))
    tagged = room()
    tagged.add(box((1, 1, 2)), name="hedge", position=(3.5, 0, 1), tags=("vegetation",),
               response=VegetationResponse(sigma_m=0.3))  # fmt: skip
    found["response"] = (tagged, grid_sensor(**{"receiver.mode": "all", "beam.sampling": "random"}))
    mirrors = room()
    mirrors.add(box((0.1, 3, 3), material=Material(name="mirror", reflectance=0.05, mirror=0.9)), name="mirror",
                placements=Placements.of([[7.0, 2.0, 1.5]], yaw=0.6))  # fmt: skip
    mirrors.add(box((0.05, 2, 3), material=Material(name="glass", reflectance=0.05, transmission=0.9,
                refractive_index=1.5)), name="pane", position=(3.0, -1.0, 1.5))  # fmt: skip
    found["mirrors and glass"] = (mirrors, grid_sensor())
    leafy = room()
    leaf = Material(name="leaf", reflectance=0.05, leaf_transmission=0.9)
    upright = [[0, -3, -1.5], [0, 3, -1.5], [0, 3, 1.5], [0, -3, 1.5]]
    leafy.add(Mesh.of(upright, [[0, 1, 2], [0, 2, 3]], (leaf,)), name="leaf", label="vegetation", position=(3, 0, 1.5))
    leafy.add(
        Mesh.of(upright, [[0, 1, 2], [0, 2, 3]], (leaf,)),
        name="second leaf",
        label="vegetation",
        position=(3.2, 0, 1.5),
    )
    leafy.add(box((0.1, 6, 3), material=Material(name="white", reflectance=0.9)), name="behind", position=(3.6, 0, 1.5))
    # A wide spot, of which enough finds back, and a short pulse, which tells the wall from the leaf.
    wide = {
        "beam.divergence_horizontal_mrad": 200.0, "beam.divergence_vertical_mrad": 200.0, "receiver.pulse_fwhm_ns": 0.5,
    }  # fmt: skip
    found["leaves"] = (leafy, grid_sensor(**wide, **{"receiver.mode": "all"}))  # what is behind is a return of its own
    found["cut-outs"] = (holes(), grid_sensor(**{"receiver.mode": "all", "beam.divergence_horizontal_mrad": 20.0}))
    found["in wind"] = (blowing(), grid_sensor(**{"receiver.mode": "all", "beam.divergence_horizontal_mrad": 20.0}))
    # Slats before the sky: some groups of pulses meet nothing at all, and some spots are torn.
    slats = Scene("slats")
    slats.add(box((0.1, 0.12, 6)), name="slats", placements=Placements.of([[5, 0.7 * y, 0] for y in range(-4, 5)]))
    slats.add(plane((60, 60)), name="floor", position=(0, 0, -1))
    adaptive = {"beam.rays": 16, "beam.sampling": "sequence", "beam.adaptive": True,
                "beam.divergence_horizontal_mrad": 60.0, "beam.divergence_vertical_mrad": 60.0}  # fmt: skip
    pattern = {"kind": "grid", "azimuth_deg": np.linspace(40, -40, 16).tolist(),
               "elevation_deg": [80.0, 50.0, 42.0, 4.0, -8.0], "frame_hz": 10.0}  # fmt: skip
    found["adaptive"] = (slats, Sensor(name="adaptive", pattern=pattern).with_(**adaptive))
    moving = room()
    path = Trajectory(
        np.array([0.0, 0.3]), np.array([[5.0, -2.0, 1.0], [5.0, 4.0, 1.0]]), np.array([[0, 0, 0, 1.0]] * 2)
    )
    moving.add(box((1, 1, 2)), name="passer-by", motion=path)
    found["moving"] = (moving, grid_sensor())
    return found


def weathers() -> dict[str, tuple[Scene, Sensor]]:
    """What the air sends back, each kind by itself, and all at once."""
    sensor = grid_sensor(**{
        "receiver.mode": "all", "beam.divergence_horizontal_mrad": 3.0, "beam.divergence_vertical_mrad": 3.0,
        "noise.ray_sigma_m": 0.01,
    })  # fmt: skip
    puff = {"puff_m": 0.8, "position_m": (2.5, 0.0, 1.2), "density_g_m3": 2.0}
    bank = {"box_m": (4, 18, 3), "position_m": (10.0, 0.0, 1.5), "visibility_m": 5.0}
    airs: dict[str, dict[str, Any]] = {
        "fog": {"fog": {"visibility_m": 8.0}}, "rain": {"rain_mm_h": 80.0}, "dust": {"dust": [puff]},
    }  # fmt: skip
    every = {name: value for air in airs.values() for name, value in air.items()}
    airs["all kinds of weather"] = every | {"snow_mm_h": 8.0, "fog_banks": [bank]}
    found = {}
    for name, air in airs.items():
        found[name] = (room().with_weather(Weather(**air)), sensor)
    return found


def views() -> dict[str, tuple[Scene, Camera, Any]]:
    """Cameras: scene, camera and its pose."""
    place = Pose.at(0.0, 0.0, 1.5)
    path = Trajectory(
        np.array([0.0, 1.0]),
        np.array([[0.0, 0.0, 1.5], [2.0, 0.5, 1.5]]),
        np.array([[0, 0, 0, 1.0], [0, 0, 0.2, 0.98]]),
    )
    rolling = Shutter(kind="rolling", readout_s=0.2, exposure_s=0.01)
    return {
        "pinhole": (room(), Camera(width=12, height=7), place),
        "fisheye, which sees nothing in its corners": (
            room(), Camera(width=9, height=9, lens=Fisheye(horizontal_fov_deg=160.0, circle_deg=150.0)), place,
        ),
        "over plants in wind": (blowing(), Camera(width=14, height=9), Pose.at(0.0, 0.0, 2.5, pitch=0.4)),
        "through holes": (holes(), Camera(width=14, height=9), place),
        "rolling and moving": (cases()["moving"][0], Camera(width=8, height=8, shutter=rolling), path),
    }  # fmt: skip


def compared_views(here: Any, there: Any) -> dict[str, float]:
    """The share of pixels that are the same, channel by channel."""
    far = np.isfinite(here.range) & np.isfinite(there.range)
    near = np.abs(np.where(far, here.range - there.range, 0.0)) <= 1e-4
    said = {"range": float((near & (np.isfinite(here.range) == np.isfinite(there.range))).mean())}
    for name in ("object_id", "placement", "label", "material"):
        if getattr(here, name).size:
            said[name] = float((getattr(here, name) == getattr(there, name)).mean())
    if here.normal.size:
        said["normal"] = float((np.abs(here.normal - there.normal).max(2) < 1e-5).mean())
    return said | {"seen": float(np.isfinite(here.range).mean())}


_AIR = [LABELS[name] for name in ("rain", "snow", "fog", "dust")]


def compared(here: Any, there: Any) -> dict[str, float]:
    """How two frames with a row a pulse at least compare."""
    same = len(here) == len(there) and bool((here.pulse == there.pulse).all())
    if not same:
        return {"rows": len(here), "other rows": len(there)}
    finite = np.isfinite(here.range)
    off = np.abs(here.range - there.range)[finite]
    return {
        "rows": len(here), "hits": int(here.hit.sum()), "near": float((off <= 1e-4).mean()) if len(off) else 1.0,
        "object": float((here.object_id == there.object_id).mean()),
        "label": float((here.label == there.label).mean()),
        "placement": float((here.placement == there.placement).mean()),
        "intensity": float(np.abs(here.intensity - there.intensity).max()),
        "returns": float((here.return_count == there.return_count).mean()),
        "nan": float((np.isfinite(here.range) == np.isfinite(there.range)).mean()),
        "from the air": int(np.isin(here.label, _AIR).sum()),
        "last thing": int((here.object_id == here.object_id.max()).sum()),
    }  # fmt: skip


if __name__ == "__main__":
    simulate_gpu()
    said: dict[str, Any] = {}
    place = Pose.at(0.0, 0.0, 1.5)
    for name, (scene, sensor) in (cases() | weathers()).items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        world = World(scene)
        here = scan(world, sensor, place, seed=7, keep_misses=True)
        there = scan(world, sensor, place, seed=7, keep_misses=True, on="gpu")
        said[name] = compared(here, there)
        again = scan(world, sensor, place, seed=7, keep_misses=True, on="gpu")
        said[name]["again"] = float(there.identical(again))
    breeze = room()
    breeze.wind = Wind(speed_m_s=9.0, from_deg=250.0, gusts=0.5)
    for name, (scene, sensor) in {
        "dust that drifts": weathers()["dust"],
        "bushes that sway": (breeze, grid_sensor()),
    }.items():
        world, later = World(scene), {}
        for on in ("cpu", "gpu"):
            later[on] = [scan(world, sensor, place, seed=7, frame=frame, keep_misses=True, on=on) for frame in (0, 9)]
        said[name] = compared(later["cpu"][1], later["gpu"][1])
        said[name]["moved"] = float(not np.array_equal(later["gpu"][0].range, later["gpu"][1].range))
    poses = [Pose.at(0.0, 0.3 * i, 1.5) for i in range(3)]
    for name, scene, settings in (
        ("many", room(), {}), ("many that wander", room(), {"noise.pointing_sigma_mrad": 20.0}),
        ("many in wind", blowing(), {}), ("many in media", flooded(), {}),
    ):  # fmt: skip
        world, sensor = World(scene), grid_sensor(**{"beam.rays": 1, "noise.bias_sigma_m": 0.01, **settings})
        many = scan_many(world, sensor, poses, [5, 6, 7], on="gpu")
        ones = [scan(world, sensor, pose, seed=seed) for pose, seed in zip(poses, [5, 6, 7], strict=True)]
        said[name] = {"frames": len(many), "near": 1.0, "true place": 1.0, "speed": 1.0, "hits": int(many.starts[-1])}
        for number, one in enumerate(ones):
            other = many.frame(number)
            result = compared(one, other)
            said[name]["near"] = min(said[name]["near"], result.get("near", 0.0))
            if "near" in result:
                off = np.abs(one.true_xyz - other.true_xyz).max(1)
                said[name]["true place"] = min(said[name]["true place"], float((off <= 1e-4).mean()))
                off = np.abs(one.true_speed - other.true_speed)
                said[name]["speed"] = min(said[name]["speed"], float((off <= 1e-3).mean()))
    for name, (scene, camera, path) in views().items():
        world = World(scene)
        there = look(world, camera, path, on="gpu")
        said[name] = compared_views(look(world, camera, path), there)
        ranges = look(world, camera, path, depth_only=True, on="gpu").range
        said[name]["depth only"] = float((ranges == there.range).mean())
        said[name]["again"] = float((look(world, camera, path, on="gpu").range == there.range).mean())
    sys.stdout.write(json.dumps(said) + "\n")
