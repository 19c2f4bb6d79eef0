"""A mirror, and a pane of glass: the sensor sees a post that is not where it seems to be."""

import numpy as np

import tussock

# A mirror at 45° stands 5 m ahead; the post is 3 m to the left of it. Glass stands 5 m to the right of the sensor.
scene = tussock.Scene("mirrors")
scene.add(
    tussock.box((0.01, 3, 3), material=tussock.SURFACES["mirror"]), name="mirror", position=(5, 0, 0), yaw=-np.pi / 4
)
scene.add(tussock.box((0.4, 0.4, 3)), name="post", label="pole", position=(5, 3, 0))
scene.add(tussock.box((1, 0.01, 3), material=tussock.SURFACES["glass"]), name="pane", position=(0, -5, 0))
scene.add(tussock.box((4, 0.2, 3)), name="wall", label="wall", position=(0, -8, 0))

sensor = tussock.load_sensor("grid-scanner").with_(
    **{"pattern.azimuth_deg": [0.0, -90.0], "pattern.elevation_deg": [0.0], "noise.ray_sigma_m": 0.0}
)
for bounces in (6, 0):
    looking = sensor.with_(**{"receiver.max_bounces": bounces, "receiver.mode": "all"})
    frame = tussock.scan(scene, looking, keep_misses=True)
    print(f"up to {bounces} bounces:")
    names = frame.meta["objects"]
    for azimuth, distance, hit, light, found in zip(
        np.degrees(frame.azimuth), frame.range, frame.object_id, frame.intensity, frame.hit, strict=True
    ):
        what = f"{names[str(hit)]:5s} at {distance:.2f} m, intensity {light:.3f}" if found else "nothing"
        print(f"  looking to {azimuth:4.0f}°: {what}")
print("the post appears straight ahead at 5 m + 2.8 m, behind the mirror; the wall is seen through the pane")
