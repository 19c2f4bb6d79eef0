"""A live sensor on the loopback, heard by another process: python benchmarks/live.py [SECONDS] [SENSOR] [SCENE] [RAYS] [real-time]

When each packet arrived is told by the system (SO_TIMESTAMPNS), not by when the receiver came to look; so is how many came
while the receiver's buffer was full (SO_RXQ_OVFL), which are lost by the listener and not by the sender.
"""

import json
import multiprocessing as mp
import os
import socket
import struct
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np

SO_TIMESTAMPNS, SO_RXQ_OVFL = 35, 40  # Linux
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
SENSOR = sys.argv[2] if len(sys.argv) > 2 else "hdl-32e"
SCENE = sys.argv[3] if len(sys.argv) > 3 else "yard"
RAYS = int(sys.argv[4]) if len(sys.argv) > 4 else None
REAL_TIME = "real-time" in sys.argv[5:]


def listen(pipe) -> None:
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
    room = receiver.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    receiver.bind(("127.0.0.1", 0))
    pipe.send(receiver.getsockname()[1])
    rows, overflowed = [], 0
    while True:
        data, about, _, _ = receiver.recvmsg(2048, 128)
        told = {kind: value for _, kind, value in about}
        overflowed = struct.unpack("I", told[SO_RXQ_OVFL])[0] if SO_RXQ_OVFL in told else overflowed
        if data == b"end":
            break
        seconds, nano = struct.unpack("qq", told[SO_TIMESTAMPNS])
        rows.append((seconds + nano * 1e-9, int.from_bytes(data[1200:1204], "little")))
    pipe.send((np.array(rows), overflowed, room))


def main() -> None:
    ours, theirs = mp.Pipe()
    process = mp.get_context("spawn").Process(target=listen, args=(theirs,))
    process.start()
    port = ours.recv()

    import tussock
    from tussock import Pose
    from tussock.cli.sources import open_scene
    from tussock.wire.addresses import Endpoint
    from tussock.wire.live import Outlet, stream
    from tussock.wire.pacing import before_others

    world = tussock.World(open_scene(SCENE))
    sensor = tussock.load_sensor(SENSOR)
    if RAYS is not None:
        sensor = sensor.with_(**{"beam.rays": RAYS})
    tussock.scan(world, sensor)  # what it takes to compile is not of interest
    outlet = Outlet(sensor, Pose.at(0, 0, 2), to=Endpoint.parse(f"127.0.0.1:{port}"))
    before, memory, done = os.getloadavg()[0], [], threading.Event()

    def watch() -> None:
        while not done.wait(5.0):
            memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with before_others() if REAL_TIME else nullcontext():
        (report,) = stream(world, [outlet], seconds=SECONDS, say=print, threads=1 if REAL_TIME else None)
    done.set()
    watcher.join()
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"end", ("127.0.0.1", port))
    rows, overflowed, room = ours.recv()
    process.join()

    arrived, stamps = rows[:, 0], rows[:, 1]
    steps = np.diff(stamps) % 3.6e9
    # A packet is due when it is complete: one packet's length after its stamp.
    length = float(np.median(steps)) * 1e-6
    due = stamps * 1e-6 + length
    late = (arrived - due + 1800) % 3600 - 1800
    print(
        json.dumps(
            {
                "sensor": SENSOR, "seconds": SECONDS, "load_before": before, "load_after": os.getloadavg()[0],
                "sent": report.packets, "received": len(rows), "listener_buffer_full": overflowed,
                "lost_by_the_sender": report.packets + report.lost - len(rows) - overflowed, "listener_buffer_bytes": room,
                "in_order": bool((steps < 1.8e9).all()),
                "packets_per_s": (len(rows) - 1) / (arrived[-1] - arrived[0]), "dropped_revolutions": report.dropped,
                "times_real_time": report.speed, "received_within_5_ms": float((np.abs(late) < 5e-3).mean()),
                "sent_within_5_ms": report.lateness.share_within(5e-3),
                "memory_mib_after_a_quarter": memory[len(memory) // 4] if memory else None,
                "memory_mib_at_the_end": memory[-1] if memory else None,
                "memory_mib_every_30_s": [round(mib) for mib in memory[::6]],
                "late_p99_ms": float(np.quantile(late, 0.99) * 1e3), "late_max_ms": float(late.max() * 1e3),
            },
            indent=1,
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
