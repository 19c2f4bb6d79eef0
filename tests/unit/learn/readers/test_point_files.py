"""Files of points as pulses: rings, origins, trajectories, pulses without return, and each mistake in one line."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.learn.readers.point_files import _relative
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import plane, sphere
from tussock.scene.scene import Scene
from tussock.simulate import scan

KITTI_DEG = (-23.617, -23.139, -12.6, -8.346, -7.7, 0.02, 2.772)
"""elevations of rings 0, 1, 22, 31, 32, 55 and 63"""
KITTI_RINGS = (0, 1, 22, 31, 32, 55, 63)


def points_of(elevation_deg, ranges, azimuth_deg=0.0) -> np.ndarray:
    elevation, azimuth = np.deg2rad(elevation_deg), np.deg2rad(azimuth_deg)
    level = np.cos(elevation)
    way = np.stack(np.broadcast_arrays(level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)), -1)
    return way * np.asarray(ranges)[..., None]


def test_kitti_points_find_their_rings(tmp_path) -> None:
    elevation = np.repeat(KITTI_DEG, 50)
    rings = np.repeat(KITTI_RINGS, 50)
    ranges = np.linspace(3, 70, len(rings))
    # Rings are at least 0.27° apart; what a laser's offset turns at these ranges stays below half of that.
    points = points_of(elevation + 0.1 * np.sin(np.arange(len(rings))), ranges, np.linspace(-170, 170, len(rings)))
    table = np.column_stack([points, np.linspace(0, 1, len(rings))]).astype("<f4")
    (tmp_path / "000000.bin").write_bytes(table.tobytes())
    pulses = load_pulses(tmp_path / "000000.bin")
    assert np.array_equal(pulses.rings, rings)
    assert pulses.ranges == pytest.approx(ranges, abs=1e-4)
    assert pulses.intensity == pytest.approx(np.linspace(0, 1, len(rings)), abs=1e-6)
    assert not pulses.origins.any() and pulses.hit.all()


def test_all_rings_of_kitti_are_found_between_their_neighbours(tmp_path) -> None:
    """64 rings from 2.8° down to −23.6°, 0.2° to 0.7° apart: a fine comb of points meets each of them, in order."""
    elevation = np.arange(2.7, -23.6, -0.02)
    points = points_of(elevation, np.full(len(elevation), 20.0), np.zeros(len(elevation)))
    table = np.column_stack([points, np.full(len(elevation), 0.5)]).astype("<f4")
    (tmp_path / "000000.bin").write_bytes(table.tobytes())
    rings = load_pulses(tmp_path / "000000.bin").rings.astype(int)
    assert rings[0] == 63 and rings[-1] == 0 and (np.diff(rings) <= 0).all()
    width = np.bincount(rings, minlength=64)[1:63] * 0.02
    assert width.min() > 0.2 and width.max() < 0.7


@pytest.mark.parametrize("most", [1.0, 255.0, 65535.0])
def test_the_brightest_of_any_scale_is_1(most: float) -> None:
    np.testing.assert_array_equal(_relative(np.array([0.0, most / 2, most])), [0.0, 0.5, 1.0])


@pytest.fixture(scope="module")
def frame(plain_sensor):
    scene = Scene("ball")
    scene.add(plane((50, 50)), name="ground")
    scene.add(sphere(1.0), name="ball", position=(6, 0, 1))
    return scan(scene, plain_sensor(), Pose.at(2, 1, 1.5, yaw=0.5), seed=1, keep_misses=True)


@pytest.mark.parametrize("suffix", [".parquet", ".pcd", ".ply", ".npz", ".csv"])
@pytest.mark.parametrize("coords", ["sensor", "world"])
def test_a_frame_keeps_pulses_without_return(tmp_path, frame, suffix: str, coords: str) -> None:
    save_frame(frame, tmp_path / f"f{suffix}", coords=coords)
    pulses = load_pulses(tmp_path / f"f{suffix}")
    assert len(pulses) == frame.pulses and 0.3 < pulses.hit.mean() < 0.8
    assert np.allclose(pulses.origins, [2, 1, 1.5], atol=1e-5)
    assert np.allclose(pulses.points[pulses.hit], frame.world_xyz()[frame.hit], atol=1e-4)
    assert pulses.reach == 200.0
    # Rings are numbered from the lowest up, and pulses without return are the higher ones.
    assert pulses.directions[pulses.rings == 0, 2].max() < pulses.directions[pulses.rings == 15, 2].min()
    assert pulses.directions[~pulses.hit, 2].mean() > 0 > pulses.directions[pulses.hit, 2].mean()


def some_points() -> dict[str, np.ndarray]:
    rng = np.random.Generator(np.random.Philox(2))
    x, y, z = rng.uniform(-20, 20, (3, 200))
    return {"x": x, "y": y, "z": z, "ring": np.arange(200) % 8, "intensity": np.arange(200) % 200}


def write_parquet(path, columns) -> None:
    pq.write_table(pa.table(columns), path)


def test_parquet_with_an_origin_for_each_point(tmp_path) -> None:
    columns = some_points() | {
        "origin_x": np.linspace(0, 5, 200),
        "origin_y": np.ones(200),
        "origin_z": np.full(200, 2),
    }
    write_parquet(tmp_path / "p.parquet", columns)
    pulses = load_pulses(tmp_path / "p.parquet")
    assert np.allclose(pulses.origins[:, 0], columns["origin_x"]) and (pulses.origins[:, 1:] == [1, 2]).all()
    assert np.allclose(pulses.points, np.stack([columns[a] for a in "xyz"], 1))
    assert np.array_equal(pulses.rings, columns["ring"])
    assert pulses.intensity == pytest.approx(columns["intensity"] / 255)
    with pytest.raises(InputError, match=r"origin: p\.parquet has fields origin_x"):
        load_pulses(tmp_path / "p.parquet", origin=(0, 0, 0))


def test_directions_keep_pulses_without_return(tmp_path) -> None:
    columns = some_points()
    gone = np.arange(200) >= 150
    columns = {name: np.where(gone, np.nan, values) if name in "xyz" else values for name, values in columns.items()}
    columns |= {f"direction_{axis}": np.full(200, value) for axis, value in zip("xyz", (0.0, 0.6, 0.8), strict=True)}
    columns |= {f"origin_{axis}": np.zeros(200) for axis in "xyz"}
    write_parquet(tmp_path / "p.parquet", columns)
    pulses = load_pulses(tmp_path / "p.parquet")
    assert len(pulses) == 200 and np.array_equal(pulses.hit, ~gone)
    assert np.allclose(pulses.directions[gone], [0, 0.6, 0.8])
    for name in list(columns):
        if name.startswith("direction"):
            del columns[name]
    write_parquet(tmp_path / "q.parquet", columns)
    assert len(load_pulses(tmp_path / "q.parquet")) == 150


def test_one_origin_for_a_cloud_from_elsewhere(tmp_path) -> None:
    header = "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 3\nHEIGHT 1\n"
    (tmp_path / "c.pcd").write_text(header + "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\nDATA ascii\n1 0 0\n0 2 0\n4 0 3\n")
    assert load_pulses(tmp_path / "c.pcd").ranges == pytest.approx([1, 2, 5])
    assert load_pulses(tmp_path / "c.pcd", origin=(0, 0, 3)).ranges == pytest.approx([10**0.5, 13**0.5, 4])


@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_las_along_a_trajectory(tmp_path, suffix: str) -> None:
    laspy = pytest.importorskip("laspy", reason="laspy is not installed: pip install 'tussock[las]'")
    header = laspy.LasHeader(point_format=6, version="1.4")
    header.scales, header.offsets = np.full(3, 1e-3), np.array([500_000.0, 4_000_000.0, 0.0])
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = 500_000 + np.arange(5.0), np.full(5, 4_000_010.0), np.zeros(5)
    cloud.gps_time = np.arange(5.0)
    cloud.intensity = np.arange(5) * 10000
    cloud.write(tmp_path / f"c{suffix}")
    places = [Pose.at(500_000, 4_000_000, 0), Pose.at(500_004, 4_000_000, 0)]
    pulses = load_pulses(tmp_path / f"c{suffix}", trajectory=Trajectory.through([0, 4], places))
    # UTM coordinates keep their millimetres.
    assert pulses.ranges == pytest.approx(np.full(5, 10.0), abs=1e-3)
    assert np.allclose(pulses.directions, [0, 1, 0], atol=1e-4)
    assert pulses.intensity == pytest.approx(np.arange(5) * 10000 / 65535)
    with pytest.raises(InputError, match="trajectory: must cover the points' times"):
        load_pulses(tmp_path / f"c{suffix}", trajectory=Trajectory.through([0, 3], places))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.bin", b"\0" * 17, "multiple of 16 bytes"),
        ("a.bin", np.full((3, 4), np.nan, "<f4").tobytes(), "no coordinates"),
        ("a.bin", np.zeros((3, 4), "<f4").tobytes(), "no point away from the sensor"),
        ("a.pcd", b"nothing", "header"),
        ("a.las", b"LASF" + b"\0" * 400, "not a readable LAS file"),
        ("a.parquet", b"PAR1 not", "not a readable Parquet file"),
        ("a.csv", b"x,y\n1,2\n", "x, y and z among them"),
        ("a.xyz", b"1 2 3", "unknown file format"),
    ],
)
def test_a_file_that_is_none_of_these(tmp_path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        load_pulses(tmp_path / name)
    assert name in str(caught.value) and "\n" not in str(caught.value)


def test_a_cloud_without_times_has_no_trajectory(tmp_path) -> None:
    write_parquet(tmp_path / "p.parquet", some_points())
    with pytest.raises(InputError, match="has no times"):
        load_pulses(tmp_path / "p.parquet", trajectory=Trajectory.standing(Pose()))


def test_rings_must_be_whole_numbers(tmp_path) -> None:
    write_parquet(tmp_path / "p.parquet", some_points() | {"ring": np.linspace(0, 1, 200)})
    with pytest.raises(InputError, match="ring: must hold whole numbers"):
        load_pulses(tmp_path / "p.parquet")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"origin": (1, 2)}, "origin: must be three numbers"),
        ({"origin": (0, 0, 0), "trajectory": Trajectory.standing(Pose())}, "either an origin or a trajectory"),
        ({"reach": 0.0}, "reach: must be a length above 0"),
        ({"model": "vlp-16"}, "model: goes with a capture"),
        ({"turns": [3]}, "turns: must be among the revolutions of f.npz, 0 to 0"),
        ({"origin": (0, 0, 0)}, "knows its own"),
        ({"trajectory": Trajectory.standing(Pose())}, "has its own"),
    ],
)
def test_options_that_do_not_fit(tmp_path, frame, options, words: str) -> None:
    save_frame(frame, tmp_path / "f.npz")
    with pytest.raises(InputError, match=words):
        load_pulses(tmp_path / "f.npz", **options)


def test_files_that_are_not_there(tmp_path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_pulses(tmp_path / "gone.pcap")
    with pytest.raises(InputError, match="is a folder"):
        (tmp_path / "d.npz").mkdir()
        load_pulses(tmp_path / "d.npz")


def test_a_las_without_intensities_is_learned_with_one_and_says_so(tmp_path) -> None:
    """LAS has the field even where nothing was measured: zeros that no receiver would ever detect again."""
    laspy = pytest.importorskip("laspy", reason="laspy is not installed: pip install 'tussock[las]'")
    cloud = laspy.LasData(laspy.LasHeader(point_format=6, version="1.4"))
    cloud.x, cloud.y, cloud.z = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.25]])
    cloud.write(tmp_path / "bare.las")
    notes: list[str] = []
    pulses = load_pulses(tmp_path / "bare.las", origin=(0, 0, 5), say=notes.append)
    assert pulses.intensity.tolist() == pytest.approx([0.3] * 3)
    assert notes == ["bare.las: every intensity is 0, as where none was recorded; 0.3 is taken for all"]
