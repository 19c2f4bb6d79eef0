"""Point clouds that other programs wrote: what is taken, what is filled in, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.return_modes import KINDS

POINTS = np.array([[3, 4, 0], [0, 0, 2], [-1, 0, 1], [np.nan, np.nan, np.nan]], np.float32)
INTENSITY = np.array([0.5, 0.25, 1, 0], np.float32)


def write_npz(path, **columns):
    np.savez(path, **columns)
    return path


def test_points_alone_become_a_frame(tmp_path):
    frame = load_frame(write_npz(tmp_path / "a.npz", x=POINTS[:, 0], y=POINTS[:, 1], z=POINTS[:, 2]))
    assert np.array_equal(frame.xyz, POINTS, equal_nan=True)
    np.testing.assert_allclose(frame.range, [5, 2, np.sqrt(2), np.nan], rtol=1e-7)
    np.testing.assert_allclose(frame.azimuth[[0, 2]], [np.arctan2(4, 3), np.pi], rtol=1e-6)
    np.testing.assert_allclose(frame.elevation, [0, np.pi / 2, np.pi / 4, np.nan], rtol=1e-6)
    assert frame.hit.tolist() == [True, True, True, False]
    assert frame.return_count.tolist() == [1, 1, 1, 0]
    assert [KINDS[k] for k in frame.return_kind] == ["strongest"] * 3 + ["none"]
    assert frame.pulse.tolist() == [0, 1, 2, 3]
    assert np.isnan(frame.true_range).all()
    assert np.isnan(frame.true_xyz).all()
    assert not frame.label.any()
    assert not frame.intensity.any()
    assert frame.meta == {}
    assert frame.trajectory is None


def test_fields_with_a_shared_meaning_are_taken_and_others_are_not(tmp_path):
    """Some drivers give the range in millimetres: range and angles come from the points."""
    path = write_npz(
        tmp_path / "a.npz",
        xyz=POINTS,
        Reflectivity=np.arange(4, dtype=np.uint8),
        ring=np.arange(4, dtype=np.uint16),
        timestamp=np.arange(4) * 0.5,
        range=np.full(4, 5000, np.uint32),
        azimuth=np.full(4, 36000, np.uint16),
        label=np.array([0, 40.0, 70.0, 0]),
    )
    frame = load_frame(path)
    assert frame.intensity.tolist() == [0, 1, 2, 3]
    assert frame.laser.tolist() == [0, 1, 2, 3]
    assert frame.time.tolist() == [0, 0.5, 1, 1.5]
    assert frame.label.tolist() == [0, 40, 70, 0]
    assert frame.range[0] == 5
    assert frame.azimuth[0] == pytest.approx(np.arctan2(4, 3))


def test_our_columns_without_our_document_keep_the_truth(tmp_path):
    frame = load_frame(write_npz(tmp_path / "a.npz", xyz=POINTS, true_range=INTENSITY, range=INTENSITY * 2))
    assert np.array_equal(frame.true_range, INTENSITY)
    assert np.array_equal(frame.range, INTENSITY * 2)


@pytest.mark.parametrize("label", [[-1, 0, 0, 0], [0.5, 0, 0, 0], [70000, 0, 0, 0], [np.nan, 0, 0, 0]])
def test_numbers_that_a_column_cannot_hold_are_refused(tmp_path, label):
    path = write_npz(tmp_path / "a.npz", xyz=POINTS, label=np.array(label))
    with pytest.raises(InputError, match=r"a\.npz: column label: must hold whole numbers from 0 to 65535, got"):
        load_frame(path)


def test_text_instead_of_numbers_is_refused(tmp_path):
    path = write_npz(tmp_path / "a.npz", xyz=POINTS, label=np.array(list("abcd")))
    with pytest.raises(InputError, match="column label: must hold numbers"):
        load_frame(path)


def test_map_coordinates_are_refused_before_they_lose_their_digits(tmp_path):
    path = write_npz(tmp_path / "a.npz", xyz=POINTS + np.array([500_000.0, 5_400_000.0, 0.0]))
    with pytest.raises(InputError, match=r"within 100000 m of the sensor, got .*5400004 m.*subtract an offset"):
        load_frame(path)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"x": POINTS[:, 0], "y": POINTS[:, 1]}, "has no field 'z'"),
        ({"xyz": POINTS, "intensity": INTENSITY[:2]}, "different lengths"),
        ({"xyz": POINTS[:, :2]}, r"array 'xyz': must have the shape \(n, 3\), got \(4, 2\)"),
        ({"other": INTENSITY}, "has no field 'x'"),
    ],
)
def test_incomplete_points_are_refused(tmp_path, columns, text):
    with pytest.raises(InputError, match=text):
        load_frame(write_npz(tmp_path / "a.npz", **columns))


def test_a_pickle_in_an_npz_is_never_opened(tmp_path):
    np.savez(tmp_path / "a.npz", xyz=POINTS, label=np.array([{}, {}, {}, {}], dtype=object))
    with pytest.raises(InputError, match="holds Python objects, which are not read from files"):
        load_frame(tmp_path / "a.npz")


def test_a_plain_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"x", y,z,name,Intensity\r\n1,2,3,tree,0.5\r\n-1e2,nan,0,"a, b",\r\n')
    frame = load_frame(path)
    assert np.array_equal(frame.xyz, np.array([[1, 2, 3], [-100, np.nan, 0]], np.float32), equal_nan=True)
    assert frame.intensity[0] == 0.5
    assert np.isnan(frame.intensity[1])


@pytest.mark.parametrize(
    "text", ["1,2,3\n4,5,6\n", "x,y,z\n1,2\n", "x,y,z\n1,2,tree\n", "x,y,z,x\n1,2,3,4\n", "x;y;z\n1;2;3\n"]
)
def test_a_csv_that_is_no_table_of_points_is_refused(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a\.csv: ") as error:
        load_frame(path)
    assert "\n" not in str(error.value)


def test_a_parquet_of_another_program(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "key=1"  # must not become a column
    folder.mkdir()
    pq.write_table(
        pa.table({"z": POINTS[:, 2], "y": POINTS[:, 1], "x": POINTS[:, 0], "s": list("abcd")}), folder / "a.parquet"
    )
    assert np.array_equal(load_frame(folder / "a.parquet").xyz, POINTS, equal_nan=True)
    pq.write_table(
        pa.table({"x": [1.0], "y": [2.0], "z": [3.0], "label": pa.array([None], pa.uint16())}), tmp_path / "b.parquet"
    )
    with pytest.raises(InputError, match="column label"):
        load_frame(tmp_path / "b.parquet")
