"""velodyne-decoder, which is not ours, takes our packets for the sensor's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.velodyne.encode import PacketEncoder, intensity_bytes
from tussock.wire.velodyne.position import GeoOrigin, position_packets
from tussock.wire.velodyne.status64 import TABLE_PACKETS

vd = pytest.importorskip("velodyne_decoder", reason="velodyne-decoder is not installed: pip install 'tussock[capture]'")

HDL64 = {"hdl-64e-s2": "HDL64E_S2", "hdl-64e-s3": "HDL64E_S3", "hdl-64e-s3-dual": "HDL64E_S3"}
ON_AXIS = ("vlp-16", "puck-hi-res", "hdl-32e", "vlp-32c", "vls-128")
"""The decoder lifts each laser by f·tan(−v); so do the VLP-16's manual, and ours."""

SENSORS = ["vlp-16", "puck-hi-res", "hdl-32e", "vlp-32c", "hdl-64e-s2", "hdl-64e-s3-dual", "vls-128"]
CASES = [(name, mode) for name in SENSORS for mode in ("strongest", "last", "dual")]
CASES += [("hdl-64e-s3", "strongest")]  # two returns a pulse take it longer: hdl-64e-s3-dual
FRAMES = (2, 3)


@dataclass(frozen=True)
class Points:
    """One row a point, in the order of cycle, ring and return."""

    cycle: np.ndarray
    ring: np.ndarray
    flag: np.ndarray
    steps: np.ndarray
    intensity: np.ndarray
    azimuth_deg: np.ndarray
    """clockwise, of the direction of the laser itself"""
    time: np.ndarray
    xyz: np.ndarray

    def sorted(self) -> Points:
        order = np.lexsort([self.flag, self.ring, self.cycle])
        return Points(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


def encoded(sensor: Sensor, mode: str) -> tuple[list, Packets]:
    """Two frames, the second of which completes a packet that the first began."""
    frames = [made_frame(sensor, number, returns=mode) for number in FRAMES]
    encoder = PacketEncoder(sensor, mode=mode)
    return frames, Packets.joined([*(encoder.encode(frame) for frame in frames), encoder.flush()])


def rings_of(sensor: Sensor) -> np.ndarray:
    """Rank of every laser, from the lowest up."""
    elevations = np.array(sensor.pattern.elevation_deg)
    if sensor.name in HDL64:
        elevations = np.round(elevations, 2)
    return np.argsort(np.argsort(elevations, kind="stable"), kind="stable")


def expected(sensor: Sensor, frames: list, mode: str) -> Points:
    parts = []
    rings = rings_of(sensor)
    unit = sensor.receiver.range_step_m
    white = 255 if sensor.name in HDL64 else 110 if sensor.name.startswith("vls") else 100
    for frame in frames:
        first = sensor.pattern.cycles(int(frame.meta["frame"])).start - sensor.pattern.cycles(FRAMES[0]).start
        flag = np.where(frame.return_kind == KINDS.index("last"), 2, 1)
        if mode == "dual":
            other = np.where(frame.return_number == 1, 1, -1) + np.arange(len(frame))
            alone = frame.return_count == 1
            same = alone | (frame.range[np.where(alone, 0, other)] == frame.range)
            flag = np.where(same, 3, flag)
            kept = ~(same & (frame.return_number == 2))
        else:
            kept = np.ones(len(frame), bool)
        parts.append(
            Points(
                cycle=(first + frame.pulse // sensor.lasers)[kept],
                ring=rings[frame.laser][kept],
                flag=flag[kept],
                steps=np.rint(frame.range / unit).astype(int)[kept],
                intensity=intensity_bytes(frame.intensity, white)[kept],
                azimuth_deg=(-np.rad2deg(frame.azimuth.astype(float)) % 360)[kept],
                time=frame.time[kept],
                xyz=frame.xyz[kept].astype(float),
            )
        )
    joined = Points(*(np.concatenate([getattr(p, n) for p in parts]) for n in Points.__dataclass_fields__))
    return joined.sorted()


def calibration_of(sensor: Sensor):
    """What a listener learns from the sensor's own status stream."""
    numbers = np.arange(TABLE_PACKETS)
    encoder = PacketEncoder(sensor)
    stream = encoder._status.bytes(numbers, EPOCH + numbers * 3e-4)
    raw = [bytes(4) + bytes(pair) for pair in stream]
    return vd.hdl64e.read_status_info(raw)


def decoded(sensor: Sensor, packets: Packets) -> Points:
    config = vd.Config(min_range=0, max_range=1000)
    if sensor.name in HDL64:
        import yaml

        table = vd.hdl64e.status_info_to_calib_dict(calibration_of(sensor))
        config.model = getattr(vd.Model, HDL64[sensor.name])
        config.calibration = vd.Calibration.from_string(yaml.dump(table))
    batch = vd.PacketVector()
    for payload, time in zip(packets.payloads, packets.times, strict=True):
        batch.append(vd.VelodynePacket(EPOCH + time, payload.tolist()))
    stamp, points = vd.ScanDecoder(config).decode(batch, False)
    x, y, z, intensity, time, column, ring, flag = points.astype(float).T
    elevation, coarse_turn, _, left = geometry(sensor, ring.astype(int))
    turn = sensor_turn(sensor, ring.astype(int))
    level = np.sqrt(x**2 + y**2 - left**2)
    distance = level / np.cos(elevation)
    # A laser `left` of the axis sees its points turned by that much.
    azimuth = np.rad2deg(-np.arctan2(y, x) + np.arctan2(left, level) + coarse_turn - turn) % 360
    return Points(
        cycle=column.astype(int),
        ring=ring.astype(int),
        flag=flag.astype(int),
        steps=np.rint(distance / sensor.receiver.range_step_m).astype(int),
        intensity=intensity.astype(int),
        azimuth_deg=azimuth,
        time=stamp.device - EPOCH + time,
        xyz=np.stack([x, y, z], 1),
    ).sorted()


def geometry(sensor: Sensor, rings: np.ndarray) -> list[np.ndarray]:
    """Elevation [rad], turn [rad], offsets up and left [m] of rings, as coarse as the wire tells them."""
    pattern = sensor.pattern
    lasers = np.argsort(rings_of(sensor))[rings]
    columns = [pattern.elevation_deg, pattern.azimuth_deg, pattern.vertical_offset_m, pattern.horizontal_offset_m]
    values = [np.array(c if c else (0.0,) * sensor.lasers) for c in columns]
    if sensor.name in HDL64:
        values = [np.round(value, digits) for value, digits in zip(values, (2, 2, 3, 3), strict=True)]
    return [np.deg2rad(v)[lasers] if k < 2 else v[lasers] for k, v in enumerate(values)]


def sensor_turn(sensor: Sensor, rings: np.ndarray) -> np.ndarray:
    """[rad] how far lasers look to the left, in full precision."""
    turns = np.array(sensor.pattern.azimuth_deg or (0.0,) * sensor.lasers)
    return np.deg2rad(turns)[np.argsort(rings_of(sensor))[rings]]


def in_its_convention(sensor: Sensor, points: Points) -> np.ndarray:
    """Our points [m] where the decoder puts them: each laser above the centre, not at right angles to its beam."""
    elevation, _, up, _ = geometry(sensor, points.ring)
    if sensor.name in ON_AXIS:
        return points.xyz
    heading = -np.deg2rad(points.azimuth_deg)
    back = up * np.sin(elevation)
    return points.xyz + np.stack([back * np.cos(heading), back * np.sin(heading), up * (1 - np.cos(elevation))], 1)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_point_comes_back(name: str, mode: str) -> None:
    sensor = load_sensor(name)
    frames, packets = encoded(sensor, mode)
    ours, theirs = expected(sensor, frames, mode), decoded(sensor, packets)

    assert len(theirs.cycle) == len(ours.cycle) > 10_000
    np.testing.assert_array_equal(theirs.cycle, ours.cycle)
    np.testing.assert_array_equal(theirs.ring, ours.ring)
    np.testing.assert_array_equal(theirs.steps, ours.steps)
    np.testing.assert_array_equal(theirs.intensity, ours.intensity)
    if mode == "last" and name in HDL64:
        # The HDL-64E has no mode byte: only its status stream tells.
        assert calibration_of_mode(sensor, mode) == "Last"
    else:
        np.testing.assert_array_equal(theirs.flag, ours.flag)

    sure = np.ones(len(ours.cycle), bool)
    later = np.zeros(len(ours.cycle))
    if name == "vls-128":
        # The decoder guesses the cycle of a firmware from the first two packets, and lets lasers 64 to 127 fire one
        # group of eight (2.665 µs) later than the manual says.
        sure = ours.cycle >= (6 if mode != "dual" else 2)
        later = np.where(np.argsort(rings_of(sensor))[ours.ring] >= 64, 2.665e-6, 0.0)
    turned = 360 * sensor.rotation_hz * later
    turn_error = (theirs.azimuth_deg - ours.azimuth_deg - turned + 180) % 360 - 180
    # Half a step in the packet, half a step in the decoder's table, and what it interpolates between few blocks.
    assert np.quantile(np.abs(turn_error[sure]), 0.95) <= 0.01
    assert np.abs(turn_error[sure]).max() <= 0.0125

    if name == "hdl-64e-s3":
        # The decoder has one table for the S3, that of its dual mode: only the first group of a packet is the same.
        sure &= (ours.cycle % 6 == 0) & (np.argsort(rings_of(sensor))[ours.ring] % 32 == 0)
    assert np.abs(theirs.time - ours.time - later)[sure].max() < 1e-6

    away = np.linalg.norm(theirs.xyz - in_its_convention(sensor, ours), axis=1)
    # Angles as coarse as they are sent, offsets to a millimetre, single precision.
    coarse = np.deg2rad(0.0125 + turned + (0.0075 if name in HDL64 else 0.0006))
    assert (away <= np.linalg.norm(ours.xyz, axis=1) * coarse + 2e-3)[sure].all()


def calibration_of_mode(sensor: Sensor, mode: str) -> str:
    numbers = np.arange(TABLE_PACKETS)
    stream = PacketEncoder(sensor, mode=mode)._status.bytes(numbers, EPOCH + numbers * 3e-4)
    return vd.hdl64e.read_status_info([bytes(4) + bytes(pair) for pair in stream])["Multiple Return Status"]


@pytest.mark.parametrize(("name", "series"), [("hdl-64e-s2", "S2"), ("hdl-64e-s3", "S3")])
def test_an_hdl64e_tells_its_own_calibration(name: str, series: str) -> None:
    sensor = load_sensor(name).with_(rotation_hz=10.0)
    told = calibration_of(sensor)
    assert told["Model"] == series
    assert told["RPM"] == 600
    assert told["Current Time"].isoformat() == "2025-01-01T00:00:01"
    assert [laser["Laser ID"] for laser in told["Calibration"]] == list(range(64))
    for key, values, unit in (
        ("Vertical Correction", sensor.pattern.elevation_deg, 0.01),
        ("Rotational Correction", sensor.pattern.azimuth_deg, 0.01),
        ("Vertical Offset Correction", sensor.pattern.vertical_offset_m, 0.001),
        ("Horizontal Offset Correction", sensor.pattern.horizontal_offset_m, 0.001),
    ):
        np.testing.assert_allclose([laser[key] for laser in told["Calibration"]], values, atol=unit / 2 + 1e-9)


def test_a_whole_capture_with_positions(tmp_path: Path) -> None:
    """Its own reader finds the model, cuts the revolutions and loses nothing; positions tell where the sensor is."""
    sensor = load_sensor("vlp-16")
    encoder = PacketEncoder(sensor)
    path = Trajectory.through([0, 10], [Pose.at(0, 0, 2), Pose.at(50, 100, 2)])
    points = 0
    with (tmp_path / "run.pcap").open("wb") as file:
        capture = CaptureWriter(file)
        for number in range(12):
            frame = made_frame(sensor, number)
            points += len(frame)
            packets = encoder.encode(frame)
            times = packets.times[::14]
            positions = position_packets(times, path, epoch=EPOCH, origin=GeoOrigin(48.0, -11.5))
            data = Flow(packets.payloads, EPOCH + packets.times, 2368)
            capture.write(data, Flow(positions, EPOCH + times, 8308))
        rest = encoder.flush()
        capture.write(Flow(rest.payloads, EPOCH + rest.times, 2368))
    scans = list(vd.read_pcap(str(tmp_path / "run.pcap"), vd.Config(min_range=0, max_range=1000)))
    assert sum(len(scan.points) for scan in scans) == points
    assert 12 <= len(scans) <= 13

    positions = read_datagrams(tmp_path / "run.pcap")
    positions = positions.select(positions.port == 8308)
    told = vd.TelemetryPacket(list(positions.payload(-1)))
    assert told.pps_status == vd.TelemetryPacket.PpsStatus.LOCKED
    longitude, latitude, _ = told.gps_position
    # One second in: 5 m east and 10 m north.
    assert (latitude - 48.0) * 111_194 == pytest.approx(10, abs=0.05)
    assert (longitude + 11.5) * 74_626 == pytest.approx(5, abs=0.05)
    assert told.nmea_time.isoformat() == "2025-01-01T00:00:01"
    assert told.nmea_sentence.split(",")[7:9] == ["021.7", "026.6"]  # √125 m/s in knots, arctan(5/10)
    assert told.usec_since_toh == pytest.approx((positions.times[-1] - EPOCH) * 1e6, abs=2)
