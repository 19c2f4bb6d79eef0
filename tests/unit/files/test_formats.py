"""Frames to files and back: what holds for every format."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.files import formats
from tussock.files.contents import Contents
from tussock.files.file_format import Beside, Format
from tussock.files.formats import FORMATS, load_frame, save_frame
from tussock.frames.frame import Frame

every_format = pytest.mark.parametrize("suffix", sorted(FORMATS))
exact_format = pytest.mark.parametrize("suffix", sorted(s for s, format in FORMATS.items() if format.exact))


def assert_same(frame: Frame, other: Frame) -> None:
    assert frame.identical(other)
    assert other.meta == frame.meta
    if frame.trajectory is None:
        assert other.trajectory is None
    else:
        assert other.trajectory is not None
        assert np.array_equal(other.trajectory.times, frame.trajectory.times)
        assert np.array_equal(other.trajectory.positions, frame.trajectory.positions)
        np.testing.assert_allclose(other.trajectory.quaternions, frame.trajectory.quaternions, atol=1e-15)


def test_the_five_formats_exist():
    assert {".pcd", ".ply", ".npz", ".csv", ".parquet"} <= set(FORMATS)


@exact_format
@pytest.mark.parametrize(
    "kind", [{}, {"misses": True}, {"rows": 0}, {"rows": 1}, {"about": False}], ids=lambda k: "-".join(k) or "plain"
)
def test_every_column_comes_back_with_the_same_bits(tmp_path, make_frame, suffix, kind):
    frame = make_frame(**kind)
    path = tmp_path / f"frame{suffix}"
    save_frame(frame, path)
    assert_same(frame, load_frame(path))


@pytest.mark.parametrize("suffix", sorted(FORMATS.keys() - {".e57"}))  # each E57 has a number of its own
def test_a_frame_is_written_to_the_same_bytes_every_time(tmp_path, make_frame, suffix):
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    save_frame(make_frame(), first)
    save_frame(make_frame(), second)
    assert first.read_bytes() == second.read_bytes()


@exact_format
def test_capital_suffix_and_text_path(tmp_path, make_frame, suffix):
    path = str(tmp_path / f"frame{suffix.upper()}")
    save_frame(make_frame(), path)
    assert_same(make_frame(), load_frame(path))


@exact_format
@pytest.mark.parametrize("misses", [False, True])
def test_world_coordinates_are_written_in_double_and_undone_on_loading(tmp_path, make_frame, suffix, misses):
    frame = make_frame(misses=misses)
    path = tmp_path / f"frame{suffix}"
    save_frame(frame, path, coords="world")
    stored = FORMATS[suffix].load(path)
    assert json.loads(stored.document)["coords"] == "world"
    for prefix, true in (("", False), ("true_", True)):
        xyz = np.stack([stored.fields[f"{prefix}{axis}"] for axis in "xyz"], 1)
        assert xyz.dtype == np.float64
        np.testing.assert_array_equal(xyz, frame.world_xyz(true=true))
    back = load_frame(path)
    np.testing.assert_allclose(back.xyz, frame.xyz, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(back.true_xyz, frame.true_xyz, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(back.range, frame.range)


def test_world_coordinates_need_a_trajectory(tmp_path, make_frame):
    with pytest.raises(InputError, match="trajectory"):
        save_frame(make_frame(about=False), tmp_path / "frame.pcd", coords="world")
    assert list(tmp_path.iterdir()) == []


def test_unknown_coordinates_are_refused(tmp_path, make_frame):
    with pytest.raises(InputError, match="'sensor' or 'world'"):
        save_frame(make_frame(), tmp_path / "frame.pcd", coords="moon")


@every_format
def test_an_existing_file_is_kept_unless_forced(tmp_path, make_frame, suffix):
    path = tmp_path / f"frame{suffix}"
    path.write_text("precious")
    with pytest.raises(OutputError, match=r"exists already.*force=True"):
        save_frame(make_frame(), path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]
    save_frame(make_frame(), path, force=True)
    assert len(load_frame(path)) == 500


def test_an_existing_file_beside_is_kept_unless_forced(tmp_path, make_frame):
    beside = tmp_path / "frame.csv.meta.json"
    beside.write_text("precious")
    with pytest.raises(OutputError, match=r"frame\.csv\.meta\.json: exists already"):
        save_frame(make_frame(), tmp_path / "frame.csv")
    assert list(tmp_path.iterdir()) == [beside]


@every_format
def test_a_missing_folder_is_said(tmp_path, make_frame, suffix):
    with pytest.raises(OutputError, match="no such folder"):
        save_frame(make_frame(), tmp_path / "nowhere" / f"frame{suffix}")


@pytest.mark.parametrize("suffix", sorted(FORMATS.keys() - {".e57"}))  # pye57 opens its file itself
def test_a_full_disk_leaves_nothing_behind(tmp_path, make_frame, suffix, monkeypatch):
    """Every file opened for writing fails after some bytes, as a full disk does."""
    opened = Path.open

    class Full:
        def __init__(self, file):
            self.file, self.room, self.mode = file, 1000, "wb"

        def write(self, data):
            size = memoryview(data).nbytes
            if size > self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= size
            return self.file.write(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

    def open_full(self, mode="r", *args, **options):
        file = opened(self, mode, *args, **options)
        return Full(file) if "w" in mode and "b" in mode else file

    monkeypatch.setattr(Path, "open", open_full)
    path = tmp_path / f"frame{suffix}"
    with pytest.raises(OutputError, match=r"frame\.\w+: cannot be written \(no space left on the disk\)"):
        save_frame(make_frame(), path)
    assert list(tmp_path.iterdir()) == []


def test_where_the_file_beside_fails_neither_appears(tmp_path, make_frame, monkeypatch):
    def fail(contents, path):
        path.write_text("half")
        raise OSError(errno.ENOSPC, "full")

    csv = FORMATS[".csv"]
    broken = Format(".csv", "CSV", csv.save, csv.load, (Beside(csv.beside[0].path, fail),))
    monkeypatch.setitem(FORMATS, ".csv", broken)
    with pytest.raises(OutputError, match="no space left"):
        save_frame(make_frame(), tmp_path / "frame.csv")
    assert list(tmp_path.iterdir()) == []


def test_meta_that_json_cannot_hold_is_refused(tmp_path, make_frame):
    frame = make_frame()
    frame.meta["array"] = np.zeros(3)
    with pytest.raises(InputError, match="frame meta: must be plain data"):
        save_frame(frame, tmp_path / "frame.pcd")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("frame.pdc", r"unknown file format '\.pdc'; did you mean '\.pcd'\? \(known: \.bin, \.csv, .*\.ply"),
        ("frame.pcd.gz", r"compressed files \(\.gz\) are not taken; unpack it first"),
        ("frame.xyzzy", r"unknown file format '\.xyzzy'; known: \.bin, \.csv, "),
        ("frame", r"no suffix.*add one of \.bin, \.csv, "),
    ],
)
def test_an_unknown_suffix_names_the_known_ones(tmp_path, make_frame, name, text):
    for action in (lambda p: save_frame(make_frame(), p), load_frame):
        with pytest.raises(InputError, match=text):
            action(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@every_format
def test_a_missing_file_and_a_folder_are_said(tmp_path, suffix):
    with pytest.raises(InputError, match="no such file"):
        load_frame(tmp_path / f"frame{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        load_frame(tmp_path / f"folder{suffix}")


def one_line(error: pytest.ExceptionInfo[InputError], path: Path) -> None:
    text = str(error.value)
    assert text.startswith(str(path))
    assert "\n" not in text


@every_format
def test_a_cut_file_is_said_in_one_line(tmp_path, make_frame, suffix):
    path = tmp_path / f"frame{suffix}"
    save_frame(make_frame(), path)
    whole = path.read_bytes()
    lengths = {0, 1, 3, 10, 100, 1000, *(len(whole) * k // 11 for k in range(1, 11)), len(whole) - 1}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError) as error:
            load_frame(path)
        one_line(error, path)


def test_a_csv_cut_between_two_lines_is_found_out(tmp_path, make_frame):
    path = tmp_path / "frame.csv"
    save_frame(make_frame(), path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(InputError, match="holds 499 rows where its own description says 500"):
        load_frame(path)


@every_format
def test_rubbish_is_said_in_one_line(tmp_path, suffix):
    path = tmp_path / f"frame{suffix}"
    rng = np.random.default_rng(3)
    for rubbish in (b"", b"\n", b"hello\n", b"\x00" * 300, rng.bytes(5000), b"PK\x03\x04" + rng.bytes(100), b"x,y,z"):
        path.write_bytes(rubbish)
        if suffix == ".csv" and rubbish == b"x,y,z":
            continue  # a table without rows
        with pytest.raises(InputError) as error:
            load_frame(path)
        one_line(error, path)


@every_format
def test_a_file_under_the_wrong_suffix_is_said_in_one_line(tmp_path, make_frame, suffix):
    for other in sorted(FORMATS.keys() - {suffix}):
        if {suffix, other} == {".las", ".laz"}:
            continue  # the file itself says whether it is compressed
        save_frame(make_frame(), tmp_path / f"frame{other}", force=True)
        path = tmp_path / f"wrong{suffix}"
        path.write_bytes((tmp_path / f"frame{other}").read_bytes())
        with pytest.raises(InputError) as error:
            load_frame(path)
        one_line(error, path)


@every_format
def test_flipped_bytes_never_raise_anything_else(tmp_path, make_frame, suffix):
    path = tmp_path / f"frame{suffix}"
    save_frame(make_frame(20, about=False), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(11)
    for _ in range(150):
        data = bytearray(whole)
        for place in rng.integers(0, min(len(data), 700), 3):
            data[place] = rng.integers(256)
        path.write_bytes(data)
        try:
            load_frame(path)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rows": 3}, "holds 500 rows where its own description says 3"),
        ({"format": "other"}, "description is damaged"),
        ({"version": 99}, "newer version"),
        ({"coords": "moon"}, "description is damaged"),
        ({"meta": 5}, "description is damaged"),
        ({"trajectory": {"times": [0]}}, "description is damaged"),
        (
            {"trajectory": {"times": [0, 0], "positions": [[0] * 3] * 2, "quaternions": [[1] * 4] * 2}},
            "must increase",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_damaged_description_is_said(tmp_path, make_frame, change, text):
    path = tmp_path / "frame.csv"
    save_frame(make_frame(), path)
    beside = tmp_path / "frame.csv.meta.json"
    beside.write_text(json.dumps(json.loads(beside.read_text()) | change))
    with pytest.raises(InputError, match=text) as error:
        load_frame(path)
    one_line(error, path)


def test_a_format_is_one_row(tmp_path, make_frame, monkeypatch):
    """A format of one's own, written only, with a file of labels beside."""

    def save(contents: Contents, path: Path) -> None:
        np.stack([contents.fields[name] for name in ("x", "y", "z", "intensity")], 1).tofile(path)

    def save_labels(contents: Contents, path: Path) -> None:
        contents.fields["label"].astype("<u4").tofile(path)

    labels = Beside(lambda path: path.with_suffix(".label"), save_labels)
    monkeypatch.setitem(formats.FORMATS, ".points", Format(".points", "Points", save, beside=(labels,)))
    frame = make_frame()
    save_frame(frame, tmp_path / "a.points")
    assert np.array_equal(np.fromfile(tmp_path / "a.points", "f4").reshape(-1, 4)[:, :3], frame.xyz)
    assert np.array_equal(np.fromfile(tmp_path / "a.label", "<u4"), frame.label)
    with pytest.raises(InputError, match=r"Points files can be written but not read; readable: \.bin, \.csv"):
        load_frame(tmp_path / "a.points")


def test_heavy_libraries_are_imported_late():
    code = (
        "import sys, tussock.files.formats as f; print(sorted({'pyarrow', 'numba', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
