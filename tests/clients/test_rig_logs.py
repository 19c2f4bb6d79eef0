"""A rig of LIDARs and cameras in one ROS log, read back by mcap and rosbags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_ros_logs import messages, on

from tussock.cameras.camera import Camera
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.rigs.capture import Moment, capture
from tussock.rigs.log import open_rig_log
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.wire.ros.messages import POINT

RIG = Rig(
    body=Trajectory.through([0, 1], [Pose.at(0, 0, 0), Pose.at(2, 0, 0, yaw=0.2)]),
    lidars=[
        MountedLidar("top", load_sensor("vlp-16"), Pose.at(0, 0, 2)),
        MountedLidar("front", load_sensor("lms-111"), Pose.at(1, 0, 0.5)),
    ],
    cameras=[
        MountedCamera("left", Camera(width=32, height=20, samples=1), Pose.at(0.5, 0.3, 1.5), trigger=0.02),
        MountedCamera(
            "wide",
            Camera(width=24, height=24, samples=1, lens={"kind": "fisheye", "horizontal_fov_deg": 170, "k1": 0.01}),
            Pose.at(0.5, 0, 1.5),
        ),
    ],
)


@pytest.mark.parametrize("suffix", [".mcap", ".rosbag2"])
def test_every_sensor_is_in_the_log(tmp_path: Path, suffix: str) -> None:
    scene = Scene("yard")
    scene.add(ground((40, 40)), name="ground", label="terrain")
    scene.add(box((1, 1, 3)), name="box", label="building", position=(8, 1, 1.5))
    moments = list(capture(RIG, scene, end=0.3))
    path = tmp_path / f"rig{suffix}"
    with open_rig_log(path, RIG) as log:
        for moment in moments:
            log.write(moment)
    told = messages(path)
    assert sorted({topic for topic, _, _ in told}) == [
        "/front/points", "/left/camera_info", "/left/image_raw", "/pose", "/tf", "/tf_static", "/top/packets",
        "/top/points", "/wide/camera_info", "/wide/image_raw",
    ]  # fmt: skip

    for name in ("left", "wide"):
        images, infos = on(told, f"/{name}/image_raw"), on(told, f"/{name}/camera_info")
        assert len(images) == len(infos) == 3
        for image, info, moment in zip(images, infos, moments, strict=True):
            rgb = moment.pictures[name].rgb
            np.testing.assert_array_equal(np.frombuffer(bytes(image.data), np.uint8).reshape(rgb.shape), rgb)
            assert image.header.frame_id == info.header.frame_id == f"{name}_optical"
            assert image.header.stamp.nanosec == info.header.stamp.nanosec
            np.testing.assert_array_equal(np.array(info.k).reshape(3, 3), moment.pictures[name].camera.matrix)
    assert on(told, "/left/camera_info")[0].distortion_model == "plumb_bob"
    assert on(told, "/left/image_raw")[1].header.stamp.nanosec == 120_000_000
    wide = on(told, "/wide/camera_info")[0]
    assert wide.distortion_model == "equidistant" and list(wide.d) == [0.01, 0, 0, 0]

    for name in ("top", "front"):
        clouds = on(told, f"/{name}/points")
        for cloud, moment in zip(clouds, moments, strict=True):
            points = np.frombuffer(bytes(cloud.data), POINT)
            np.testing.assert_array_equal(points["x"], moment.frames[name].xyz[:, 0])
            assert cloud.header.frame_id == name

    (mounts,) = on(told, "/tf_static")
    edges = {(t.header.frame_id, t.child_frame_id): t.transform for t in mounts.transforms}
    assert set(edges) == {
        ("base_link", "top"), ("base_link", "front"), ("base_link", "left"), ("base_link", "wide"),
        ("left", "left_optical"), ("wide", "wide_optical"),
    }  # fmt: skip
    assert edges["base_link", "left"].translation.y == 0.3
    optical = edges["left", "left_optical"].rotation
    turn = Pose(np.zeros(3), np.array([optical.x, optical.y, optical.z, optical.w]))
    np.testing.assert_allclose(turn.apply([[0, 0, 1], [1, 0, 0]]), [[1, 0, 0], [0, -1, 0]], atol=1e-9)
    assert len(on(told, "/tf")) == len(on(told, "/pose")) == 30


@pytest.mark.parametrize("suffix", [".mcap", ".rosbag2"])
def test_mounts_are_kept_for_late_listeners(tmp_path: Path, suffix: str) -> None:
    """tf2 asks for transient local on /tf_static; a player that offers less is not heard."""
    from rosbags.interfaces import QosDurability, QosReliability
    from rosbags.rosbag2 import Reader
    from rosbags.rosbag2.metadata import parse_qos

    path = tmp_path / f"rig{suffix}"
    with open_rig_log(path, RIG) as log:
        log.write(Moment(RIG, 0, 0.0))
    if suffix == ".mcap":
        from mcap.reader import make_reader

        with path.open("rb") as file:
            summary = make_reader(file).get_summary()
        profiles = {
            channel.topic: parse_qos(channel.metadata.get("offered_qos_profiles", ""))
            for channel in summary.channels.values()
        }
    else:
        with Reader(path) as reader:
            profiles = {one.topic: one.ext.offered_qos_profiles for one in reader.connections}
    (mounts,) = profiles["/tf_static"]
    assert mounts.durability is QosDurability.TRANSIENT_LOCAL and mounts.reliability is QosReliability.RELIABLE
    assert profiles["/tf"] == profiles["/pose"] == []


def test_a_log_is_whole_or_absent(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must be \.mcap or \.rosbag2"), open_rig_log(tmp_path / "rig.bag", RIG):
        pass
    with pytest.raises(RuntimeError), open_rig_log(tmp_path / "rig.mcap", RIG) as log:
        log.write(Moment(RIG, 0, 0.0))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
