"""The commands of Livox's second SDK, as data: what a driver asks a Mid-360 before it listens, and how it is answered.

A command is one datagram, little-endian:

    0xAA, version u8 (0), length u16 [bytes of the whole], number u32 (an answer has that of its question), command u16,
    kind u8 (0 question, 1 answer), sender u8 (0 host, 1 LIDAR), 6 zeros, CRC-16/CCITT-FALSE u16 of these 18 bytes,
    CRC-32 u32 of the data (0 where there is none), data

    0x0000  who is there         → code u8, kind of device u8, serial number of 16, address of 4, command port u16
    0x0100  set parameters: count u16, zero u16, then key u16, length u16 and value each  → code u8, key that is wrong u16
    0x0101  ask for parameters: count u16, zero u16, keys u16  → code u8, count u16, key, length and value each
    0x0102  what the device tells by itself: as 0x0100

Sources: Livox Mid-360 communication protocol, "Control Command" and "CRC Algorithm"; ParamKeyName of livox_lidar_def.h
in Livox-SDK2. Not confirmed by a device.
"""

from __future__ import annotations

import binascii
import struct
from enum import IntEnum
from typing import NamedTuple

__all__ = [
    "COMMAND_PORT", "DISCOVERY_PORT", "MID_360", "PUSH_PORT", "Code", "Command", "CommandId", "Key",
    "pack_values", "parse_command", "unpack_keys", "unpack_values",
]  # fmt: skip

DISCOVERY_PORT, COMMAND_PORT, PUSH_PORT, POINT_SOURCE_PORT, IMU_SOURCE_PORT = 56000, 56100, 56200, 56300, 56400
"""of the device"""
MID_360 = 9
_HEAD = struct.Struct("<BBHIHBB6x")
_SIZE = _HEAD.size + 6
_LONGEST = 1400


class CommandId(IntEnum):
    SEARCH = 0x0000
    SET = 0x0100
    ASK = 0x0101
    PUSH = 0x0102


class Code(IntEnum):
    """What a device answers: that it did, or why not."""

    DONE = 0x00
    NOT_NOW = 0x02
    OUT_OF_RANGE = 0x03
    UNKNOWN_KEY = 0x20
    READ_ONLY = 0x22
    WRONG_LENGTH = 0x23
    WRONG_COUNT = 0x24


class Key(IntEnum):
    """Parameters of a Mid-360."""

    POINT_TYPE = 0x0000
    PATTERN = 0x0001
    ADDRESS = 0x0004
    STATE_HOST = 0x0005
    POINT_HOST = 0x0006
    IMU_HOST = 0x0007
    ATTITUDE = 0x0012
    VIEW_0 = 0x0015
    VIEW_1 = 0x0016
    VIEW_ON = 0x0017
    DETECTION = 0x0018
    PINS = 0x0019
    WORK_MODE = 0x001A
    IMU_ON = 0x001C
    SERIAL = 0x8000
    PRODUCT = 0x8001
    VERSION_APP = 0x8002
    VERSION_LOADER = 0x8003
    VERSION_HARDWARE = 0x8004
    MAC = 0x8005
    WORK_STATE = 0x8006
    TEMPERATURE = 0x8007
    STARTS = 0x8008
    TIME = 0x8009
    SYNC_TIME = 0x800A
    TIME_OFFSET = 0x800B
    SYNC_KIND = 0x800C
    DIAGNOSIS = 0x800E
    FIRMWARE_KIND = 0x8010
    TROUBLE = 0x8011


class Command(NamedTuple):
    """A question, an answer, or what a device tells by itself."""

    id: int
    number: int
    data: bytes = b""
    answer: bool = False
    from_device: bool = False

    def pack(self) -> bytes:
        """The datagram."""
        size = _SIZE + len(self.data)
        head = _HEAD.pack(0xAA, 0, size, self.number, self.id, self.answer, self.from_device)
        checks = struct.pack("<HI", binascii.crc_hqx(head, 0xFFFF), binascii.crc32(self.data) if self.data else 0)
        return head + checks + self.data


def parse_command(datagram: bytes) -> Command | None:
    """The command in a datagram; None for anything else, and where a checksum or the length is wrong."""
    if not _SIZE <= len(datagram) <= _LONGEST:
        return None
    first, version, size, number, command, kind, sender = _HEAD.unpack_from(datagram)
    head_check, data_check = struct.unpack_from("<HI", datagram, _HEAD.size)
    data = datagram[_SIZE:]
    sound = (first, version, size) == (0xAA, 0, len(datagram)) and kind <= 1 and sender <= 1
    if not sound or head_check != binascii.crc_hqx(datagram[: _HEAD.size], 0xFFFF):
        return None
    if data_check != (binascii.crc32(data) if data else 0):
        return None
    return Command(command, number, data, bool(kind), bool(sender))


def pack_values(values: dict[int, bytes]) -> bytes:
    """Keys with their values, one behind the other."""
    return b"".join(struct.pack("<HH", key, len(value)) + value for key, value in values.items())


def unpack_values(data: bytes) -> list[tuple[int, bytes]] | None:
    """The keys and values of a list that says how many they are; None where that is not so."""
    if len(data) < 4:
        return None
    count, at, found = struct.unpack_from("<H", data)[0], 4, []
    while at < len(data):
        if at + 4 > len(data):
            return None
        key, size = struct.unpack_from("<HH", data, at)
        if at + 4 + size > len(data):
            return None
        found.append((key, data[at + 4 : at + 4 + size]))
        at += 4 + size
    return found if len(found) == count else None


def unpack_keys(data: bytes) -> list[int] | None:
    """The keys of a list that says how many they are; None where that is not so."""
    if len(data) < 4 or len(data) % 2:
        return None
    count = struct.unpack_from("<H", data)[0]
    keys = [key for (key,) in struct.iter_unpack("<H", data[4:])]
    return keys if len(keys) == count else None
