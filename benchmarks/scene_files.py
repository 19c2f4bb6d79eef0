"""How long a scene with many instances takes to load from TOML, USD and glTF.

python benchmarks/scene_files.py [INSTANCES]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tussock


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(1)
    scene = tussock.Scene("wood")
    places = tussock.Placements.of(
        rng.uniform(-300, 300, (count, 3)) * (1, 1, 0.01),
        yaw=rng.uniform(-3, 3, count),
        scale=rng.uniform(0.5, 2, count),
    )
    scene.add(tussock.sphere(0.5, subdivisions=2), name="bushes", placements=places)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("wood.toml", "wood.usda", "wood.usdc", "wood.glb"):
            path = Path(folder, name)
            tussock.save_scene(scene, path)
            begin, busy = time.perf_counter(), time.process_time()
            read = tussock.load_scene(path)
            took, worked = time.perf_counter() - begin, time.process_time() - busy
            meshes = len({id(thing.mesh) for thing in read.objects})
            print(
                f"{name}: {took:.2f} s ({worked:.2f} s of work), {read.placement_count:,} placements of {meshes} shape"
            )


if __name__ == "__main__":
    main()
