"""Livox packets: headers byte by byte, the way there and back over any frame, and the message for ROS."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_frames import made_frame
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.checksums import ethernet_crc32
from tussock.wire.livox.custom_msg import CUSTOM_MSG, custom_msg
from tussock.wire.livox.decode import decode_livox, decode_livox_imu
from tussock.wire.livox.encode import LivoxEncoder
from tussock.wire.livox.formats import FORMATS
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

STEPS = {name: 0.01 if name == "livox-cartesian16" else 0.001 for name in FORMATS}
FIRST = {"livox1-cartesian": "livox-mid-40", "livox1-spherical": "livox-mid-40"}
"""who sends what of the first SDK; the rest of it an Avia"""


def sensor_of(packets: str, **changes: object) -> Sensor:
    name = FIRST.get(packets, "livox-avia") if packets.startswith("livox1") else "livox-mid-360"
    return load_sensor(name).with_(packets=packets, **changes)


def sent(sensor: Sensor, frames: list) -> Packets:
    encoder = LivoxEncoder(sensor)
    return Packets.joined([*(encoder.encode(frame)["data"] for frame in frames), encoder.flush()["data"]])


def test_a_packet_byte_by_byte() -> None:
    sensor = sensor_of("livox-cartesian32")
    frame = made_frame(sensor, 2, share=1.0)
    packet = LivoxEncoder(sensor, epoch=1_700_000_000.25).encode(frame)["data"].payloads[3].tobytes()
    head = struct.unpack_from("<BHHHHBBB12sIQ", packet)
    assert head[:9] == (0, 36 + 96 * 14, 4800, 96, 3, 0, 1, 1, bytes(12))
    assert head[9] == zlib.crc32(packet[28:])
    assert head[10] == 1_700_000_000_250_000_000 + 200_000_000 + 3 * 96 * 5000
    x, y, z, reflectivity, tag = struct.unpack_from("<iiiBB", packet, 36 + 14 * 7)
    row = 3 * 96 + 7
    assert np.abs(np.array([x, y, z]) - frame.xyz[row] * 1000).max() <= 0.51
    assert (reflectivity, tag) == (int(frame.intensity[row] * 100 + 0.5), 0)


def test_checksums_are_zlibs() -> None:
    rows = np.random.default_rng(0).integers(0, 256, (50, 37), np.uint8)
    assert ethernet_crc32(rows).tolist() == [zlib.crc32(row.tobytes()) for row in rows]


@settings(max_examples=40, deadline=None)
@given(
    packets=st.sampled_from([name for name, form in FORMATS.items() if form.returns == 1]),
    first=st.sampled_from([0, 1, 100_003]),
    count=st.integers(1, 3),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    hole=st.tuples(st.integers(0, 19_999), st.integers(0, 19_999)),
    rate=st.sampled_from([10.0, 20.0, 13.0]),
)
def test_there_and_back(packets, first, count, seed, share, hole, rate) -> None:
    """Every pulse comes back as it was fired: when, where it met something, or nothing."""
    sensor = sensor_of(packets, **{"pattern.frame_hz": rate})
    frames = [made_frame(sensor, first + k, seed=seed, share=share) for k in range(count)]
    frames = [frame.select((frame.pulse < min(hole)) | (frame.pulse > max(hole))) for frame in frames]
    told = decode_livox(sent(sensor, frames).payloads)
    sizes = [len(sensor.pulses(first + k)) for k in range(count)]
    total = sum(sizes)
    wanted, times = np.zeros((total, 3)), []
    for frame, begin, number in zip(frames, np.cumsum([0, *sizes[:-1]]), range(first, first + count), strict=True):
        wanted[begin + frame.pulse] = frame.xyz
        times.append(number / rate + sensor.pulses(number).offsets)
    points = told.xyz.reshape(-1, 3)
    assert not points[total:].any() and len(points) - total < FORMATS[packets].points
    hit = wanted.any(axis=1)
    np.testing.assert_array_equal(told.hit.ravel()[:total], hit)
    step = STEPS[packets]
    reach = np.linalg.norm(wanted, axis=1)
    # Angles in 0.01° add their own step to a spherical point.
    slack = 1e-3 + step + (reach * np.deg2rad(0.01) if "spherical" in packets else 0)
    assert np.all(np.linalg.norm(points[:total] - wanted, axis=1) <= slack)
    stamps = told.time_ns.ravel()[:total] - round(EPOCH * 1e9)
    # The first SDK's packets do not say how far apart points are: what a frame's whole pulses leave is some nanoseconds.
    np.testing.assert_allclose(
        stamps * 1e-9, np.concatenate(times), atol=(2e-9 if packets[5] == "-" else 2e-8) + 1e-12 * first
    )


@settings(max_examples=15, deadline=None)
@given(
    first=st.sampled_from([0, 1, 100_003]),
    count=st.integers(1, 3),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    rate=st.sampled_from([10.0, 13.0]),
)
def test_two_returns_there_and_back(tmp_path_factory, first, count, seed, share, rate) -> None:
    changes = {"pattern.frame_hz": rate, "receiver.mode": "strongest+last"}
    sensor = sensor_of("livox1-cartesian-dual", **changes)
    frames = [made_frame(sensor, first + k, seed=seed, share=share, returns="dual") for k in range(count)]
    total, wanted = 0, []
    for number, frame in enumerate(frames, first):
        size = len(sensor.pulses(number))
        places = np.full((size, 2), np.nan)
        order = np.lexsort((frame.range, frame.pulse))
        again = np.concatenate([[False], frame.pulse[order][1:] == frame.pulse[order][:-1]]).astype(int)[: len(frame)]
        places[frame.pulse[order], again] = frame.range[order]
        wanted.append(places)
        total += size
    expected = np.concatenate(wanted)
    told = decode_livox(sent(sensor, frames).payloads)
    reach = np.linalg.norm(told.xyz.reshape(-1, 2, 3), axis=2)
    np.testing.assert_array_equal(reach[:total] > 0, np.isfinite(expected))
    np.testing.assert_allclose(reach[:total], np.nan_to_num(expected), atol=0.002)
    assert not reach[total:].any()
    # The number of the return is told where there is one.
    np.testing.assert_array_equal(told.tag.reshape(-1, 2)[:total] >> 4, np.isfinite(expected) * [1, 2])
    path = tmp_path_factory.mktemp("dual") / "run.pcap"
    if not np.isfinite(expected).any():
        return
    with open_recording(path, sensor) as run:
        for frame in frames:
            run.write(frame)
    notes: list[str] = []
    found = read_firings(path, say=notes.append)
    assert notes == [] and found.kinds == ("echo", "echo") and not found.complete
    np.testing.assert_allclose(found.ranges, expected[np.isfinite(expected).any(axis=1)], atol=0.002)
    np.testing.assert_allclose(np.linalg.norm(found.directions, axis=1), 1, atol=1e-12)
    times = [n * sensor.frame_period + sensor.pulses(n).offsets for n in range(first, first + count)]
    hit = np.isfinite(expected).any(axis=1)
    assert np.abs(found.times - EPOCH - np.concatenate(times)[hit]).max() < 3e-6


def test_inertial_packets_there_and_back() -> None:
    sensor = load_sensor("livox-mid-360").with_(**{"imu.accelerometer_noise": 0.0, "imu.gyroscope_noise": 0.0})
    encoder = LivoxEncoder(sensor)
    packets = [encoder.encode(made_frame(sensor, k, pose=Pose.at(pitch=np.pi / 6)))["imu"] for k in range(3)]
    payloads = np.concatenate([one.payloads for one in packets])
    assert payloads.shape == (60, 60) and payloads[0, 10] == 0
    told = decode_livox_imu(payloads, epoch=EPOCH)
    np.testing.assert_allclose(told.time, np.arange(60) / 200, atol=1e-9)
    np.testing.assert_allclose(told.force, np.tile([-4.903325, 0, 8.492808], (60, 1)), atol=1e-5)


def test_inertial_packets_of_the_first_sdk() -> None:
    sensor = load_sensor("livox-avia").with_(**{"imu.accelerometer_noise": 0.0, "imu.gyroscope_noise": 0.0})
    payloads = LivoxEncoder(sensor).encode(made_frame(sensor, 1, pose=Pose.at(pitch=np.pi / 6)))["imu"].payloads
    assert payloads.shape == (20, 42) and payloads[0, [0, 9]].tolist() == [5, 6]
    told = decode_livox_imu(payloads, epoch=EPOCH)
    np.testing.assert_allclose(told.time, 0.1 + np.arange(20) / 200, atol=1e-9)
    np.testing.assert_allclose(told.force, np.tile([-4.903325, 0, 8.492808], (20, 1)), atol=1e-5)


def test_damaged_packets_are_counted_and_left_out() -> None:
    sensor = sensor_of("livox-cartesian32")
    payloads = sent(sensor, [made_frame(sensor)]).payloads
    payloads[[5, 9], [100, 1300]] ^= 4
    told = decode_livox(payloads)
    assert (told.damaged, len(told.packet)) == (2, len(payloads) - 2)
    with pytest.raises(InputError, match="none has a right checksum"):
        decode_livox(payloads[[5, 9]])


def test_mistakes_are_one_line() -> None:
    sensor = sensor_of("livox-cartesian32")
    with pytest.raises(InputError, match="did you mean 'livox-cartesian"):
        LivoxEncoder(sensor.with_(packets="livox-cartesian64"))
    with pytest.raises(InputError, match=r"packets livox1-cartesian: are of 100,000 pulses a second, got '?200,000"):
        LivoxEncoder(sensor.with_(packets="livox1-cartesian"))
    with pytest.raises(InputError, match="carry one return"):
        LivoxEncoder(sensor.with_(**{"receiver.mode": "strongest+last"}))
    with pytest.raises(InputError, match=r"packets livox1-cartesian-dual carry two returns: strongest\+last"):
        LivoxEncoder(sensor_of("livox1-cartesian-dual"))
    with pytest.raises(InputError, match="must be of the sensor livox-mid-360"):
        LivoxEncoder(sensor).encode(made_frame(sensor.with_(**{"pattern.frame_hz": 20.0})))
    with pytest.raises(InputError, match="need strongest returns, got 'last'"):
        LivoxEncoder(sensor).encode(made_frame(sensor, returns="last"))
    payloads = sent(sensor, [made_frame(sensor)]).payloads
    with pytest.raises(InputError, match="must be of points: livox-cartesian32 of 1380 bytes"):
        decode_livox(payloads[:, :60])
    with pytest.raises(InputError, match="n above 0"):
        decode_livox(payloads[:0])
    payloads[4, 10] = 2
    with pytest.raises(InputError, match="packet 4: is not of the kind livox-cartesian32"):
        decode_livox(payloads)
    with pytest.raises(InputError, match=r"shape \(n, 60\) or \(n, 42\)"):
        decode_livox_imu(payloads)


@pytest.mark.parametrize("frame_id", ["a", "livox", "livox_frame", "seven77"])
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_the_message_for_ros_is_read_by_rosbags(frame_id: str, share: float) -> None:
    pytest.importorskip("rosbags", reason="needs rosbags: pip install 'tussock[ros]'")
    from tussock.wire.ros.messages import RosMessages

    sensor = load_sensor("livox-avia")
    frame = made_frame(sensor, 5, share=share)
    messages = RosMessages(sensor, epoch=EPOCH, frame_id=frame_id)
    data = messages.livox(frame)
    assert data == custom_msg(frame, round(EPOCH * 1e9) + 500_000_000, frame_id)
    told = messages.types.deserialize_cdr(data, CUSTOM_MSG)
    assert bytes(messages.types.serialize_cdr(told, CUSTOM_MSG)) == data
    assert told.header.frame_id == frame_id and told.point_num == len(told.points) == len(frame)
    assert told.timebase == told.header.stamp.sec * 1_000_000_000 + told.header.stamp.nanosec
    for row in range(0, len(frame), 997):
        point = told.points[row]
        assert (point.x, point.y, point.z) == tuple(frame.xyz[row])
        assert point.line == frame.laser[row]
        assert point.offset_time == pytest.approx((frame.time[row] - 0.5) * 1e9, abs=1)
