"""Grass in a gusty wind as a LIDAR sees it: two seconds of range images as a GIF, and how far its ranges wander."""

import sys

import numpy as np
from matplotlib import colormaps
from PIL import Image

import tussock

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
scene = tussock.Scene("grass in wind")
scene.add(tussock.plane((60, 60), material=tussock.SURFACES["soil"]), name="ground", label="terrain")
x, y = (v.ravel() for v in np.meshgrid(np.arange(4.5, 13), np.arange(-4.5, 5)))
tiles = tussock.Placements.of(np.stack([x, y, 0 * x], 1), yaw=np.pi / 2 * (np.arange(len(x)) % 4))
tile = tussock.grass_tile(blades=30, height=0.8, width=0.03)
scene.add(tile, name="grass", label="grass", placements=tiles)

# Every frame of this scanner has the same directions, so what changes from one to the next is the grass.
rows, columns = 100, 240
fine = {"pattern.azimuth_deg": np.linspace(14, -14, columns).tolist(), "pattern.frame_hz": 10.0, "pattern.pulse_hz": 240_000.0,
        "pattern.elevation_deg": np.linspace(0, -12, rows).tolist(), "beam.rays": 1, "noise.ray_sigma_m": 0.0}  # fmt: skip
sensor = tussock.load_sensor("grid-scanner").with_(**fine)


def ranges(wind):
    """The range of every pulse in every frame, NaN where nothing came back, and the first frame."""
    scene.wind = wind
    frames = list(tussock.scan_range(scene, sensor, tussock.Pose.at(0, 0, 1.0), end=seconds))
    seen = np.full((len(frames), frames[0].pulses), np.nan)
    for row, frame in zip(seen, frames, strict=True):
        row[frame.pulse] = frame.range
    return seen, frames[0]


still, first = ranges(None)
windy, _ = ranges(tussock.Wind(speed_m_s=8, from_deg=300, gusts=0.5))
near = first.pulse[(first.label == scene.labels["grass"]) & (np.abs(first.range - 10) < 1)]
for name, seen in (("still air", still), ("wind of 8 m/s", windy)):
    always = near[np.isfinite(seen[:, near]).all(0)]
    print(f"{name}: ranges of grass at 10 m have a variance of {seen[:, always].var(0).mean():.4f} m² over time")

shades = colormaps["viridis_r"]
pictures = []
for seen in windy:
    image = shades(np.clip((seen.reshape(rows, columns) - 4) / 9, 0, 1))[..., :3]
    image[~np.isfinite(seen).reshape(rows, columns)] = 1.0
    pictures.append(Image.fromarray((255 * image).astype(np.uint8)).resize((480, 200), 0))
pictures[0].save("wind.gif", save_all=True, append_images=pictures[1:], duration=100, loop=0)
print("wrote wind.gif")
