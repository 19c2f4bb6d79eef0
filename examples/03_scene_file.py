"""A scene in a readable file: write one, load it, save it again."""

from pathlib import Path

import tussock

Path("garden.toml").write_text(
    """
name = "garden"

[[objects]]
name = "lawn"
label = "terrain"
ground = { size_m = [20, 20] }
material = "soil"

[[objects]]
name = "grass"
label = "grass"
tags = ["vegetation"]
grow = { kind = "grass", blades = 120, height_m = 0.3, seed = 4 }
[objects.placements]
positions_m = [[4, 0, 0], [5, 0, 0], [4, 1, 0], [5, 1, 0]]
yaw_deg = [0, 90, 180, 270]
""",
    encoding="utf-8",
)
scene = tussock.load_scene("garden.toml")
print(f"{scene.name}: {scene.triangles} triangles, {scene.placement_count} placements")
frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1))
print(f"{(frame.object_id == scene['grass'].id).sum()} returns from the grass")
tussock.save_scene(scene, "garden_saved.toml", force=True)
