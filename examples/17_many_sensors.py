"""A swarm: sixteen sensors in one meadow, fired together, on a graphics processor where there is one."""

import numpy as np

import tussock

world = tussock.World(tussock.ready_scene("yard"))
sensor = tussock.load_sensor("vlp-16").with_(**{"beam.rays": 1})
angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
poses = [tussock.Pose.at(8 * np.cos(a), 8 * np.sin(a), 1.0, yaw=a) for a in angles]

try:
    frames = tussock.scan_many(world, sensor, poses, on="gpu")
    print("on the graphics processor; the columns stay there:", frames.columns["xyz"])
except tussock.InputError as why:
    print(why)
    frames = tussock.scan_many(world, sensor, poses)
for number in range(0, len(frames), 4):
    frame = frames.frame(number)
    print(f"sensor {number}: {len(frame)} returns, the nearest {frame.range.min():.2f} m away")
