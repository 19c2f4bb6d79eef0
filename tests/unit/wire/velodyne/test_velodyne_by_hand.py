"""Velodyne's other bytes worked out by hand: position packets, the table of an HDL-64E, limits of fields, pauses."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.families import PositionClock
from tussock.wire.nmea import angle_fields, sentence
from tussock.wire.packets import Packets
from tussock.wire.read_firings import read_firings
from tussock.wire.velodyne.calibration import bundled_calibration, catalogue_calibration
from tussock.wire.velodyne.decode import decode_packets
from tussock.wire.velodyne.encode import PacketEncoder, distance_steps, intensity_bytes
from tussock.wire.velodyne.layout import layout_of
from tussock.wire.velodyne.models import MODELS
from tussock.wire.velodyne.packet_stream import _interval, _running_most, _wrapped
from tussock.wire.velodyne.pauses import _inside, find_pauses, shorter_way
from tussock.wire.velodyne.position import GeoOrigin, gprmc, position_packets, position_period
from tussock.wire.velodyne.recognise import nearest_timing, timing_of, variants
from tussock.wire.velodyne.status64 import StatusStream, _crc16, calibration_table
from tussock.wire.velodyne.told_calibration import _checksum, is_catalogues, told_calibration


def test_metres_on_the_ellipsoid() -> None:
    """The radii of curvature of GRS 80: along the meridian a(1 − e²)/w³, across it a/w."""
    a, f = 6378137.0, 1 / 298.257222101
    for latitude in (0.0, 48.0, -33.5):
        phi = math.radians(latitude)
        w = math.sqrt(1 - (2 * f - f * f) * math.sin(phi) ** 2)
        found = GeoOrigin(latitude, 11.0, 100.0, -50.0).geographic(400.0, 150.0)
        assert found[0] == pytest.approx(latitude + math.degrees(200 * w**3 / a / (1 - f) ** 2), abs=1e-12)
        assert found[1] == pytest.approx(11 + math.degrees(300 * w / a / math.cos(phi)), abs=1e-12)
    assert GeoOrigin(0.0, 179.9999).geographic(100.0, 0.0)[1] == pytest.approx(-179.9992, abs=1e-4)
    assert GeoOrigin(0.0, -179.9999).geographic(-100.0, 0.0)[1] == pytest.approx(179.9992, abs=1e-4)


def test_origins_on_earth() -> None:
    assert GeoOrigin.parse("48.1,11.6") == GeoOrigin(48.1, 11.6, 0.0, 0.0)
    assert GeoOrigin.parse("1,2,3,4") == GeoOrigin(1, 2, 3, 4)
    for text in ("1", "1,2,3", "1,2,3,4,5", "a,b"):
        with pytest.raises(InputError, match="must be latitude,longitude"):
            GeoOrigin.parse(text)
    for given in ((89.0, 180.0), (-89.0, -180.0)):
        GeoOrigin(*given)
    for given in ((89.1, 0.0), (-89.1, 0.0), (0.0, 180.1), (0.0, -180.1), (math.nan, 0.0)):
        with pytest.raises(InputError, match="must be a latitude within"):
            GeoOrigin(*given)
    for x, y in ((math.inf, 0.0), (0.0, math.nan)):
        with pytest.raises(InputError, match="finite place"):
            GeoOrigin(x_m=x, y_m=y)
    assert GeoOrigin.near(60e3, 80e3) == GeoOrigin() and GeoOrigin.near(60.1e3, 80e3) == GeoOrigin(x_m=60.1e3, y_m=80e3)


def test_angles_are_degrees_and_minutes_with_letters() -> None:
    assert angle_fields(48.5, 11.25, decimals=5) == ["4830.00000", "N", "01115.00000", "E"]
    assert angle_fields(-0.5, -100.0, decimals=3) == ["0030.000", "S", "10000.000", "W"]
    assert angle_fields(0.0, 0.0, decimals=2) == ["0000.00", "N", "00000.00", "E"]
    assert angle_fields(12.9999999999, 0.0, decimals=4)[0] == "1300.0000", "never 60 minutes"
    # The example of NMEA's own documents.
    assert sentence(["GPGLL", "5300.97914", "N", "00259.98174", "E", "125926", "A"])[-5:] == b"*28\r\n"


def test_a_sentence_tells_the_last_full_second() -> None:
    """3 m/s east and 4 m/s north: 5 m/s are 9.7 knots, on a course of atan(3/4) = 36.9° from north."""
    epoch = datetime(2024, 2, 29, 23, 59, 57, 250_000, UTC).timestamp()
    path = Trajectory.through([0.0, 10.0], [Pose.at(0, 0, 0), Pose.at(30, 40, 0)])
    said = gprmc(4.0, path, epoch=epoch, origin=GeoOrigin(10.0, 20.0)).decode().split(",")
    # The last full second is 3.75 s into the run.
    place = GeoOrigin(10.0, 20.0).geographic(11.25, 15.0)
    assert said[:3] == ["$GPRMC", "000001", "A"] and said[3:7] == angle_fields(*place, decimals=5)
    assert said[7:11] == ["009.7", "036.9", "010324", "000.0"] and said[11].startswith("E*")
    still = gprmc(4.0, Trajectory.standing(Pose()), epoch=epoch, origin=GeoOrigin()).decode().split(",")
    assert still[7:9] == ["000.0", "000.0"]


def test_a_position_packet_byte_by_byte() -> None:
    """Stamp at 198, the lock at 202, the sentence at 206; zeros elsewhere."""
    epoch = 3600.0 * 470_000 + 3599.5
    path = Trajectory.standing(Pose())
    packets = position_packets(np.array([0.25, 0.75]), path, epoch=epoch)
    assert packets.shape == (2, 512)
    for packet, time, stamp in zip(packets, (0.25, 0.75), (3_599_750_000, 250_000), strict=True):
        spoken = gprmc(time, path, epoch=epoch, origin=GeoOrigin())
        wanted = bytes(198) + struct.pack("<I", stamp) + b"\x02\0\0\0" + spoken
        assert packet.tobytes() == wanted.ljust(512, b"\0")
    assert position_period(MODELS["vlp-16"], 1.0) == 1 / 143.5
    assert position_period(MODELS["hdl-32e"], 46.08e-6) == pytest.approx(14 * 12 * 46.08e-6)


def test_positions_are_told_on_a_clock_of_their_own() -> None:
    clock = PositionClock(0.25)

    def due(*times: float) -> list[float]:
        return clock.times(Packets(np.zeros((len(times), 1), np.uint8), np.array(times))).tolist()

    assert due() == [] and due(0.3, 0.74) == [0.5] and due(0.75, 1.3) == [0.75, 1.0, 1.25]
    assert due(1.31, 1.4) == [] and due(1.5) == [1.5] and due(1.5) == [] and due(9.9, 10.1) == [10.0]


def test_distances_and_intensities_at_their_limits() -> None:
    ranges = np.array([0.0, 0.00099, 0.00101, 131.07, 131.0709, 131.0712, np.nan, np.inf, 1e9], np.float32)
    assert distance_steps(ranges, 0.002).tolist() == [0, 0, 1, 65535, 65535, 0, 0, 0, 0]
    bright = np.array([0.0, 0.0049, 0.0051, 1.0, 2.549, 3.0, -1.0], np.float32)
    assert intensity_bytes(bright, 100.0).tolist() == [0, 0, 1, 100, 255, 255, 0]


@pytest.mark.parametrize(("start", "wanted"), [(0.004, 0), (0.006, 35999), (-0.004, 0), (-0.006, 1), (90.0, 27000)])
def test_an_azimuth_is_never_a_whole_turn(start: float, wanted: int) -> None:
    """0.01° a step, clockwise; what looks to the left at first has a large one."""
    sensor = load_sensor("hdl-32e").with_(**{"pattern.start_deg": start})
    raw = decode_packets(PacketEncoder(sensor).encode(made_frame(sensor, 0, share=0.001)).payloads)
    assert raw.azimuth[0, 0] == wanted and raw.azimuth.max() <= 35999


def test_packets_a_second_and_empty_blocks() -> None:
    """A VLS-128 in dual mode leaves four of twelve blocks empty: flag and azimuth are 0 there."""
    vls = load_sensor("vls-128").with_(**{"receiver.mode": "strongest+last"})
    encoder = PacketEncoder(vls)
    assert encoder.packets_per_second == pytest.approx(1 / float(vls.pattern.cycle))
    packet = encoder.encode(made_frame(vls, 0, returns="dual", share=0.001)).payloads[5]
    assert not packet[800:1200].any() and packet[700:702].tobytes() == b"\xff\xbb"


def test_checksums_of_the_table() -> None:
    """CRC-16 with the polynomial 0x8005 from 0, highest bit first, is known as UMTS: of 123456789 it is FEE8."""
    for of in (_crc16, _checksum):
        assert of(b"123456789") == 0xFEE8 and of(b"") == 0 and of(b"\x80") == 0x8303


@pytest.mark.parametrize("name", ["hdl-64e-s2", "hdl-64e-s3"])
def test_the_table_byte_by_byte(name: str) -> None:
    """Row 0, the record of a laser in the rows behind it, and the tail behind the last; lengths in mm, angles in 0.01°."""
    turns, up, left = [0.03 * k - 1 for k in range(64)], [0.001 * k for k in range(64)], [-0.001 * k for k in range(64)]
    changes = {"pattern.azimuth_deg": turns, "pattern.vertical_offset_m": up, "pattern.horizontal_offset_m": left}
    sensor = load_sensor(name).with_(**changes)
    table = calibration_table(sensor, "dual", is_s3=name.endswith("s3"))
    assert len(table) == 1820 and table[:7] == b"UNIT#\0\0"
    for j in (0, 1, 63):
        record = table[7 * (4 * j + 1) : 7 * (4 * j + 4)]
        told = struct.unpack("<BhhhhhhhhhBB", record)
        elevation = sensor.pattern.elevation_deg[j]
        assert told == (j, round(elevation * 100), round(turns[j] * 100), 0, 0, 0, j, -j, 0, 0, 0, 255)
        if j:
            assert table[7 * 4 * j : 7 * 4 * j + 7] == bytes(7)
    assert table[7 * 256 : 7 * 257] == bytes([25, 1, 1, 0, 0, 0, 40])
    tail = table[7 * 257 :]
    assert struct.unpack_from("<hHHH", tail) == (round(sensor.rotation_hz * 60), 0, 36000, 0)
    assert tail[8:16] == bytes([192, 168, 3, 43, 192, 168, 3, 255]) and tail[16:19] == bytes([2, 0, 0xA0])
    records = b"".join(table[7 * (4 * j + 1) + 1 : 7 * (4 * j + 4)] for j in range(64))
    assert tail[19:] == struct.pack("<H", _crc16(records) if name.endswith("s3") else 1820)
    assert [calibration_table(sensor, mode, is_s3=True)[-5] for mode in ("strongest", "last")] == [0, 1]


def factory_of(name: str, numbers: np.ndarray, mode: str = "strongest") -> np.ndarray:
    return StatusStream(load_sensor(name), mode).bytes(numbers, 1_700_000_000 + 0.0003 * numbers)


def test_clocks_and_kinds_of_the_status() -> None:
    """2023-11-14 22:13:20 UTC; each sixteenth packet begins a row, and W marks an S3's rows of warnings."""
    told = factory_of("hdl-64e-s3", np.arange(16 * 5))
    letters = [bytes(told[16 * row : 16 * row + 16, 0]).decode() for row in range(5)]
    assert letters == ["HMSDNYGTV1234567"] * 4 + ["HMSDNYGTVW234567"]
    assert told[:9, 1].tolist() == [22, 13, 20, 14, 11, 23, ord("A"), 30, 1]
    assert bytes(told[9:16, 1]) == b"UNIT#\0\0"
    later = StatusStream(load_sensor("hdl-64e-s2"), "last").bytes(np.arange(16 * 5), np.full(80, 951_782_399.9))
    assert later[:6, 1].tolist() == [23, 59, 59, 28, 2, 0], "the 28th of February 2000"
    assert bytes(later[64:80, 0]) == b"HMSDNYGTV1234567"
    again = factory_of("hdl-64e-s3", np.array([4160 + 9, 4159]))
    assert again[0].tolist() == [ord("1"), ord("U")]


@pytest.mark.parametrize(("name", "mode"), [("hdl-64e-s2", "last"), ("hdl-64e-s3", "dual")])
def test_what_the_status_tells_from_any_packet_on(name: str, mode: str) -> None:
    numbers = 1000 + np.arange(4160 + 16)
    factory = factory_of(name, numbers, mode)
    told = told_calibration(factory, numbers)
    assert told is not None and (told.model, told.mode) == (name, mode)
    wanted = catalogue_calibration(load_sensor(name))
    assert told.calibration.elevation == pytest.approx(wanted.elevation, abs=np.deg2rad(0.0051))
    assert told.calibration.azimuth == pytest.approx(wanted.azimuth, abs=np.deg2rad(0.0051))
    assert told.calibration.vertical_offset == pytest.approx(wanted.vertical_offset, abs=0.00051)
    assert told.calibration.horizontal_offset == pytest.approx(wanted.horizontal_offset, abs=0.00051)
    assert not told.calibration.distance.any() and not told.calibration.height.any()
    # Packets may be numbered from anywhere on.
    for first in (3, 11, 2**40 + 5):
        again = told_calibration(factory, numbers - numbers[0] + first)
        assert again is not None and (again.model, again.mode) == (name, mode)
        assert again.calibration.elevation.tolist() == told.calibration.elevation.tolist()
    # A byte that was lost, one that is wrong, a laser out of its place, letters that are others'.
    assert told_calibration(factory[:4100], numbers[:4100]) is None
    rows = np.flatnonzero(factory[:, 0] == ord("5"))
    wrong = factory.copy()
    wrong[rows[:5], 1] ^= 1
    assert (told_calibration(wrong, numbers) is None) or name.endswith("s2")
    odd = factory.copy()
    odd[::50, 0] = 0x37
    assert told_calibration(odd, numbers) is None
    none = factory.copy()
    none[none[:, 0] == ord("H"), 0] = 0
    assert told_calibration(none, numbers) is None
    kept = np.delete(np.arange(4176), [7, 1200])
    assert (told_calibration(factory[kept], numbers[kept]) is not None) == (
        told_calibration(factory, numbers) is not None
    )


def test_a_part_of_the_table_says_whose_it_is() -> None:
    """Three whole rows of lasers do, wherever they are; two do not."""
    sensor, other = load_sensor("hdl-64e-s3"), load_sensor("hdl-64e-s2")
    numbers = 16 * 101 + np.arange(16 * 3)
    factory = factory_of("hdl-64e-s3", numbers)
    assert is_catalogues(factory, numbers, sensor) and not is_catalogues(factory, numbers, other)
    assert not is_catalogues(factory[:32], numbers[:32], sensor)
    damaged = factory.copy()
    damaged[12, 1] ^= 64
    assert not is_catalogues(damaged, numbers, sensor)


VLP = layout_of(MODELS["vlp-16"], "strongest")
CYCLE, INTERVAL = 55.296, 24 * 55.296
STEP = 2 * CYCLE * 1e-6 * 10 * 36000
"""[0.01°] from block to block at 10 Hz"""


def turned(
    packets: int, start: float = 0.0, *, pause: tuple[int, int, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Azimuths and stamps of a VLP-16; before a block of a packet the head may go on for so many cycles unsaid."""
    block = np.arange(packets * 12, dtype=np.float64)
    if pause is not None:
        packet, at, cycles = pause
        block[packet * 12 + at :] += cycles / 2
    azimuth = (start + block * STEP).reshape(packets, 12) % 36000
    return np.floor(azimuth + 0.5) % 36000, np.rint(block[::12] * 2 * CYCLE).astype(np.int64)


@pytest.mark.parametrize("sense", [1, -1])
def test_whole_packets_follow_each_other(sense: int) -> None:
    azimuth, stamps = turned(40, 35_000.0)
    found = find_pauses((sense * azimuth) % 36000, stamps, VLP, INTERVAL)
    assert not found.late_us.any() and not found.missing.any() and found.follows.all()
    assert found.late_us.shape == (40, 24)


def test_packets_that_are_missing_leave_their_neighbours_whole() -> None:
    azimuth, stamps = turned(40)
    kept = np.delete(np.arange(40), [5, 20, 21])
    found = find_pauses(azimuth[kept], stamps[kept], VLP, INTERVAL)
    assert np.flatnonzero(found.missing).tolist() == [5, 19] and found.missing[[5, 19]].tolist() == [1, 2]
    assert np.flatnonzero(~found.follows).tolist() == [5, 19] and not found.late_us.any()


@pytest.mark.parametrize("at", [1, 6, 11])
def test_a_pause_within_a_packet_makes_what_follows_late(at: int) -> None:
    """Of 200 cycles before one of its blocks; the clock of the sensor tells how long it was."""
    azimuth, stamps = turned(40, pause=(7, at, 200.0))
    found = find_pauses(azimuth, stamps, VLP, INTERVAL)
    late = np.zeros((40, 24))
    late[7, 2 * at :] = 200 * CYCLE
    assert found.late_us == pytest.approx(late, abs=2.0)
    assert not found.missing.any() and found.follows.all()
    short, when = turned(40, pause=(7, at, 4.0))
    assert not find_pauses(short, when, VLP, INTERVAL).late_us.any(), "the head wanders by as much"
    long, when = turned(40, pause=(7, at, 6.0))
    assert find_pauses(long, when, VLP, INTERVAL).late_us[7, 23] == pytest.approx(6 * CYCLE, abs=2.0)


def test_a_gap_that_no_revolution_looks_into_is_a_pause() -> None:
    """Two revolutions of 340°, and 20° of which nobody ever sends; between packets both look like packets that are missing."""
    azimuth, stamps = turned(160)
    dark = (azimuth[:, 0] > 15_000) & (azimuth[:, 0] < 18_000)
    found = find_pauses(azimuth[~dark], stamps[~dark], VLP, INTERVAL)
    assert not found.missing.any() and (~found.follows).sum() == 2
    first = np.flatnonzero(dark)
    once = np.delete(np.arange(160), first[: len(first) // 2])
    lost = find_pauses(azimuth[once], stamps[once], VLP, INTERVAL)
    assert lost.missing.sum() == len(first) // 2


def test_the_shorter_way_around() -> None:
    angles = np.array([0.0, 17_999.0, 18_001.0, -17_999.0, -18_001.0, 36_000.0, 35_990.0])
    assert shorter_way(angles).tolist() == [0.0, 17_999.0, -17_999.0, -17_999.0, 17_999.0, 0.0, -10.0]
    hour = 3_600_000_000
    steps = np.array([0, 5, -5, hour - 5, 5 - hour, hour // 2 - 1, hour // 2 + 1])
    assert _wrapped(steps).tolist() == [0, 5, -5, -5, 5, hour // 2 - 1, -hour // 2 + 1]


def test_the_interval_is_that_of_packets_that_follow_each_other() -> None:
    even = np.cumsum([0, 100, 101, 99, 100, 300, 100, 0, 5000, 100])
    part = np.array([0] * 8 + [1] * 2)
    assert _interval(even, part) == pytest.approx((100 + 101 + 99 + 100 + 100 + 100) / 6)
    assert _interval(even[:2], part[:2]) == 0.0 and _interval(even[:3], part[:3]) == pytest.approx(100.5)
    assert _running_most(np.array([1, 3, 2, -9, -4, -5]), np.array([0, 0, 0, 1, 1, 1])).tolist() == [
        1,
        3,
        3,
        -9,
        -4,
        -4,
    ]


def test_revolutions_begin_where_the_recording_does(tmp_path: Path) -> None:
    """Of a head that turns ten times a second, of which three packets each half revolution were kept."""
    sensor = load_sensor("hdl-32e").with_(**{"pattern.start_deg": 123.0})
    encoder = PacketEncoder(sensor, epoch=0.0)
    sent = Packets.joined([encoder.encode(made_frame(sensor, number, share=0.002)) for number in range(3)])
    per_turn = 0.1 / (12 * 46.08e-6)
    kept = [int(half * per_turn / 2) + k for half in range(6) for k in range(2)]
    made = [Sent(sent.payloads[k].tobytes(), 10**15 + int(sent.times[k] * 1e9)) for k in kept]
    (tmp_path / "a.pcap").write_bytes(pcap(records_of(made), nano=True))
    found = read_firings(tmp_path / "a.pcap", say=lambda note: None)
    turns = found.turns.reshape(len(kept), 12 * 32)[:, 0]
    assert turns.tolist() == [int(k / per_turn) for k in kept]
    assert found.times == pytest.approx(
        10**6
        + np.concatenate(
            [
                sent.times[k]
                - 552.96e-6
                + 46.08e-6 * np.arange(12).repeat(32)
                + np.tile(sorted(sensor.pattern.firing_us), 12) * 1e-6
                for k in kept
            ]
        ),
        abs=3e-6,
    )


def test_frames_that_came_without_a_sensor_behind_them() -> None:
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 0)
    odd = replace(frame, meta=frame.meta | {"pulses": frame.pulses - 16})
    with pytest.raises(InputError, match="pulses instead of"):
        PacketEncoder(sensor).encode(odd)


def test_beams_start_from_where_they_meet_the_axis() -> None:
    """Their lines cross f before it: f·tan(−ε) above, to a tenth of a millimetre."""
    focals = {"vlp-16": 0.04191, "hdl-32e": 0.02883, "vlp-32c": 0.0424, "vls-128": 0.05863, "hdl-64e-s2": 0.0}
    for name, focal in focals.items():
        sensor = load_sensor(name)
        found = catalogue_calibration(sensor)
        rise = np.deg2rad(sensor.pattern.elevation_deg)
        assert found.height == pytest.approx(-focal * np.tan(rise), abs=0.51e-4) and found.elevation == pytest.approx(
            rise
        )
        assert found.height.tolist() == list(sensor.pattern.axis_height_m or np.zeros(len(rise)))
        assert found.rings.tolist() == np.argsort(np.argsort(rise, kind="stable"), kind="stable").tolist()
    level = load_sensor("hdl-32e").with_(**{"pattern.axis_height_m": []})
    assert not catalogue_calibration(level).height.any()


def test_the_sensor_whose_times_are_nearest() -> None:
    """From packet to packet: twelve cycles of 46.08 µs of an HDL-32E, of a VLP-16 twenty-four of 55.296 µs."""
    assert timing_of(load_sensor("hdl-32e"), "strongest") == pytest.approx(552.96)
    assert timing_of(load_sensor("vlp-16"), "strongest") == pytest.approx(1327.104)
    assert timing_of(load_sensor("vlp-16"), "dual") == pytest.approx(663.552)
    sensors = variants(MODELS["vls-128"])
    for sensor in sensors:
        found, apart = nearest_timing(sensors, "strongest", 1.001 * timing_of(sensor, "strongest"))
        assert found.name == sensor.name and apart == pytest.approx(0.001)
    two = [load_sensor("hdl-32e"), load_sensor("vlp-16")]
    assert (
        nearest_timing(two, "strongest", 560.0)[0].name == "hdl-32e"
        and nearest_timing(two, "strongest", 1300.0)[0].name == "vlp-16"
    )
    assert nearest_timing(two, "strongest", 560.0)[1] == pytest.approx(560 / 552.96 - 1)


@pytest.mark.parametrize(("cycles", "late"), [(1803.0, True), (1806.0, False)])
def test_a_leap_of_nearly_a_turn_is_a_pause_and_one_of_a_turn_is_none(cycles: float, late: bool) -> None:
    """A revolution has 1808.4 cycles; to within two blocks of it the head may have gone back."""
    azimuth, stamps = turned(40, pause=(7, 6, cycles))
    found = find_pauses(azimuth, stamps, VLP, INTERVAL)
    assert bool(found.late_us.any()) is late


def test_calibrations_of_other_units() -> None:
    """In metres and radians; what a file does not tell is 0, and near targets have the far correction where it is all there is."""
    pytest.importorskip("velodyne_decoder", reason="velodyne-decoder is not installed: pip install 'tussock[capture]'")
    for name, lasers in (("vlp-32a", 32), ("vlp-32b", 32), ("hdl-64e-s1", 64), ("hdl-64e-s2", 64), ("hdl-64e-s3", 64)):
        found = bundled_calibration(name)
        assert found.elevation.shape == found.distance.shape == (lasers,) and np.abs(
            found.elevation
        ).max() < np.deg2rad(31)
        assert sorted(found.rings.tolist()) == list(range(lasers))
        if name.startswith("vlp-32"):
            assert found.height == pytest.approx(-0.0424 * np.tan(found.elevation))
            assert not found.vertical_offset.any() and not found.horizontal_offset.any() and not found.distance.any()
            assert found.distance_x is found.distance_y is found.distance
        else:
            # That of the first series tells no offsets.
            up, left = np.abs(found.vertical_offset).max(), np.abs(found.horizontal_offset).max()
            assert (up, left) == (0.0, 0.0) if name.endswith("s1") else 0.05 < up < 0.3 and 0.0 < left < 0.1
            assert not found.height.any() and 0.1 < np.abs(found.distance).max() < 3.0
            assert np.abs(found.distance_x - found.distance).max() < 0.5


@pytest.mark.parametrize(("longer", "by_clock"), [(0.0, True), (8.0, True), (-8.0, True), (12.0, False)])
def test_the_sensors_clock_knows_best_how_long_a_pause_was(longer: float, by_clock: bool) -> None:
    """Of 200 cycles by the azimuths; to a twentieth of it the stamps are believed, and more of it is a packet that is missing."""
    azimuth, stamps = turned(40, pause=(7, 6, 200.0))
    stamps[8:] += round(longer * CYCLE)
    found = find_pauses(azimuth, stamps, VLP, INTERVAL)
    assert found.late_us[7, 12] == pytest.approx((200 + (longer if by_clock else 0)) * CYCLE, abs=1.5)
    assert found.late_us[7, 11] == 0 and np.count_nonzero(found.late_us) == 12


def test_one_packet_is_taken_apart_too() -> None:
    sensor = load_sensor("hdl-32e")
    packets = PacketEncoder(sensor).encode(made_frame(sensor, 0, share=0.01)).payloads
    one, all_of_it = decode_packets(packets[:1]), decode_packets(packets)
    assert one.model.name == "hdl-32e" and one.mode == "strongest" and one.stamp.tolist() == [0]
    assert one.distance.tolist() == all_of_it.distance[:1].tolist()
    other = packets[:2].copy()
    other[1, 1205] ^= 1
    with pytest.raises(InputError, match="must name their model"):
        decode_packets(other)


def test_a_head_that_turns_slowly_wanders_by_two_steps_of_the_wire_at_most() -> None:
    """What is more than 0.02° a cycle off the usual step is not of it: one step a cycle here, 3.4 in two of eleven blocks."""
    steps = np.full((6, 11), 2.0)
    steps[:, [2, 5]] = 6.8
    steps[3, 8] = 2.0 + 100.0
    azimuth = np.concatenate([np.zeros((6, 1)), np.cumsum(steps, axis=1)], axis=1)
    late = _inside(azimuth, np.arange(0, 24, 2), 50.0)
    wanted = np.zeros((6, 12))
    wanted[3, 9:] = 100 * 50.0
    assert late.tolist() == wanted.tolist()
