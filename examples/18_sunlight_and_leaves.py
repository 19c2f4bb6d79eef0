"""What an Ouster sees of the sun, and how much brighter leaves are with others behind them."""

import numpy as np

import tussock

scene = tussock.ready_scene("shrub")
pose = tussock.ready_pose("shrub")
ahead = {"kind": "grid", "frame_hz": 10.0}
fan = {"first": 6.0, "last": -6.0, "count": 40}
sensor = tussock.load_sensor("os1-64").with_(
    pattern=ahead | {"azimuth_deg": fan, "elevation_deg": fan}, packets=None, imu=None, **{"beam.rays": 16}
)

for sun in ((180.0, 30.0), (0.0, 30.0)):
    frame = tussock.scan(scene, sensor, pose, sun=sun)
    print(
        f"sun at {sun[0]:.0f} degrees: near infrared {np.nanmean(frame.near_infrared):.3f} of a white wall in the sun"
    )

opaque = tussock.ready_scene("shrub")
for name, material in opaque.materials.items():
    opaque.replace_material(name, material.changed(leaf_transmission=0.0))
plain = tussock.scan(opaque, sensor, pose)
print(f"leaves that let light through are {100 * (frame.intensity.mean() / plain.intensity.mean() - 1):.1f} % brighter")
