"""Data sets in the hands of readers that are not ours: pykitti, and SemanticKITTI's own tools."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.lens import OPTICAL
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.datasets.write import write_dataset
from tussock.poses import Pose, Trajectory
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.trace.world import World

pykitti = pytest.importorskip("pykitti", reason="pykitti is not installed: pip install 'tussock[readers]'")

EYE = Camera(width=64, height=32, samples=1, lens=Pinhole(fx=40.0, fy=41.0, cx=30.0, cy=15.0))
QUIET = {"beam.rays": 1, "noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0, "receiver.range_step_m": 0.0}


def turning_rig() -> Rig:
    """A body that drives and turns, with everything mounted askew."""
    poses = [Pose.at(-3.0, 1.0, 0.1), Pose.at(0.0, 1.0, 0.1, yaw=0.5), Pose.at(2.0, 3.0, 0.3, yaw=1.2, pitch=0.05)]
    tilted = Pose.at(0.4, 0.25, 1.5, pitch=0.1, yaw=-0.05)
    other = tilted @ Pose.at(0.0, -0.5, 0.0)
    sensor = load_sensor("vlp-16").with_(**QUIET)
    return Rig(
        Trajectory.through([0.0, 0.4, 0.9], poses),
        lidars=[MountedLidar("top", sensor, Pose.at(0.1, 0.0, 1.9, roll=0.02, yaw=0.3))],
        cameras=[MountedCamera("left", EYE, tilted, trigger=0.05), MountedCamera("right", EYE, other, trigger=0.05)],
    )


def yard() -> Scene:
    scene = Scene("yard")
    scene.add(plane((80.0, 80.0)), name="ground", label="terrain")
    for k in range(6):
        at = (9 * np.cos(k), 9 * np.sin(k), 1.0)
        scene.add(box((1.0, 2.0, 2.0)), name=f"car{k}", label="car", position=at, yaw=k)
    return scene


@pytest.fixture(scope="module")
def odometry(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odometry")
    write_dataset(turning_rig(), yard(), folder, end=0.6, seed=1)
    return folder


def optical(pose: Pose) -> np.ndarray:
    turn = np.eye(4)
    turn[:3, :3] = OPTICAL
    return pose.matrix @ turn


def test_pykitti_reads_the_odometry_layout(odometry):
    read = pykitti.odometry(str(odometry), "00")
    rig = turning_rig()
    assert len(read) == 6 and len(read.poses) == 6
    assert read.calib.b_rgb == pytest.approx(0.5)
    np.testing.assert_allclose(read.calib.K_cam2, EYE.matrix)
    first = optical(rig.body.pose(0.05) @ rig.cameras[0].mount)
    for k in range(6):
        assert read.timestamps[k].total_seconds() == pytest.approx(0.1 * k)
        time = 0.1 * k + 0.05
        simulated = (rig.body.pose(time) @ rig.lidars[0].mount).matrix
        np.testing.assert_allclose(first @ read.poses[k] @ read.calib.T_cam0_velo, simulated, atol=1e-9)
        right = optical(rig.body.pose(time) @ rig.cameras[1].mount)
        np.testing.assert_allclose(right @ read.calib.T_cam3_velo, simulated, atol=1e-9)
    assert read.get_cam2(0).size == read.get_cam3(5).size == (64, 32)


def test_points_of_all_scans_meet_in_the_world(odometry):
    """The scans are freed of the motion of the car: put together by the poses, ground is flat and walls are thin."""
    read = pykitti.odometry(str(odometry), "00")
    rig = turning_rig()
    first = optical(rig.body.pose(0.05) @ rig.cameras[0].mount)
    for k in range(6):
        points = read.get_velo(k)
        assert (
            points.dtype == np.float32 and points.shape[1] == 4 and 0 <= points[:, 3].min() <= points[:, 3].max() <= 1
        )
        labels = np.fromfile(odometry / f"sequences/00/labels/{k:06d}.label", np.uint32)
        world = first @ read.poses[k] @ read.calib.T_cam0_velo @ np.c_[points[:, :3], np.ones(len(points))].T
        ground = (labels & 0xFFFF) == 72
        assert ground.sum() > 1000
        assert np.abs(world[2, ground]).max() < 1e-3


def test_points_project_onto_the_image_of_their_own_moment(odometry):
    read = pykitti.odometry(str(odometry), "00")
    rig, world = turning_rig(), World(yard())
    points = read.get_velo(3)
    labels = np.fromfile(odometry / "sequences/00/labels/000003.label", np.uint32)
    in_camera = (read.calib.T_cam2_velo @ np.c_[points[:, :3], np.ones(len(points))].T)[:3]
    ahead = in_camera[2] > 0.5
    pixels = (read.calib.K_cam2 @ in_camera[:, ahead])[:2] / in_camera[2, ahead]
    view = look(world, EYE, rig.body.mounted(rig.cameras[0].mount), time=0.35)
    column, line = np.rint(pixels).astype(int)
    inside = (column >= 0) & (column < 64) & (line >= 0) & (line < 32)
    seen = view.label[line[inside], column[inside]]
    agree = seen == (labels[ahead][inside] & 0xFFFF)
    assert inside.sum() > 500 and agree.mean() > 0.9  # edges of pixels this size are broad


def test_pykitti_reads_the_raw_layout(tmp_path):
    rig = turning_rig()
    write_dataset(rig, yard(), tmp_path, end=0.5, layout="raw", seed=1)
    read = pykitti.raw(str(tmp_path), "2011_09_26", "0001")
    assert len(read) == 5
    start = rig.body.pose(0.05)
    for k in range(5):
        time = 0.1 * k + 0.05
        expected = rig.body.pose(time).matrix
        expected[:3, 3] -= start.position
        np.testing.assert_allclose(read.oxts[k].T_w_imu, expected, atol=1e-6)
        np.testing.assert_allclose(
            read.oxts[k].T_w_imu @ np.linalg.inv(read.calib.T_velo_imu),
            expected @ rig.lidars[0].mount.matrix,
            atol=1e-6,
        )
        velocity = (rig.body.pose(time + 1e-4).position - rig.body.pose(time - 1e-4).position) / 2e-4
        packet = read.oxts[k].packet
        np.testing.assert_allclose([packet.ve, packet.vn], velocity[:2], rtol=1e-3, atol=1e-6)
    camera = optical(rig.cameras[0].mount)
    np.testing.assert_allclose(camera @ read.calib.T_cam2_velo, rig.lidars[0].mount.matrix, atol=1e-9)
    assert read.calib.b_rgb == pytest.approx(0.5)
    assert (read.timestamps[1] - read.timestamps[0]).total_seconds() == pytest.approx(0.1)
    assert read.get_velo(4).shape[1] == 4 and read.get_cam2(0).size == (64, 32)


def test_semantic_kittis_own_reader_takes_the_labels(odometry):
    """``pip install --no-deps semantic-kitti-api``: its other needs are for its windows."""
    laserscan = pytest.importorskip(
        "auxiliary.laserscan", reason="semantic-kitti-api is not installed: pip install --no-deps semantic-kitti-api"
    )
    colors = {number: [number % 256, 0, 0] for number in range(260)}
    folder = odometry / "sequences" / "00"
    scan = laserscan.SemLaserScan(colors, project=False)
    scan.open_scan(str(folder / "velodyne" / "000002.bin"))
    scan.open_label(str(folder / "labels" / "000002.label"))
    assert len(scan.points) == len(scan.sem_label) == len(scan.inst_label) > 1000
    assert set(np.unique(scan.sem_label).tolist()) == {10, 72}
    assert (scan.inst_label[scan.sem_label == 72] == 0).all()
    assert 1 <= scan.inst_label[scan.sem_label == 10].min() <= scan.inst_label.max() <= 6
