"""Learned volumes: how fast they are learned and scanned, and what they weigh.

    python benchmarks/volumes.py

Learns from two revolutions of the static VLS-128 capture (where it is absent, from a generated place, and says so), then
scans the volumes as a scene with the pulses of an HDL-64E, one ray each, through the ordinary scan. Wanted on 2 cores:
1 M pulses/s, 1.33 M pulses/s (an HDL-64E in real time; Deschaud et al. 2012, section V.A) and 100 bytes a volume at most.
The second line of each size is one thread by its processor time, which a busy machine disturbs less.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tussock
from tussock.bench import timed_in_turns
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.learn.readers.read_pulses import load_pulses
from tussock.scene.volumes import Volumes
from tussock.scene_files.volume_file import save_volumes
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.threads import cores
from tussock.trace.volume_hits import gaussians_of
from tussock.validate.experiments.recorded_place import CAPTURE
from tussock.validate.recordings import absent, recording

ROUNDS = 9
SIZES = (0.5, 0.3, 0.2, 0.1)
"""[m] sides of voxels; the paper takes 0.3 for a whole place"""


def beams_to_learn_from() -> MeasuredPulses:
    """Two revolutions of a VLS-128, pulses without return included."""
    path = recording(CAPTURE)
    if path is not None:
        print(f"two revolutions of {CAPTURE}")
        return load_pulses(path, turns=(0, 1))
    print(f"a generated place: {absent(CAPTURE)}")
    world, pose = tussock.World(ready_scene("forest-trail")), ready_pose("forest-trail")
    sensor = tussock.load_sensor("vls-128")
    return join_pulses(
        [measured_pulses(tussock.scan(world, sensor, pose, frame=k, keep_misses=True)) for k in range(2)]
    )


def on_one_core(job: Callable[[], object]) -> float:
    """Processor time of a job that uses one thread [s], the best of three."""
    taken = []
    for _ in range(3):
        begin = time.thread_time()
        job()
        taken.append(time.thread_time() - begin)
    return min(taken)


def bytes_in_file(volumes: Volumes) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "place.volumes"
        save_volumes(volumes, path)
        return path.stat().st_size


pulses = beams_to_learn_from()
place = tussock.Pose.at(*pulses.origins.mean(0))
hdl64 = tussock.load_sensor("hdl-64e-s2")
fired = len(hdl64.pulses(0))
print(f"{len(pulses):,} pulses, {pulses.hit.mean():.1%} with a return; {fired:,} pulses a turn of an {hdl64.name}")
print(f"{cores()} cores, load {os.getloadavg()[0]:.1f}; medians of {ROUNDS}")
print(
    f"{'voxel':>7} {'volumes':>9} {'learned':>15} {'scanned':>17}   bytes a volume: in memory, with its grid, in a file"
)
for size in SIZES:
    volumes = fit_volumes(pulses, voxel=size)
    scene = tussock.Scene("learned place")
    scene.add_volumes(volumes, name="place")
    world = tussock.World(scene)

    def learning(threads: int | None = None, size: float = size) -> object:
        return fit_volumes(pulses, voxel=size, threads=threads)

    def scanning(threads: int | None = None, world: tussock.World = world) -> object:
        return tussock.scan(world, hdl64, place, threads=threads)

    learned, scanned = timed_in_turns(learning, scanning, rounds=ROUNDS)
    memory, grid = volumes.nbytes / len(volumes), gaussians_of([volumes]).cells.nbytes / len(volumes)
    print(f"{size:5.2f} m {len(volumes):9,} {len(pulses) / learned / 1e6:6.2f} M pulses/s {fired / scanned / 1e6:7.2f} M pulses/s "
          f"  {memory:.1f}, {memory + grid:.1f}, {bytes_in_file(volumes) / len(volumes):.1f}")  # fmt: skip
    one_learned, one_scanned = (on_one_core(lambda job=job: job(1)) for job in (learning, scanning))
    print(
        f"{'one core':>17} {len(pulses) / one_learned / 1e6:6.2f} M pulses/s {fired / one_scanned / 1e6:7.2f} M pulses/s"
    )
