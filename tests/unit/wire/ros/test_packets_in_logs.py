"""Raw packets of other people's drivers in ROS logs, and Livox's own message of points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.learn.readers.read_pulses import load_pulses
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.livox.custom_msg import custom_msg, read_custom_msg
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording
from tussock.wire.ros.read_log import log_firings, read_clouds

rosbag1 = pytest.importorskip("rosbags.rosbag1", reason="rosbags is not installed: pip install 'tussock[ros]'")
rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="rosbags is not installed: pip install 'tussock[ros]'")
typesys = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed: pip install 'tussock[ros]'")

TIME = "builtin_interfaces/Time"
DEFINITIONS = {
    "pandar_msgs/msg/PandarPacket": f"{TIME} stamp\nuint8[1500] data\nuint32 size\n",
    "pandar_msgs/msg/PandarScan": "std_msgs/Header header\npandar_msgs/PandarPacket[] packets\n",
    "nebula_msgs/msg/NebulaPacket": f"{TIME} stamp\nuint8[] data\n",
    "nebula_msgs/msg/NebulaPackets": "std_msgs/Header header\nnebula_msgs/NebulaPacket[] packets\n",
    "ouster_sensor_msgs/msg/PacketMsg": "uint8[] buf\n",
    "livox_ros_driver/msg/CustomPoint": (
        "uint32 offset_time\nfloat32 x\nfloat32 y\nfloat32 z\nuint8 reflectivity\nuint8 tag\nuint8 line\n"
    ),
    "livox_ros_driver/msg/CustomMsg": (
        "std_msgs/Header header\nuint64 timebase\nuint32 point_num\nuint8 lidar_id\nuint8[3] rsvd\n"
        "livox_ros_driver/CustomPoint[] points\n"
    ),
}


class Bag:
    """A log written by rosbags with message types of any driver."""

    def __init__(self, path: Path) -> None:
        self.one = path.suffix == ".bag"
        stores = typesys.Stores
        self.store = typesys.get_typestore(stores.ROS1_NOETIC if self.one else stores.ROS2_HUMBLE)
        for name, text in DEFINITIONS.items():
            self.store.register(typesys.get_types_from_msg(text, name))
        self.writer = rosbag1.Writer(path) if self.one else rosbag2.Writer(path, version=8)
        self.topics: dict[str, object] = {}

    def __enter__(self) -> Bag:
        self.writer.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.writer.close()

    def make(self, kind: str, **values: object) -> object:
        return self.store.types[kind](**values)

    def stamp(self, time_ns: int) -> object:
        return self.make("builtin_interfaces/msg/Time", sec=int(time_ns // 10**9), nanosec=int(time_ns % 10**9))

    def header(self, time_ns: int) -> object:
        more = {"seq": 0} if self.one else {}
        return self.make("std_msgs/msg/Header", stamp=self.stamp(time_ns), frame_id="lidar", **more)

    def write(self, topic: str, time_ns: int, message: object) -> None:
        kind = message.__msgtype__  # type: ignore[attr-defined]
        if topic not in self.topics:
            self.topics[topic] = self.writer.add_connection(topic, kind, typestore=self.store)
        pack = self.store.serialize_ros1 if self.one else self.store.serialize_cdr
        self.writer.write(self.topics[topic], int(time_ns), bytes(pack(message, kind)))


def captured(path: Path, name: str, **changes: object) -> list[tuple[int, np.ndarray]]:
    """A capture of two frames, and the data packets in it with their times."""
    sensor = load_sensor(name).with_(**changes) if changes else load_sensor(name)
    with open_recording(path, sensor) as run:
        for number in range(2):
            run.write(made_frame(sensor, number))
    found = read_datagrams(path)
    most = found.select(found.size == int(found.size.max()))
    return list(zip(most.time_ns.tolist(), most.payloads(), strict=True))


def same(log: Path, capture: Path, **how: object) -> None:
    found, wanted = log_firings(log, **how), read_firings(capture)  # type: ignore[arg-type]
    assert found is not None and found.sensor == wanted.sensor
    for name in ("ranges", "lasers", "intensity", "turns"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    np.testing.assert_allclose(found.times, wanted.times, atol=3e-6)
    np.testing.assert_allclose(found.directions, wanted.directions, atol=1e-9)


@pytest.mark.parametrize("kind", ["PandarScan", "NebulaPackets"])
@pytest.mark.parametrize("log", ["run.bag", "run.rosbag2"])
def test_packets_of_a_hesai(tmp_path: Path, kind: str, log: str) -> None:
    packets = captured(tmp_path / "run.pcap", "xt32")
    maker, inner = ("pandar_msgs", "PandarPacket") if kind == "PandarScan" else ("nebula_msgs", "NebulaPacket")
    with Bag(tmp_path / log) as bag:
        for first in range(0, len(packets), 250):
            part = packets[first : first + 250]
            made = []
            for time, data in part:
                more = {"size": len(data)} if kind == "PandarScan" else {}
                room = np.zeros(1500 if more else len(data), np.uint8)
                room[: len(data)] = data
                made.append(bag.make(f"{maker}/msg/{inner}", stamp=bag.stamp(time), data=room, **more))
            message = bag.make(f"{maker}/msg/{kind}", header=bag.header(part[0][0]), packets=made)
            bag.write("/pandar_packets", part[-1][0], message)
    same(tmp_path / log, tmp_path / "run.pcap")


@pytest.mark.parametrize("log", ["run.bag", "run.rosbag2"])
def test_packets_of_an_ouster(tmp_path: Path, log: str) -> None:
    packets = captured(tmp_path / "run.pcap", "os1-32")
    told = (tmp_path / "run.json").read_text()
    for name, metadata in (("with_" + log, told), ("without_" + log, None)):
        with Bag(tmp_path / name) as bag:
            first = packets[0][0]
            if metadata is not None:
                text = bag.make("std_msgs/msg/String", data=json.dumps(json.loads(metadata)))
                bag.write("/ouster/metadata", first, text)
                bag.write("/rosout_text", first, bag.make("std_msgs/msg/String", data="hello"))
            for time, data in packets:
                bag.write("/ouster/lidar_packets", time, bag.make("ouster_sensor_msgs/msg/PacketMsg", buf=data))
                inertial = bag.make("ouster_sensor_msgs/msg/PacketMsg", buf=np.zeros(48, np.uint8))
                bag.write("/ouster/imu_packets", time, inertial)
    same(tmp_path / f"with_{log}", tmp_path / "run.pcap")
    without = tmp_path / f"without_{log}"
    with pytest.raises(InputError, match="need the metadata of their unit"):
        log_firings(without)
    same(without, tmp_path / "run.pcap", model=str(tmp_path / "run.json"))
    pulses = load_pulses(tmp_path / f"with_{log}")
    assert pulses.complete and pulses.hit.any()


@pytest.mark.parametrize("log", ["run.bag", "run.rosbag2"])
def test_points_of_a_livox(tmp_path: Path, log: str) -> None:
    sensor = load_sensor("livox-avia")
    frame = made_frame(sensor, 1)
    hit, stamp = frame.hit, 1_700_000_000_250_000_000
    raw = custom_msg(frame, stamp, "livox_frame")
    with Bag(tmp_path / log) as bag:
        theirs = bag.store.deserialize_cdr(raw, "livox_ros_driver/msg/CustomMsg") if not bag.one else None
        if theirs is None:
            point = bag.store.types["livox_ros_driver/msg/CustomPoint"]
            _, fields = read_custom_msg(raw)
            since = np.rint((fields["time"] - stamp * 1e-9) * 1e9).astype(int)
            rows = zip(
                since, *(fields[name].tolist() for name in ("x", "y", "z", "reflectivity", "tag", "line")), strict=True
            )
            points = [point(int(t), *row) for t, *row in rows]
            theirs = bag.make(
                "livox_ros_driver/msg/CustomMsg", header=bag.header(stamp), timebase=stamp, point_num=len(points),
                lidar_id=0, rsvd=np.zeros(3, np.uint8), points=points,
            )  # fmt: skip
        bag.write("/livox/lidar", stamp, theirs)
    (cloud,) = read_clouds(tmp_path / log)
    assert cloud.topic == "/livox/lidar" and cloud.time == pytest.approx(stamp * 1e-9)
    for axis, name in enumerate("xyz"):
        np.testing.assert_array_equal(cloud.fields[name], frame.xyz[hit, axis])
    np.testing.assert_array_equal(cloud.fields["line"], frame.laser[hit])
    start = float(frame.meta["start_s"])
    np.testing.assert_allclose(cloud.fields["time"], stamp * 1e-9 + frame.time[hit] - start, atol=1e-6)
    pulses = load_pulses(tmp_path / log)
    assert len(pulses) == hit.sum() and not pulses.complete


@pytest.mark.parametrize("cut", [3, 30, 100, 500])
def test_a_message_that_is_cut(cut: int) -> None:
    raw = custom_msg(made_frame(load_sensor("livox-avia"), 0), 0, "livox_frame")
    with pytest.raises(InputError, match="shorter than it says"):
        read_custom_msg(raw[:cut])
    with pytest.raises(InputError, match="shorter than it says"):
        read_custom_msg(raw[:-2])


def test_several_topics_of_packets(tmp_path: Path) -> None:
    packets = captured(tmp_path / "run.pcap", "xt32")[:40]
    with Bag(tmp_path / "run.bag") as bag:
        for topic in ("/front/packets", "/rear/packets"):
            made = [bag.make("nebula_msgs/msg/NebulaPacket", stamp=bag.stamp(t), data=data) for t, data in packets]
            message = bag.make("nebula_msgs/msg/NebulaPackets", header=bag.header(0), packets=made)
            bag.write(topic, packets[0][0], message)
    with pytest.raises(InputError, match="packets in several topics, /front/packets, /rear/packets; choose one"):
        log_firings(tmp_path / "run.bag")
    found = log_firings(tmp_path / "run.bag", topic="/rear/packets")
    assert found is not None and len(found) == 40 * 8 * 32
    with pytest.raises(InputError, match=r"must be a topic of run\.bag: /front/packets, /rear/packets"):
        log_firings(tmp_path / "run.bag", topic="/side/packets")
