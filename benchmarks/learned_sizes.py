"""Sizes of voxels compared: every fixed one, sizes by region, and the chosen ones; from one place, and for another.

    python benchmarks/learned_sizes.py [RAYS] [REVOLUTIONS]

A VLS-128 on the forest trail, with so many rays a pulse (1). *Standing*: so many revolutions (10) are learned, and as many more
foretold. *Transfer*: of five poses along the trail, 4 m apart, with as many revolutions each, the middle one is foretold by the other
four. Scores are Bhattacharyya distances at three kinds of bins; the floor is a second scan of what is foretold. Wanted of the size
that is chosen: 1.1 times the best fixed one at most, standing; 0.45 at most, transferred, at bins of 1° × 0.1 m.
"""

import sys

import numpy as np

import tussock
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.scenes.ready import ready_pose, ready_scene

BINS = ((1.0, 0.1), (1.0, 0.3), (2.0, 0.25))
"""[deg], [m]"""
STANDING = (0.025, 0.035, 0.05, 0.07, 0.1, 0.2)
TRANSFER = (0.05, 0.1, 0.2)
"""[m]"""


def show(name: str, real: MeasuredPulses, other: MeasuredPulses) -> None:
    scores = [tussock.compare(real, other, angle_bin=np.deg2rad(a), range_bin=r) for a, r in BINS]
    told = ", ".join(f"{score.distance:.3f}" for score in scores)
    print(f"{name}: {told}; hit rate off by {100 * scores[0].hit_rate_difference:+.2f} %", flush=True)


def foretell(name: str, train: MeasuredPulses, test: MeasuredPulses, sizes: tuple[float, ...]) -> None:
    for regions in (False, True):
        for size in sizes:
            volumes = fit_volumes(train, voxel=size, regions=regions)
            how = "by region from" if regions else "all"
            show(
                f"{name}, {how} {size:g} m, {len(volumes):,} volumes",
                test,
                tussock.simulate_volumes(volumes, test, seed=1),
            )
    for regions in (False, True):
        chosen = learn_volumes(train, regions=regions)
        found = tussock.simulate_volumes(chosen, test, seed=1)
        how = "by region from" if regions else "all"
        show(f"{name}, chosen, {how} {chosen.meta['voxel_m']:g} m, {len(chosen):,} volumes", test, found)


def main() -> None:
    world = tussock.World(ready_scene("forest-trail"))
    rays, turns = (int(text) for text in (*sys.argv[1:], *("1", "10")[len(sys.argv) - 1 :]))
    sensor = tussock.load_sensor("vls-128").with_(**{"beam.rays": rays})

    def seen(pose: tussock.Pose, first: int) -> MeasuredPulses:
        seeds = range(first, first + turns)
        frames = [tussock.scan(world, sensor, pose, frame=k, seed=k, keep_misses=True) for k in seeds]
        return join_pulses([measured_pulses(frame) for frame in frames])

    here = ready_pose("forest-trail")
    train, test = seen(here, 0), seen(here, turns)
    show("standing, floor", test, seen(here, 2 * turns))
    foretell("standing", train, test, STANDING)
    way = tussock.trail_path()
    middle = float(np.interp(0.0, way.positions[:, 0], way.times))
    poses = [way.pose(middle + 2.0 * step) for step in (-2, -1, 0, 1, 2)]
    test = seen(poses[2], 1000)
    show("transfer, floor", test, seen(poses[2], 2000))
    others = [seen(poses[k], 100 * (k + 1)) for k in (0, 1, 3, 4)]
    foretell("transfer", join_pulses(others), test, TRANSFER)


if __name__ == "__main__":
    main()
