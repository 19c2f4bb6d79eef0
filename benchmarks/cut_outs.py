"""What cut-outs cost: a meadow of cards with leaves on them, cut out, and the same leaves as triangles.

    python benchmarks/cut_outs.py [ROUNDS]

Cards stand at random places around a sensor, three crossed at each; a picture of leaves is on each, or the leaves as
triangles, or the card is solid. The scans take turns. Prints the share of rays that meet a leaf, the processor time of a scan as a ratio to
that of the triangles, and the memory that pictures and texture coordinates take.
"""

import sys
import time

import numpy as np

import tussock
from tussock.scene.placements import Placements

SIZE, LEAVES, PLACES = 256, 9, 4000
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
rng = np.random.default_rng(1)

# Leaves as ellipses of 24 corners: place, half axes, turn, in the unit square of a card.
places = np.stack([rng.uniform(0.2, 0.8, LEAVES), rng.uniform(0.2, 0.8, LEAVES)], 1)
axes, turns = np.array([0.05, 0.17]), rng.uniform(0, np.pi, LEAVES)
angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
rims = []
for place, turn in zip(places, turns, strict=True):
    c, s = np.cos(turn), np.sin(turn)
    rims.append(place + (axes * np.stack([np.cos(angles), np.sin(angles)], 1)) @ np.array([[c, s], [-s, c]]))

x, y = np.meshgrid((np.arange(SIZE) + 0.5) / SIZE, 1 - (np.arange(SIZE) + 0.5) / SIZE)
inside = np.zeros((SIZE, SIZE), bool)
for rim in rims:
    a, b = rim, np.roll(rim, -1, 0)
    left = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) >= 0 for p, q in zip(a, b, strict=True)]
    inside |= np.logical_and.reduce(left)
pixels = np.full((SIZE, SIZE, 4), 255, np.uint8)
pixels[..., :3], pixels[..., 3] = (60, 120, 40), 255 * inside


def leaves(crossed: int) -> tussock.Mesh:
    """The leaves of crossed cards as triangles."""
    corners, triangles = [], []
    for turn in np.pi * np.arange(crossed) / crossed:
        for rim in rims:
            first = sum(map(len, corners))
            triangles += [[first, first + k, first + k + 1] for k in range(1, len(rim) - 1)]
            across = rim[:, 0] - 0.5
            corners.append(np.stack([np.cos(turn) * across, np.sin(turn) * across, rim[:, 1]], 1))
    return tussock.Mesh.of(np.concatenate(corners), triangles)


look = tussock.Texture(pixels)
shapes = {
    "triangles": leaves(3),
    "cut out": tussock.card(crossed=3, material=tussock.Material(texture=look)),
    "solid cards": tussock.card(crossed=3, material=tussock.Material(texture=look, opacity_cutoff=0.0)),
}
spots = np.concatenate([rng.uniform(-40, 40, (PLACES, 2)), np.zeros((PLACES, 1))], 1)
spots = spots[np.linalg.norm(spots, axis=1) > 2.0]
turned = Placements.of(spots, yaw=rng.uniform(0, 2 * np.pi, len(spots)))
worlds = {}
for name, mesh in shapes.items():
    scene = tussock.Scene(name)
    scene.add(tussock.plane((200, 200)), name="ground")
    scene.add(mesh, placements=turned, name="leaves")
    worlds[name] = tussock.World(scene)
sensor, pose = tussock.load_sensor("hdl-64e-s3").with_(**{"beam.rays": 4}), tussock.Pose.at(0, 0, 1.5)
seconds, share = {name: [] for name in worlds}, {}
for turn in range(rounds + 1):
    for name, world in worlds.items():
        begun = time.process_time()
        frame = tussock.scan(world, sensor, pose, seed=1, threads=1)
        if turn:
            seconds[name].append(time.process_time() - begun)
        share[name] = float((frame.object_id == 2).mean())
print(f"{'leaves as':12} {'triangles':>9} {'returns':>8} {'time':>6}")
for name, mesh in shapes.items():
    ratio = np.median(np.array(seconds[name]) / np.array(seconds["triangles"]))
    print(f"{name:12} {len(mesh.triangles):9} {share[name]:8.4f} {ratio:6.2f}")
print(
    f"picture {SIZE * SIZE / 1e3:.0f} kB of opacities, texture coordinates {24 * len(shapes['cut out'].triangles)} bytes"
)
