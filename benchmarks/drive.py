"""Drive: how long the cost map, A* and the loop around the scan take.

    python benchmarks/drive.py [SECONDS]     of the drives, ten if not given

Cost map: one frame of the HDL-64E in the courtyard, points registered and heights found. A*: maps of 400 × 400 cells as
drives through the courtyard make them, and random ones. Loop: seconds with the HDL-32E through the courtyard; what
of it is not the scan itself, over the scan's own time. Processor time of this thread, so that other programs do not
count, except for the loop, where both parts of the ratio are wall time of one run.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tussock.drive.autonomy.astar import astar
from tussock.drive.autonomy.cost_map import CostMap, MapSettings
from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.autonomy.planning import PlanSettings, distances, plan
from tussock.drive.autonomy.registration import register
from tussock.drive.log import open_drive_log
from tussock.drive.loop import drive_to
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.poses import Pose
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


def timed(job, rounds=30):
    """Median processor time [ms] of this thread."""
    job()
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        job()
        times.append(time.thread_time() - begin)
    return 1e3 * float(np.median(times))


def cost_map_times(world, name):
    frame = scan(world, load_sensor(name), Pose.at(-140, -140, 2.2, yaw=0.8))
    estimate = Estimate(0.1, -140.0, -140.0, 0.8, 0.0, 0.0, 0.0, 0.0)
    cost_map, mount = CostMap(MapSettings(), (-94.0, -94.0)), Pose.at(z=2.0)
    points = register(frame, estimate, mount)
    registering = timed(lambda: register(frame, estimate, mount))
    adding = timed(lambda: cost_map.add(points, estimate, ground="seen"))
    print(f"{name}: {len(points):,} points registered in {registering:.1f} ms, added to the map in {adding:.1f} ms")


def astar_times(stage):
    settings = DriveSettings(time_limit_s=10.0)
    sensor = load_sensor("hdl-32e").with_(**{"beam.rays": 1})
    result = drive_to(stage, sensor, (-48, -48), start=(-140, -140), settings=settings)
    cost_map, free = result.cost_map, PlanSettings()
    here = tuple(result.truth[-1, :2])
    took = timed(lambda: plan(cost_map, here, (-48.0, -48.0), free, 0.85))
    print(f"A*, map of the courtyard after 10 s, with growing obstacles: {took:.1f} ms")
    blocked = distances(cost_map.costs, 100.0, 5.0) <= 2.2
    costs = 1.0 + 0.1 * cost_map.costs.astype(float)
    rng = np.random.default_rng(0)
    times = []
    for _ in range(40):
        free_cells = np.argwhere(~blocked)
        start, goal = (tuple(int(k) for k in free_cells[rng.integers(len(free_cells))]) for _ in range(2))
        times.append(timed(lambda start=start, goal=goal: astar(costs, blocked, start, goal), 3))
    print(f"A*, the same map, 40 random pairs: median {np.median(times):.1f} ms, worst {max(times):.1f} ms")
    for weight in (1.0, 10.0):
        times = []
        for _ in range(10):
            noise = 1 + weight * np.clip(rng.normal(0, 0.3, (400, 400)), 0, 1)
            walls = rng.random((400, 400)) < 0.02
            walls[20, 20] = walls[380, 380] = False
            times.append(timed(lambda n=noise, w=walls: astar(n, w, (20, 20), (380, 380)), 3))
        print(
            f"A*, random costs up to {1 + weight:g} in every cell, corner to corner: median {np.median(times):.1f} ms"
        )


def loop_times(stage, with_log, seconds):
    settings = DriveSettings(time_limit_s=seconds)
    sensor = load_sensor("hdl-32e")
    options = {"start": (-140, -140), "settings": settings}
    if not with_log:
        return drive_to(stage, sensor, (-48, -48), **options)
    with tempfile.TemporaryDirectory() as folder, open_drive_log(Path(folder) / "x.mcap", sensor, settings) as log:
        return drive_to(stage, sensor, (-48, -48), watchers=[log], **options)


def main():
    scene = ready_scene("courtyard")
    begin = time.perf_counter()
    stage = Stage(scene, DriveSettings().vehicle)
    print(f"courtyard ready for rays and wheels in {time.perf_counter() - begin:.1f} s")
    for name in ("hdl-64e-s3", "hdl-64e-mavs", "hdl-32e"):
        cost_map_times(stage.world, name)
    astar_times(stage)
    for with_log in (False, True, False, True):
        result = loop_times(stage, with_log, float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
        around = result.total_s - result.scan_s
        print(
            f"loop {'with' if with_log else 'without'} the log: {around / result.scan_s:.1%} of the scans' "
            f"{result.scan_s:.1f} s, {1e3 * around / result.metrics.frames:.1f} ms a frame"
        )


if __name__ == "__main__":
    main()
