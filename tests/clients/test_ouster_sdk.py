"""Ouster's own SDK reads our packets and metadata, and reads real captures as our decoder does."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from real_recordings import recorded
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.ouster_unit import parse_unit, read_unit
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.ouster.decode import OusterScan, decode_imu, decode_scans, packet_size
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import unit_of
from tussock.wire.ouster.osf import read_osf
from tussock.wire.ouster.profiles import PROFILES
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import check_recording, open_recording

core = pytest.importorskip(
    "ouster.sdk.core", reason="needs ouster-sdk: pip install --no-deps ouster-sdk more-itertools", exc_type=ImportError
)

CAPTURES = {
    "OS-1-128_v2.3.0_1024x10_lb_n3": "OS-1-128_v2.3.0_1024x10",
    "OS-0-32-U1_v2.2.0_1024x10": "OS-0-32-U1_v2.2.0_1024x10",
}
OUSTERS = [name for name in sensor_names() if (load_sensor(name).packets or "").startswith("ouster")]
FORMATS = [
    ("ouster-legacy", "strongest"),
    ("ouster-rng19", "strongest"),
    ("ouster-rng19", "strongest+last"),
    ("ouster-rng15", "strongest"),
    ("ouster-rng15", "strongest+last"),
]


def info_of(unit) -> object:
    return core.SensorInfo(json.dumps(metadata(unit)))


def their_frame(payloads: np.ndarray, info) -> object:
    form = core.PacketFormat(info)
    frame, batcher = core.LidarFrame(info), core.FrameBatcher(info)
    for payload in payloads:
        packet = core.LidarPacket(form)
        packet.buf[:] = payload
        assert packet.validate(info) == core.PacketValidationFailure.NONE
        batcher.batch(packet, frame)
    return frame


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_every_bit_is_where_the_sdk_looks_for_it(profile) -> None:
    """Bytes by chance, as many packets as there are bits: each field is read as the SDK reads it."""
    info = core.SensorInfo.from_default(core.LidarMode._1024x10)
    form = info.format
    form.udp_profile_lidar = getattr(core.UDPProfileLidar, profile.name)
    info.format = form
    theirs = core.PacketFormat(info)
    assert theirs.lidar_packet_size == profile.size(64)
    assert (theirs.packet_header_size, theirs.col_header_size, theirs.col_size) == (
        profile.header, profile.column_header, profile.column(64),
    )  # fmt: skip
    known = {name for name in theirs.fields if not name.startswith("RAW32")}
    assert {field.name for field in profile.fields} == known
    unit = unit_of(load_sensor("os1-64").with_(packets="ouster-legacy"))
    unit = type(unit)(**{**vars(unit), "profile": profile.name})
    payload = np.random.default_rng(3).integers(0, 256, profile.size(64), np.uint8)
    column = profile.header + np.arange(16) * profile.column(64)
    for number, at in enumerate(column):
        payload[at + 8 : at + 10] = [number, 0]
        payload[at + 10] |= 0 if profile.legacy else 1
        if profile.legacy:
            payload[at + 10 : at + 12] = 5
            payload[at + profile.column(64) - 4] |= 1
    scan = decode_scans(payload[None], unit)[0]
    for name in known:
        np.testing.assert_array_equal(scan.fields[name][:, :16], theirs.packet_field(name, payload))
    for head, ours in ((core.ColHeader.TIMESTAMP, scan.timestamp), (core.ColHeader.STATUS, scan.status)):
        np.testing.assert_array_equal(ours[:16], theirs.packet_header(head, payload))
    assert scan.number == theirs.frame_id(payload)


def test_a_header_of_functional_safety() -> None:
    """Its frame's number stands elsewhere and has 32 bits; the metadata says which header it is."""
    info = core.SensorInfo.from_default(core.LidarMode._1024x10)
    form = info.format
    form.udp_profile_lidar, form.header_type = core.UDPProfileLidar.FUSA_RNG15_RFL8_NIR8_DUAL, core.HeaderType.FUSA
    info.format = form
    unit = parse_unit(json.loads(info.to_json_string()), "theirs")
    assert (unit.profile, unit.header) == ("FUSA_RNG15_RFL8_NIR8_DUAL", "FUSA")
    theirs = core.PacketFormat(info)
    payloads = np.zeros((2, packet_size(unit)), np.uint8)
    for number, payload in enumerate(payloads):
        payload[4:8] = np.frombuffer(np.uint32(0x1FFFF + number).tobytes(), np.uint8)
        payload[[32 + 10, 32 + 8]] = 1, number
    scans = decode_scans(payloads, unit)
    assert [theirs.frame_id(payload) for payload in payloads] == [0x1FFFF, 0x20000]
    assert [scan.number for scan in scans] == [0xFFFF, 0x10000]
    with pytest.raises(InputError, match="header_type: must be one of STANDARD, FUSA"):
        parse_unit(json.loads(info.to_json_string().replace('"FUSA"', '"OTHER"')), "theirs")


@pytest.mark.parametrize("how", [(8, (0, 1023)), (16, (100, 899)), (4, (900, 123))], ids=str)
def test_columns_a_packet_and_windows(how: tuple[int, tuple[int, int]], tmp_path: Path) -> None:
    """Captures of a unit set up otherwise: their frame batched from our packets, and our firings of the same packets."""
    per_packet, window = how
    unit = parse_unit(metadata(unit_of(load_sensor("os1-64-rev7"))), "ours")
    unit = type(unit)(**{**vars(unit), "columns_per_packet": per_packet, "window": window})
    info = info_of(unit)
    form = core.PacketFormat(info)
    rng = np.random.default_rng(per_packet)
    inside = [(window[0] + k) % 1024 for k in range((window[1] - window[0]) % 1024 + 1)]
    reach = rng.integers(0, 100_000, (64, 1024)).astype(np.uint32)
    image = np.zeros_like(reach)
    image[:, inside] = reach[:, inside]
    sents = []
    for number in range(0, 1024, per_packet):
        columns = np.arange(number, number + per_packet)
        if not np.isin(columns, inside).any():
            continue
        packet = core.LidarPacket(form)
        form.set_frame_id(packet, 7)
        for at, column in enumerate(columns):
            form.set_col_measurement_id(packet, at, int(column))
            form.set_col_timestamp(packet, at, 10**15 + int(column) * 97_656)
            form.set_col_status(packet, at, int(column in inside))
        form.set_field(packet, "RANGE", np.ascontiguousarray(image[:, columns]))
        sents.append(Sent(bytes(packet.buf), 10**15 + int(columns[-1] + 1) * 97_656, port=7502, number=number))
    path = tmp_path / "run.pcap"
    path.write_bytes(pcap(records_of(sents, part=1480), nano=True))
    path.with_suffix(".json").write_text(json.dumps(metadata(unit)))
    found = read_firings(path, say=lambda note: pytest.fail(note))
    assert len(found) == 64 * len(inside)
    wanted = reach[:, sorted(inside)].T.ravel() / 1000.0
    np.testing.assert_allclose(
        found.ranges[:, 0], np.where(wanted > 0, wanted - unit.axis_mm / 1000, np.nan), atol=1e-9
    )
    payloads = np.array([list(sent.payload) for sent in sents], np.uint8)
    np.testing.assert_array_equal(
        their_frame(payloads, info).field("RANGE")[:, inside],
        decode_scans(payloads, unit)[0].fields["RANGE"][:, inside],
    )


@pytest.mark.parametrize("name", OUSTERS)
@pytest.mark.parametrize(("packets", "mode"), FORMATS)
def test_their_points_are_our_frame(name: str, packets: str, mode: str) -> None:
    """All lasers, both returns: within 1 mm plus the format's step, and nothing more or less."""
    sensor = load_sensor(name).with_(packets=packets, **{"receiver.mode": mode, "receiver.max_range_m": 120.0})
    frame = made_frame(sensor, 3, returns="dual" if mode == "strongest+last" else "strongest")
    encoder = OusterEncoder(sensor)
    info = info_of(encoder.unit)
    theirs = their_frame(encoder.encode(frame)["data"].payloads, info)
    assert theirs.frame_id == 3 and theirs.complete()
    step = 8e-3 if packets == "ouster-rng15" else 1e-3
    project = core.XYZLut(info, use_extrinsics=False)
    column = frame.pulse // sensor.lasers
    for number, field in enumerate(("RANGE", "RANGE2")[: encoder.profile.returns], 1):
        rows = frame.return_number == number
        assert np.count_nonzero(theirs.field(field)) == rows.sum()
        points = project(theirs.field(field))[frame.laser[rows], column[rows]]
        assert np.linalg.norm(points - frame.xyz[rows], axis=1).max() <= 1e-3 + step
        assert len(np.unique(frame.laser[rows])) == sensor.lasers
    stamps = theirs.timestamp.astype(np.int64) - round(encoder.epoch * 1e9)
    np.testing.assert_allclose(
        stamps * 1e-9, (3 + np.arange(encoder.unit.columns) / encoder.unit.columns) / 10, atol=1e-8
    )


@pytest.mark.parametrize("name", OUSTERS)
def test_metadata_is_understood_both_ways(name: str) -> None:
    unit = unit_of(load_sensor(name))
    info = info_of(unit)
    assert core.parse_and_validate_metadata(json.dumps(metadata(unit)))[1].critical == []
    assert (info.prod_line, info.sn, info.fw_rev) == (unit.product, unit.serial, unit.firmware)
    np.testing.assert_array_equal(info.beam_altitude_angles, unit.altitude_deg)
    assert list(info.format.pixel_shift_by_row) == list(unit.shift)
    again = parse_unit(json.loads(info.to_json_string()), "the SDK's")
    assert type(unit)(**{**vars(again), "firmware": unit.firmware}) == unit


def test_their_default_sensor_is_our_first_generation() -> None:
    """ouster-sdk's design values of an OS1-64 make the same points as ours."""
    default = core.SensorInfo.from_default(core.LidarMode._1024x10)
    sensor = load_sensor("os1-64")
    frame = made_frame(sensor, 0)
    encoder = OusterEncoder(sensor)
    theirs = their_frame(encoder.encode(frame)["data"].payloads, info_of(encoder.unit))
    points = core.XYZLut(default, use_extrinsics=False)(theirs.field("RANGE"))[frame.laser, frame.pulse // 64]
    assert np.linalg.norm(points - frame.xyz, axis=1).max() <= 2e-3


def test_inertial_packets() -> None:
    sensor = load_sensor("os1-128").with_(**{"imu.accelerometer_noise": 0.0, "imu.gyroscope_noise": 0.0})
    encoder = OusterEncoder(sensor)
    sent = encoder.encode(made_frame(sensor, 1, pose=Pose.at(pitch=np.pi / 6)))["imu"]
    form = core.PacketFormat(info_of(encoder.unit))
    assert form.imu_packet_size == sent.payloads.shape[1]
    assert len(sent) == 10
    for number, payload in enumerate(sent.payloads):
        assert form.imu_accel_ts(payload) == form.imu_gyro_ts(payload) == form.imu_sys_ts(payload)
        assert form.imu_accel_ts(payload) - encoder.epoch * 1e9 == pytest.approx((0.1 + number * 0.01) * 1e9, abs=300)
        assert form.imu_la_x(payload) == pytest.approx(-0.5, abs=1e-6)
        assert form.imu_la_z(payload) == pytest.approx(np.sqrt(0.75), abs=1e-6)
        assert form.imu_av_z(payload) == 0


def captured(name: str) -> tuple[Path, Path]:
    return recorded(f"ouster/{name}.pcap"), recorded(f"ouster/{CAPTURES[name]}.json")


@pytest.mark.parametrize("name", CAPTURES)
def test_real_captures_field_by_field(name: str) -> None:
    pcap = pytest.importorskip(
        "ouster.sdk.pcap", reason="needs more-itertools: pip install more-itertools", exc_type=ImportError
    )
    capture, document = captured(name)
    unit, info = read_unit(document), core.SensorInfo(document.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        packets = [packet for _, packet in pcap.PcapPacketSource(str(capture), meta=[str(document)])]
    lidar = [packet for packet in packets if isinstance(packet, core.LidarPacket)]
    inertial = [packet for packet in packets if isinstance(packet, core.ImuPacket)]
    scans = decode_scans(np.stack([packet.buf[: packet_size(unit)] for packet in lidar]), unit)
    theirs, frame, batcher = {}, core.LidarFrame(info), core.FrameBatcher(info)
    for packet in lidar:
        batcher.batch(packet, frame)
        theirs[frame.frame_id] = frame
        if batcher.batched_packets() == 0 or frame.complete():
            frame = core.LidarFrame(info)
    assert len(scans) >= 1
    for scan in scans:
        compare(scan, theirs[scan.number], info)
    ours = decode_imu(np.stack([packet.buf[:48] for packet in inertial]))
    form = core.PacketFormat(info)
    for row, packet in enumerate(inertial):
        assert ours.time[row] == pytest.approx(form.imu_accel_ts(packet.buf) * 1e-9)
        felt = [form.imu_la_x(packet.buf), form.imu_la_y(packet.buf), form.imu_la_z(packet.buf)]
        np.testing.assert_allclose(ours.force[row] / 9.80665, felt, rtol=1e-6)
        turned = [form.imu_av_x(packet.buf), form.imu_av_y(packet.buf), form.imu_av_z(packet.buf)]
        np.testing.assert_allclose(np.rad2deg(ours.rate[row]), turned, rtol=1e-6)


def compare(scan: OusterScan, theirs, info) -> None:
    for name in theirs.fields:
        np.testing.assert_array_equal(scan.fields[name], theirs.field(name), err_msg=name)
        assert scan.fields[name].dtype == theirs.field(name).dtype
    np.testing.assert_array_equal(scan.timestamp, theirs.timestamp)
    np.testing.assert_array_equal(scan.status, theirs.status)
    points = core.XYZLut(info, use_extrinsics=False)(theirs.field("RANGE"))
    np.testing.assert_allclose(scan.xyz(), points, atol=1e-9)


def written(folder: Path, suffix: str, mode: str = "strongest+last") -> tuple[list, Path]:
    sensor = load_sensor("os1-64-rev7").with_(**{"receiver.mode": mode})
    frames = [made_frame(sensor, k, returns="dual" if mode == "strongest+last" else mode) for k in range(3)]
    path = folder / f"run{suffix}"
    with open_recording(path, sensor) as recording:
        for frame in frames:
            recording.write(frame)
    return frames, path


@pytest.mark.parametrize("suffix", [".pcap", ".osf"])
def test_whole_recordings_are_opened_by_their_name(tmp_path: Path, suffix: str) -> None:
    """What any user of the SDK does: open a file, take the frames, project them."""
    sdk = pytest.importorskip(
        "ouster.sdk", reason="needs ouster-sdk: pip install --no-deps ouster-sdk more-itertools", exc_type=ImportError
    )
    frames, path = written(tmp_path, suffix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = sdk.open_source(str(path))
        seen = [frame for found in source for frame in found if frame is not None]
    assert [frame.frame_id for frame in seen] == [0, 1, 2]
    project = core.XYZLut(source.sensor_info[0], use_extrinsics=False)
    for ours, theirs in zip(frames, seen, strict=True):
        assert theirs.complete()
        for number, field in enumerate(("RANGE", "RANGE2"), 1):
            rows = ours.return_number == number
            assert np.count_nonzero(theirs.field(field)) == rows.sum()
            points = project(theirs.field(field))[ours.laser[rows], ours.pulse[rows] // 64]
            assert np.linalg.norm(points - ours.xyz[rows], axis=1).max() <= 2e-3


def test_osf_is_read_back(tmp_path: Path) -> None:
    frames, path = written(tmp_path, ".osf")
    scans = list(read_osf(path))
    assert [(scan.number, scan.missing) for scan in scans] == [(0, 0), (1, 0), (2, 0)]
    for frame, scan in zip(frames, scans, strict=True):
        rows = frame.return_number == 2
        points = scan.xyz("RANGE2")[frame.laser[rows], frame.pulse[rows] // 64]
        assert np.linalg.norm(points - frame.xyz[rows], axis=1).max() <= 2e-3


def test_what_is_no_osf(tmp_path: Path) -> None:
    (tmp_path / "bad.osf").write_bytes(b"x" * 100)
    with pytest.raises(InputError, match=r"bad\.osf: cannot be read as OSF"):
        list(read_osf(tmp_path / "bad.osf"))
    with pytest.raises(InputError, match="no such file"):
        list(read_osf(tmp_path / "gone.osf"))
    with pytest.raises(InputError, match="an OSF file holds Ouster's sensors"):
        check_recording(tmp_path / "run.osf", load_sensor("vlp-16"))
    with pytest.raises(ZeroDivisionError), open_recording(tmp_path / "run.osf", load_sensor("os1-32-rev7")):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["bad.osf"]


@pytest.mark.parametrize("name", CAPTURES)
def test_real_captures_through_our_own_reader(name: str) -> None:
    """Fragments put together by us, pixels taken out by us: the SDK's points."""
    pytest.importorskip(
        "ouster.sdk.pcap", reason="needs more-itertools: pip install more-itertools", exc_type=ImportError
    )
    sdk = pytest.importorskip(
        "ouster.sdk", reason="needs ouster-sdk: pip install --no-deps ouster-sdk more-itertools", exc_type=ImportError
    )
    capture, document = captured(name)
    unit, datagrams = read_unit(document), read_datagrams(capture)
    scans = decode_scans(datagrams.select(datagrams.size == packet_size(unit)).payloads(), unit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = sdk.open_source(str(capture), meta=[str(document)])
        theirs = [frame for found in source for frame in found if frame is not None]
    assert [scan.number for scan in scans] == [frame.frame_id for frame in theirs]
    for scan, frame in zip(scans, theirs, strict=True):
        compare(scan, frame, core.SensorInfo(document.read_text()))
