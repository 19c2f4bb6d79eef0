"""Learned volumes: how fast they are learned and scanned, and what they weigh.

    python benchmarks/volumes.py

Learns from two revolutions of the static VLS-128 capture (where it is absent, from a generated place, and says so), then
scans the volumes as a scene with the pulses of an HDL-64E, one ray each, through the ordinary scan. Wanted on 2 cores:
1 M beams/s, 1.33 M pulses/s (an HDL-64E in real time, Deschaud et al. 2012) and 100 bytes a volume at most.
"""

import os
import tempfile
from pathlib import Path

import tussock
from tussock.bench import timed_in_turns
from tussock.learn.beams import Beams, beams_of, joined_beams
from tussock.learn.learner import learn
from tussock.learn.read_beams import load_beams
from tussock.scene.ready import ready_pose, ready_scene
from tussock.scene.volume_file import save_volumes
from tussock.threads import cores
from tussock.trace.volume_hits import gaussians_of
from tussock.validate.recorded_place import CAPTURE
from tussock.validate.recordings import absent, recording

ROUNDS = 9
SIZES = (0.5, 0.3, 0.2, 0.1)
"""[m] sides of voxels; the paper takes 0.3 for a whole place"""


def beams_to_learn_from() -> Beams:
    """Two revolutions of a VLS-128, pulses without return included."""
    path = recording(CAPTURE)
    if path is not None:
        print(f"two revolutions of {CAPTURE}")
        return load_beams(path, turns=(0, 1))
    print(f"a generated place: {absent(CAPTURE)}")
    world, pose = tussock.World(ready_scene("forest-trail")), ready_pose("forest-trail")
    sensor = tussock.load_sensor("vls-128")
    return joined_beams([beams_of(tussock.scan(world, sensor, pose, frame=k, keep_misses=True)) for k in range(2)])


beams = beams_to_learn_from()
hdl64, pose = tussock.load_sensor("hdl-64e-s2"), tussock.Pose.at(*beams.origins.mean(0))
pulses = len(hdl64.pulses(0))
print(f"{len(beams):,} beams, {beams.hit.mean():.1%} with a return; {pulses:,} pulses a turn of {hdl64.name}; "
      f"{cores()} cores, load {os.getloadavg()[0]:.1f}; medians of {ROUNDS}")  # fmt: skip
print(
    f"{'voxel':>8} {'volumes':>10} {'learned':>14} {'scanned':>16} {'returns':>9} {'in memory':>12} {'with grid':>12} {'in a file':>12}"
)
for size in SIZES:
    volumes = learn(beams, voxel=size)
    scene = tussock.Scene("learned place")
    scene.add_volumes(volumes, name="place")
    world = tussock.World(scene)
    learning, scanning = timed_in_turns(
        lambda size=size: learn(beams, voxel=size), lambda world=world: tussock.scan(world, hdl64, pose), rounds=ROUNDS
    )
    returns = len(tussock.scan(world, hdl64, pose)) / pulses
    memory, grid = volumes.nbytes / len(volumes), gaussians_of([volumes]).cells.nbytes / len(volumes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "place.volumes"
        save_volumes(volumes, path)
        file = path.stat().st_size / len(volumes)
    print(f"{size:6.2f} m {len(volumes):10,} {len(beams) / learning / 1e6:6.2f} M beams/s {pulses / scanning / 1e6:6.2f} M pulses/s "
          f"{returns:8.1%} {memory:6.1f} bytes {memory + grid:6.1f} bytes {file:6.1f} bytes")  # fmt: skip
