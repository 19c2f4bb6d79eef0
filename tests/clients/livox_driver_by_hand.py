"""A small driver for a Mid-360, written from Livox's communication protocol alone, in the order in which Livox-SDK2 asks.

Nothing of `tussock` is used: frames and checksums are made here, the CRC-16 bit by bit.
"""

from __future__ import annotations

import socket
import struct
import zlib
from dataclasses import dataclass, field

DISCOVERY, COMMAND = 56000, 56100


def ccitt_false(data: bytes) -> int:
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def request(number: int, command: int, data: bytes = b"", kind: int = 0, sender: int = 0) -> bytes:
    head = struct.pack("<BBHIHBB", 0xAA, 0, 24 + len(data), number, command, kind, sender) + bytes(6)
    return head + struct.pack("<HI", ccitt_false(head), zlib.crc32(data) if data else 0) + data


def opened(frame: bytes) -> tuple[int, int, int, int, bytes]:
    """Number, command, kind, sender and data of a frame whose checksums are right."""
    start, version, length, number, command, kind, sender = struct.unpack_from("<BBHIHBB", frame)
    crc16, crc32 = struct.unpack_from("<HI", frame, 18)
    data = frame[24:]
    assert (start, version, length) == (0xAA, 0, len(frame))
    assert crc16 == ccitt_false(frame[:18]) and crc32 == (zlib.crc32(data) if data else 0)
    return number, command, kind, sender, data


def key_values(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(data):
        key, length = struct.unpack_from("<HH", data, at)
        found[key] = data[at + 4 : at + 4 + length]
        at += 4 + length
    return found


def host_config(address: str, port: int, lidar_port: int) -> bytes:
    return socket.inet_aton(address) + struct.pack("<HH", port, lidar_port)


@dataclass
class Driver:
    """A host at ``host`` that looks for a LIDAR at ``device``."""

    host: str
    device: str
    number: int = 0
    sockets: dict[str, socket.socket] = field(default_factory=dict)

    def __enter__(self) -> Driver:
        for name in ("discovery", "command", "push", "points", "imu"):
            opened_at = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            opened_at.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            opened_at.bind((self.host, 0))
            opened_at.settimeout(90)  # a stream begins when its scene is built
            self.sockets[name] = opened_at
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.sockets.values():
            each.close()

    def port(self, name: str) -> int:
        return int(self.sockets[name].getsockname()[1])

    def ask(self, command: int, data: bytes = b"", *, by: str = "command", to: int = COMMAND) -> bytes:
        self.number += 1
        self.sockets[by].sendto(request(self.number, command, data), (self.device, to))
        answer, source = self.sockets[by].recvfrom(2048)
        number, told, kind, sender, found = opened(answer)
        assert source == (self.device, to)
        assert (number, told, kind, sender) == (self.number, command, 1, 1)
        return found

    def search(self) -> tuple[int, str, str, int]:
        """Kind of device, serial number, address and command port."""
        code, kind, serial, address, port = struct.unpack("<BB16s4sH", self.ask(0x0000, by="discovery", to=DISCOVERY))
        assert code == 0 and b"\0" in serial
        return kind, serial.split(b"\0")[0].decode(), socket.inet_ntoa(address), port

    def inquire(self, *keys: int) -> tuple[int, dict[int, bytes]]:
        data = self.ask(0x0101, struct.pack(f"<HH{len(keys)}H", len(keys), 0, *keys))
        code, count = struct.unpack_from("<BH", data)
        found = key_values(data[3:])
        assert count == len(found)
        return code, found

    def configure(self, values: dict[int, bytes]) -> tuple[int, int]:
        """Return code and the key that is wrong."""
        listed = b"".join(struct.pack("<HH", key, len(value)) + value for key, value in values.items())
        return struct.unpack("<BH", self.ask(0x0100, struct.pack("<HH", len(values), 0) + listed))

    def start(self) -> None:
        """What Livox-SDK2 and livox_ros_driver2 do before they take points."""
        kind, _, address, port = self.search()
        assert (kind, address, port) == (9, self.device, COMMAND)
        assert self.inquire(0x8010) == (0, {0x8010: b"\1"})
        hosts = {
            0x0005: host_config(self.host, self.port("push"), 56200),
            0x0006: host_config(self.host, self.port("points"), 56300),
            0x0007: host_config(self.host, self.port("imu"), 56400),
        }
        assert self.configure(hosts) == (0, 0)
        assert self.configure({0x0000: b"\1"}) == (0, 0)
        assert self.configure({0x0001: b"\0"}) == (0, 0)
        assert self.configure({0x0012: struct.pack("<fffiii", 0, 0, 0, 0, 0, 0)}) == (0, 0)
        assert self.configure({0x001C: b"\1"}) == (0, 0)
        assert self.configure({0x001A: b"\1"}) == (0, 0)

    def take(self, name: str, count: int) -> list[bytes]:
        """Datagrams at one of the sockets, from the port that the device sends them from."""
        wanted = {"points": 56300, "imu": 56400, "push": 56200}[name]
        found = []
        while len(found) < count:
            datagram, source = self.sockets[name].recvfrom(4096)
            assert source == (self.device, wanted)
            found.append(datagram)
        return found
