"""A drive of one second, recorded as the sensor itself would have: run.pcap, for any driver of an HDL-32E.

The same from the command line:  tussock scan yard --sensor hdl-32e --trajectory drive.csv --to 1 --out run.pcap
"""

import tussock

world = tussock.World(tussock.ready_scene("yard"))
sensor = tussock.load_sensor("hdl-32e")
drive = tussock.Trajectory.through([0, 1], [tussock.Pose.at(-2, 0, 2), tussock.Pose.at(2, 0, 2)])

with tussock.open_recording("run.pcap", sensor, force=True) as run:
    for frame in tussock.scan_range(world, sensor, drive, start=0, end=1):
        run.write(frame)

datagrams = tussock.read_datagrams("run.pcap")
data = datagrams.select(datagrams.port == 2368)
raw = tussock.decode_packets(data.payloads())
print(f"{len(data)} packets in {data.times[-1] - data.times[0]:.3f} s: {raw.model.name}, {raw.mode} returns")
print(f"{raw.returns:,} returns, the furthest at {raw.distance.max() * raw.model.distance_step_m:.1f} m")
