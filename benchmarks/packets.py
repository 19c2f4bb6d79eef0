"""How fast packets are encoded, on one core: python benchmarks/packets.py"""

import os
import time

import tussock
from tussock import Pose
from tussock.wire.velodyne.encode import PacketEncoder

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
world = tussock.World(tussock.ready_scene("yard"))
print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; best and median of 30 revolutions")
for name in ("vlp-16", "vlp-32c", "hdl-32e", "hdl-64e-s2", "vls-128"):
    sensor = tussock.load_sensor(name)
    frames = [tussock.scan(world, sensor, Pose.at(0, 0, 2), frame=k) for k in range(4)]
    rates = []
    for turn in range(31):
        encoder = PacketEncoder(sensor)
        begin = time.perf_counter()
        packets = encoder.encode(frames[turn % 4])
        if turn:
            rates.append(len(packets) / (time.perf_counter() - begin))
    rates.sort()
    print(f"{name:12} {rates[-1]:10,.0f} best {rates[len(rates) // 2]:10,.0f} median packets/s; "
          f"the sensor sends {encoder.packets_per_second:,.0f}")  # fmt: skip
