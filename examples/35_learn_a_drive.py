"""A drive past bushes, recorded as packets: learned from its even revolutions, foretold on its odd ones."""

import numpy as np

import tussock

scene = tussock.Scene("lane")
scene.add(tussock.plane((60, 30)), name="ground")
for x, y in ((6, 3), (10, -3), (14, 3.5)):
    scene.add(tussock.shrub(height=2.0, radius=0.9, triangles=8000, seed=x), name=f"bush {x}", position=(x, y, 0))

sensor = tussock.load_sensor("vlp-16").with_(**{"beam.rays": 1})
times = np.linspace(0.0, 1.2, 25)
path = tussock.Trajectory.through(times, [tussock.Pose.at(8 * t, 0.0, 1.6) for t in times])
world = tussock.World(scene)
frames = [tussock.scan(world, sensor, path, frame=k, keep_misses=True) for k in range(10)]

for name, some in (("even.pcap", frames[::2]), ("odd.pcap", frames[1::2])):
    with tussock.open_recording(name, sensor, epoch=0.0, force=True) as run:
        for frame in some:
            run.write(frame)

volumes = tussock.learn_drive(["even.pcap"], path, tussock.DriveOptions(voxel=0.2), say=print)
unseen = tussock.load_pulses("odd.pcap", trajectory=path)
foretold = tussock.simulate_volumes(volumes, unseen, seed=1)
score = tussock.compare(unseen, foretold, angle_bin=np.deg2rad(1.0), range_bin=0.2)
print(f"{len(volumes):,} volumes; hit rate off by {score.hit_rate_difference:+.4f}, distance {score.distance:.3f}")
print(f"median depth error {tussock.field_scores(unseen, foretold).depth_median_m:.3f} m")
assert abs(score.hit_rate_difference) < 0.03
