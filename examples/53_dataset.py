"""A data set in KITTI's odometry layout, stopped and taken up again."""

from pathlib import Path

import tussock

Path("rig.toml").write_text("""
name = "buggy"
rate_hz = 10
[body.path]
times_s = [0, 4]
positions_m = [[-14, 2, 0], [-6, 3, 0]]
[[lidars]]
name = "top"
sensor = "vlp-16"
position_m = [0.2, 0, 1.9]
[[cameras]]
name = "front"
position_m = [0.5, 0, 1.6]
camera = {width = 416, height = 128, samples = 1, lens = {kind = "pinhole", fx = 240}}
""")
rig, scene = tussock.load_rig("rig.toml"), tussock.ready_scene("yard")

first = tussock.write_dataset(rig, scene, "kitti", end=0.2, seed=1)
more = tussock.write_dataset(rig, scene, "kitti", end=0.4, seed=1)
print(f"{first.made} moments, then {more.made} more: {more.moments} in all, see {more.manifest}")
for file in sorted(Path("kitti/sequences/00").rglob("000003.*")):
    print(f"  {file} {file.stat().st_size:,} bytes")
