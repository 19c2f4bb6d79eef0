"""Learn from the first revolutions of a capture and foretell the last: 34_real_capture.py capture.pcap

Without a capture it makes one, as the sensor itself would have sent it.
The same from the command line:  tussock learn run.pcap --turns 0-2 --out place.volumes
"""

import sys
from pathlib import Path

import numpy as np

import tussock

path = sys.argv[1] if len(sys.argv) > 1 else "run.pcap"
if len(sys.argv) < 2:
    world, sensor = tussock.World(tussock.ready_scene("yard")), tussock.load_sensor("vlp-16")
    with tussock.open_recording(path, sensor, force=True) as run:
        for frame in tussock.scan_range(world, sensor, tussock.Pose.at(0, 0, 2), start=0, end=0.4):
            run.write(frame)

pulses = tussock.load_pulses(path)
print(f"{len(pulses):,} pulses in {pulses.turns.max() + 1} turns, {pulses.hit.mean():.1%} with a return")
pulses = pulses.select(~np.isin(pulses.rings, tussock.dead_rings(pulses)))  # a dead laser is no proof of empty space
fired = np.bincount(pulses.turns)
whole = np.flatnonzero(fired > 0.97 * fired.max())  # the first and the last turn may be parts
known, unseen = pulses.select(np.isin(pulses.turns, whole[:-1])), pulses.select(pulses.turns == whole[-1])

volumes = tussock.learn_volumes(known, voxel=0.2)
simulated = tussock.simulate_volumes(volumes, unseen, seed=1)
bins = {"angle_bin": np.deg2rad(1.0), "range_bin": 0.1}
score, floor = tussock.compare(unseen, simulated, **bins), tussock.compare(unseen, known, **bins)
print(f"{len(volumes):,} volumes from {len(known):,} pulses; turn {whole[-1]} foretold:")
print(f"score {score.distance:.3f}, of the known turns themselves {floor.distance:.3f}")
print(f"hit rate {score.real_hit_rate:.3f} real, {score.simulated_hit_rate:.3f} simulated")
tussock.plot_comparison(unseen, simulated, score, "capture.png", title=Path(path).name, force=True)
