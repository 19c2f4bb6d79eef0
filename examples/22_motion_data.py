"""Write where the cars of the crossing are, ten times a second."""

import tussock

scene = tussock.ready_scene("crossing")
paths = tussock.object_paths(scene, tussock.sample_times(0.0, 12.0, 10.0))
for file in [
    *tussock.save_paths(paths, "cars.csv", force=True),
    *tussock.save_paths(paths, "cars.tum", force=True),
]:
    print(f"wrote {file}")
