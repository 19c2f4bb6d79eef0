"""Whether a frame depends on the processor's instructions, and what it costs that it does not.

    python benchmarks/bits.py [SCENE ...] [--frames 3] [--sets avx2,avx512] [--edges own]

Each ready scene (or those named) is scanned under every set of instructions that Embree has and this processor too, one
after the other, frame by frame: an HDL-64E with everything on (two returns, a limit of detection, noise) and 48 rays a
pulse. Prints, for each set against the best: the rows that differ, the pulses that these belong to (a ray that meets
another surface changes the rows of its own pulse and no others, so this is how many choices differ), the rays of all
frames, how many in a million differ, and the processor time that a scan takes as a ratio, median of the frames. One thread,
so that other work on the machine counts little.
"""

import argparse
import time

import numpy as np

import tussock
from tussock.bench import everything_on
from tussock.trace.embree import Device, host_isas


def differing(one: tussock.Frame, best: tussock.Frame) -> tuple[int, int]:
    """Rows that are not the same in both, and pulses that have such rows."""
    _, a, b = np.intersect1d(
        one.pulse * 4 + one.return_number, best.pulse * 4 + best.return_number, return_indices=True
    )
    same = np.ones(len(a), bool)
    for column in one.columns:
        left, right = one.columns[column][a], best.columns[column][b]
        equal = (left == right) | ((left != left) & (right != right))
        same &= equal if equal.ndim == 1 else equal.all(1)
    alone = [np.delete(one.pulse, a), np.delete(best.pulse, b)]
    pulses = np.unique(np.concatenate([one.pulse[a[~same]], *alone]))
    return int((~same).sum()) + sum(map(len, alone)), len(pulses)


options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("scenes", nargs="*", default=list(tussock.scene_names()))
options.add_argument("--frames", type=int, default=3)
options.add_argument("--sets", default=",".join(host_isas()))
options.add_argument("--edges", default="embree")
given = options.parse_args()
sets = given.sets.split(",")
beam = {"beam.rays": 48, "beam.sampling": "sequence"}  # as on record
sensor = everything_on(tussock.load_sensor("hdl-64e-s3").with_(**beam))
print(f"{'scene':14} {'set':8} {'rows':>9} {'differ':>7} {'pulses':>7} {'rays':>11} {'in 10^6':>8} {'time':>6}")
for name in given.scenes:
    scene, pose = tussock.ready_scene(name), tussock.ready_pose(name)
    worlds = {isa: tussock.World(scene, device=Device(isa, given.edges)) for isa in sets}
    seconds = {isa: np.zeros(given.frames) for isa in sets}
    differ, rows, rays = {isa: np.zeros(2, int) for isa in sets}, 0, 0
    tussock.scan(worlds[sets[0]], sensor, pose, seed=1, threads=1)  # kernels are compiled
    for number in range(given.frames):
        frames = {}
        for isa, world in worlds.items():
            begun = time.process_time()
            frames[isa] = tussock.scan(world, sensor, pose, seed=1, frame=number, threads=1)
            seconds[isa][number] = time.process_time() - begun
        best = frames[sets[-1]]
        rows, rays = rows + len(best), rays + best.pulses * sensor.beam.rays
        for isa in sets:
            differ[isa] += differing(frames[isa], best)
    for isa in sets:
        ratio = np.median(seconds[isa] / seconds[sets[-1]])
        said = (
            f"{rows:9} {differ[isa][0]:7} {differ[isa][1]:7} {rays:11,} {differ[isa][1] / rays * 1e6:8.2f} {ratio:6.2f}"
        )
        print(f"{name:14} {isa:8} {said}", flush=True)
