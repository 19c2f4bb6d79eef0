"""A simulated Mid-360's parameters byte by byte, and what it tells by itself, by a clock that only the test moves."""

from __future__ import annotations

import socket
import struct
import time
from types import SimpleNamespace

import pytest

from tussock.errors import OutputError
from tussock.wire.addresses import Endpoint
from tussock.wire.livox import driver
from tussock.wire.livox.commands import Command, CommandId, parse_command, unpack_values
from tussock.wire.livox.driver import LivoxDriverLink, LivoxState

AT = "127.0.0.3"


def device(*, imu: bool = True, serial: str = "TUSSOCK0000000") -> LivoxState:
    felt = Endpoint.parse("127.0.0.1:56402") if imu else None
    return LivoxState(AT, Endpoint.parse("127.0.0.1:56302"), felt, point_type=3, serial=serial)


FIXED = {
    0x0000: b"\x03",  # the type of its points
    0x0001: b"\0",
    0x0004: bytes([127, 0, 0, 3, 255, 255, 255, 0, 127, 0, 0, 1]),  # address, mask, gateway
    0x0005: bytes(8),
    0x0006: bytes([127, 0, 0, 1]) + struct.pack("<HH", 56302, 56300),
    0x0007: bytes([127, 0, 0, 1]) + struct.pack("<HH", 56402, 56400),
    0x0012: bytes(24),
    0x0015: bytes(20),
    0x0016: bytes(20),
    0x0017: b"\0",
    0x0018: b"\0",
    0x0019: bytes(4),
    0x001A: b"\x01",  # it samples
    0x001C: b"\x01",
    0x8000: b"TUSSOCK0000000\0\0",
    0x8001: b"Mid-360 simulated".ljust(64, b"\0"),
    0x8002: bytes([13, 18, 2, 39]),
    0x8003: bytes(4),
    0x8004: bytes(4),
    0x8005: bytes([2, 0, 127, 0, 0, 3]),
    0x8006: b"\x01",
    0x8007: struct.pack("<i", 4000),  # 40 °C in hundredths
    0x8008: struct.pack("<I", 1),
    0x800B: bytes(8),
    0x800C: b"\x01",  # by PTP
    0x800E: bytes(2),
    0x8010: b"\x01",
    0x8011: bytes(32),
}
"""by key, as the protocol of the Mid-360 lists them; those of the time, 0x8009 and 0x800A, change"""


def test_every_parameter_byte_by_byte() -> None:
    before = time.time_ns()
    told = unpack_values(device().told_by_itself())
    assert told is not None
    values = dict(told)
    assert [key for key, _ in told] == sorted([*FIXED, 0x8009, 0x800A])
    assert {key: values[key] for key in FIXED} == FIXED
    (now,), (sync,) = (struct.unpack("<Q", values[key]) for key in (0x8009, 0x800A))
    assert before <= now == sync <= time.time_ns()
    blind = dict(unpack_values(device(imu=False).told_by_itself()) or [])
    assert blind[0x001C] == b"\0" and blind[0x0007] == bytes(8)
    assert device(serial="a much longer serial number").serial == b"a much longer s\0"


def test_the_state_follows_the_mode_of_work() -> None:
    """Sampling, idle and ready are 1, 2 and 9."""
    state = device()
    for mode in (2, 9, 1):
        data = struct.pack("<HHHH", 1, 0, 0x001A, 1) + bytes([mode])
        assert state.answer(Command(CommandId.SET, 1, data), "127.0.0.1", discovery=False) == bytes(3)
        assert dict(unpack_values(state.told_by_itself()) or [])[0x8006] == bytes([mode])
        assert (state.route(Endpoint.parse("127.0.0.1:56302")) is None) == (mode != 1)


def test_own_ports_stay_whatever_is_asked() -> None:
    state = device()
    asked = bytes([127, 0, 0, 1]) + struct.pack("<HH", 7, 9)
    data = struct.pack("<HH", 3, 0) + b"".join(struct.pack("<HH", key, 8) + asked for key in (5, 6, 7))
    assert state.answer(Command(CommandId.SET, 1, data), "10.0.0.1", discovery=False) == bytes(3)
    ports = {key: struct.unpack("<HH", state.values[key][4:]) for key in (5, 6, 7)}
    assert ports == {5: (7, 56200), 6: (7, 56300), 7: (7, 56400)} and state.state_to() == ("127.0.0.1", 7)


def test_its_state_is_told_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the device's port 56200, counted, as soon as a driver said where to; what is no question is not answered."""
    clock = SimpleNamespace(now=50.0, monotonic=lambda: clock.now, time_ns=time.time_ns)
    monkeypatch.setattr(driver, "time", clock)
    state = device()
    try:
        link = LivoxDriverLink(state, AT)
    except OutputError as error:
        pytest.skip(f"{error}: run it on Linux, where 127.0.0.0/8 is local, and nobody else listens")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(5.0)
        own = listening.getsockname()[1]
        with link:
            answered = Command(CommandId.ASK, 3, struct.pack("<HH", 0, 0), answer=True).pack()
            from_device = Command(CommandId.ASK, 4, struct.pack("<HH", 0, 0), from_device=True).pack()
            asked = Command(CommandId.ASK, 5, struct.pack("<HHH", 1, 0, 0x8010)).pack()
            for datagram in (answered, from_device, b"nonsense", asked):
                listening.sendto(datagram, (AT, 56100))
            answer, source = listening.recvfrom(2048)
            told = parse_command(answer)
            assert source == (AT, 56100) and told == Command(
                CommandId.ASK, 5, b"\0\1\0" + struct.pack("<HHB", 0x8010, 1, 1), True, True
            )
            clock.now += 30.0  # nobody has said where to
            data = struct.pack("<HHHH", 1, 0, 5, 8) + bytes([127, 0, 0, 1]) + struct.pack("<HH", own, 0)
            listening.sendto(Command(CommandId.SET, 6, data).pack(), (AT, 56100))
            said = [parse_command(listening.recvfrom(4096)[0]) for _ in range(2)]
            assert [one.id for one in said if one is not None] == [CommandId.SET, CommandId.PUSH]
            assert said[1] is not None and (said[1].number, said[1].answer, said[1].from_device) == (1, False, True)
            assert {key for key, _ in unpack_values(said[1].data) or []} == {*FIXED, 0x8009, 0x800A}
            clock.now += 0.99
            listening.settimeout(0.35)
            with pytest.raises(TimeoutError):
                listening.recvfrom(4096)
            clock.now += 0.02
            listening.settimeout(5.0)
            again, source = listening.recvfrom(4096)
            told = parse_command(again)
            assert source == (AT, 56200) and told is not None and (told.id, told.number) == (CommandId.PUSH, 2)
