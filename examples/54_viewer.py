"""Frames in the browser; here the page is only opened and closed again (``tussock view`` keeps it open)."""

import tussock

scene = tussock.ready_scene("yard")
path = tussock.Trajectory.through([0.0, 1.0], [tussock.Pose.at(-12, 2, 2), tussock.Pose.at(-10, 2, 2)])
frames = list(tussock.scan_range(scene, tussock.load_sensor("vlp-16"), path, start=0.0, end=0.3))

viewer = tussock.Viewer(frames, scene=scene, color="label", port=0)
viewer.time = 0.2
print(f"{len(frames)} frames at {viewer.url}, {viewer.shown:,} points shown")
viewer.stop()
