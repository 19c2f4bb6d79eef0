"""Plants as pictures on cards: what is see-through in the picture is cut out, for LIDARs, cameras and shadows."""

import numpy as np

import tussock

# A picture of leaves: opaque inside some ellipses, see-through outside.
rng = np.random.default_rng(3)
x, y = np.meshgrid(np.linspace(-1, 1, 256), np.linspace(-1, 1, 256))
opaque = np.zeros((256, 256), bool)
for a, b, turn in zip(*rng.uniform(-0.7, 0.7, (2, 14)), rng.uniform(0, np.pi, 14), strict=True):
    along = np.cos(turn) * (x - a) + np.sin(turn) * (y - b)
    across = np.cos(turn) * (y - b) - np.sin(turn) * (x - a)
    opaque |= (along / 0.28) ** 2 + (across / 0.08) ** 2 < 1
pixels = np.zeros((256, 256, 4), np.uint8)
pixels[..., :3] = (70, 130, 50)
pixels[..., 3] = 255 * opaque

leaves = tussock.Material(name="leaves", reflectance=0.45, texture=tussock.Texture(pixels), label="leaf")
spots = np.concatenate([rng.uniform(-8, 8, (60, 2)), np.zeros((60, 1))], 1)
spots = spots[np.linalg.norm(spots, axis=1) > 1.5]

for cutoff in (0.0, 0.5):  # 0: nothing is cut out, and the cards are solid
    scene = tussock.Scene("cards")
    scene.add(tussock.plane((60, 60)), name="ground", label="terrain")
    plant = tussock.card((0.8, 0.8), crossed=3, material=leaves.changed(opacity_cutoff=cutoff))
    scene.add(plant, placements=tussock.Placements.of(spots), name="plants", label="vegetation")
    frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 0.8), seed=1)
    print(f"cutoff {cutoff}: {(frame.object_id == 2).mean():.1%} of {len(frame)} returns are from the plants")
