"""A drive learned from its even seconds, its odd ones foretold: how well, how fast, in how much memory.

    python benchmarks/learned_drive.py DATA [SECONDS] [RAYS] [VOXEL]

An HDL-32E drives along the forest trail for SECONDS (60), at the trail's own 2 m/s, as a robot would: half a minute of captures
to learn from and half a minute to be foretold, revolution by revolution. They are simulated into DATA, a file a second, unless
they are there; with so many rays a pulse (0: all of the catalogue's). Wanted of 60 s on 2 cores: 0.8 M pulses/s, 4 GiB, 40 bytes a
volume; of the odd seconds a Bhattacharyya distance of 0.25 at bins of 1° × 0.3 m, and hit rates within 1 %.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np

import tussock
from tussock.learn.measured_pulses import join_pulses
from tussock.poses import Trajectory
from tussock.scenes.ready import ready_scene
from tussock.wire.recording import EPOCH

REACH = 100.0
BINS = ((1.0, 0.1), (1.0, 0.3), (2.0, 0.25))
"""[deg], [m]"""
FORETOLD = 5
"""of so many revolutions of the odd seconds, one"""


def drive(data: Path, seconds: int, rays: int) -> None:
    """Simulate the captures, and a second time what is foretold: the floor that no model comes below."""
    data.mkdir(parents=True, exist_ok=True)
    sensor = tussock.load_sensor("hdl-32e")
    sensor = sensor.with_(**{"beam.rays": rays}) if rays else sensor
    way = tussock.trail_path()
    Trajectory(way.times + EPOCH, way.positions, way.quaternions).save_tum(data / "path.tum")
    wanted = [second for second in range(seconds) if not capture(data, second).exists()]
    world = tussock.World(ready_scene("forest-trail")) if wanted else None
    for second in wanted:
        chosen = range(10 * second, 10 * second + 10)
        if second % 2:
            with tussock.open_recording(data / f"again-{second:02d}.pcap", sensor, force=True) as out:
                for k in chosen[FORETOLD // 2 :: FORETOLD]:
                    out.write(tussock.scan(world, sensor, way, frame=k, seed=1, keep_misses=True))
            chosen = chosen[FORETOLD // 2 :: FORETOLD]
        with tussock.open_recording(capture(data, second), sensor) as out:
            for k in chosen:
                out.write(tussock.scan(world, sensor, way, frame=k, keep_misses=True))


def capture(data: Path, second: int) -> Path:
    return data / f"{'odd' if second % 2 else 'even'}-{second:02d}.pcap"


def pulses_of(data: Path, name: str) -> list[tussock.MeasuredPulses]:
    """The revolutions that are foretold, one by one."""
    poses = Trajectory.load(data / "path.tum")
    found = []
    for path in sorted(data.glob(f"{name}-*.pcap")):
        # Packets between the chosen revolutions are missing, as they should be.
        pulses = tussock.load_pulses(path, trajectory=poses, reach=REACH, say=lambda note: None)
        turns, counts = np.unique(pulses.turns, return_counts=True)
        found += [pulses.select(pulses.turns == turn) for turn in turns[counts > counts.max() / 2]]  # no ends of others
    return found


def learned(data: Path, voxel: float | None) -> tussock.Volumes:
    poses = Trajectory.load(data / "path.tum")
    begin, used = time.perf_counter(), time.process_time()
    options = tussock.DriveOptions(voxel=voxel, regions=True, reach=REACH, vehicle=None)
    volumes = tussock.learn_drive(sorted(data.glob("even-*.pcap")), poses, options, say=print)
    took, used = time.perf_counter() - begin, time.process_time() - used
    tussock.save_volumes(volumes, data / "place.volumes", force=True)
    pulses, size = volumes.meta["pulses"], (data / "place.volumes").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{pulses / 1e6:.2f} M pulses, {len(volumes):,} volumes from {volumes.meta['voxel_m']:g} m on, by level "
        f"{np.bincount(volumes.levels).tolist()}: {took:.1f} s, {pulses / took / 1e6:.2f} M pulses/s; "
        f"by processor time on 2 cores {2 * pulses / used / 1e6:.2f} M pulses/s; peak {peak:.2f} GiB; "
        f"{size / len(volumes):.1f} bytes a volume",
        flush=True,
    )
    return volumes


def scored(name: str, real: list[tussock.MeasuredPulses], other: list[tussock.MeasuredPulses]) -> None:
    for angle, width in BINS:
        scores = [
            tussock.compare(one, two, angle_bin=np.deg2rad(angle), range_bin=width)
            for one, two in zip(real, other, strict=True)
        ]
        whole = tussock.compare(join_pulses(real), join_pulses(other), angle_bin=np.deg2rad(angle), range_bin=width)
        print(
            f"{name}, bins {angle:g} deg x {width:g} m: {whole.distance:.3f} of all, "
            f"{np.average([score.distance for score in scores], weights=[len(one) for one in real]):.3f} of a revolution "
            "on average; "
            f"hit rate {100 * whole.real_hit_rate:.2f} %, off by {100 * whole.hit_rate_difference:+.2f} %",
            flush=True,
        )


def main() -> None:
    data = Path(sys.argv[1])
    seconds, rays, voxel = (float(text) for text in (*sys.argv[2:], *("60", "0", "0")[len(sys.argv) - 2 :]))
    drive(data, int(seconds), int(rays))
    volumes = learned(data, voxel or None)
    odd = pulses_of(data, "odd")
    scored("floor", odd, pulses_of(data, "again"))
    scored("foretold", odd, [tussock.simulate_volumes(volumes, pulses, seed=1) for pulses in odd])


if __name__ == "__main__":
    main()
