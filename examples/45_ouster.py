"""An Ouster OS1-64 on a drive, recorded as the sensor would have been: packets, inertial packets, metadata.

The same from the command line:  tussock scan yard --sensor os1-64-rev7 --trajectory drive.csv --to 0.3 --out ouster.pcap
and live, for ouster-sdk or its ROS driver:
    tussock stream yard --sensor os1-64-rev7 --to 127.0.0.1:7502 --imu-to 127.0.0.1:7503 --http 127.0.0.1:80
"""

import numpy as np

import tussock

world = tussock.World(tussock.ready_scene("yard"))
sensor = tussock.load_sensor("os1-64-rev7")
drive = tussock.Trajectory.through([0, 1], [tussock.Pose.at(-2, 0, 2), tussock.Pose.at(2, 0, 2, yaw=0.5)])

with tussock.open_recording("ouster.pcap", sensor, force=True) as run:  # and ouster.json beside it
    for frame in tussock.scan_range(world, sensor, drive, start=0, end=0.3):
        run.write(frame)

for scan in tussock.read_ouster("ouster.pcap"):
    ranges = scan.fields["RANGE"]
    share = np.count_nonzero(ranges) / ranges.size
    print(f"frame {scan.number}: {scan.unit.product}, {scan.unit.profile}, {share:.0%} of {ranges.shape} pixels seen")
felt = tussock.ouster_imu("ouster.pcap")
print(f"{len(felt.time)} inertial readings, turning at {np.degrees(felt.rate[:, 2].mean()):.0f} deg/s")

# A unit's own metadata is a sensor: simulate the very one of a recording.
mine = tussock.load_sensor("ouster.json")
print(f"{mine.name}: {mine.description}, {mine.lasers} lasers")
