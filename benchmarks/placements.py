"""Time per scan as the number of placements grows from 10⁴ to 10⁶: prints the curve.

    python benchmarks/placements.py

The area grows with the number of tiles, as a real meadow would; the sensor stands in the middle.
"""

import time

import numpy as np

import tussock
from tussock.bench import peak_memory, timed_in_turns
from tussock.plants.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import plane

sensor = tussock.load_sensor("hdl-64e-s2").with_(**{"beam.rays": 9})
print(f"{'placements':>12} {'triangles':>14} {'ready [s]':>10} {'scan [s]':>9} {'peak [GiB]':>11}")
for count in (10_000, 30_000, 100_000, 300_000, 1_000_000):
    side = int(np.sqrt(count))
    rng = np.random.default_rng(1)
    x, y = np.meshgrid(np.arange(side) - side / 2, np.arange(side) - side / 2)
    spots = np.column_stack([x.ravel(), y.ravel(), np.zeros(side * side)])
    scene = tussock.Scene("tiles")
    scene.add(plane((side + 2.0, side + 2.0)), name="ground", label="terrain")
    turns = rng.integers(0, 4, len(spots)) * np.pi / 2
    scene.add(grass_tile(blades=22), name="grass", label="grass", placements=Placements.of(spots, yaw=turns))
    begin = time.perf_counter()
    world = tussock.World(scene)
    ready = time.perf_counter() - begin
    (taken,) = timed_in_turns(lambda w=world: tussock.scan(w, sensor, tussock.Pose.at(0, 0, 2)), rounds=5)
    print(f"{len(spots):12,} {scene.triangles:14,} {ready:10.2f} {taken:9.3f} {peak_memory():11.2f}")
