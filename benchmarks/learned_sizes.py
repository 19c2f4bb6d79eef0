"""Sizes of voxels compared: every fixed one, sizes by region, and the chosen ones; from one place, and for another.

    python benchmarks/learned_sizes.py [RAYS]

A VLS-128 on the forest trail, with so many rays a pulse (4). *Standing*: ten revolutions are learned, the eleventh is foretold.
*Transfer*: of five poses along the trail, 4 m apart, two revolutions each, the middle one is foretold by the other four. Scores are
Bhattacharyya distances at three kinds of bins; the floor is a second scan of what is foretold.
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
    chosen = learn_volumes(train, regions=True)
    found = tussock.simulate_volumes(chosen, test, seed=1)
    show(f"{name}, chosen by region from {chosen.meta['voxel_m']:g} m", test, found)


def main() -> None:
    world = tussock.World(ready_scene("forest-trail"))
    rays = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    sensor = tussock.load_sensor("vls-128").with_(**{"beam.rays": rays})

    def seen(pose: tussock.Pose, seeds: range) -> list[MeasuredPulses]:
        return [measured_pulses(tussock.scan(world, sensor, pose, frame=k, seed=k, keep_misses=True)) for k in seeds]

    *train, test, again = seen(ready_pose("forest-trail"), range(12))
    show("standing, floor", test, again)
    foretell("standing", join_pulses(train), test, STANDING)
    way = tussock.trail_path()
    here = float(np.interp(0.0, way.positions[:, 0], way.times))
    poses = [seen(way.pose(here + 2.0 * step), range(50 + 10 * step, 52 + 10 * step)) for step in (-2, -1, 0, 1, 2)]
    test, again = poses.pop(2)
    show("transfer, floor", test, again)
    foretell("transfer", join_pulses([turn for turns in poses for turn in turns]), test, TRANSFER)


if __name__ == "__main__":
    main()
