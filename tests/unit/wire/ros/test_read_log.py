"""ROS logs of every kind written and read back: packets firing by firing, points, and what the inertial sensor felt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gappy_frames import gappy_frame
from made_frames import made_frame
from tussock.datasets.recordings import open_recordings
from tussock.errors import InputError
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose
from tussock.sensors.catalogue import load_sensor
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording
from tussock.wire.ros.read_log import log_firings, read_clouds

pytest.importorskip("rosbags", reason="rosbags is not installed: pip install 'tussock[ros]'")

LOGS = ["run.mcap", "run.rosbag2", "run.bag"]


@pytest.fixture(scope="module", params=LOGS)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A log and a capture of the same run."""
    folder = tmp_path_factory.mktemp("logs")
    sensor = load_sensor("vlp-16").with_(**{"receiver.mode": "strongest+last"})
    for name in (request.param, "run.pcap"):
        rng = np.random.default_rng(0)
        with open_recording(folder / name, sensor) as run:
            for number in range(3):
                run.write(gappy_frame(sensor, number, rng)[0])
    return folder / request.param, folder / "run.pcap"


def test_packets_are_those_of_a_capture(log: tuple[Path, Path]) -> None:
    path, capture = log
    found, wanted = log_firings(path), read_firings(capture)
    assert found is not None and found.kinds == ("strongest", "last")
    np.testing.assert_array_equal(found.ranges, wanted.ranges)
    np.testing.assert_array_equal(found.lasers, wanted.lasers)
    np.testing.assert_allclose(found.azimuths, wanted.azimuths, atol=1e-12)
    np.testing.assert_allclose(found.times, wanted.times, atol=3e-6)
    pulses = load_pulses(path, turns=[1])
    assert pulses.complete and not pulses.hit.all()
    frames = open_recordings([path])
    assert sum(len(frame.select(frame.hit)) for frame in frames) > 0


def test_points_are_chosen_by_their_topic(log: tuple[Path, Path]) -> None:
    path, capture = log
    clouds = read_clouds(path)
    assert [cloud.topic for cloud in clouds] == ["/velodyne_points"] * 3
    pulses = load_pulses(path, unit="/velodyne_points")
    assert not pulses.complete and np.unique(pulses.turns).size <= 3
    whole = read_firings(capture)
    assert len(pulses) >= np.isfinite(whole.ranges[:, 0]).sum()
    with pytest.raises(InputError, match=r"unit: must be a topic of run\."):
        load_pulses(path, unit="/lidar")


@pytest.mark.parametrize("name", LOGS)
def test_points_of_a_sensor_without_packets(tmp_path: Path, name: str) -> None:
    sensor = load_sensor("livox-mid-40")
    frames = [made_frame(sensor, number, pose=Pose.at(0, 0, 1)) for number in range(2)]
    with open_recording(tmp_path / name, sensor) as run:
        for frame in frames:
            run.write(frame)
    clouds = read_clouds(tmp_path / name)
    for cloud, frame in zip(clouds, frames, strict=True):
        hits = frame.select(frame.hit)
        xyz = np.stack([cloud.fields[axis] for axis in "xyz"], 1)
        np.testing.assert_array_equal(xyz, hits.xyz)
        np.testing.assert_allclose(cloud.fields["time"] - EPOCH, hits.time, atol=1e-6)
    shown = open_recordings([tmp_path / name])
    assert [len(frame) for frame in shown] == [len(frame.select(frame.hit)) for frame in frames]
    pulses = load_pulses(tmp_path / name)
    assert len(pulses) == sum(len(frame.select(frame.hit)) for frame in frames)


@pytest.mark.parametrize("name", LOGS)
def test_what_an_inertial_sensor_feels(tmp_path: Path, name: str) -> None:
    sensor = load_sensor("vlp-16")
    with open_recording(tmp_path / name, sensor) as run:
        for number in range(3):
            run.write(made_frame(sensor, number, share=0.01))
    from tussock.wire.ros import read_log

    with read_log._opened(tmp_path / name) as opened:
        assert opened.kinds["/imu/data"] == "sensor_msgs/msg/Imu"
        felt = [opened.read(kind, raw) for kind, raw, _ in opened.messages("/imu/data")]
    assert len(felt) == 30
    stamps = np.array([m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in felt])
    np.testing.assert_allclose(np.diff(stamps), 0.01, atol=1e-6)
    assert [felt[0].linear_acceleration.z, felt[0].angular_velocity.x] == pytest.approx([9.80665, 0.0])
    assert felt[0].orientation_covariance[0] == -1


@pytest.mark.parametrize("name", LOGS)
def test_an_ouster_s_points_are_rows_and_columns(tmp_path: Path, name: str) -> None:
    sensor = load_sensor("os1-64")
    frame, _ = gappy_frame(sensor, 0, np.random.default_rng(5))
    with open_recording(tmp_path / name, sensor) as run:
        run.write(frame)
    from tussock.wire.ros import read_log

    with read_log._opened(tmp_path / name) as opened:
        assert opened.kinds["/ouster/imu"] == "sensor_msgs/msg/Imu"
        ((kind, raw, _),) = list(opened.messages("/ouster/points"))
        message = opened.read(kind, raw)
    assert (message.height, message.width, message.point_step) == (64, 1024, 48)
    assert [field.name for field in message.fields] == [
        "x", "y", "z", "intensity", "t", "reflectivity", "ring", "ambient", "range"
    ]  # fmt: skip
    (cloud,) = read_clouds(tmp_path / name)
    grid = {key: values.reshape(64, 1024) for key, values in cloud.fields.items()}
    hits = frame.select(frame.hit)
    place = hits.laser, hits.pulse // 64
    np.testing.assert_array_equal(grid["range"][place], np.rint(hits.range * 1000))
    assert np.count_nonzero(grid["range"]) == len(hits)
    np.testing.assert_array_equal(grid["z"][place], hits.xyz[:, 2])
    np.testing.assert_allclose(grid["time"][place] - EPOCH, hits.time, atol=1e-6)
    assert (np.diff(grid["time"], axis=1) > 0).all() and (grid["ring"] == np.arange(64)[:, None]).all()
    assert len(load_pulses(tmp_path / name)) == len(hits)


def test_what_is_no_log(tmp_path: Path) -> None:
    for name in LOGS[::2]:
        (tmp_path / name).write_bytes(b"this is no log, only text")
        with pytest.raises(InputError, match="not a readable ROS log") as caught:
            load_pulses(tmp_path / name)
        assert "\n" not in str(caught.value)
        with pytest.raises(InputError, match="no such file or folder"):
            load_pulses(tmp_path / f"gone{Path(name).suffix}")
