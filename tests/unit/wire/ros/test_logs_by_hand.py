"""Messages of points laid out by hand: types, gaps, padding, byte orders and clocks; packets as drivers log them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import unit_of
from tussock.wire.packets import EPOCH
from tussock.wire.recording import open_recording
from tussock.wire.ros import read_log
from tussock.wire.ros.messages import POINT, RosMessages, rings_of
from tussock.wire.ros.read_log import _cloud, _datagrams, _Log, is_log

FIELD = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}
"""of sensor_msgs/PointField"""


def message(
    columns: dict[str, tuple[str, list[float]]], *, height: int = 1, gap: int = 0, pad: int = 0, big: bool = False
) -> Any:
    """A ``PointCloud2`` of these columns, ``gap`` bytes between fields and ``pad`` behind each row."""
    order = ">" if big else "<"
    at, fields = 0, []
    for name, (kind, _) in columns.items():
        at += gap
        fields.append(SimpleNamespace(name=name, offset=at, datatype=FIELD[kind], count=1))
        at += np.dtype(kind).itemsize
    form = np.dtype(
        {"names": list(columns), "formats": [order + kind for kind, _ in columns.values()], "offsets": [f.offset for f in fields], "itemsize": at}
    )  # fmt: skip
    count = len(next(iter(columns.values()))[1])
    records = np.zeros(count, form)
    for name, (_, values) in columns.items():
        records[name] = values
    width = count // height
    rows = records.view(np.uint8).reshape(height, width * at)
    data = np.concatenate([rows, np.full((height, pad), 77, np.uint8)], 1).ravel()
    stamp = SimpleNamespace(sec=1_700_000_000, nanosec=250_000_000)
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp), is_bigendian=big, fields=fields, width=width, height=height, point_step=at,
        row_step=width * at + pad, data=data,
    )  # fmt: skip


def read(made: Any) -> Any:
    return _cloud(Path("a"), "/points", made)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(("height", "gap", "pad"), [(1, 0, 0), (2, 3, 0), (3, 1, 5)])
def test_fields_of_every_type_in_any_layout(big: bool, height: int, gap: int, pad: int) -> None:
    columns = {
        "i1": ("i1", [-1, 2, 3, 4, 5, -128]), "u1": ("u1", [1, 2, 3, 4, 5, 255]), "i2": ("i2", [-300, 2, 3, 4, 5, 6]),
        "u2": ("u2", [65535, 2, 3, 4, 5, 6]), "i4": ("i4", [-70_000, 2, 3, 4, 5, 6]), "u4": ("u4", [2**32 - 1, 2, 3, 4, 5, 6]),
        "x": ("f4", [0.5, -2, 3, 4, 5, 6]), "y": ("f8", [1e-9, 2, 3, 4, 5, 6]),
    }  # fmt: skip
    found = read(message(columns, height=height, gap=gap, pad=pad, big=big))
    assert found.topic == "/points" and found.time == 1_700_000_000.25
    for name, (kind, values) in columns.items():
        assert found.fields[name].tolist() == values and found.fields[name].dtype == np.dtype(kind)
    assert found.fields["time"].tolist() == [found.time] * 6


@pytest.mark.parametrize(
    ("name", "kind", "values", "seconds"),
    [
        ("time", "f4", [0.0, 0.5], [0.0, 0.5]),
        ("t", "u4", [0, 50_000_000], [0.0, 0.05]),
        ("offset_time", "u4", [0, 2_000_000_000], [0.0, 2.0]),
        ("time_offset", "u4", [10, 20], [1e-8, 2e-8]),
        ("timestamp", "f8", [1_700_000_001.0, 1_700_000_002.5], [0.75, 2.25]),
        ("timestamp", "f8", [1.700000001e18, 1.7000000025e18], [0.75, 2.25]),
        ("timestamp", "f8", [0.9e12, 1e12], [0.9e12 - 1_700_000_000.25, 1e12 - 1_700_000_000.25]),
    ],
)
def test_times_of_points_by_each_convention(name: str, kind: str, values: list[float], seconds: list[float]) -> None:
    found = read(message({"x": ("f4", [1, 2]), name: (kind, values)}))
    assert found.fields["time"] - 1_700_000_000.25 == pytest.approx(seconds, abs=3e-6)
    assert name == "time" or name not in found.fields


def test_messages_that_are_shorter_than_they_say() -> None:
    good = message({"x": ("f4", [1, 2, 3, 4])}, height=2, pad=4)
    assert read(good).fields["x"].tolist() == [1, 2, 3, 4]
    for change in ({"data": good.data[:15]}, {"row_step": 7}):
        with pytest.raises(InputError, match="shorter than it says"):
            read(SimpleNamespace(**(vars(good) | change)))
    odd = message({"x": ("f4", [1, 2]), "y": ("f4", [3, 4])})
    odd.fields[1].count = 3
    odd.fields.append(SimpleNamespace(name="z", offset=0, datatype=9, count=1))
    assert set(read(odd).fields) == {"x", "time"}


def log_of(topics: dict[str, tuple[str, list[tuple[Any, int]]]], *, ros1: bool = False) -> _Log:
    """A log of messages that need no reading: the type, and each with the time when it was logged."""
    kinds = {topic: kind for topic, (kind, _) in topics.items()}

    def messages(topic: str) -> Any:
        kind, some = topics[topic]
        return iter([(kind, one, logged) for one, logged in some])

    return _Log(kinds, messages, lambda kind, raw: raw, ros1)


def test_packets_of_messages_are_datagrams() -> None:
    """With a stamp of their own, or that of the log; of those that say how long they are, as much as that."""
    stamp = SimpleNamespace(sec=7, nanosec=5)
    scan = SimpleNamespace(packets=[
        SimpleNamespace(data=[1, 2, 3, 4], stamp=stamp), SimpleNamespace(data=[5, 6, 7, 8], size=2, stamp=stamp), SimpleNamespace(data=[9]),
    ])  # fmt: skip
    log = log_of(
        {"/a": ("x/msg/VelodyneScan", [(scan, 77)]), "/b": ("x/msg/PacketMsg", [(SimpleNamespace(buf=[4, 5]), 88)])}
    )
    found = _datagrams(Path("p"), log, "/a")
    assert [found.payload(row) for row in range(3)] == [b"\1\2\3\4", b"\5\6", b"\t"]
    assert found.time_ns.tolist() == [7_000_000_005, 7_000_000_005, 77]
    assert _datagrams(Path("p"), log, "/b").payload(0) == b"\4\5" and _datagrams(
        Path("p"), log, "/b"
    ).time_ns.tolist() == [88]
    with pytest.raises(InputError, match="/c holds no packets"):
        _datagrams(Path("p"), log_of({"/c": ("x/msg/UdpFrame", [])}), "/c")


def test_which_topic_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    one = message({"x": ("f4", [1])})
    topics: dict[str, Any] = {
        "/p": ("s/msg/PointCloud2", [(one, 0), (one, 1)]),
        "/q": ("s/msg/PointCloud2", [(one, 0)]),
        "/t": ("s/msg/String", []),
    }

    @contextmanager
    def opened(path: Path) -> Any:
        yield log_of(topics)

    monkeypatch.setattr(read_log, "_opened", opened)
    assert len(read_log.read_clouds(Path("a"), topic="/p")) == 2
    with pytest.raises(InputError, match="holds PointCloud2 in several topics, /p, /q; choose one with --unit"):
        read_log.read_clouds(Path("a"))
    with pytest.raises(InputError, match="unit: must be a topic of a: /p, /q, got '/t'"):
        read_log.read_clouds(Path("a"), topic="/t")
    assert read_log.log_firings(Path("a")) is None
    topics["/imu_packets"] = ("s/msg/PacketMsg", [])
    assert read_log.log_firings(Path("a")) is None, "what an Ouster feels is no packet of points"
    topics["/v"] = ("s/msg/VelodyneScan", [])
    assert read_log.log_firings(Path("a"), topic="/p") is None
    with pytest.raises(InputError, match="/v holds no packets"):
        read_log.log_firings(Path("a"))
    del topics["/p"]
    assert len(read_log.read_clouds(Path("a"))) == 1
    del topics["/q"]
    with pytest.raises(InputError, match="holds no PointCloud2; its topics are /imu_packets, /t, /v"):
        read_log.read_clouds(Path("a"))
    topics["/l"] = ("s/msg/CustomMsg", [(b"", 0)])
    with pytest.raises(InputError, match="shorter than it says"):
        read_log.read_clouds(Path("a"))


def test_what_is_a_log(tmp_path: Path) -> None:
    for name, log in (("a.mcap", True), ("a.BAG", True), ("a.rosbag2", True), ("a.pcap", False), ("a", False)):
        assert is_log(tmp_path / name) is log
    (tmp_path / "metadata.yaml").touch()
    assert is_log(tmp_path)


def test_points_of_a_frame_as_they_are_written() -> None:
    """22 bytes a point; rings from the lowest up; intensities 0 to 255; an Ouster's in rows and columns."""
    pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 2, share=0.002)
    made = RosMessages(sensor, epoch=100.0, frame_id="v")
    raw = made.points(frame)
    cloud = _cloud(Path("a"), "/p", made.types.deserialize_cdr(raw, "sensor_msgs/msg/PointCloud2"))
    assert POINT.itemsize == 22 and cloud.time == pytest.approx(100.2)
    rings = np.argsort(np.argsort(sensor.pattern.elevation_deg))
    assert cloud.fields["ring"].tolist() == rings[frame.laser].tolist() == rings_of(sensor)[frame.laser].tolist()
    assert cloud.fields["intensity"].tolist() == np.floor(frame.intensity * np.float32(100) + np.float32(0.5)).tolist()
    assert cloud.fields["time"] == pytest.approx(100.0 + frame.time, abs=1e-6) and cloud.fields["y"] == pytest.approx(
        frame.xyz[:, 1]
    )
    ouster = load_sensor("os1-32").with_(**{"pattern.steps": 512})
    seen = made_frame(ouster, 1, share=0.002)
    told = RosMessages(ouster, epoch=100.0, frame_id="o")
    rows = _cloud(Path("a"), "/p", told.types.deserialize_cdr(told.points(seen), "sensor_msgs/msg/PointCloud2")).fields
    place = seen.laser.astype(int) * 512 + seen.pulse // 32
    assert len(rows["x"]) == 32 * 512 and rows["ring"].tolist() == np.repeat(np.arange(32), 512).tolist()
    assert rows["range"][place].tolist() == np.rint(seen.range * 1000).tolist() and np.count_nonzero(
        rows["range"]
    ) == len(seen)
    assert rows["time"].reshape(32, 512)[3] == pytest.approx(100.1 + np.arange(512) / 5120, abs=1e-6)
    assert rows["reflectivity"][place] == pytest.approx(seen.intensity * 100, abs=0.51)
    # A second return has no place there.
    again = type(seen)(**(dict(seen.columns) | {"return_number": np.full(len(seen), 2, np.uint8)}), meta=seen.meta)
    assert not told._organised(again, 0.1)["range"].any()


def test_pictures_of_each_kind_and_no_other() -> None:
    pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")
    made = RosMessages(None, epoch=5.0, frame_id="c")
    for pixels, encoding, step in (
        (np.zeros((2, 3), np.uint8), "mono8", 3), (np.zeros((2, 3, 3), np.uint8), "rgb8", 9), (np.zeros((2, 3, 4), np.uint8), "rgba8", 12),
        (np.zeros((2, 3), np.uint16), "mono16", 6), (np.zeros((2, 3), np.float32), "32FC1", 12),
    ):  # fmt: skip
        told = made.types.deserialize_cdr(made.image(0.25, pixels, "c"), "sensor_msgs/msg/Image")
        assert (told.height, told.width, told.encoding, told.step, told.header.stamp.sec) == (2, 3, encoding, step, 5)
        assert told.header.stamp.nanosec == 250_000_000
    for wrong in (
        np.zeros((2, 3, 2), np.uint8),
        np.zeros(3, np.uint8),
        np.zeros((2, 3), np.int32),
        np.zeros((2, 3, 1, 1), np.uint8),
    ):
        with pytest.raises(InputError, match="image: must be mono8"):
            made.image(0.0, wrong, "c")
    camera = made.types.deserialize_cdr(
        made.camera_info(1.0, "c", (640, 480), np.arange(9.0).reshape(3, 3), "plumb_bob", [1.0, 2.0]),
        "sensor_msgs/msg/CameraInfo",
    )
    assert (camera.height, camera.width, camera.d.tolist()) == (480, 640, [1.0, 2.0])
    assert camera.p.tolist() == [0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0] and camera.r.tolist() == np.eye(3).ravel().tolist()


def test_what_a_run_writes_into_a_log(tmp_path: Path) -> None:
    """A cloud a frame, packets as the driver logs them, what an inertial sensor feels, and where the sensor was."""
    pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")
    pytest.importorskip("mcap", reason="mcap is not installed: pip install 'tussock[ros]'")
    sensor = load_sensor("vlp-16").with_(imu={"rate_hz": 50.0})
    frames = [made_frame(sensor, number, share=0.001) for number in range(2)]
    path = Trajectory.through([0.0, 0.5], [Pose(), Pose.at(1, 0, 0)])
    with open_recording(tmp_path / "a.mcap", sensor) as run:
        for frame in frames:
            run.write(type(frame)(**frame.columns, meta=frame.meta, trajectory=path))
    with read_log._opened(tmp_path / "a.mcap") as log:
        counts = {topic: [at for _, _, at in log.messages(topic)] for topic in log.kinds}
        kinds = {log.kind(topic): topic for topic in log.kinds}
        assert set(kinds) == {"PointCloud2", "VelodyneScan", "Imu", "TFMessage", "PoseStamped"}
        begin = round(EPOCH * 1e9)
        assert counts[kinds["PointCloud2"]] == [begin + round(float(frame.time.max()) * 1e9) for frame in frames]
        assert counts[kinds["Imu"]] == [begin + 20_000_000 * k for k in range(10)]
        assert len(counts["/tf"]) == len(counts["/pose"]) > 2
        scans = [log.read("velodyne_msgs/msg/VelodyneScan", raw) for _, raw, _ in log.messages(kinds["VelodyneScan"])]
    sent = [len(scan.packets) for scan in scans]
    cycles = sensor.pattern.cycles(1).stop
    assert sum(sent) == -(-cycles // 24) and len(sent) >= 2


def test_which_unit_an_ousters_packets_are_of(tmp_path: Path) -> None:
    """By the only metadata in the log, by that of the topic's own place, or by the file beside it."""
    units = [replace(unit_of(load_sensor("os1-32")), serial=number) for number in (1, 2, 3)]
    told = [(SimpleNamespace(data=json.dumps(metadata(unit))), 0) for unit in units]
    odd = [(SimpleNamespace(data="{"), 0), (SimpleNamespace(data="{}"), 0)]
    text = "std_msgs/msg/String"

    def serial(topics: dict[str, Any], topic: str = "/front/lidar_packets") -> int:
        return read_log._unit(
            tmp_path / "a.mcap", log_of({name: (text, some) for name, some in topics.items()}), topic
        ).serial

    assert serial({"/front/metadata": told[:1], "/rear/metadata": told[1:2]}) == 1
    assert serial({"/front/metadata": told[:1], "/rear/metadata": told[1:2]}, "/rear/lidar_packets") == 2
    assert serial({"/metadata": told[:1]}) == 1 and serial({"/front/metadata": [*odd, *told[1:]]}) == 2
    for topics in (
        {"/front/metadata": told[:1], "/front/more": told[1:2]},
        {"/a/metadata": told[:1], "/b/metadata": told[1:2]},
        {"/front/metadata": odd},
        {},
    ):
        with pytest.raises(InputError, match="need the metadata of their unit"):
            serial(topics)
    (tmp_path / "a.json").write_text(json.dumps(metadata(units[2])), encoding="utf-8")
    assert serial({}) == 3 and serial({"/a/metadata": told[:1], "/b/metadata": told[1:2]}) == 3
