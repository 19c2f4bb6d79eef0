"""How like a simulated scan is to a real one: a score, hit rates, range quantiles, a picture.

The same from the command line:  tussock compare real.npz simulated.npz --box ... --picture compare.png
"""

import numpy as np

import tussock

BINS = {"angle_bin": np.deg2rad(1.0), "range_bin": 0.1}  # wide ones: there are few pulses

real = tussock.Scene("grass")
real.add(tussock.plane((60, 60)), name="ground")
tiles = tussock.Placements.of([[x, y, 0] for x in (6, 7, 8) for y in range(-3, 4)])
real.add(tussock.grass_tile(blades=150, height=1.0, seed=1), name="grass", placements=tiles)
world, sensor = tussock.World(real), tussock.load_sensor("vlp-16").with_(**{"beam.rays": 9})
around = [5.5, -3.5, 0.05, 8.5, 3.5, 1.2]

scans = [tussock.scan(world, sensor, tussock.Pose.at(0, 0, 1), frame=k, keep_misses=True) for k in range(10)]
turns = [tussock.measured_pulses(frame) for frame in scans]
known, unseen = tussock.join_pulses(turns[:5]), tussock.join_pulses(turns[5:])
volumes = tussock.learn_volumes(known, voxel=0.1)
simulated = tussock.simulate_volumes(volumes, unseen, seed=1)

print("pulses through the grass         score   hit rate   median range")
unseen, known, simulated = (tussock.through_box(pulses, around) for pulses in (unseen, known, simulated))
for name, other in (("real, to learn from (the floor)", known), ("learned volumes", simulated)):
    score = tussock.compare(unseen, other, **BINS)
    off = score.quantile_differences[2]
    print(f"{name:31s} {score.distance:6.3f}    {score.hit_rate_difference:+.4f}      {off:+.3f} m")
tussock.plot_comparison(unseen, simulated, score, "compare.png", title="Grass and learned volumes", force=True)
