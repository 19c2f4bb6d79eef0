"""Ouster's packets bit by bit: every field of every profile where the manual has it, headers, and the manual's equations."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.imu import GRAVITY
from tussock.sensors.ouster_unit import OusterUnit, parse_unit
from tussock.wire.ouster.decode import _unwrapped, beam_table, decode_imu, decode_scans, packet_size
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.firings import firings_of_scans
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import profile_of, unit_of
from tussock.wire.ouster.profiles import PROFILES

RANGE19, RANGE15 = ("RANGE", 0, 19, 1), ("RANGE", 0, 15, 8)
LOW = [RANGE15, ("FLAGS", 15, 1, 1), ("REFLECTIVITY", 16, 8, 1)]
LOW_TWO = [
    *LOW, ("NEAR_IR", 24, 8, 16), ("RANGE2", 32, 15, 8), ("FLAGS2", 47, 1, 1), ("REFLECTIVITY2", 48, 8, 1), ("WINDOW", 56, 8, 1),
]  # fmt: skip
TWO = [
    RANGE19, ("FLAGS", 19, 5, 1), ("REFLECTIVITY", 24, 8, 1), ("RANGE2", 32, 19, 1), ("FLAGS2", 51, 5, 1),
    ("REFLECTIVITY2", 56, 8, 1), ("SIGNAL", 64, 16, 1), ("SIGNAL2", 80, 16, 1),
]  # fmt: skip
BRIGHT = [("REFLECTIVITY", 32, 8, 1), ("SIGNAL", 48, 16, 1), ("NEAR_IR", 64, 16, 1)]
PIXELS: dict[str, tuple[int, list[tuple[str, int, int, int]]]] = {
    "LEGACY": (96, [("RANGE", 0, 20, 1), ("FLAGS", 28, 4, 1), *BRIGHT]),
    "RNG19_RFL8_SIG16_NIR16": (96, [RANGE19, ("FLAGS", 19, 5, 1), *BRIGHT, ("WINDOW", 88, 8, 1)]),
    "RNG19_RFL8_SIG16_NIR16_DUAL": (128, [*TWO, ("NEAR_IR", 96, 16, 1), ("WINDOW", 120, 8, 1)]),
    "RNG15_RFL8_NIR8": (32, [*LOW, ("NEAR_IR", 24, 8, 16)]),
    "RNG15_RFL8_NIR8_DUAL": (64, LOW_TWO),
    "FUSA_RNG15_RFL8_NIR8_DUAL": (64, LOW_TWO),
    "RNG15_RFL8_WIN8": (32, [*LOW, ("WINDOW", 24, 8, 1)]),
    "RNG15_RFL8_NIR8_ZONE16": (64, [*LOW, ("NEAR_IR", 24, 8, 16), ("ZONE_MASK", 32, 16, 1), ("WINDOW", 48, 8, 1)]),
    "RNG19_RFL8_SIG16_NIR16_ZONE16": (
        96, [RANGE19, ("FLAGS", 19, 5, 1), *BRIGHT, ("WINDOW", 40, 8, 1), ("ZONE_MASK", 80, 16, 1)],
    ),
    "RNG19_RFL8_SIG16_ZONE16_DUAL": (128, [*TWO, ("ZONE_MASK", 96, 16, 1), ("WINDOW", 120, 8, 1)]),
}  # fmt: skip
"""bits of a pixel, and of each field the first bit, how many, and what one counts for"""


def small(profile: str, **changes: object) -> OusterUnit:
    """A unit of three lasers and four columns of two a packet."""
    unit = unit_of(load_sensor("os1-32"))
    header = "FUSA" if profile.startswith("FUSA") else "STANDARD"
    few = {"altitude_deg": (20.0, 0.5, -18.0), "azimuth_deg": (3.0, 0.0, -2.5), "shift": (0, 0, 0)}
    shape = {"columns": 4, "columns_per_packet": 2, "window": (0, 3), "rate_hz": 10.0}
    return replace(unit, profile=profile, header=header, **(few | shape | changes))


def packet(unit: OusterUnit, frame: int, columns: list[tuple[int, int, int]], pixels: bytes) -> bytes:
    """A packet from the manual's tables; a column is its time, its measurement and its status."""
    legacy, size = unit.profile == "LEGACY", PIXELS[unit.profile][0] // 8 * unit.lasers
    body = b""
    for k, (stamp, measurement, status) in enumerate(columns):
        own = pixels[k * size : (k + 1) * size]
        if legacy:
            body += (
                struct.pack("<QHHI", stamp, measurement, frame, measurement * 22528) + own + struct.pack("<I", status)
            )
        else:
            body += struct.pack("<QHH", stamp, measurement, status) + own
    if legacy:
        return body
    serial = (123).to_bytes(5, "little")
    if unit.header == "FUSA":
        head = struct.pack("<B3sIB2x", 1, b"\1\0\0", frame, 0) + serial
    else:
        head = struct.pack("<HH3s", 1, frame, b"\1\0\0") + serial
    return head.ljust(32, b"\0") + body + bytes(32)


@pytest.mark.parametrize("profile", PIXELS)
def test_every_field_lies_where_the_manual_has_it(profile: str) -> None:
    """A packet of random bits; what no field is of is passed over, and a bad column is zeros."""
    unit = small(profile)
    bits, fields = PIXELS[profile]
    assert set(PIXELS) == set(PROFILES) and {name for name, *_ in fields} == {f.name for f in PROFILES[profile].fields}
    rng = np.random.default_rng(5)
    pixels = rng.integers(0, 256, 2 * 3 * bits // 8, np.uint8).tobytes()
    good = 0xFFFFFFFF if profile == "LEGACY" else 1
    stamps = [0x0102030405060708, 7]
    made = packet(unit, 0x1234, [(stamps[0], 3, good), (stamps[1], 1, good)], pixels)
    assert len(made) == packet_size(unit)
    (scan,) = decode_scans(np.frombuffer(made, np.uint8)[None], unit)
    assert scan.number == 0x1234 and scan.packets == 1 and scan.missing == 2
    assert scan.timestamp.tolist() == [0, 7, 0, stamps[0]] and scan.status.tolist() == [0, good, 0, good]
    for name, first, count, step in fields:
        for k, column in enumerate((3, 1)):
            for laser in range(3):
                at = (k * 3 + laser) * bits // 8
                word = int.from_bytes(pixels[at : at + bits // 8], "little")
                wanted = (word >> first & (1 << count) - 1) * step
                assert int(scan.fields[name][laser, column]) == wanted, (name, column, laser)
        assert not scan.fields[name][:, [0, 2]].any()
    bad = packet(unit, 9, [(1, 3, 0), (2, 65535, 0)], pixels)
    (none,) = decode_scans(np.frombuffer(bad, np.uint8)[None], unit)
    assert none.missing == 4 and not any(field.any() for field in none.fields.values())
    beyond = packet(unit, 9, [(1, 3, good), (2, 4, good)], pixels)
    with pytest.raises(InputError, match="packet 0: measurement: must be below the mode's 4, got 4"):
        decode_scans(np.frombuffer(beyond, np.uint8)[None], unit)


def test_a_revolution_may_have_one_packet() -> None:
    """As the first, between others, and as the last; numbers go on where 16 bits begin again."""
    unit = small("RNG15_RFL8_NIR8")
    pixels = bytes(range(24))
    numbers = [65535, 0, 0, 1, 1, 3]
    rows = [packet(unit, n, [(k, 2 * (k % 2), 1), (k, 2 * (k % 2) + 1, 1)], pixels) for k, n in enumerate(numbers)]
    scans = decode_scans(np.array([list(row) for row in rows], np.uint8), unit)
    assert [(scan.number, scan.packets, scan.missing) for scan in scans] == [
        (65535, 1, 2), (65536, 2, 0), (65537, 2, 0), (65539, 1, 2),
    ]  # fmt: skip
    assert _unwrapped(np.array([5, 6, 4, 65535, 0], np.uint16)).tolist() == [5, 6, 4, -1, 0]
    assert _unwrapped(np.array([0, 32767, 65534], np.uint16)).tolist() == [0, 32767, 65534]


@pytest.mark.parametrize(("window", "missing"), [((0, 3), 2), ((1, 2), 0), ((3, 0), 0), ((2, 2), -1)])
def test_columns_of_the_azimuth_window_are_those_that_can_be_missing(window: tuple[int, int], missing: int) -> None:
    unit = small("RNG15_RFL8_NIR8", window=window)
    made = packet(unit, 0, [(1, 0, 1), (2, 3, 1)], bytes(24))
    (scan,) = decode_scans(np.frombuffer(made, np.uint8)[None], unit)
    assert scan.missing == missing


def test_points_by_the_equations_of_the_manual() -> None:
    """θe = 2π(1 − m/M), θa and φ of the beam; then to the sensor's frame, half a turn about z and up."""
    unit = small("RNG19_RFL8_SIG16_NIR16", axis_mm=15.8, beam_to_lidar=(15.8, 3.0), height_mm=36.18)
    made = bytearray(packet(unit, 0, [(1, 1, 1), (2, 3, 1)], bytes(72)))
    for k in range(6):
        at = 32 + (k // 3) * (12 + 36) + 12 + (k % 3) * 12
        made[at : at + 3] = (5000 + k * 1000 if k != 4 else 0).to_bytes(3, "little")
    (scan,) = decode_scans(np.frombuffer(bytes(made), np.uint8)[None], unit)
    found = scan.xyz()
    directions, origins = beam_table(unit)
    for k in range(6):
        laser, column = k % 3, (1, 3)[k // 3]
        encoder = 2 * math.pi * (1 - column / 4)
        azimuth, altitude = -math.radians(unit.azimuth_deg[laser]), math.radians(unit.altitude_deg[laser])
        reach = (5000 + k * 1000) / 1000 - 0.0158
        x = reach * math.cos(encoder + azimuth) * math.cos(altitude) + 0.0158 * math.cos(encoder)
        y = reach * math.sin(encoder + azimuth) * math.cos(altitude) + 0.0158 * math.sin(encoder)
        z = reach * math.sin(altitude) + 0.003
        wanted = [0.0, 0.0, 0.0] if k == 4 else [-x, -y, z + 0.03618]
        assert found[laser, column] == pytest.approx(wanted, abs=1e-12)
    assert np.linalg.norm(directions, axis=-1) == pytest.approx(np.ones((3, 4)))
    assert origins[:, :, 2] == pytest.approx(0.03918)
    fired = firings_of_scans([scan, replace(scan, number=2)], offset_ns=5)
    assert fired.turns.tolist() == [0] * 6 + [2] * 6 and fired.times[:6] == pytest.approx(
        [6e-9] * 3 + [7e-9] * 3, abs=1e-15
    )
    assert fired.rings.tolist() == [2, 1, 0] * 4 and fired.lasers.tolist() == [0, 1, 2] * 4
    assert fired.ranges[:6, 0] == pytest.approx([4.9842, 5.9842, 6.9842, 7.9842, np.nan, 9.9842], nan_ok=True)
    points = fired.origins + fired.directions * fired.ranges
    assert points[3] == pytest.approx(found[0, 3]) and fired.azimuths[0] == pytest.approx(
        math.atan2(directions[0, 1, 1], directions[0, 1, 0])
    )


@pytest.mark.parametrize(
    ("packets", "step", "most"), [("ouster-rng19", 1, 65535), ("ouster-legacy", 1, 65535), ("ouster-rng15", 16, 255)]
)
def test_sunlight_and_ranges_at_the_limits_of_their_fields(packets: str, step: int, most: int) -> None:
    """4000 photons of a white wall in the sun; where nothing returned there is sunlight, too."""
    sensor = load_sensor("os1-32").with_(packets=packets, **{"pattern.steps": 512})
    encoder, frame = OusterEncoder(sensor), made_frame(sensor, 0, share=1.0).select(slice(0, 8))
    near = np.array([0.0, 0.5, 1.0, 0.01, 100.0, np.nan, 0.0041, 0.3], np.float32)
    limit = {"ouster-rng19": 0x7FFFF, "ouster-legacy": 0xFFFFF, "ouster-rng15": 0x7FFF * 8}[packets]
    axis = encoder.unit.axis_mm
    reach = (np.array([limit - axis, limit - axis + 16, 1000, 2000, 3000, 4000, -axis + 0.1, 5]) / 1000).astype(
        np.float32
    )
    kind = frame.return_kind.copy()
    kind[7] = 0
    scan = decode_scans(
        encoder.encode(replace(frame, near_infrared=near, range=reach, return_kind=kind))["data"].payloads, encoder.unit
    )[0]
    wanted = [
        min(int(light * 4000 + 0.5) // step, most) * step if light > 0 else 0 for light in np.nan_to_num(near).tolist()
    ]
    assert scan.fields["NEAR_IR"].T.ravel()[:8].tolist() == wanted
    found = scan.fields["RANGE"].T.ravel()[:8]
    assert found[0] == pytest.approx(limit, abs=8) and found[1] == found[6] == found[7] == 0
    assert found[2:6] == pytest.approx(np.array([1000, 2000, 3000, 4000]) + axis, abs=4.1)


def test_inertial_packets_byte_by_byte() -> None:
    """Three clocks [ns], acceleration [g], turn rate [deg/s]."""
    sensor = load_sensor("os0-128").with_(**{"imu.accelerometer_noise": 0.0, "imu.gyroscope_noise": 0.0})
    encoder = OusterEncoder(sensor, epoch=1_700_000_000.5)
    path = Trajectory.through([0.0, 10.0], [Pose.at(0, 0, 0), Pose.at(0, 0, 0, yaw=math.radians(150.0))])
    frame = replace(made_frame(sensor, 2, share=0.001), trajectory=path)
    sent = encoder.encode(frame)["imu"]
    assert len(sent) == 10 and sent.times == pytest.approx(0.2 + np.arange(10) / 100)
    for payload, time in zip(sent.payloads, sent.times, strict=True):
        told = struct.unpack("<QQQ6f", payload.tobytes())
        assert told[0] == told[1] == told[2] == 1_700_000_000_500_000_000 + round(time * 1e9)
        assert told[5] == pytest.approx(1.0, abs=1e-3) and told[6:] == pytest.approx((0, 0, 15.0), abs=1e-3)
    hours = encoder.encode(made_frame(sensor, 36_000, share=0.001))["imu"].payloads
    assert hours[:2, :8].copy().view("<u8")[:, 0].tolist() == [1_700_003_600_500_000_000, 1_700_003_600_510_000_000]
    readings = decode_imu(sent.payloads, epoch=1_700_000_000.5)
    assert readings.time == pytest.approx(sent.times, abs=1e-9)
    assert readings.rate[:, 2] == pytest.approx(math.radians(15.0), abs=1e-4)
    assert readings.force[:, 2] == pytest.approx(GRAVITY, abs=1e-2)


def test_what_a_unit_tells_of_itself_is_what_it_is() -> None:
    for name, packets, steps, rate in (
        ("os1-32", "ouster-legacy", 512, 20.0), ("os2-128", "ouster-rng15", 2048, 10.0), ("os0-128", "ouster-rng19", 1024, 10.0),
    ):  # fmt: skip
        sensor = load_sensor(name).with_(packets=packets, **{"pattern.steps": steps, "rotation_hz": rate})
        unit = unit_of(sensor, serial=77)
        told = metadata(replace(unit, window=(10, steps - 11)))
        assert parse_unit(told, "told") == replace(unit, window=(10, steps - 11))
        assert told["config_params"]["lidar_mode"] == f"{steps}x{rate:g}"
        assert told["config_params"]["azimuth_window"] == [10 * 360_000 // steps, (steps - 10) * 360_000 // steps]
        assert told["lidar_intrinsics"]["lidar_to_sensor_transform"][:12:5] == [-1.0, -1.0, 1.0]
        for shift, at in ((told["imu_intrinsics"]["imu_to_sensor_transform"], unit.imu_position_mm),
                          (told["beam_intrinsics"]["beam_to_lidar_transform"], (unit.beam_to_lidar[0], 0.0, unit.beam_to_lidar[1]))):  # fmt: skip
            assert shift == [1, 0, 0, at[0], 0, 1, 0, at[1], 0, 0, 1, at[2], 0, 0, 0, 1]
        assert told["lidar_intrinsics"]["lidar_to_sensor_transform"][12:] == [0, 0, 0, 1]
        assert told["sensor_info"]["prod_sn"] == "77" and told["lidar_data_format"]["fps"] == rate
        assert unit.shift == tuple(round(a * steps / 360) for a in unit.azimuth_deg)
        assert unit.product == {"os1-32": "OS-1-32", "os2-128": "OS-2-128", "os0-128": "OS-0-128"}[name]
        assert unit.firmware == ("v2.0.0" if "legacy" in packets else "v3.0.1") and unit.window == (0, steps - 1)
        assert profile_of(sensor).size(unit.lasers) == packet_size(unit)
        assert [told["config_params"][f"udp_port_{kind}"] for kind in ("lidar", "imu")] == [7502, 7503]
    dual = unit_of(load_sensor("os0-128").with_(packets="ouster-rng19", **{"receiver.mode": "strongest+last"}))
    assert metadata(dual)["config_params"]["return_order"] == "STRONGEST_TO_WEAKEST"
