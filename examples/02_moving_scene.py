"""A car drives past while the sensor itself drives: every pulse sees the scene at its own time."""

import numpy as np

import tussock

scene = tussock.Scene("street")
scene.add(tussock.plane((200, 200)), name="road", label="road")
path = tussock.Trajectory.through([0.0, 2.0], [tussock.Pose.at(10, -20, 0.75), tussock.Pose.at(10, 20, 0.75)])
scene.add(tussock.box((4, 1.8, 1.5)), name="car", label="car", motion=path)

drive = tussock.Trajectory.through([0.0, 2.0], [tussock.Pose.at(0, 0, 2), tussock.Pose.at(10, 0, 2, yaw=0.2)])
sensor = tussock.load_sensor("hdl-32e")
world = tussock.World(scene)  # built once, scanned many times

for frame in tussock.scan_range(world, sensor, drive, start=0.0, end=0.5):
    car = frame.select(frame.object_id == scene["car"].id)
    where = np.median(car.world_xyz(), axis=0)
    print(f"t = {frame.meta['start_s']:.1f} s: {len(car):4d} returns from the car, about {np.round(where, 1)}")
