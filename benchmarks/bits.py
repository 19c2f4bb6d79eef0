"""Whether a frame depends on the processor's instructions, and what it costs that it does not.

    python benchmarks/bits.py [SCENE ...] [--rounds 5] [--sets avx2,avx512]

Each ready scene (or those named) is scanned under every set of instructions that Embree has and this processor too, one
after the other, several times round. Prints, for each set against the best: the rows that differ, the pulses that these
belong to (a ray that meets another surface changes the rows of its own pulse and no others, so this is how many choices
differ), the rays of the frame, and the processor time that a scan takes as a ratio, median of the rounds. One thread, so
that other work on the machine counts little.
"""

import argparse
import time

import numpy as np

import tussock
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
options.add_argument("scenes", nargs="*", default=[n for n in tussock.scene_names() if n not in ("courtyard", "root")])
options.add_argument("--rounds", type=int, default=5)
options.add_argument("--sets", default=",".join(host_isas()))
given = options.parse_args()
sets = given.sets.split(",")
sensor = tussock.load_sensor("hdl-64e-s3")
print(f"{'scene':14} {'set':8} {'rows':>8} {'differ':>7} {'pulses':>7} {'rays':>10} {'share':>8} {'time':>6}")
for name in given.scenes:
    scene, pose = tussock.ready_scene(name), tussock.ready_pose(name)
    worlds = {isa: tussock.World(scene, device=Device(isa)) for isa in sets}
    frames, seconds = {}, {isa: [] for isa in sets}
    for _ in range(given.rounds):
        for isa, world in worlds.items():
            begun = time.process_time()
            frames[isa] = tussock.scan(world, sensor, pose, seed=1, threads=1)
            seconds[isa].append(time.process_time() - begun)
    best = frames[sets[-1]]
    for isa in sets:
        rows, pulses = differing(frames[isa], best)
        ratio = np.median(np.array(seconds[isa]) / np.array(seconds[sets[-1]]))
        rays = best.pulses * sensor.beam.rays
        said = f"{len(best):8} {rows:7} {pulses:7} {rays:10,} {pulses / rays:8.1e} {ratio:6.2f}"
        print(f"{name:14} {isa:8} {said}", flush=True)
