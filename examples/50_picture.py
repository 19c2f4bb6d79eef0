"""A colour picture of a yard from a vehicle's height, and the depth map of the same view."""

from pathlib import Path

import numpy as np

import tussock

world = tussock.World(tussock.ready_scene("yard"))
camera = tussock.Camera(width=480, height=270, lens=tussock.Pinhole(horizontal_fov_deg=80))
pose = tussock.Pose.at(-12.0, 2.0, 1.7, pitch=np.deg2rad(3))

picture = tussock.render(world, camera, pose, light=tussock.Light(sun_azimuth_deg=140, sun_elevation_deg=35))
tussock.save_image(picture.rgb, "yard.png")

view = tussock.look(world, camera, pose)
tussock.save_image(view.depth, "yard_depth.npy")
seen = np.isfinite(view.depth)
print(f"yard.png: {picture.rgb.shape[1]} × {picture.rgb.shape[0]} pixels, mean {picture.rgb.mean():.0f} of 255")
print(f"yard_depth.npy: {seen.mean():.0%} of the pixels see something, {view.depth[seen].min():.2f} m is the nearest")
assert Path("yard.png").exists()
