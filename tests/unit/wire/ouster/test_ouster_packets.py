"""Ouster packets: headers byte by byte, and the way there and back over any frame."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_frames import made_frame
from tussock.errors import InputError
from tussock.listening import ratio_of, sensitivity_of
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.ouster.decode import decode_imu, decode_scans
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.packets import EPOCH

FORMATS = [
    ("ouster-legacy", "strongest"),
    ("ouster-rng19", "strongest"),
    ("ouster-rng19", "strongest+last"),
    ("ouster-rng15", "last"),
    ("ouster-rng15", "strongest+last"),
]


def sensor_of(name: str, packets: str, mode: str, **changes: object) -> Sensor:
    return load_sensor(name).with_(packets=packets, **{"receiver.mode": mode}, **changes)


def returns_of(mode: str) -> str:
    return "dual" if mode == "strongest+last" else mode


def test_headers_byte_by_byte() -> None:
    sensor = sensor_of("os1-32-rev7", "ouster-rng19", "strongest")
    encoder = OusterEncoder(sensor, epoch=1.7e9 + 0.25, serial=0x0102030405)
    packet = encoder.encode(made_frame(sensor, 70_000))["data"].payloads[3].tobytes()
    assert len(packet) == 32 + 16 * (12 + 32 * 12) + 32
    assert struct.unpack_from("<HH", packet) == (1, 70_000 - 65_536)
    assert packet[4:7] == b"\x01\0\0" and packet[7:12] == bytes([5, 4, 3, 2, 1])
    assert packet[12:32] == bytes(20) and packet[-32:] == bytes(32)
    for column in range(16):
        stamp, measurement, status = struct.unpack_from("<QHH", packet, 32 + column * 396)
        assert (measurement, status) == (3 * 16 + column, 1)
        assert abs(stamp - 1_700_000_000_250_000_000 - 7000_000_000_000 - measurement * 1e8 / 1024) <= 1


def test_legacy_columns_byte_by_byte() -> None:
    sensor = sensor_of("os1-64", "ouster-legacy", "strongest", **{"pattern.steps": 512, "rotation_hz": 20.0})
    sent = OusterEncoder(sensor).encode(made_frame(sensor, 2))["data"]
    assert sent.payloads.shape == (32, 12608)
    np.testing.assert_allclose(sent.times, 0.1 + (np.arange(32) + 1) * 0.05 / 32)
    packet = sent.payloads[1].tobytes()
    for column in range(16):
        at = column * 788
        stamp, measurement, frame, ticks = struct.unpack_from("<QHHI", packet, at)
        assert (measurement, frame, ticks) == (16 + column, 2, (16 + column) * 176)
        assert abs(stamp - (EPOCH * 1e9 + 0.1e9 + measurement * 0.05e9 / 512)) <= 130  # a float64 of Unix seconds
        assert packet[at + 784 : at + 788] == b"\xff" * 4


def test_range_is_counted_from_the_axis_and_reflectivity_is_a_white_walls_hundred() -> None:
    sensor = sensor_of("os2-128", "ouster-rng19", "strongest", **{"pattern.steps": 512})
    encoder = OusterEncoder(sensor)
    frame = made_frame(sensor, 0, share=1.0)
    ranges, intensity = frame.range.copy(), frame.intensity.copy()
    ranges[:6] = [10.0, 10.0, 10.0, 600.0, 0.0, np.nan]
    intensity[:6] = [1.0, 0.5, 9.0, 1.0, 1.0, 1.0]
    frame = replace(frame, range=ranges, intensity=intensity)
    scan = decode_scans(encoder.encode(frame)["data"].payloads, encoder.unit)[0]
    assert scan.fields["RANGE"][:6, 0].tolist() == [10014, 10014, 10014, 0, 14, 0]  # 13.762 mm from the axis
    assert scan.fields["REFLECTIVITY"][:4, 0].tolist() == [100, 50, 255, 0]
    assert scan.fields["SIGNAL"][:4, 0].tolist() == [2000, 1000, 18000, 0]
    assert not scan.fields["NEAR_IR"].any()


def test_photons_are_those_of_the_signal_that_was_received() -> None:
    """A reflector's intensity is cut off at the ceiling, its photons are not; far walls have few."""
    sensor = sensor_of("os2-128", "ouster-rng19", "strongest", **{"pattern.steps": 512})
    encoder, frame = OusterEncoder(sensor), made_frame(sensor, 0, share=1.0)
    signal = np.full(len(frame), np.nan, np.float32)
    signal[:3] = [0.5 * ratio_of(sensor, 1.0, 10.0), 40.0 * ratio_of(sensor, 1.0, 10.0), ratio_of(sensor, 0.1, 80.0)]
    ranges = frame.range.copy()
    ranges[:3] = [10.0, 10.0, 80.0]
    scan = decode_scans(encoder.encode(replace(frame, signal=signal, range=ranges))["data"].payloads, encoder.unit)[0]
    exponent = sensitivity_of(sensor)[1]
    expected = 200_000 * np.array([0.5 / 10.0**exponent, 40.0 / 10.0**exponent, 0.1 / 80.0**exponent])
    assert scan.fields["SIGNAL"][:3, 0] == pytest.approx(np.minimum(expected, 65535), abs=1)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(["os0-128", "os1-32", "os1-64", "os1-32-rev7", "os2-128"]),
    how=st.sampled_from(FORMATS),
    steps=st.sampled_from([512, 1024]),
    frame=st.sampled_from([0, 1, 65_535, 65_536, 200_001]),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from([0.0, 0.001, 0.3, 1.0]),
    hole=st.tuples(st.integers(0, 1023), st.integers(0, 1023)),
)
def test_there_and_back(name: str, how: tuple[str, str], steps: int, frame: int, seed: int, share: float, hole) -> None:
    """Every pulse comes back as it was fired: where, by which laser, how far; misses stay misses."""
    sensor = sensor_of(name, *how, **{"pattern.steps": steps})
    made = made_frame(sensor, frame, returns=returns_of(how[1]), seed=seed, share=share)
    column = made.pulse // sensor.lasers
    made = made.select((column < min(hole)) | (column > max(hole)))  # nothing at all between two columns
    encoder = OusterEncoder(sensor)
    scans = decode_scans(encoder.encode(made)["data"].payloads, encoder.unit)
    assert [(scan.number, scan.missing) for scan in scans] == [(frame % 65_536, 0)]
    step = 8 if how[0] == "ouster-rng15" else 1
    most = {"ouster-legacy": 0xFFFFF, "ouster-rng19": 0x7FFFF, "ouster-rng15": 0x7FFF}[how[0]]
    for number, field in enumerate(("RANGE", "RANGE2")[: encoder.profile.returns], 1):
        rows = made.select(made.return_number == number)
        wanted = np.zeros((sensor.lasers, steps), np.int64)
        counted = np.floor(rows.range * np.float32(1000 / step) + np.float32(encoder.unit.axis_mm / step + 0.5))
        counted = np.where(counted > most, 0, counted).astype(np.int64) * step
        wanted[rows.laser, rows.pulse // sensor.lasers] = counted
        np.testing.assert_array_equal(scans[0].fields[field], wanted)
        kept = wanted[rows.laser, rows.pulse // sensor.lasers] > 0
        points = scans[0].xyz(field)[rows.laser, rows.pulse // sensor.lasers]
        assert np.linalg.norm(points - rows.xyz, axis=1)[kept].max(initial=0.0) <= 1e-3 + step * 1e-3


@pytest.mark.parametrize("packets", ["ouster-legacy", "ouster-rng19", "ouster-rng15"])
def test_columns_that_the_sensor_marks_as_bad(packets: str) -> None:
    """As those outside an azimuth window: they are zeros, and nothing is written anywhere else."""
    sensor = load_sensor("os1-32").with_(packets=packets)
    encoder = OusterEncoder(sensor)
    payloads = encoder.encode(made_frame(sensor, 0))["data"].payloads.copy()
    plain = decode_scans(payloads, encoder.unit)[0]
    profile = encoder.profile
    size, bad = profile.column(32), np.arange(5, 1024, 7)
    at = profile.header + (bad % 16) * size
    payloads[bad // 16, at + (size - 4 if profile.legacy else 10)] = 0
    if profile.legacy:
        for k in range(1, 4):
            payloads[bad // 16, at + size - 4 + k] = 0
    scan = decode_scans(payloads, encoder.unit)[0]
    good = np.setdiff1d(np.arange(1024), bad)
    assert scan.missing == len(bad) and not scan.status[bad].any()
    for name, field in scan.fields.items():
        np.testing.assert_array_equal(field[:, good], plain.fields[name][:, good])
        assert not field[:, bad].any()


def test_packets_in_any_order_twice_or_not_at_all() -> None:
    sensor = sensor_of("os1-32-rev7", "ouster-rng19", "strongest")
    encoder = OusterEncoder(sensor)
    payloads = np.concatenate([encoder.encode(made_frame(sensor, 65_534 + k))["data"].payloads for k in range(4)])
    whole = decode_scans(payloads, encoder.unit)
    assert [scan.number for scan in whole] == [65_534, 65_535, 65_536, 65_537]
    rng = np.random.default_rng(1)
    shuffled = np.argsort(np.arange(len(payloads)) + rng.uniform(0, 20, len(payloads)))
    kept = np.delete(shuffled, np.flatnonzero(np.isin(shuffled, [70, 71, 130])))
    again = decode_scans(payloads[np.concatenate([kept, kept[-5:]])], encoder.unit)
    assert [scan.number for scan in again] == [65_534, 65_535, 65_536, 65_537]
    assert [scan.missing for scan in again] == [0, 32, 16, 0]
    for one, other in zip(whole, again, strict=True):
        there = other.status > 0
        for name, values in one.fields.items():
            np.testing.assert_array_equal(values[:, there], other.fields[name][:, there])
            assert not other.fields[name][:, ~there].any()


def test_inertial_packets_there_and_back() -> None:
    sensor = load_sensor("os0-128").with_(**{"imu.accelerometer_noise": 0.0, "imu.gyroscope_noise": 0.0})
    encoder = OusterEncoder(sensor)
    sent = [encoder.encode(made_frame(sensor, k, pose=Pose.at(roll=np.pi / 6)))["imu"] for k in range(3)]
    readings = decode_imu(np.concatenate([packets.payloads for packets in sent]), epoch=EPOCH)
    np.testing.assert_allclose(readings.time, np.arange(30) / 100, atol=1e-9)
    np.testing.assert_allclose(readings.force, np.tile([0, 4.903325, 8.492808], (30, 1)), atol=1e-5)
    assert not readings.rate.any()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"packets": "ouster-rng20"}, "did you mean 'ouster-rng"),
        ({"receiver.mode": "all"}, "receiver.mode: Ouster's packets carry strongest, last, first, strongest\\+second"),
        ({"packets": "ouster-legacy", "receiver.mode": "strongest+last"}, "carry one return.*packets=ouster-rng19"),
        ({"rotation_hz": 12.0}, "steps and rotation_hz of a mode"),
        ({"pattern.start_deg": 0.0}, "start_deg = 180"),
        ({"pattern.vertical_offset_m": [0.1] * 128}, "without own offsets"),
        ({"pattern.axis_height_m": [0.1] * 128}, "without own offsets"),
    ],
)
def test_what_no_ouster_is(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        OusterEncoder(load_sensor("os1-128").with_(**changes))


def test_frames_and_packets_of_something_else() -> None:
    sensor = load_sensor("os1-32-rev7")
    encoder = OusterEncoder(sensor)
    with pytest.raises(InputError, match="must be of the sensor os1-32-rev7 with its settings"):
        encoder.encode(made_frame(load_sensor("os1-64-rev7")))
    with pytest.raises(InputError, match="need strongest returns, got 'last'"):
        encoder.encode(made_frame(sensor, returns="last"))
    payloads = encoder.encode(made_frame(sensor))["data"].payloads
    with pytest.raises(InputError, match=r"must have the shape \(n, 6400\)"):
        decode_scans(payloads[:, :-1], encoder.unit)
    with pytest.raises(InputError, match="there are none"):
        decode_scans(payloads[:0], encoder.unit)
    damaged = payloads.copy()
    damaged[5, 40:42] = 255
    with pytest.raises(InputError, match="packet 5: measurement: must be below the mode's 1024, got 65535"):
        decode_scans(damaged, encoder.unit)
    with pytest.raises(InputError, match=r"must have the shape \(n, 48\)"):
        decode_imu(payloads)
