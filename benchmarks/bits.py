"""Whether a frame depends on the processor's instructions, and what it costs that it does not.

    python benchmarks/bits.py [SCENE ...]

Each ready scene (or those named) is scanned under every set of instructions that Embree has and this processor too, one
after the other, several times round. Prints, for each set against the best: the rows that differ, and the processor
time that a scan takes as a ratio, median of the rounds. One thread, so that other work on the machine counts little.
"""

import sys
import time

import numpy as np

import tussock
from tussock.trace.embree import Device, host_isas

ROUNDS = 5
sets = host_isas()
sensor = tussock.load_sensor("hdl-64e-s3")
names = sys.argv[1:] or [name for name in tussock.scene_names() if name not in ("courtyard", "root")]
print(f"{'scene':14} {'set':8} {'rows':>8} {'differ':>7} {'rays':>10} {'time':>6}")
for name in names:
    scene, pose = tussock.ready_scene(name), tussock.ready_pose(name)
    worlds = {isa: tussock.World(scene, device=Device(isa)) for isa in sets}
    frames, seconds = {}, {isa: [] for isa in sets}
    for _ in range(ROUNDS):
        for isa, world in worlds.items():
            begun = time.process_time()
            frames[isa] = tussock.scan(world, sensor, pose, seed=1, threads=1)
            seconds[isa].append(time.process_time() - begun)
    best = frames[sets[-1]]
    for isa in sets:
        one = frames[isa]
        _, a, b = np.intersect1d(
            one.pulse * 4 + one.return_number, best.pulse * 4 + best.return_number, return_indices=True
        )
        differ = len(one) + len(best) - 2 * len(a)
        same = np.ones(len(a), bool)
        for column in one.columns:
            left, right = one.columns[column][a], best.columns[column][b]
            equal = (left == right) | ((left != left) & (right != right))
            same &= equal if equal.ndim == 1 else equal.all(1)
        differ += int((~same).sum())
        ratio = np.median(np.array(seconds[isa]) / np.array(seconds[sets[-1]]))
        rays = best.pulses * sensor.beam.rays
        print(f"{name:14} {isa:8} {len(one):8} {differ:7} {rays:10,} {ratio:6.2f}")
