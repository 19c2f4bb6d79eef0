"""Your own sensor in a file: start from a known one, change a few keys, compare the two."""

from pathlib import Path

import numpy as np

import tussock

Path("forestry.toml").write_text(
    """
base = "vlp-16"
description = "A VLP-16 set up for the forest: slow, with the whole beam sampled"

[pattern]
rotation_hz = 5.0

[beam]
rays = 9
sampling = "full"

[receiver]
mode = "strongest+last"
max_range_m = 60.0

[noise]
ray_sigma_m = 0.01
""",
    encoding="utf-8",
)
scene = tussock.Scene("yard")
scene.add(tussock.plane((100, 100)), name="ground", label="terrain")
scene.add(tussock.box((0.3, 0.3, 6)), name="post", label="pole", position=(12, 0, 3))
scene.add(tussock.box((0.2, 30, 4)), name="wall", label="wall", position=(20, 0, 2))

for sensor in (tussock.load_sensor("vlp-16"), tussock.load_sensor("forestry.toml")):
    frame = tussock.scan(scene, sensor, tussock.Pose.at(0, 0, 1.5), seed=1)
    post = frame.select(frame.object_id == scene["post"].id)
    columns = len(np.unique(post.azimuth.round(4)))
    print(
        f"{sensor.name:10s} {frame.pulses:6d} pulses, {len(frame):6d} returns; "
        f"the post: {len(post)} returns in {columns} columns, σ {np.std(post.range - post.true_range) * 100:.1f} cm"
    )
