"""Commands of Livox's drivers: what is granted, what is refused and by which code, and what is not heard at all."""

from __future__ import annotations

import socket
import struct

import pytest

from tussock.cli.outlets import livox_links, outlets_of
from tussock.errors import InputError, OutputError
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor
from tussock.wire.addresses import Endpoint
from tussock.wire.livox.commands import Command, CommandId, Key, pack_values, parse_command, unpack_keys, unpack_values
from tussock.wire.livox.driver import LivoxDriverLink, LivoxState, device_address

AT = "127.0.0.62"
POINTS, IMU = Endpoint.parse("127.0.0.1:56301"), Endpoint.parse("127.0.0.1:56401")


def device(imu: Endpoint | None = IMU) -> LivoxState:
    return LivoxState(AT, POINTS, imu, point_type=1, serial="TUSSOCK0000000")


def set_to(state: LivoxState, values: dict[int, bytes], asker: str = "127.0.0.1") -> tuple[int, int]:
    data = struct.pack("<HH", len(values), 0) + pack_values(values)
    answer = state.answer(Command(CommandId.SET, 1, data), asker, discovery=False)
    assert answer is not None
    return struct.unpack("<BH", answer)


def host(address: str, port: int) -> bytes:
    return socket.inet_aton(address) + struct.pack("<HH", port, 1234)


def test_a_frame_byte_by_byte() -> None:
    """The manual's own layout; the checksum of the header by the polynomial, not by our function."""
    frame = Command(CommandId.SEARCH, 7).pack()
    assert frame[:18].hex() == "aa001800" + "07000000" + "0000" + "00" + "00" + "00" * 6
    crc = 0xFFFF
    for bit in (byte >> shift & 1 for byte in frame[:18] for shift in range(7, -1, -1)):
        crc = (crc << 1 ^ (0x1021 if crc >> 15 ^ bit else 0)) & 0xFFFF
    assert frame[18:] == struct.pack("<HI", crc, 0)
    answer = Command(0x0101, 2**32 - 1, b"abc", answer=True, from_device=True)
    assert parse_command(answer.pack()) == answer


def test_what_is_damaged_is_not_heard() -> None:
    frame = Command(CommandId.ASK, 3, struct.pack("<HHH", 1, 0, Key.SERIAL)).pack()
    assert parse_command(frame) is not None
    for place in range(len(frame)):
        for bit in range(8):
            damaged = bytearray(frame)
            damaged[place] ^= 1 << bit
            assert parse_command(bytes(damaged)) is None
    assert parse_command(frame[:-1]) is None and parse_command(frame + b"\0") is None
    assert parse_command(b"") is None and parse_command(bytes(2000)) is None


@pytest.mark.parametrize(
    "data", [b"", b"\1", b"\1\0\0\0", b"\1\0\0\0\0\0\1", b"\1\0\0\0\0\0\2\0a", b"\0\0\0\0\0\0\0\0"]
)
def test_lists_that_contradict_their_count(data: bytes) -> None:
    assert unpack_values(data) is None
    state = device()
    answer = state.answer(Command(CommandId.SET, 1, data), "127.0.0.1", discovery=False)
    assert answer == b"\x24\0\0"
    assert unpack_keys(b"\2\0\0\0\0\0") is None and unpack_keys(b"\0\0\0") is None


def test_where_packets_go() -> None:
    state = device()
    assert state.route(POINTS) is not None and state.state_to() is None
    hosts = {
        Key.STATE_HOST: host("10.0.0.9", 1),
        Key.POINT_HOST: host("10.0.0.9", 2),
        Key.IMU_HOST: host("10.0.0.9", 3),
    }
    # To a third one nothing is sent, whoever asks for it.
    assert set_to(state, hosts) == (0x03, Key.STATE_HOST)
    assert state.state_to() is None
    assert set_to(state, hosts, asker="10.0.0.9") == (0, 0)
    points, imu = state.route(POINTS), state.route(IMU)
    assert points is not None and imu is not None and state.state_to() == ("10.0.0.9", 1)
    assert (points.address, points.source, points.source_port) == (("10.0.0.9", 2), AT, 56300)
    assert (imu.address, imu.source, imu.source_port) == (("10.0.0.9", 3), AT, 56400)
    # Back to where the stream went at first, which anybody may ask for.
    assert set_to(state, {Key.POINT_HOST: host("127.0.0.1", 9)}, asker="10.0.0.7") == (0, 0)
    assert set_to(state, {Key.POINT_HOST: host("127.0.0.1", 0)}) == (0x03, Key.POINT_HOST)
    assert set_to(state, {Key.IMU_ON: b"\0"}) == (0, 0)
    assert state.route(IMU) is None and state.route(POINTS) is not None
    assert set_to(state, {Key.WORK_MODE: b"\2"}) == (0, 0)
    assert state.route(POINTS) is None
    other = Endpoint.parse("127.0.0.1:1")
    assert device().route(other) is other


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({Key.POINT_TYPE: b"\1"}, 0), ({Key.POINT_TYPE: b"\2"}, 0x02), ({Key.PATTERN: b"\1"}, 0x02),
        ({Key.DETECTION: b"\1"}, 0x02), ({Key.VIEW_ON: b"\1"}, 0x02), ({Key.ADDRESS: bytes(12)}, 0x02),
        ({Key.WORK_MODE: b"\x08"}, 0x03), ({Key.IMU_ON: b"\2"}, 0x03), ({Key.ATTITUDE: bytes(23)}, 0x23),
        ({Key.ATTITUDE: b"a" * 24}, 0), ({Key.SERIAL: bytes(16)}, 0x22), ({Key.TIME: bytes(8)}, 0x22),
        ({0x0013: bytes(4)}, 0x20), ({Key.POINT_HOST: bytes(7)}, 0x23),
    ],
)  # fmt: skip
def test_codes(values: dict[int, bytes], code: int) -> None:
    state = device()
    before = dict(state.values)
    assert set_to(state, values) == (code, 0 if code == 0 else next(iter(values)))
    if code:
        assert state.values == before


def test_all_or_nothing() -> None:
    state = device()
    assert set_to(state, {Key.WORK_MODE: b"\2", Key.PATTERN: b"\1"}) == (0x02, Key.PATTERN)
    assert state.values[Key.WORK_MODE] == b"\1"


def test_a_device_without_inertial_readings() -> None:
    state = device(None)
    assert set_to(state, {Key.IMU_ON: b"\1"}) == (0x03, Key.IMU_ON)
    assert set_to(state, {Key.IMU_HOST: host("10.0.0.9", 3)}) == (0, 0)


def test_questions() -> None:
    state = device()
    keys = [Key.FIRMWARE_KIND, Key.SERIAL]
    data = struct.pack("<HHHH", 2, 0, *keys)
    answer = state.answer(Command(CommandId.ASK, 1, data), "127.0.0.1", discovery=False)
    assert answer == b"\0\2\0" + pack_values({key: state.values[key] for key in keys})
    unknown = struct.pack("<HHH", 1, 0, 0x7777)
    assert state.answer(Command(CommandId.ASK, 1, unknown), "", discovery=False) == b"\x20\0\0"
    assert state.answer(Command(0x0200, 1), "", discovery=False) == b"\x02"
    assert state.answer(Command(CommandId.ASK, 1, data), "", discovery=True) is None


def test_over_the_network() -> None:
    try:
        link = LivoxDriverLink(device(), AT)
    except OutputError as error:
        pytest.skip(f"{error}: run it on Linux, where 127.0.0.0/8 is local, and nobody else listens")
    with link, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        client.settimeout(5)
        client.sendto(b"nonsense", (AT, 56000))
        client.sendto(Command(CommandId.SEARCH, 5).pack(), (AT, 56000))
        answer, source = client.recvfrom(2048)
        told = parse_command(answer)
        assert (
            source == (AT, 56000)
            and told is not None
            and (told.number, told.answer, told.from_device) == (5, True, True)
        )
        assert told.data == b"\0\x09" + b"TUSSOCK0000000\0\0" + socket.inet_aton(AT) + struct.pack("<H", 56100)
        with pytest.raises(OutputError, match="56000: cannot be listened at"):
            LivoxDriverLink(device(), AT)


def test_what_cannot_answer() -> None:
    for text in ("localhost", "::1", "127.0.0.1:5", ""):
        with pytest.raises(InputError, match="--livox: must be an IPv4 address"):
            device_address(text)
    sensor = load_sensor("livox-avia")
    outlets = outlets_of([sensor], [Pose()], ["127.0.0.1:60001"], [], [], None)
    with pytest.raises(InputError, match="livox-avia is no Livox of the second SDK"):
        livox_links(outlets, [AT])
    outlets = outlets_of([load_sensor("livox-mid-360")], [Pose()], ["[::1]:60001"], [], [], None)
    with pytest.raises(InputError, match="must be an IPv4 address where --livox is given"):
        livox_links(outlets, [AT])
    outlets = outlets_of([load_sensor("livox-mid-360")], [Pose()], ["127.0.0.1:60001"], [], [], None)
    assert len(livox_links(outlets, [AT])) == 1 and outlets[0].route is not None
    assert livox_links(outlets, [None]) == []
