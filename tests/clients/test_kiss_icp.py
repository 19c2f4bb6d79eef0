"""KISS-ICP follows our logs: it corrects the motion within a sweep by the points' own times, and finds the path driven.

Logs are opened by mcap's own reader: that of KISS-ICP 1.3 does not find the types of a cloud's fields in any MCAP.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.recording import open_recording

FRAMES = 12
SPEED, TURNS = 5.0, np.deg2rad(10.0)  # [m/s], [rad/s]


def place() -> Scene:
    """Boxes, none like the other, on no ground: rings on flat ground come along with the sensor."""
    rng = np.random.default_rng(4)
    scene = Scene("boxes")
    for number in range(80):
        at = rng.uniform(-30, 40, 2)
        if abs(at[1]) > 3:
            scene.add(box(rng.uniform(1, 6, 3)), name=f"box {number}", position=(*at, 1.0), yaw=rng.uniform(-3, 3))
    return scene


def clouds(path: Path, topic: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Points [m] and their times in the sweep [s], by the fields that a message says it has."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    kinds = {4: "<u2", 6: "<u4", 7: "<f4"}
    with path.open("rb") as file:
        for _, _, _, told in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages([topic]):
            names, where = [f.name for f in told.fields], [f.offset for f in told.fields]
            layout = {"names": names, "offsets": where, "formats": [kinds[f.datatype] for f in told.fields]}
            points = np.frombuffer(bytes(told.data), np.dtype({**layout, "itemsize": told.point_step}))
            xyz = np.stack([points[axis] for axis in "xyz"], 1).astype(float)
            time = points["time"].astype(float) if "time" in names else points["t"] * 1e-9
            hit = np.isfinite(xyz).all(axis=1) & xyz.any(axis=1)
            yield xyz[hit], time[hit]


@pytest.mark.parametrize(("name", "topic"), [("vlp-16", "/velodyne_points"), ("os1-32-rev7", "/ouster/points")])
def test_kiss_icp_finds_the_path(name: str, topic: str, tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="needs rosbags: pip install 'tussock[ros]'")
    pytest.importorskip("kiss_icp", reason="needs kiss-icp: pip install 'tussock[readers]'")
    pytest.importorskip("mcap_ros2", reason="needs mcap-ros2-support: pip install 'tussock[readers]'")
    from kiss_icp.config.parser import load_config
    from kiss_icp.kiss_icp import KissICP

    sensor, world = load_sensor(name), World(place())
    times = np.linspace(0, 0.1 * FRAMES, 4 * FRAMES + 1)
    yaw = TURNS * times
    along = SPEED / TURNS * np.stack([np.sin(yaw), 1 - np.cos(yaw)], 1)
    path = Trajectory.through(times, [Pose.at(x, y, 1.5, yaw=a) for (x, y), a in zip(along, yaw, strict=True)])
    with open_recording(tmp_path / "run.mcap", sensor) as run:
        for frame in range(FRAMES):
            run.write(scan(world, sensor, path, frame=frame))
    config = load_config(None)
    config.data.deskew = True
    config.mapping.voxel_size = 0.5
    follower, found = KissICP(config), []
    for points, stamps in clouds(tmp_path / "run.mcap", topic):
        assert len(points) > 3000 and stamps.min() >= 0 and 0.05 < stamps.max() < 0.11
        follower.register_frame(points, stamps)
        found.append(follower.last_pose.copy())
    assert len(found) == FRAMES
    moved = np.linalg.inv(found[2]) @ found[-1]
    # It says where the sensor was at the end of each sweep.
    first, last = (np.linalg.inv(path.pose(0.1 * (k + 1)).matrix) for k in (2, FRAMES - 1))
    true = first @ np.linalg.inv(last)
    driven = SPEED * 0.1 * (FRAMES - 3)
    assert np.linalg.norm(moved[:3, 3] - true[:3, 3]) < 0.03 * driven
    assert abs(np.rad2deg(np.arctan2(moved[1, 0], moved[0, 0]) - np.arctan2(true[1, 0], true[0, 0]))) < 0.5
