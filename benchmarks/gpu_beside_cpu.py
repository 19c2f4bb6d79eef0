"""The same scans on a graphics processor and on the CPU: what differs, case by case: the table of docs/gpu.md.

    python benchmarks/gpu_beside_cpu.py [case …] [--compile]

Every case is scanned on both with one seed and twice on the graphics processor, which must give the same bytes. It says of which
share of the pulses all returns, as many on both, have the same true range to 0.1 mm, the same reported range, and the same
object, label and copy; pulses without a return count.
``--compile`` only compiles the kernels, which needs no graphics processor, and keeps them for a later run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import tussock
from tussock.air.weather import Weather
from tussock.gpu.scans import compiled_kernels, examples_of
from tussock.poses import Trajectory
from tussock.scene.wind import Wind
from tussock.simulate import prepare
from tussock.trace.cuda.trees import WorldTrees

HERE = tussock.Pose.at(0.0, 0.0, 2.0)


class Scanned(NamedTuple):
    scene: Any
    sensor: Any
    pose: Any = HERE
    waveform: bool = False


def hdl(**settings: Any) -> Any:
    return tussock.load_sensor("hdl-64e-s2").with_(**{"beam.rays": 9, **settings})


def vlp(mode: str = "strongest+last", **settings: Any) -> Any:
    return tussock.load_sensor("vlp-16").with_(**{"receiver.mode": mode, **settings})


def plain(name: str, rays: int = 9) -> Callable[[], Scanned]:
    return lambda: Scanned(tussock.ready_scene(name), hdl(**{"beam.rays": rays}))


def moving() -> Scanned:
    way = tussock.Trajectory(
        np.array([0.0, 1.0]),
        np.array([[0.0, 0.0, 2.0], [8.0, 1.0, 2.2]]),
        np.array([[0, 0, 0, 1.0], [0, 0, 0.3, 0.954]]),
    )
    return Scanned(tussock.ready_scene("yard"), vlp(), way)


def crossing() -> Scanned:
    way = Trajectory(np.array([0.0, 1.0]), np.array([[0.0, -3, 2.0], [6.0, -3, 2.0]]), np.array([[0, 0, 0, 1.0]] * 2))
    return Scanned(tussock.ready_scene("crossing"), hdl(), way)


def in_mirrors() -> Scanned:
    scene = tussock.ready_scene("yard")
    mirror = tussock.Material(name="mirror", reflectance=0.05, mirror=0.9)
    glass = tussock.Material(name="glass", reflectance=0.05, transmission=0.9, refractive_index=1.5)
    scene.add(tussock.box((0.1, 6, 4), material=mirror), name="mirror", position=(6, 3, 2))
    scene.add(tussock.box((0.05, 6, 4), material=glass), name="pane", position=(5, -4, 2))
    return Scanned(scene, hdl())


def answering() -> Scanned:
    scene = tussock.ready_scene("yard")
    for k in range(12):
        place = (5 + k % 4, 4 * (k // 4) - 4, 1)
        scene.add(
            tussock.sphere(0.7, subdivisions=3), name=f"bush {k}", position=place, label="vegetation",
            tags=("vegetation",), response=tussock.VegetationResponse(sigma_m=0.3),
        )  # fmt: skip
    return Scanned(scene, vlp("all"))


def learned() -> Scanned:
    scene = tussock.ready_scene("yard")
    sensor = vlp("strongest")
    pulses = tussock.measured_pulses(tussock.scan(scene, sensor, HERE, keep_misses=True))
    volumes = tussock.learn_volumes(pulses, voxel=0.25, say=lambda note: None)
    place = tussock.Scene("learned")
    place.add_volumes(volumes, name="place")
    return Scanned(place, sensor)


def in_weather(mode: str = "all", **air: Any) -> Callable[[], Scanned]:
    return lambda: Scanned(tussock.ready_scene("yard").with_weather(Weather(**air)), vlp(mode))


def in_wind(name: str, speed: float = 6.0) -> Callable[[], Scanned]:
    def make() -> Scanned:
        scene = tussock.ready_scene(name)
        scene.wind = Wind(speed_m_s=speed, from_deg=240.0, gusts=0.5)
        return Scanned(scene, hdl())

    return make


def cut_out() -> Scanned:
    """Cards whose pictures are holes but for a disc."""
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    pixels = np.full((64, 64, 4), 255, np.uint8)
    pixels[..., 3] = 255 * (x * x + y * y < 0.6)
    leaf = tussock.Material(name="leaf", reflectance=0.4, texture=tussock.Texture(pixels))
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.uniform(-25, 25, (3000, 2)), np.zeros((3000, 1))], 1)
    scene = tussock.ready_scene("yard")
    scene.add(
        tussock.card(crossed=3, material=leaf), name="cards",
        placements=tussock.Placements.of(places, yaw=rng.uniform(0, 6, 3000)),
    )  # fmt: skip
    return Scanned(scene, hdl())


PUFFS = [{"puff_m": 1.0, "position_m": (4.0 + 2 * k, 1.0 - k, 1.0), "density_g_m3": 1.0} for k in range(5)]
CASES: dict[str, Callable[[], Scanned]] = {
    "meadow": plain("meadow"),
    "meadow, 1 ray": plain("meadow", 1),
    "courtyard": plain("courtyard"),
    "forest-trail": plain("forest-trail"),
    "a moving sensor in the yard": moving,
    "things and a sensor that move": crossing,
    "mirrors and glass": in_mirrors,
    "vegetation that answers": answering,
    "receiver hits": lambda: Scanned(tussock.ready_scene("yard"), hdl(**{"receiver.model": "hits"})),
    "waveforms": lambda: Scanned(tussock.ready_scene("yard"), hdl(), HERE, True),
    "learned volumes": learned,
    "fog": in_weather(fog={"visibility_m": 60.0}),
    "rain": in_weather(rain_mm_h=20.0),
    "snow": in_weather(snow_mm_h=2.0),
    "dust": in_weather(dust=PUFFS),
    "wind over the meadow": in_wind("meadow"),
    "wind over the courtyard": in_wind("courtyard"),
    "wind in the forest": in_wind("forest-trail", 10.0),
    "cut-outs": cut_out,
    "adaptive": lambda: Scanned(
        tussock.ready_scene("meadow"),
        tussock.load_sensor("hdl-64e-s2").with_(**{"beam.sampling": "sequence", "beam.adaptive": True}),
    ),
}


def shares(here: Any, there: Any) -> tuple[float, float, float]:
    """Of all pulses: whose returns are all at the same true range, at the same reported range, and of the same thing."""
    keys = [frame.pulse.astype(np.int64) * 256 + frame.return_number for frame in (here, there)]
    _, one, two = np.intersect1d(*keys, return_indices=True)
    alone = np.setxor1d(*keys) // 256

    def share(same: Any) -> float:
        others = np.union1d(alone, here.pulse[one[~same]])
        return 1.0 - len(others) / here.meta["pulses"]

    near, told = (
        share(np.abs(np.nan_to_num(getattr(here, name)[one]) - np.nan_to_num(getattr(there, name)[two])) <= 1e-4)
        for name in ("true_range", "range")
    )
    names = ("object_id", "label", "placement")
    return (
        near, told, share(np.all([getattr(here, name)[one] == getattr(there, name)[two] for name in names], axis=0)),
    )  # fmt: skip


def compared(name: str, case: Scanned) -> None:
    world = tussock.World(case.scene)

    def scanned(on: str) -> Any:
        return tussock.scan(world, case.sensor, case.pose, seed=7, keep_misses=True, waveform=case.waveform, on=on)

    here = scanned("cpu")
    there = scanned("gpu")
    begin = time.perf_counter()
    again = scanned("gpu")
    took = 1e3 * (time.perf_counter() - begin)
    near, told, same = shares(here, there)
    print(
        f"| {name} | {int(here.hit.sum()):,} | {100 * near:.3f} % | {100 * told:.3f} % | {100 * same:.3f} % | "
        f"{there.identical(again)} | {took:.1f} ms |",
        flush=True,
    )


def compile_only(case: Scanned) -> None:
    world = tussock.World(case.scene)
    path = case.pose if isinstance(case.pose, Trajectory) else Trajectory.standing(case.pose)
    ready = prepare(world, case.sensor, path, 7, 0, waveform=case.waveform)
    compiled_kernels(examples_of(WorldTrees(world), ready.scanning, ready.fired, ready.slots))


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("cases", nargs="*", default=list(CASES))
    reader.add_argument("--compile", action="store_true")
    asked = reader.parse_args()
    print(
        "| case | returns | true range to 0.1 mm | reported range | object, label, copy | twice the same | again in |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in asked.cases:
        try:
            (compile_only(CASES[name]()) if asked.compile else compared(name, CASES[name]()))
        except tussock.InputError as refused:
            print(f"| {name} | {refused} |", flush=True)


if __name__ == "__main__":
    main()
