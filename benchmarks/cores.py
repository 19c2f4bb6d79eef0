"""What many cores bring: whole scans beside loops that only trace, on the same threads in the same run.

    python benchmarks/cores.py [THREADS …] [--rounds N]

Meadow and courtyard, with one ray and with nine (HDL-64E's shape), and the courtyard with nine and with all of the
catalogue's rays beside itself with adaptive sub-rays. `bare` and `close` are the loops of ``tussock bench``. Wanted of 8 and of
16 threads: 0.92 of `bare` with nine rays, 0.72 with one; at most 2 ms of a scan on one thread; the courtyard with adaptive rays in
real time on 16.
What runs on one thread is the time of a scan less the time in which threads share its work.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import tussock
from tussock import simulate
from tussock.bench import bench_sensor, measure, measure_adaptive
from tussock.frames import collect
from tussock.pulse import plain
from tussock.threads import cores


def alone(world: tussock.World, sensor: tussock.Sensor, pose: tussock.Pose, threads: int, rounds: int) -> float:
    """Median of the time [ms] of a scan that is not spent in work shared among threads."""
    shared, taken = [0.0], []
    rooms: list[tuple[Any, str]] = [(plain, "run_on_crew"), (collect, "run_on_crew"), (simulate, "run_on_threads")]
    before = [getattr(room, name) for room, name in rooms]

    def timed(run: Any) -> Any:
        def running(*args: Any, **options: Any) -> None:
            begin = time.perf_counter()
            run(*args, **options)
            shared[0] += time.perf_counter() - begin

        return running

    try:
        for (room, name), run in zip(rooms, before, strict=True):
            setattr(room, name, timed(run))
        for _ in range(rounds + 1):
            shared[0], begin = 0.0, time.perf_counter()
            tussock.scan(world, sensor, pose, threads=threads)
            taken.append(time.perf_counter() - begin - shared[0])
    finally:
        for (room, name), run in zip(rooms, before, strict=True):
            setattr(room, name, run)
    return 1e3 * statistics.median(taken[1:])


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("threads", type=int, nargs="*", default=[1, 8, 16])
    reader.add_argument("--rounds", type=int, default=15)
    asked = reader.parse_args()
    print(f"{cores()} cores")
    print("| scene | rays | threads | scan/bare | scan/close | scan ms | × real time | on one thread ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    pose = tussock.Pose.at(0.0, 0.0, 2.0)
    for name in ("meadow", "courtyard"):
        world = tussock.World(tussock.ready_scene(name))
        for rays in (1, 9):
            sensor = bench_sensor(rays)
            for threads in asked.threads:
                case = measure(name, world, sensor, pose, rounds=asked.rounds, threads=threads)
                one = alone(world, sensor, pose, threads, asked.rounds)
                print(
                    f"| {name} | {rays} | {threads} | {case.ratio:.3f} | {case.close_ratio:.3f} | "
                    f"{1e3 * case.pulses / case.scan_pulses_per_s:.1f} | {case.times_real_time:.2f} | {one:.2f} |",
                    flush=True,
                )
    for sensor in (bench_sensor(9), tussock.load_sensor("hdl-64e-s2")):
        for threads in asked.threads:
            case = measure_adaptive("courtyard", world, sensor, pose, rounds=asked.rounds, threads=threads)
            print(
                f"courtyard, {sensor.beam.rays} rays, {threads} threads: adaptive {case.ratio:.2f} × as fast, "
                f"{case.times_real_time:.2f} × real time",
                flush=True,
            )


if __name__ == "__main__":
    main()
