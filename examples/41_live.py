"""A sensor that is not there: packets on the network, each at its own moment, and a receiver that counts them.

The same from the command line:  tussock stream yard --sensor vlp-16 --to 127.0.0.1:2368 --seconds 1
"""

import socket
import threading

import tussock

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
receiver.settimeout(10)
port = receiver.getsockname()[1]

world = tussock.World(tussock.ready_scene("yard"))
outlet = tussock.Outlet(
    tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 2), to=tussock.Endpoint.parse(f"127.0.0.1:{port}")
)
received: list[bytes] = []


def listen() -> None:
    while (packet := receiver.recv(2048)) != b"end":
        received.append(packet)


listener = threading.Thread(target=listen)
listener.start()
(report,) = tussock.stream(world, [outlet], seconds=1.0, say=print)
receiver.sendto(b"end", receiver.getsockname())
listener.join()
receiver.close()

print(f"{len(received)} of {report.packets} packets received, {report.lateness.share_within(5e-3):.0%} within 5 ms")
print(f"{report.revolutions} revolutions, {report.dropped} dropped; could run {report.speed:.1f} x real time")
