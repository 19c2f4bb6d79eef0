"""Scenes where other programs have them: a glTF file with instances, and USD where it is installed."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

import tussock

rng = np.random.default_rng(0)
scene = tussock.Scene("stones")
scene.add(tussock.plane((60, 60)), name="ground", label="terrain")
places = tussock.Placements.of(rng.uniform(-25, 25, (500, 3)) * (1, 1, 0), scale=rng.uniform(0.2, 1, 500))
scene.add(tussock.sphere(0.5, subdivisions=2), name="stones", label="rock", placements=places)

sensor, pose = tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1.5)
own = tussock.scan(scene, sensor, pose)
for name in ["stones.glb", "stones.usdc"] if find_spec("pxr") else ["stones.glb"]:
    tussock.save_scene(scene, Path(name), force=True)
    read = tussock.load_scene(Path(name))
    frame = tussock.scan(read, sensor, pose)
    same = np.array_equal(frame.range, own.range)
    size = Path(name).stat().st_size
    print(f"{name}: {size} bytes, {len(read['stones'].placements)} stones of one shape, the same scan: {same}")
