"""How fast scans are on a graphics processor: a table for docs/gpu.md.

    python benchmarks/gpu.py [scene …]

Each scene with one and with nine rays a pulse (HDL-64E, noise, labels and truth on), then 4,096 sensors of 20,000 single
rays in a yard of 12 million triangles, one call. Medians.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

import tussock
from tussock.bench_gpu import measure_gpu
from tussock.sensors.sensor import Sensor
from tussock.trace.cuda.driver import gpu
from tussock.trace.cuda.trees import WorldTrees


def one_by_one(names: list[str]) -> None:
    print("| scene | triangles | trees | rays | on the device | to a frame | CPU | same to 0.1 mm |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        world = tussock.World(tussock.ready_scene(name))
        begin = time.perf_counter()
        WorldTrees(world)
        trees = time.perf_counter() - begin
        for rays in (1, 9):
            sensor = tussock.load_sensor("hdl-64e-s2").with_(**{"beam.rays": rays})
            case = measure_gpu(name, world, sensor, tussock.Pose.at(0.0, 0.0, 2.0), rounds=15)
            print(
                f"| {name} | {world.triangles / 1e6:.1f} M | {trees:.1f} s | {rays} | {case.device_ms:.2f} ms "
                f"({case.rays_per_s / 1e6:.0f} M rays/s) | {case.frame_ms:.2f} ms | {case.cpu_ms:.0f} ms | "
                f"{100 * case.same:.3f} % |",
                flush=True,
            )


def many(sensors: int = 4096) -> None:
    """Sensors of 20,000 rays each, spread over a yard."""
    pattern = {
        "kind": "grid", "azimuth_deg": np.linspace(180, -179, 400).tolist(),
        "elevation_deg": np.linspace(15, -25, 50).tolist(), "frame_hz": 10.0,
    }  # fmt: skip
    sensor = Sensor(name="20,000 rays", pattern=pattern).with_(**{"beam.rays": 1, "noise.ray_sigma_m": 0.01})
    world = tussock.World(tussock.ready_scene("yard"))
    rng = np.random.default_rng(1)
    poses = [tussock.Pose.at(*rng.uniform(-20, 20, 2), 1.0, yaw=a) for a in rng.uniform(0, 6, sensors)]
    tussock.scan_many(world, sensor, poses, on="gpu")
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        frames = tussock.scan_many(world, sensor, poses, on="gpu")
        taken.append(time.perf_counter() - begin)
    whole = statistics.median(taken)
    print(f"{sensors} sensors × 20,000 rays into {world.triangles / 1e6:.1f} M triangles: {frames.starts[-1]:,} returns, "
          f"{whole:.3f} s, {sensors * 20_000 / whole / 1e6:.0f} M rays/s, Python and all")  # fmt: skip


if __name__ == "__main__":
    print(f"{gpu().name}, driver {gpu().driver}")
    one_by_one(sys.argv[1:] or ["meadow", "courtyard", "forest-trail"])
    many()
