"""A scene of many objects, and a range of many frames: time that grows with their number, not with its square.

    python benchmarks/many_objects.py [COUNT]

Adds COUNT (100,000) boxes, builds the world, and plans a run of as many frames of which every second is there already.
Prints seconds of the processor and of the clock.
"""

import sys
import tempfile
import time
from pathlib import Path

import tussock
from tussock.runs import Run

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
begun = time.process_time(), time.perf_counter()


def told(what: str) -> None:
    global begun
    now = time.process_time(), time.perf_counter()
    print(f"{what:32} {now[0] - begun[0]:7.2f} s processor {now[1] - begun[1]:7.2f} s clock", flush=True)
    begun = time.process_time(), time.perf_counter()


scene = tussock.Scene("many")
shape = tussock.box((0.3, 0.3, 0.3))
for number in range(count):
    scene.add(shape, position=(number % 300, number // 300, 0.0))
told(f"{count:,} objects added")
tussock.World(scene)
told("and built")

with tempfile.TemporaryDirectory() as place:
    little = tussock.Scene("little")
    little.add(shape)
    sensor = tussock.load_sensor("vlp-16")
    run = Run(little, sensor, tussock.Pose(), Path(place) / "f.npz", 0.0, count * sensor.frame_period)
    run.prepare()
    for number in run.frames[::2]:
        run.file(number).touch()
    told(f"{len(run.frames[::2]):,} files made")
    again = Run(little, sensor, tussock.Pose(), Path(place) / "f.npz", 0.0, count * sensor.frame_period)
    kept = again.prepare()
    told(f"{len(again.frames):,} frames planned, {len(kept):,} kept")
