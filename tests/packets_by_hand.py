"""Velodyne captures put together byte by byte from the manuals and from what recordings show, with `struct` alone.

Nothing of Tussock is used, so a mistake that its encoder and its readers share shows up here. What stands in `Unit` are
facts of recordings: factory bytes, distance steps, blocks of a firing cycle, the time from packet to packet and the
angle that the head turns in a cycle.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["UNITS", "Unit", "capture_by_hand"]

HOUR = 1_700_000_400
"""[s] Unix time of a full hour"""
FLAGS = (b"\xff\xee", b"\xff\xdd", b"\xff\xcc", b"\xff\xbb")
"""of blocks with lasers 0-31, 32-63, 64-95, 96-127"""


class Unit(NamedTuple):
    """One sensor as it was recorded."""

    model_byte: int
    lasers: int
    step_m: float
    """a distance on the wire is a whole number of these"""
    packet_us: float
    """from packet to packet, mean of a recording"""
    cycle_deg: float
    """that the head turns from one firing of all lasers to the next, mean of the same recording"""

    @property
    def cycles(self) -> int:
        """Firing cycles in the 12 blocks of 32 places of a packet."""
        return 12 * 32 // self.lasers


UNITS = {
    "hdl-32e": Unit(0x21, 32, 0.002, 552.96, 0.14993),
    "vlp-32c": Unit(0x28, 32, 0.004, 663.55, 0.19908),
    "vls-128-recorded": Unit(0xA1, 128, 0.004, 165.83, 0.19897),
    "vlp-16": Unit(0x22, 16, 0.002, 1327.10, 0.19907),  # two cycles share a block and its azimuth
}
"""by the name in the catalogue, all in mode `strongest`"""

Seen = Callable[[int, int], tuple[int, int]]
"""(cycle, laser) -> (distance in steps, intensity); distance 0: no return"""


def capture_by_hand(unit: Unit, packets: int, seen: Seen) -> bytes:
    """A pcap file of data packets, the first of which starts a full hour."""
    file = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for number in range(packets):
        stamp = round(number * unit.packet_us)
        frame = _datagram(_payload(unit, number * unit.cycles, stamp, seen))
        file += [struct.pack("<IIII", HOUR + stamp // 1_000_000, stamp % 1_000_000, len(frame), len(frame)), frame]
    return b"".join(file)


def _payload(unit: Unit, first: int, stamp: int, seen: Seen) -> bytes:
    together = max(1, 32 // unit.lasers)
    parts = []
    for cycle in range(first, first + unit.cycles, together):
        azimuth = round(cycle * unit.cycle_deg * 100) % 36_000
        for bank in range(max(1, unit.lasers // 32)):
            parts += [FLAGS[bank], struct.pack("<H", azimuth)]
            for place in range(32):
                laser = 32 * bank + place % unit.lasers
                parts.append(struct.pack("<HB", *seen(cycle + place // unit.lasers, laser)))
    payload = b"".join(parts) + struct.pack("<I", stamp) + bytes([0x37, unit.model_byte])
    assert len(payload) == 1206
    return payload


def _datagram(payload: bytes) -> bytes:
    """Ethernet, IPv4 and UDP from 192.168.1.201 to everybody; a UDP checksum of 0 means that none was made."""
    udp = struct.pack(">HHHH", 2368, 2368, 8 + len(payload), 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0x4000, 64, 17, 0) + bytes(
        [192, 168, 1, 201] + [255] * 4
    )
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + ip[12:]
    return b"\xff" * 6 + bytes([0x60, 0x76, 0x88, 0, 0, 1]) + b"\x08\x00" + ip + udp + payload
