"""Livox packets of ours, read by a decoder that knows only the vendor's structures: see `livox_by_hand`."""

from __future__ import annotations

import livox_by_hand as by_hand
import numpy as np
import pytest

from made_frames import made_frame
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor
from tussock.wire.livox.encode import LivoxEncoder

EPOCH = 1_700_000_000.0
FORMATS = {
    "livox-cartesian32": (by_hand.CARTESIAN_MM, 0.00051, 0.0),
    "livox-cartesian16": (by_hand.CARTESIAN_CM, 0.0051, 0.0),
    "livox-spherical": (by_hand.SPHERICAL, 0.00051, np.deg2rad(0.0051)),
}
"""data type, half a step along each axis [m], half a step of each angle [rad]"""


@pytest.mark.parametrize("packets", FORMATS)
def test_every_pulse_is_a_point_at_its_place_and_time(packets: str) -> None:
    kind, step, turn = FORMATS[packets]
    sensor = load_sensor("livox-mid-360").changed(packets=packets)
    frames = [made_frame(sensor, k, seed=k) for k in range(2)]
    encoder = LivoxEncoder(sensor, epoch=EPOCH)
    sent = [*(encoder.encode(frame)["data"] for frame in frames), encoder.flush()["data"]]
    decoded = [by_hand.decode(row.tobytes()) for packets_ in sent for row in packets_.payloads]
    assert {packet.data_type for packet in decoded} == {kind}
    counts = np.array([packet.count for packet in decoded])
    # One more each packet, from 0 again where a frame starts (communication protocol, field udp_cnt).
    starts = np.flatnonzero(counts == 0)
    assert 2 <= len(starts) <= 3
    assert all((np.diff(part) == 1).all() for part in np.split(counts, starts[1:]))

    xyz = np.concatenate([packet.xyz for packet in decoded])
    bright = np.concatenate([packet.reflectivity for packet in decoded])
    times = np.concatenate(
        [packet.time_ns * 1e-9 + np.arange(len(packet.xyz)) * packet.interval_ns * 1e-9 / len(packet.xyz) for packet in decoded]
    )  # fmt: skip
    pulses = len(sensor.pulses(0)) + len(sensor.pulses(1))
    assert len(xyz) >= pulses
    seen = np.flatnonzero((xyz != 0).any(1))
    mine = np.concatenate([frame.xyz for frame in frames]).astype(float)
    assert len(seen) == len(mine)
    off = np.linalg.norm(xyz[seen] - mine, axis=1)
    assert (off <= np.sqrt(3) * step + np.linalg.norm(mine, axis=1) * turn * np.sqrt(2) + 1e-4).all()
    np.testing.assert_allclose(bright[seen], np.concatenate([100 * frame.intensity for frame in frames]), atol=0.51)
    fired = np.concatenate([frame.time for frame in frames])
    np.testing.assert_allclose(
        times[seen] - EPOCH, fired, atol=3e-6
    )  # 0.1 µs of interval a packet, and double precision


def test_a_standing_sensor_feels_gravity_and_nothing_else() -> None:
    sensor = load_sensor("livox-mid-360")
    encoder = LivoxEncoder(sensor, epoch=EPOCH)
    sent = encoder.encode(made_frame(sensor, pose=Pose.at(1.0, 2.0, 3.0)))
    assert "imu" in sent
    readings = np.concatenate([by_hand.decode(row.tobytes()).imu for row in sent["imu"].payloads])
    assert len(readings) == 20  # 200 a second
    assert np.abs(readings[:, :3]).max() < 0.1  # [rad/s]
    assert np.abs(readings[:, 3:].mean(0) - [0.0, 0.0, 1.0]).max() < 0.05  # [g]


@pytest.mark.parametrize(
    ("name", "packets", "kind", "step_ns"),
    [
        ("livox-mid-40", "livox1-cartesian", 0, 10_000.0),
        ("livox-mid-40", "livox1-spherical", 1, 10_000.0),
        ("livox-horizon", "livox1-cartesian-tagged", 2, 1e9 / 240_000),
        ("livox-avia", "livox1-spherical-tagged", 3, 1e9 / 240_000),
    ],
)
def test_packets_of_the_first_sdk(name: str, packets: str, kind: int, step_ns: float) -> None:
    sensor = load_sensor(name).changed(packets=packets)
    frame = made_frame(sensor, 1, seed=4)
    encoder = LivoxEncoder(sensor, epoch=EPOCH)
    first = encoder.encode(frame)
    sent = [*first["data"].payloads, *encoder.flush()["data"].payloads]
    decoded = [by_hand.decode_first(row.tobytes()) for row in sent]
    assert {packet.data_type for packet in decoded} == {kind}
    xyz = np.concatenate([packet.xyz for packet in decoded])
    times = np.concatenate([packet.time_ns + np.arange(len(packet.xyz)) * step_ns for packet in decoded])
    seen = np.flatnonzero((xyz != 0).any(1))
    mine = frame.xyz.astype(float)
    assert len(seen) == len(mine) and len(xyz) >= len(sensor.pulses(1))
    slack = np.sqrt(3) * 0.00051 + (np.linalg.norm(mine, axis=1) * np.deg2rad(0.0072) if kind % 2 else 0.0) + 1e-4
    assert (np.linalg.norm(xyz[seen] - mine, axis=1) <= slack).all()
    bright = np.concatenate([packet.reflectivity for packet in decoded])
    np.testing.assert_allclose(bright[seen], 100 * frame.intensity, atol=0.51)
    np.testing.assert_allclose(times[seen] * 1e-9 - EPOCH, frame.time, atol=1e-6)
    if "imu" in first:
        readings = np.concatenate([by_hand.decode_first(row.tobytes()).imu for row in first["imu"].payloads])
        assert len(readings) == 20 and np.abs(readings[:, 3:].mean(0) - [0.0, 0.0, 1.0]).max() < 0.05


@pytest.mark.parametrize("name", ["livox-avia", "livox-horizon"])
def test_two_returns_of_the_first_sdk(name: str) -> None:
    """The nearer is return 1, the farther return 2; 48 pulses a packet, 1/240,000 s apart."""
    sensor = load_sensor(name).changed(packets="livox1-cartesian-dual", **{"receiver.mode": "strongest+last"})
    frame = made_frame(sensor, 1, seed=4, returns="dual")
    # Of every third pair the strongest is the farther one.
    swap = np.flatnonzero((frame.pulse[1:] == frame.pulse[:-1]) & (frame.pulse[1:] % 3 == 0))
    rows = np.arange(len(frame))
    rows[swap], rows[swap + 1] = swap + 1, swap
    frame = frame.select(rows)
    encoder = LivoxEncoder(sensor, epoch=EPOCH)
    sent = [*encoder.encode(frame)["data"].payloads, *encoder.flush()["data"].payloads]
    decoded = [by_hand.decode_dual(row.tobytes()) for row in sent]
    xyz = np.concatenate([packet.xyz for packet in decoded])
    number = np.concatenate([packet.number for packet in decoded])
    bright = np.concatenate([packet.reflectivity for packet in decoded])
    seen = (xyz != 0).any(axis=2)
    count = len(sensor.pulses(1))
    assert not seen[count:].any() and len(xyz) - count < 48
    np.testing.assert_array_equal(seen[:count].sum(axis=1), np.bincount(frame.pulse, minlength=count))
    np.testing.assert_array_equal(number, np.where(seen, [1, 2], 0))
    assert seen[:, 0][seen[:, 1]].all()
    order = np.lexsort((frame.range, frame.pulse))  # by arrival
    np.testing.assert_allclose(xyz[seen], frame.xyz[order], atol=0.00051 + 1e-4)
    apart = np.linalg.norm(xyz[seen.all(axis=1)], axis=2)
    assert (apart[:, 1] >= apart[:, 0]).all() and (apart[:, 1] > apart[:, 0]).any()
    same = frame.range[order][1:] == frame.range[order][:-1]
    loose = np.concatenate([same, [False]]) | np.concatenate([[False], same])  # of equal ranges either may be first
    np.testing.assert_allclose(bright[seen][~loose], 100 * frame.intensity[order][~loose], atol=0.51)
    times = np.concatenate([packet.time_ns + np.arange(48) * 1e9 / 240_000 for packet in decoded])
    np.testing.assert_allclose(times[:count][frame.pulse] * 1e-9 - EPOCH, frame.time, atol=1e-6)
