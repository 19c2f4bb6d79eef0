"""An FMCW sensor in a crossing: every point with its radial speed, and which of them move."""

import numpy as np

import tussock

sensor = tussock.load_sensor("aeva-aeries-ii").with_(**{"beam.rays": 1})
frame = tussock.scan(tussock.ready_scene("crossing"), sensor, tussock.Pose.at(-20, 0, 2), frame=30)
moving = np.abs(frame.speed) > 0.5

off = frame.speed - frame.true_speed
print(f"{len(frame)} points, {moving.sum()} of them move; fastest {np.nanmax(np.abs(frame.true_speed)):.1f} m/s")
print(f"measured to {np.nanstd(off):.3f} m/s")
for number in np.unique(frame.object_id[moving]):
    own = moving & (frame.object_id == number)
    print(f"{frame.meta['objects'][str(number)]}: {own.sum()} points at {frame.speed[own].mean():+.1f} m/s")
