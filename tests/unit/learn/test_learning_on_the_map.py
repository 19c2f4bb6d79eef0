"""Volumes learned in map coordinates are those learned near zero, at their place on the map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tussock.errors import InputError
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.read_pulses import load_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.scene_files.volume_file import load_volumes, save_volumes
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

UTM = np.array([500_000.0, 4_500_000.0, 1200.0])


def bush(by: np.ndarray) -> MeasuredPulses:
    rng = np.random.default_rng(11)
    points = rng.normal(size=(4000, 3)) * [0.8, 0.8, 0.6] + [8.0, 1.0, 1.0]
    return MeasuredPulses.of(by, points, np.linalg.norm(points, axis=1), reach=30.0)


@pytest.mark.parametrize("method", ["voxels", "two-means"])
def test_the_same_volumes_at_their_place(method: str, tmp_path: Path) -> None:
    near, far = (fit_volumes(bush(by), voxel=0.25, method=method) for by in (np.zeros(3), UTM))  # type: ignore[arg-type]
    assert len(near) == len(far)
    # The order of volumes is that of the grid that finds them, which lies otherwise.
    off, twin = cKDTree(near.means).query(far.means + np.asarray(far.origin) - UTM)
    assert off.max() < 1e-3
    assert len(np.unique(twin)) == len(near)
    assert np.abs(far.permeability - near.permeability[twin]).max() < 0.2
    assert np.abs(far.permeability - near.permeability[twin]).mean() < 1e-3
    assert np.abs(far.bounds - UTM - near.bounds).max() < 1e-3
    save_volumes(far, tmp_path / "far.volumes")
    again = load_volumes(tmp_path / "far.volumes")
    assert again.origin == far.origin
    assert np.array_equal(again.means, far.means)
    here, there = log_likelihood(near, bush(np.zeros(3))), log_likelihood(far, bush(UTM))
    assert here == pytest.approx(there, abs=0.01)
    ranges = [simulate_volumes(v, bush(by), seed=2).ranges for v, by in ((near, np.zeros(3)), (far, UTM))]
    same = np.isfinite(ranges[0]) & np.isfinite(ranges[1])
    assert same.mean() > 0.5
    assert np.median(np.abs(ranges[0] - ranges[1])[same]) < 1e-3


def test_placed_on_the_map_they_are_seen_there() -> None:
    sensor = load_sensor("vlp-16").with_(**{"noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0})
    found = []
    for by in (np.zeros(3), UTM):
        scene = Scene()
        scene.add_volumes(fit_volumes(bush(by), voxel=0.25))
        found.append(scan(scene, sensor, Pose.at(by[0], by[1], by[2] + 1.0), seed=1))
    near, far = found
    assert len(near) > 300
    assert len(far) == pytest.approx(len(near), rel=0.02)
    assert np.abs(far.world_xyz().mean(0) - UTM - near.world_xyz().mean(0)).max() < 0.05


def test_a_las_file_in_utm(tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy", reason="the extra las: pip install 'tussock[las]'")
    points = bush(UTM).points
    header = laspy.LasHeader(point_format=6, version="1.4")
    header.scales, header.offsets = np.full(3, 1e-3), np.floor(points.min(0))
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = points.T
    cloud.intensity = np.full(len(points), 20_000, np.uint16)
    cloud.write(tmp_path / "bush.las")
    x, y, z = UTM
    pulses = load_pulses(tmp_path / "bush.las", origin=(x, y, z))
    volumes = learn_volumes(pulses, voxel=0.3, say=lambda _: None)
    assert np.abs(volumes.bounds.mean(0) - UTM - [8, 1, 1]).max() < 1.0
    assert np.abs(volumes.means).max() < 20
    with pytest.raises(InputError, match=r"origin: must be within 100000 m of the points.*--origin or --trajectory"):
        load_pulses(tmp_path / "bush.las")
