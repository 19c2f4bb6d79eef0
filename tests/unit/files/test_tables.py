"""CSV, Parquet and NPZ as the tools of others see them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq

from tussock.files.formats import save_frame


def test_csv_is_plain(tmp_path, make_frame):
    frame = make_frame()
    save_frame(frame, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as file:
        names = file.readline().strip().split(",")
    assert names[:5] == ["x", "y", "z", "intensity", "time"]
    table = np.genfromtxt(tmp_path / "a.csv", delimiter=",", skip_header=1)
    for k, axis in enumerate("xyz"):
        assert np.array_equal(table[:, names.index(axis)].astype(np.float32), frame.xyz[:, k])
    assert np.array_equal(table[:, names.index("time")], frame.time)


def test_csv_numbers_are_short(tmp_path, make_frame):
    frame = replace(make_frame(1), xyz=np.full((1, 3), 0.1))
    save_frame(frame, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[1].startswith("0.1,0.1,0.1,")


def test_the_document_beside_a_csv_is_readable(tmp_path, make_frame):
    save_frame(make_frame(), tmp_path / "a.csv")
    text = (tmp_path / "a.csv.meta.json").read_text()
    assert text.count("\n") > 100
    document = json.loads(text)
    assert document["meta"]["seed"] == 7
    assert document["coords"] == "sensor"
    assert document["trajectory"]["positions"][0] == [1000.5, -2.0, 3.0]


def test_parquet_has_scalar_columns_with_units(tmp_path, make_frame):
    frame = make_frame()
    save_frame(frame, tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names[:4] == ["x", "y", "z", "intensity"]
    assert [str(table.schema.field(n).type) for n in ("x", "time", "label", "return_kind")] == [
        "float", "double", "uint16", "uint8",
    ]  # fmt: skip
    assert table.schema.field("azimuth").metadata[b"unit"] == b"rad"
    assert json.loads(table.schema.metadata[b"tussock"])["meta"] == frame.meta
    assert np.array_equal(table["true_y"].to_numpy(), frame.true_xyz[:, 1])


def test_npz_has_the_columns_as_they_are(tmp_path, make_frame):
    frame = make_frame()
    save_frame(frame, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        assert set(file) == {*frame.columns, "document"}
        for name, array in frame.columns.items():
            assert file[name].dtype == array.dtype
            assert file[name].shape == array.shape
        assert json.loads(str(file["document"]))["meta"] == frame.meta
