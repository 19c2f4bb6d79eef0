"""rosbag2 and MCAP, read back by rosbags and mcap: the same arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.packets import EPOCH
from tussock.wire.recording import open_recording
from tussock.wire.ros.messages import POINT, rings_of
from tussock.wire.velodyne.encode import PacketEncoder

rosbags = pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")
pytest.importorskip("mcap_ros2", reason="mcap-ros2-support is not installed: pip install 'tussock[readers]'")

SENSOR = load_sensor("vlp-16")
DRIVE = Trajectory.through([0, 10], [Pose.at(0, 0, 2), Pose.at(20, 0, 2, yaw=1.0)])
IMAGE = np.random.default_rng(3).integers(0, 256, (7, 5, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("logs")
    paths = {"mcap": folder / "run.mcap", "rosbag2": folder / "run.rosbag2"}
    for path in paths.values():
        with open_recording(path, SENSOR) as run:
            for frame in frames():
                run.write(frame)
            run.write_image("/camera/image_raw", 0.25, IMAGE, "camera")
    return paths


def frames() -> list:
    made = [made_frame(SENSOR, number, returns="strongest") for number in range(3)]
    return [type(f)(**f.columns, meta=f.meta, trajectory=DRIVE) for f in made]


def messages(path: Path) -> list[tuple[str, int, object]]:
    """Topic, time [ns] and message, from the reader that belongs to the format."""
    if path.suffix == ".mcap":
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory

        with path.open("rb") as file:
            decoded = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages()
            return [(channel.topic, message.log_time, told) for _, channel, message, told in decoded]
    from rosbags.rosbag2 import Reader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    with Reader(path) as reader:
        for connection in reader.connections:  # only what the bag itself says of its types
            if connection.msgtype not in store.types:
                store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
        return [
            (connection.topic, time, store.deserialize_cdr(data, connection.msgtype))
            for connection, time, data in reader.messages()
        ]


def on(all_messages, topic: str) -> list:
    return [message for name, _, message in all_messages if name == topic]


@pytest.mark.parametrize("kind", ["mcap", "rosbag2"])
def test_read_back(written: dict[str, Path], kind: str) -> None:
    told = messages(written[kind])
    clouds = on(told, "/velodyne_points")
    assert len(clouds) == 3
    for cloud, frame in zip(clouds, frames(), strict=True):
        assert [field.name for field in cloud.fields] == ["x", "y", "z", "intensity", "ring", "time"]
        assert (cloud.point_step, cloud.row_step, cloud.height, cloud.width) == (22, 22 * len(frame), 1, len(frame))
        assert cloud.header.frame_id == "velodyne"
        points = np.frombuffer(bytes(cloud.data), POINT)
        for axis, name in enumerate("xyz"):
            np.testing.assert_array_equal(points[name], frame.xyz[:, axis])
        np.testing.assert_array_equal(points["ring"], rings_of(SENSOR)[frame.laser])
        stamp = cloud.header.stamp.sec + cloud.header.stamp.nanosec * 1e-9
        np.testing.assert_allclose(stamp - EPOCH + points["time"], frame.time, atol=1e-6)
        np.testing.assert_array_equal(
            points["intensity"], np.floor(frame.intensity * np.float32(100) + np.float32(0.5))
        )

    encoder = PacketEncoder(SENSOR)
    packets = [encoder.encode(frame) for frame in frames()] + [encoder.flush()]
    scans = on(told, "/velodyne_packets")
    assert len(scans) == 4
    for scan, expected in zip(scans, packets, strict=True):
        payloads = np.array([np.frombuffer(bytes(packet.data), np.uint8) for packet in scan.packets])
        np.testing.assert_array_equal(payloads, expected.payloads)

    (image,) = on(told, "/camera/image_raw")
    assert (image.encoding, image.height, image.width, image.step) == ("rgb8", 7, 5, 15)
    np.testing.assert_array_equal(np.frombuffer(bytes(image.data), np.uint8).reshape(7, 5, 3), IMAGE)

    poses, transforms = on(told, "/pose"), on(told, "/tf")
    assert len(poses) == len(transforms) == 30  # 100 a second
    for pose, transform in zip(poses, transforms, strict=True):
        time = pose.header.stamp.sec + pose.header.stamp.nanosec * 1e-9 - EPOCH
        expected = DRIVE.pose(time)
        place, turn = pose.pose.position, pose.pose.orientation
        np.testing.assert_allclose([place.x, place.y, place.z], expected.position, atol=1e-5)
        np.testing.assert_allclose([turn.x, turn.y, turn.z, turn.w], expected.quaternion, atol=1e-6)
        (stamped,) = transform.transforms
        assert (stamped.header.frame_id, stamped.child_frame_id) == ("map", "velodyne")
        assert stamped.transform.translation.x == place.x and stamped.transform.rotation.z == turn.z


def test_both_formats_hold_the_same_messages(written: dict[str, Path]) -> None:
    """Topic by topic and nanosecond by nanosecond."""
    stamps = [sorted((topic, time) for topic, time, _ in messages(path)) for path in written.values()]
    assert stamps[0] == stamps[1]


def test_mcap_reads_with_its_own_index(written: dict[str, Path]) -> None:
    from mcap.reader import make_reader

    with written["mcap"].open("rb") as file:
        summary = make_reader(file).get_summary()
    names = {schema.name for schema in summary.schemas.values()}
    assert names == {
        "sensor_msgs/msg/PointCloud2", "velodyne_msgs/msg/VelodyneScan", "tf2_msgs/msg/TFMessage",
        "geometry_msgs/msg/PoseStamped", "sensor_msgs/msg/Image", "sensor_msgs/msg/Imu",
    }  # fmt: skip
    assert summary.statistics.message_count == 3 + 4 + 30 + 30 + 1 + 30


def test_any_sensor_has_points(tmp_path: Path) -> None:
    """Without packets there are points and poses all the same."""
    sensor = load_sensor("os1-64")
    frame = made_frame(sensor, 0, share=0.3)
    with open_recording(tmp_path / "os.mcap", sensor) as run:
        run.write(frame)
    told = messages(tmp_path / "os.mcap")
    assert sorted({topic for topic, _, _ in told}) == ["/ouster/imu", "/ouster/points", "/pose", "/tf"]
    (cloud,) = on(told, "/ouster/points")
    assert (cloud.height, cloud.width, cloud.header.frame_id) == (64, 1024, "os_sensor")
