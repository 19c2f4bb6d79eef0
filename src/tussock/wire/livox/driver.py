"""A simulated Mid-360 that Livox's drivers find: it says who it is, takes their settings, and sends where they ask it to.

A thread listens at the device's ports (`commands`). What it grants: points and inertial readings to the address of who
asks, or to where the stream was sent at first, at any port; sampling on and off; inertial readings on and off; and what
only the driver uses, as the attitude that the device is mounted in. Whatever else differs from what is streamed is refused
with the manual's code: what packets hold was said when the stream was started. State is told once a second as soon as a
driver said where to. Left out: logs, upgrades, restarts, which are refused.

Points leave from the device's port 56300 and readings from 56400, by which drivers tell them.

Sources: as `commands`; the order in which Livox-SDK2 asks (device_manager.cpp, general_command_handler.cpp).
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Self

from tussock.errors import InputError, OutputError
from tussock.wire.addresses import Endpoint
from tussock.wire.livox.commands import (
    COMMAND_PORT,
    DISCOVERY_PORT,
    IMU_SOURCE_PORT,
    MID_360,
    POINT_SOURCE_PORT,
    PUSH_PORT,
    Code,
    Command,
    CommandId,
    Key,
    pack_values,
    parse_command,
    unpack_keys,
    unpack_values,
)

__all__ = ["LivoxDriverLink", "LivoxState", "device_address"]

_SAMPLING, _IDLE, _READY = 1, 2, 9
_APPLICATION, _PTP = 1, 1
_VERSION = bytes([13, 18, 2, 39])  # of a Mid-360's firmware, aa.bb.cc.dd
_TOLD_EVERY = 1.0  # [s]
_BROADCAST = "255.255.255.255"
_HOSTS = {Key.STATE_HOST: PUSH_PORT, Key.POINT_HOST: POINT_SOURCE_PORT, Key.IMU_HOST: IMU_SOURCE_PORT}
"""where things are sent to, and the device's port that they leave from"""
_FREE = {Key.ATTITUDE: 24, Key.VIEW_0: 20, Key.VIEW_1: 20, Key.PINS: 4}
"""[bytes] of what is kept for the driver and changes nothing"""
_CHOICES = {Key.WORK_MODE: (_SAMPLING, _IDLE, _READY), Key.IMU_ON: (0, 1)}
_FIXED = (Key.POINT_TYPE, Key.PATTERN, Key.ADDRESS, Key.VIEW_ON, Key.DETECTION)
"""may be set to what they are"""


class LivoxState:
    """The parameters of one simulated device, and where its packets go now.

    ``at`` is its IPv4 address, ``points`` and ``imu`` where its stream goes at first, ``point_type`` the type of its packets.
    """

    def __init__(self, at: str, points: Endpoint, imu: Endpoint | None, *, point_type: int, serial: str) -> None:
        self._at, self._points, self._imu = at, points, imu
        own = IPv4Address(at).packed
        self.serial = serial.encode()[:15].ljust(16, b"\0")
        first = str(points.address[0])
        self.values: dict[int, bytes] = {
            Key.POINT_TYPE: bytes([point_type]),
            Key.PATTERN: b"\0",
            Key.ADDRESS: own + bytes([255, 255, 255, 0]) + own[:3] + b"\x01",
            Key.STATE_HOST: bytes(8),
            Key.POINT_HOST: _host(first, points.port, POINT_SOURCE_PORT),
            Key.IMU_HOST: _host(str(imu.address[0]), imu.port, IMU_SOURCE_PORT) if imu else bytes(8),
            Key.VIEW_ON: b"\0",
            Key.DETECTION: b"\0",
            Key.WORK_MODE: bytes([_SAMPLING]),
            Key.IMU_ON: bytes([imu is not None]),
            **{key: bytes(size) for key, size in _FREE.items()},
            Key.SERIAL: self.serial,
            Key.PRODUCT: b"Mid-360 simulated".ljust(64, b"\0"),
            Key.VERSION_APP: _VERSION,
            Key.VERSION_LOADER: bytes(4),
            Key.VERSION_HARDWARE: bytes(4),
            # Of those that nobody is given by (the second bit of the first byte).
            Key.MAC: b"\x02\0" + own,
            Key.TEMPERATURE: struct.pack("<i", 4000),
            Key.STARTS: struct.pack("<I", 1),
            Key.TIME_OFFSET: bytes(8),
            Key.SYNC_KIND: bytes([_PTP]),
            Key.DIAGNOSIS: bytes(2),
            Key.FIRMWARE_KIND: bytes([_APPLICATION]),
            Key.TROUBLE: bytes(32),
        }
        self._allowed = {first}

    def route(self, to: Endpoint) -> Endpoint | None:
        """Where a packet of the stream goes now that was to go to ``to``; None while the device does not send it."""
        if self.values[Key.WORK_MODE][0] != _SAMPLING:
            return None
        if to == self._points:
            return self._sent_to(Key.POINT_HOST, to)
        if to == self._imu:
            return self._sent_to(Key.IMU_HOST, to) if self.values[Key.IMU_ON][0] else None
        return to

    def state_to(self) -> tuple[str, int] | None:
        """Where the state is told to; None until a driver said it."""
        host, port = _address(self.values[Key.STATE_HOST])
        return (host, port) if port else None

    def _sent_to(self, key: Key, first: Endpoint) -> Endpoint:
        host, port = _address(self.values[key])
        return replace(first, host=host, port=port, address=(host, port), source=self._at, source_port=_HOSTS[key])

    def answer(self, asked: Command, asker: str, *, discovery: bool) -> bytes | None:
        """The data of the answer to a question; None for what is not answered."""
        if discovery:
            if asked.id != CommandId.SEARCH:
                return None
            own = IPv4Address(self._at).packed
            return bytes([Code.DONE, MID_360]) + self.serial + own + struct.pack("<H", COMMAND_PORT)
        match asked.id:
            case CommandId.SET:
                code, key = self._set(asked.data, asker)
                return struct.pack("<BH", code, key)
            case CommandId.ASK:
                return self._told(asked.data)
        return bytes([Code.NOT_NOW])

    def told_by_itself(self) -> bytes:
        """The data of what the device tells."""
        values = self._now()
        return struct.pack("<HH", len(values), 0) + pack_values(values)

    def _now(self) -> dict[int, bytes]:
        clock = struct.pack("<Q", time.time_ns())
        changing = {Key.WORK_STATE: self.values[Key.WORK_MODE], Key.TIME: clock, Key.SYNC_TIME: clock}
        return dict(sorted((self.values | changing).items()))

    def _told(self, data: bytes) -> bytes:
        keys, values = unpack_keys(data), self._now()
        if keys is None:
            return struct.pack("<BH", Code.WRONG_COUNT, 0)
        if any(key not in values for key in keys):
            return struct.pack("<BH", Code.UNKNOWN_KEY, 0)
        return struct.pack("<BH", Code.DONE, len(keys)) + pack_values({key: values[key] for key in keys})

    def _set(self, data: bytes, asker: str) -> tuple[Code, int]:
        """Take all of a list of values, or none; the code, and the key that is wrong."""
        given = unpack_values(data)
        if given is None:
            return Code.WRONG_COUNT, 0
        for key, value in given:
            code = self._check(key, value, asker)
            if code != Code.DONE:
                return code, key
        for key, value in given:
            # Packets leave from the device's own ports, whatever is asked.
            own = struct.pack("<H", _HOSTS[Key(key)]) if key in _HOSTS else b""
            self.values[key] = value[: len(value) - len(own)] + own
        return Code.DONE, 0

    def _check(self, key: int, value: bytes, asker: str) -> Code:
        if key >= Key.SERIAL and key in self._now():
            return Code.READ_ONLY
        if key not in self.values:
            return Code.UNKNOWN_KEY
        if len(value) != len(self.values[key]):
            return Code.WRONG_LENGTH
        if key in _HOSTS:
            host, port = _address(value)
            if key == Key.IMU_HOST and self._imu is None:
                return Code.DONE  # it sends none
            return Code.DONE if port and host in self._allowed | {asker} else Code.OUT_OF_RANGE
        if key in _CHOICES:
            fits = value[0] in _CHOICES[Key(key)] and not (key == Key.IMU_ON and value[0] and self._imu is None)
            return Code.DONE if fits else Code.OUT_OF_RANGE
        return Code.NOT_NOW if key in _FIXED and value != self.values[key] else Code.DONE


class LivoxDriverLink:
    """Answers for one device while the block lasts."""

    def __init__(self, state: LivoxState, at: str) -> None:
        self._state, self._at = state, at
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="tussock-livox", daemon=True)
        with ExitStack() as opening:
            self._discovery = opening.enter_context(_bound(at, DISCOVERY_PORT))
            self._commands = opening.enter_context(_bound(at, COMMAND_PORT))
            self._push = opening.enter_context(_bound(at, PUSH_PORT))
            self._heard = [self._discovery, self._commands]
            with suppress(OutputError):  # some systems give no socket of this address, and hear broadcasts at their own
                self._heard.append(opening.enter_context(_bound(_BROADCAST, DISCOVERY_PORT)))
            self._stack = opening.pop_all()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._stack.close()

    def _work(self) -> None:
        told, number = time.monotonic(), 0
        with selectors.DefaultSelector() as ready:
            for heard in self._heard:
                ready.register(heard, selectors.EVENT_READ)
            while not self._stop.is_set():
                for key, _ in ready.select(timeout=0.1):
                    assert isinstance(key.fileobj, socket.socket)
                    self._hear(key.fileobj)
                to = self._state.state_to()
                if to is not None and time.monotonic() - told >= _TOLD_EVERY:
                    told, number = time.monotonic(), number + 1
                    told_data = self._state.told_by_itself()
                    self._send(self._push, Command(CommandId.PUSH, number, told_data, from_device=True), to)

    def _hear(self, at: socket.socket) -> None:
        try:
            datagram, asker = at.recvfrom(2048)
        except OSError:
            return  # what the other side refused before
        asked = parse_command(datagram)
        if asked is None or asked.answer or asked.from_device:
            return
        discovery = at is not self._commands
        data = self._state.answer(asked, str(asker[0]), discovery=discovery)
        if data is not None:
            answered = Command(asked.id, asked.number, data, answer=True, from_device=True)
            self._send(self._discovery if discovery else self._commands, answered, asker)

    @staticmethod
    def _send(by: socket.socket, command: Command, to: tuple[str, int]) -> None:
        with suppress(OSError):  # a driver that is gone is no trouble of ours
            by.sendto(command.pack(), to)


def device_address(text: str) -> str:
    """An IPv4 address of this machine for a device."""
    try:
        return str(IPv4Address(text.strip()))
    except ValueError:
        raise InputError.of(
            "--livox", "must be an IPv4 address of this machine", text, "for example 127.0.0.2"
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        if host == _BROADCAST:  # Livox's own driver listens there too
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OutputError(f"{host}:{port}: cannot be listened at ({error.strerror})") from None
    return listening


def _host(host: str, port: int, from_port: int) -> bytes:
    return IPv4Address(host).packed + struct.pack("<HH", port, from_port)


def _address(value: bytes) -> tuple[str, int]:
    return str(IPv4Address(value[:4])), int.from_bytes(value[4:6], "little")
