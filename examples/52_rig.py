"""A LIDAR and a camera on one moving body: synchronised, with transforms, and drawn over each other."""

import numpy as np

import tussock

body = tussock.Trajectory.through([0.0, 2.0], [tussock.Pose.at(-14, 2), tussock.Pose.at(-10, 3, yaw=0.3)])
camera = tussock.Camera(width=480, height=270, samples=2)
rig = tussock.Rig(
    body,
    lidars=[tussock.MountedLidar("top", tussock.load_sensor("vlp-32c"), tussock.Pose.at(0.2, 0.0, 1.9))],
    cameras=[tussock.MountedCamera("front", camera, tussock.Pose.at(0.5, 0.0, 1.6, pitch=0.05))],
)
world = tussock.World(tussock.ready_scene("yard"))
for moment in tussock.capture(rig, world, start=0.5, end=0.7, seed=1, views=True):
    frame, picture, view = moment.frames["top"], moment.pictures["front"], moment.views["front"]
    points = frame.select(frame.hit).world_xyz()
    over = tussock.overlay_points(picture.rgb, camera, picture.pose, points, ranges=view.range)
    tussock.save_image(over, f"over_{moment.number:03d}.png")
    offset = moment.transform("front", "top")[:3, 3]
    print(f"{moment.time:.1f} s: {len(frame):,} returns, LIDAR at {np.round(offset, 3)} m in the camera's frame")
