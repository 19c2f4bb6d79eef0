"""What a run says in ROS's words, field by field; what is kept for late listeners; files that grow and disks that are full."""

from __future__ import annotations

import errno
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import OutputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.packets import Packets
from tussock.wire.recording import open_recording, pose_times
from tussock.wire.ros import read_log
from tussock.wire.ros.logs import _Whole, open_growing_mcap, open_mcap, open_rosbag1, open_rosbag2
from tussock.wire.ros.messages import OUSTER_POINT, POINT, RosMessages, rings_of, ros1_types

pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")
pytest.importorskip("mcap", reason="mcap is not installed: pip install 'tussock[ros]'")

PATH = Trajectory.through([0.0, 2.0], [Pose.at(1, 2, 3), Pose.at(5, 2, 3)])
HALF = math.sqrt(0.5)


def messages(name: str | None = "vlp-16", frame_id: str = "front") -> RosMessages:
    return RosMessages(None if name is None else load_sensor(name), epoch=1_700_000_000.25, frame_id=frame_id)


def told(made: RosMessages, raw: bytes, kind: str) -> Any:
    return made.types.deserialize_cdr(raw, kind)


def numbers(thing: Any) -> list[float]:
    return [getattr(thing, name) for name in ("x", "y", "z", "w") if hasattr(thing, name)]


def test_what_an_inertial_sensor_feels() -> None:
    """The first number of the orientation's covariance is −1: it is not told."""
    made = messages()
    found = told(made, made.imu(0.5, np.array([1.0, 2.0, 9.8]), np.array([0.1, 0.2, 0.3])), "sensor_msgs/msg/Imu")
    assert (found.header.stamp.sec, found.header.stamp.nanosec, found.header.frame_id) == (
        1_700_000_000,
        750_000_000,
        "front",
    )
    assert numbers(found.linear_acceleration) == [1.0, 2.0, 9.8] and numbers(found.angular_velocity) == [0.1, 0.2, 0.3]
    assert numbers(found.orientation) == [0, 0, 0, 1] and found.orientation_covariance.tolist() == [-1, *[0] * 8]
    assert found.linear_acceleration_covariance.tolist() == found.angular_velocity_covariance.tolist() == [0] * 9


def test_where_a_sensor_is() -> None:
    made = messages()
    pose = told(made, made.pose(0.5, PATH), "geometry_msgs/msg/PoseStamped")
    assert (
        pose.header.frame_id == "map"
        and numbers(pose.pose.position) == [2, 2, 3]
        and numbers(pose.pose.orientation) == [0, 0, 0, 1]
    )
    (edge,) = told(made, made.transform(0.5, PATH), "tf2_msgs/msg/TFMessage").transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("map", "front") and numbers(edge.transform.translation) == [
        2,
        2,
        3,
    ]
    assert edge.header.stamp.nanosec == 750_000_000
    edges = [("a", "b", Pose.at(1, 0, 0, yaw=math.pi / 2)), ("b", "c", Pose.at(0, 0, 4))]
    found = told(made, made.transforms(0.0, edges), "tf2_msgs/msg/TFMessage").transforms
    assert [(one.header.frame_id, one.child_frame_id) for one in found] == [("a", "b"), ("b", "c")]
    assert numbers(found[0].transform.rotation) == pytest.approx([0, 0, HALF, HALF]) and numbers(
        found[1].transform.translation
    ) == [0, 0, 4]


def test_packets_as_the_driver_has_them() -> None:
    """Each with its own moment; the message has that of the last."""
    made = messages()
    payloads = np.arange(2 * 1206, dtype=np.int64).astype(np.uint8).reshape(2, 1206)
    found = told(made, made.packets(Packets(payloads, np.array([0.5, 0.75]))), "velodyne_msgs/msg/VelodyneScan")
    assert (found.header.stamp.sec, found.header.stamp.nanosec, found.header.frame_id) == (1_700_000_001, 0, "front")
    assert [packet.stamp.nanosec for packet in found.packets] == [750_000_000, 0]
    assert [packet.data.tolist() for packet in found.packets] == payloads.tolist()


@pytest.mark.parametrize("name", ["vlp-16", "os1-32"])
def test_a_cloud_says_how_it_is_laid_out(name: str) -> None:
    """Types by the numbers of sensor_msgs/PointField: 4 is uint16, 6 uint32, 7 float32."""
    sensor = load_sensor(name)
    made, frame = messages(name), made_frame(sensor, 1, share=0.001)
    found = told(made, made.points(frame), "sensor_msgs/msg/PointCloud2")
    form = OUSTER_POINT if name.startswith("os") else POINT
    kinds = {"<u2": 4, "<u4": 6, "<f4": 7}
    assert [(f.name, f.offset, f.datatype, f.count) for f in found.fields] == [
        (field, form.fields[field][1], kinds[form[field].str], 1) for field in form.names
    ]
    rows, columns = (32, 1024) if name.startswith("os") else (1, len(frame))
    assert (found.height, found.width, found.point_step, found.row_step) == (
        rows,
        columns,
        form.itemsize,
        form.itemsize * columns,
    )
    assert found.is_dense and not found.is_bigendian and len(found.data) == rows * columns * form.itemsize
    assert (POINT.itemsize, OUSTER_POINT.itemsize) == (22, 48)
    assert found.header.stamp.nanosec == 350_000_000


def test_rings_are_counted_from_the_lowest_up() -> None:
    assert rings_of(load_sensor("vlp-16"))[:4].tolist() == [0, 8, 1, 9]
    assert rings_of(load_sensor("livox-mid-360")).tolist() == list(range(load_sensor("livox-mid-360").lasers))
    assert not messages(None).organised and messages("os1-32").organised and not messages().organised


FOREVER = {"sec": 9223372036, "nsec": 854775807}
"""2⁶³ − 1 ns, as rmw has it"""


def test_what_is_told_once_is_kept_for_late_listeners(tmp_path: Path) -> None:
    """The last, reliably, "transient local": the numbers of rmw_qos_profile_t; other topics are not."""
    import mcap.reader
    import rosbags.rosbag1
    import rosbags.rosbag2

    made = messages()
    edge = made.transform(0.0, PATH)
    for suffix, opened in ((".mcap", open_mcap), (".rosbag2", open_rosbag2), (".bag", open_rosbag1)):
        with opened(tmp_path / f"a{suffix}", made) as log:
            for topic in ("/tf", "/tf_static", "/tf"):
                log.write(topic, "tf2_msgs/msg/TFMessage", 1_700_000_000_000_000_005, edge)
    with (tmp_path / "a.mcap").open("rb") as file:
        reader = mcap.reader.make_reader(file)
        channels = {channel.topic: channel for channel in reader.get_summary().channels.values()}
        assert [(m.log_time, m.publish_time, m.data) for _, _, m in reader.iter_messages(topics=["/tf_static"])] == [
            (1_700_000_000_000_000_005, 1_700_000_000_000_000_005, edge)
        ]
        assert reader.get_header().profile == "ros2" and set(channels) == {"/tf", "/tf_static"}
    (kept,) = json.loads(channels["/tf_static"].metadata["offered_qos_profiles"])
    wanted = {
        "history": 1, "depth": 1, "reliability": 1, "durability": 1, "deadline": FOREVER, "lifespan": FOREVER, "liveliness": 1,
        "liveliness_lease_duration": FOREVER, "avoid_ros_namespace_conventions": False,
    }  # fmt: skip
    assert kept == wanted and channels["/tf"].metadata == {} and channels["/tf"].message_encoding == "cdr"
    with rosbags.rosbag2.Reader(tmp_path / "a.rosbag2") as bag:
        profiles = {connection.topic: connection.ext.offered_qos_profiles for connection in bag.connections}
        assert [raw for _, _, raw in bag.messages([c for c in bag.connections if c.topic == "/tf_static"])] == [edge]
    assert not profiles["/tf"]
    (one,) = profiles["/tf_static"]
    assert (one.depth, int(one.durability.value), int(one.history.value), int(one.reliability.value)) == (1, 1, 1, 1)
    assert (one.deadline.sec, one.deadline.nsec, one.avoid_ros_namespace_conventions) == (*FOREVER.values(), False)
    with rosbags.rosbag1.Reader(tmp_path / "a.bag") as bag:
        latched = {connection.topic: connection.ext.latching for connection in bag.connections}
        raws = [bytes(raw) for _, _, raw in bag.messages()]
    assert latched == {"/tf": None, "/tf_static": 1} and len(raws) == 3
    assert ros1_types().deserialize_ros1(raws[0], "tf2_msgs/msg/TFMessage").transforms[0].child_frame_id == "front"


def test_a_file_that_grows_is_there_chunk_by_chunk(tmp_path: Path) -> None:
    made = messages()
    path, edge = tmp_path / "a.mcap", made.transform(0.0, PATH)
    with open_growing_mcap(path, made, chunk_bytes=200) as log:
        sizes = []
        for k in range(6):
            log.write("/tf", "tf2_msgs/msg/TFMessage", k, edge)
            sizes.append(path.stat().st_size)
        assert sizes[-1] > sizes[0] > 0
    assert path.stat().st_size > sizes[-1]
    with read_log._opened(path) as found:
        assert [at for _, _, at in found.messages("/tf")] == list(range(6))


def test_a_raw_file_is_given_all_of_it() -> None:
    """However little it takes at a time."""

    class Slow:
        def __init__(self) -> None:
            self.taken = bytearray()

        def tell(self) -> int:
            return len(self.taken)

        def write(self, data: memoryview) -> int:
            self.taken += data[:3]
            return min(3, len(data))

    slow = Slow()
    whole = _Whole(slow)
    assert whole.write(b"ten bytes!") == 10 and bytes(slow.taken) == b"ten bytes!" and whole.tell() == 10
    assert whole.write(b"") == 0


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "no space left on the disk"), (errno.EACCES, "Permission denied")]
)
def test_a_file_that_cannot_grow_is_one_line(tmp_path: Path, number: int, words: str) -> None:
    import os

    with (
        pytest.raises(OutputError, match=f"a.mcap: cannot be written .{words}."),
        open_growing_mcap(tmp_path / "a.mcap", messages()),
    ):
        raise OSError(number, os.strerror(number))


def test_when_poses_are_told() -> None:
    """Each hundredth of a second that lies in the frame; of a sensor that stands at its start; of a long frame a thousand."""
    still = Trajectory.standing(Pose())
    assert pose_times(still, 0.3, 0.1) == [0.3]
    assert pose_times(PATH, 0.3, 0.1) == pytest.approx([0.30 + 0.01 * k for k in range(10)])
    assert pose_times(PATH, 0.305, 0.05) == pytest.approx([0.31 + 0.01 * k for k in range(5)])
    long = pose_times(PATH, 0.0, 100.0)
    assert len(long) == 1000 and np.diff(long) == pytest.approx(0.1)
    assert len(pose_times(PATH, 0.0, 10.0)) == 1000 and len(pose_times(PATH, 0.0, 9.0)) == 900


@pytest.mark.parametrize(
    ("name", "frame_id", "topics"),
    [
        ("vlp-16", "velodyne", {"/velodyne_points", "/velodyne_packets", "/imu/data", "/tf", "/pose"}),
        ("os1-32", "os_sensor", {"/ouster/points", "/ouster/imu", "/tf", "/pose"}),
        ("livox-mid-360", "livox-mid-360", {"/points", "/livox/lidar", "/imu/data", "/tf", "/pose"}),
        ("lms-111", "lms-111", {"/points", "/imu/data", "/tf", "/pose"}),
    ],
)
def test_topics_are_called_as_by_each_driver(tmp_path: Path, name: str, frame_id: str, topics: set[str]) -> None:
    sensor = load_sensor(name)
    frame = made_frame(sensor, 1, share=0.001)
    with open_recording(tmp_path / "a.mcap", sensor, epoch=1_700_000_000.0) as run:
        run.write(frame)
        run.write_image("/image", 0.15, np.zeros((2, 2), np.uint8), "camera")
    begin = 1_700_000_000_000_000_000
    with read_log._opened(tmp_path / "a.mcap") as log:
        assert set(log.kinds) == topics | {"/image"}
        assert [at for _, _, at in log.messages("/image")] == [begin + 150_000_000]
        points = next(topic for topic in topics if topic.endswith("points"))
        ((kind, raw, at),) = log.messages(points)
        assert log.read(kind, raw).header.frame_id == frame_id
        last = float(frame.time.max()) if len(frame) else frame.meta["start_s"]
        assert at == begin + round(last * 1e9)
        felt = next(topic for topic in topics if "imu" in topic)
        rate = sensor.imu.rate_hz if sensor.imu else 100.0
        moments = [at for _, _, at in log.messages(felt)]
        assert len(moments) == round(rate * sensor.frame_period) and np.diff(moments) == pytest.approx(
            1e9 / rate, abs=2
        )
        assert [at for _, _, at in log.messages("/tf")] == [begin + round(sensor.frame_period * 1e9)]
