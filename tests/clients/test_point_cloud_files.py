"""LAS by laspy, E57 by pye57, KITTI by plain NumPy: what other tools find in our files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.files.formats import load_frame, save_frame
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.scene.label_map import load_label_map
from tussock.sensors.catalogue import load_sensor

SENSOR = load_sensor("vlp-16")


@pytest.fixture(scope="module")
def frame() -> Frame:
    return made_frame(SENSOR, 3, returns="dual", pose=Pose.at(500_000, 5_400_000, 3, yaw=0.7))


@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_las(frame: Frame, tmp_path: Path, suffix: str) -> None:
    laspy = pytest.importorskip("laspy", reason="laspy is not installed: pip install 'tussock[las]'")
    path = tmp_path / f"a{suffix}"
    save_frame(frame, path)
    cloud = laspy.read(path)
    assert cloud.header.version == "1.4" and cloud.header.point_format.id == 6
    assert cloud.header.global_encoding.wkt
    assert path.read_bytes()[6] & 0x10  # the same, without laspy
    np.testing.assert_allclose(cloud.xyz, frame.xyz, atol=0.51e-4)
    np.testing.assert_array_equal(cloud.gps_time, frame.time)
    np.testing.assert_array_equal(cloud.return_number, frame.return_number)
    np.testing.assert_array_equal(cloud.number_of_returns, frame.return_count)
    np.testing.assert_allclose(cloud.intensity / 65535, frame.intensity, atol=1e-5)
    np.testing.assert_array_equal(cloud.relative_intensity, frame.intensity)
    classes = {70: 5, 72: 2, 100: 3}  # vegetation: high, terrain: ground, grass: low vegetation
    np.testing.assert_array_equal(cloud.classification, [classes[label] for label in frame.label.tolist()])
    np.testing.assert_array_equal(cloud.laser, frame.laser)
    np.testing.assert_array_equal(cloud.tussock_label, frame.label)
    assert (suffix == ".laz") == cloud.header.are_points_compressed

    again = load_frame(path)
    for name in set(frame.columns) - {"xyz"}:
        np.testing.assert_array_equal(again.columns[name], frame.columns[name], err_msg=name)
    assert again.meta == frame.meta


def test_classes_of_all_labels() -> None:
    """The numbers in the writer are those of the labels that it names."""
    from tussock.files.las import asprs_classes
    from tussock.scene.labels import LABELS

    expected = {"terrain": 2, "grass": 3, "shrub": 4, "leaf": 5, "building": 6, "outlier": 7, "water": 9, "road": 11}
    for name, number in expected.items():
        assert asprs_classes(np.array([LABELS[name]])).item() == number
    assert asprs_classes(np.array([LABELS["car"], 0, 65535])).tolist() == [1, 1, 1]


def test_las_in_world_coordinates(frame: Frame, tmp_path: Path) -> None:
    """Coordinates of a national grid, millions of metres, keep their 0.1 mm."""
    laspy = pytest.importorskip("laspy", reason="laspy is not installed: pip install 'tussock[las]'")
    save_frame(frame, tmp_path / "a.las", coords="world")
    cloud = laspy.read(tmp_path / "a.las")
    np.testing.assert_allclose(cloud.xyz, frame.world_xyz(), atol=0.51e-4)
    np.testing.assert_allclose(load_frame(tmp_path / "a.las").xyz, frame.xyz, atol=2e-4)


def test_e57(frame: Frame, tmp_path: Path) -> None:
    pye57 = pytest.importorskip("pye57", reason="pye57 is not installed: pip install 'tussock[e57]'")
    save_frame(frame, tmp_path / "a.e57")
    file = pye57.E57(str(tmp_path / "a.e57"))
    assert file.scan_count == 1
    data = file.read_scan_raw(0, ignore_unsupported_fields=True)
    for axis, name in enumerate("XYZ"):
        np.testing.assert_array_equal(data[f"cartesian{name}"], frame.xyz[:, axis].astype(float))
    np.testing.assert_array_equal(data["intensity"], frame.intensity)
    header = file.get_header(0)
    np.testing.assert_array_equal(header.translation, [500_000, 5_400_000, 3])
    # The standard's fields that pye57 passes over, by the library underneath.
    lib, rows = pye57.libe57, header.point_count
    told = {name: np.zeros(rows) for name in ("timeStamp", "rowIndex", "returnIndex", "returnCount")}
    buffers = lib.VectorSourceDestBuffer()
    for name, values in told.items():
        buffers.append(lib.SourceDestBuffer(file.image_file, name, values, rows, True, True))
    header.points.reader(buffers).read()
    np.testing.assert_array_equal(told["timeStamp"], frame.time)
    np.testing.assert_array_equal(told["rowIndex"], frame.laser)
    np.testing.assert_array_equal(told["returnIndex"], frame.return_number - 1)
    np.testing.assert_array_equal(told["returnCount"], frame.return_count)
    placed = file.read_scan(0, intensity=True, ignore_missing_fields=True)
    file.close()
    np.testing.assert_allclose(
        np.stack([placed[f"cartesian{axis}"] for axis in "XYZ"], 1), frame.world_xyz(), atol=1e-6
    )
    again = load_frame(tmp_path / "a.e57")
    np.testing.assert_array_equal(again.xyz, frame.xyz)
    np.testing.assert_array_equal(again.time, frame.time)
    np.testing.assert_array_equal(again.laser, frame.laser)


def test_kitti(frame: Frame, tmp_path: Path) -> None:
    save_frame(frame, tmp_path / "000000.bin")
    points = np.fromfile(tmp_path / "000000.bin", "<f4").reshape(-1, 4)
    np.testing.assert_array_equal(points[:, :3], frame.xyz)
    np.testing.assert_array_equal(points[:, 3], frame.intensity)
    labels = np.fromfile(tmp_path / "000000.label", "<u4")
    theirs = load_label_map("semantic-kitti").numbers(frame.label)
    np.testing.assert_array_equal(labels & 0xFFFF, theirs)
    again = load_frame(tmp_path / "000000.bin")
    np.testing.assert_array_equal(again.xyz, frame.xyz)
    np.testing.assert_array_equal(again.label, theirs)
    (tmp_path / "000000.bin").write_bytes(bytes(17))
    with pytest.raises(InputError, match="no multiple of 16 bytes above 0"):
        load_frame(tmp_path / "000000.bin")


@pytest.mark.parametrize("suffix", [".las", ".e57"])
def test_pulses_without_return_have_no_place(frame: Frame, tmp_path: Path, suffix: str) -> None:
    xyz = frame.xyz.copy()
    xyz[5] = np.nan
    missed = Frame(**{**frame.columns, "xyz": xyz}, meta=frame.meta, trajectory=frame.trajectory)
    with pytest.raises(InputError, match="leave out --misses"):
        save_frame(missed, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".las", ".laz", ".e57"])
def test_damaged_files_are_one_line(frame: Frame, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    save_frame(frame, path)
    for length in (0, 10, 300, path.stat().st_size // 2):
        (tmp_path / f"cut{suffix}").write_bytes(path.read_bytes()[:length])
        with pytest.raises(InputError) as caught:
            load_frame(tmp_path / f"cut{suffix}")
        assert "\n" not in str(caught.value)
