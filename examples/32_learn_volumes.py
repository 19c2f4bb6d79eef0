"""A tree learned from scans: volumes instead of leaves, kept in a file, placed in another scene.

The same from the command line:  tussock learn tree.npz --box ... --out tree.volumes --picture tree.png
"""

import numpy as np

import tussock

real = tussock.Scene("a tree")
real.add(tussock.plane((60, 60)), name="ground")
oak = tussock.tree(height=5, crown_radius=1.5, crown_base=1.5, leaf_area=12, triangles=20_000, seed=4)
real.add(oak, name="tree", position=(8, 0, 0))
world, sensor = tussock.World(real), tussock.load_sensor("vlp-32c").with_(**{"beam.rays": 9})

# Every pulse counts, those without return too: they say where nothing is. Several stations see all sides.
stations = [tussock.Pose.at(8 - 8 * np.cos(a), 8 * np.sin(a), 1.8, yaw=-a) for a in np.deg2rad([0, 90, 180, 270])]
frames = [tussock.scan(world, sensor, station, seed=k, keep_misses=True) for k, station in enumerate(stations)]
pulses = tussock.join_pulses([tussock.measured_pulses(frame) for frame in frames])
crown = [6, -2, 0.2, 10, 2, 6]
volumes = tussock.learn_volumes(pulses, box=crown)
size = volumes.meta["voxel_m"]  # chosen: it foretells pulses best that were held out
print(f"{len(pulses):,} pulses; {len(volumes):,} volumes of {size:g} m, {volumes.nbytes / len(volumes):.0f} bytes each")
print(f"mean permeability {volumes.permeability.mean():.2f}: so many pulses pass a volume on average")
tussock.save_volumes(volumes, "tree.volumes", force=True)
tussock.plot_volumes(volumes, "tree.png", force=True)

# Volumes are placed by shifting and turning them, meshes before and behind them count.
scene = tussock.Scene("avenue")
scene.add(tussock.plane((80, 80)), name="ground", label="terrain")
wall = scene.add(tussock.box((0.2, 30, 3)), name="wall", label="wall", position=(20, 0, 1.5))
spots = tussock.Placements.of([[x - 8, y, 0] for x in (8, 13) for y in (-5, 0, 5)])
trees = scene.add_volumes(tussock.load_volumes("tree.volumes"), name="trees", placements=spots)
frame = tussock.scan(scene, sensor, tussock.Pose.at(0, 0, 1.8))
for thing in (trees, wall):
    print(f"{thing.name}: {(frame.object_id == thing.id).sum():,} returns")

# What the returns were labelled, the volumes are, and so are the returns from them; a camera sees them as translucent plants.
print(f"labels: {volumes.label_names}")
camera = tussock.Camera(width=320, height=200, samples=8, lens=tussock.Pinhole(horizontal_fov_deg=80))
tussock.save_image(tussock.render(scene, camera, tussock.Pose.at(0, 0, 1.8)).rgb, "avenue.png", force=True)
