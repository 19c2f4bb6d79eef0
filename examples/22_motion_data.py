"""Write where the cars of the crossing are, ten times a second."""

from pathlib import Path

import tussock
from tussock.scene_files.motion_data import object_paths, sample_times, save_paths

scene = tussock.ready_scene("crossing")
paths = object_paths(scene, sample_times(0.0, 12.0, 10.0))
for file in [*save_paths(paths, Path("cars.csv"), force=True), *save_paths(paths, Path("cars.tum"), force=True)]:
    print(f"wrote {file}")
