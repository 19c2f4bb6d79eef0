"""A scan pattern of your own: a spiral, written as a table of angles and times."""

from pathlib import Path

import numpy as np

import tussock

turns, count = 12, 6000
along = np.arange(count) / count
radius, angle = 15 * np.sqrt(along), 2 * np.pi * turns * np.sqrt(along)
table = np.stack([radius * np.cos(angle), radius * np.sin(angle), along * 0.1], 1)
np.savetxt("spiral.csv", table, delimiter=",", header="azimuth_deg,elevation_deg,time_s", comments="", fmt="%.6f")
Path("spiral.toml").write_text(
    """
description = "A spiral from the middle outwards, 60,000 pulses a second"

[pattern]
kind = "table"
file = "spiral.csv"
frame_period_s = 0.1

[beam]
divergence_horizontal_mrad = 2.0
divergence_vertical_mrad = 2.0
rays = 9

[receiver]
max_range_m = 50.0
""",
    encoding="utf-8",
)
sensor = tussock.load_sensor("spiral.toml")
scene = tussock.Scene("ball")
scene.add(tussock.sphere(1.0), name="ball", position=(10, 0, 0))
scene.add(tussock.box((0.1, 20, 20)), name="wall", label="wall", position=(15, 0, 0))
frame = tussock.scan(scene, sensor)
ball = frame.select(frame.object_id == scene["ball"].id)
print(f"{len(frame)} returns of {frame.pulses} pulses, {len(ball)} from the ball")
print(
    f"last look at the ball {1e3 * ball.time.max():.1f} ms into the frame, at {np.degrees(ball.elevation).max():.1f}° up"
)
share = np.arcsin(1 / 10) ** 2 / np.radians(15) ** 2
print(f"share of the pulses {len(ball) / frame.pulses:.3f}, share of the area {share:.3f}")
