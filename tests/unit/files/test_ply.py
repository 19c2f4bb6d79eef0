"""PLY: read by another program, and the files that others write."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import trimesh

from tussock.errors import InputError
from tussock.files.formats import load_frame, save_frame

TWO = struct.pack("<6f", 1, 2, 3, 4, 5, 6)


def header(*lines: str, encoding: str = "binary_little_endian") -> bytes:
    vertex = ("element vertex 2", "property float x", "property float y", "property float z")
    return "\n".join(["ply", f"format {encoding} 1.0", *(lines or vertex), "end_header", ""]).encode()


def test_trimesh_reads_the_same_points(tmp_path, make_frame):
    frame = make_frame()
    save_frame(frame, tmp_path / "a.ply")
    cloud = trimesh.load(tmp_path / "a.ply")
    assert isinstance(cloud, trimesh.PointCloud)
    assert np.array_equal(np.asarray(cloud.vertices), frame.xyz.astype(np.float64))
    read = cloud.metadata["_ply_raw"]["vertex"]["data"]
    assert np.array_equal(read["true_range"], frame.true_range)
    assert np.array_equal(read["object_id"], frame.object_id)


def test_header_lines_fit_the_buffers_of_common_readers(tmp_path, make_frame):
    save_frame(make_frame(), tmp_path / "a.ply")
    head = (tmp_path / "a.ply").read_bytes().split(b"end_header\n")[0].split(b"\n")
    assert head[:2] == [b"ply", b"format binary_little_endian 1.0"]
    assert max(map(len, head)) < 1024
    properties = [line for line in head if line.startswith(b"property")]
    assert properties[:4] == [
        b"property float x",
        b"property float y",
        b"property float z",
        b"property float intensity",
    ]


def test_a_mesh_of_trimesh_gives_its_vertices(tmp_path):
    box = trimesh.creation.box()
    for encoding in ("binary", "ascii"):
        path = tmp_path / f"{encoding}.ply"
        box.export(path, encoding=encoding)
        np.testing.assert_allclose(load_frame(path).xyz, box.vertices)


@pytest.mark.parametrize(("encoding", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
def test_both_byte_orders_and_elements_around_the_vertices(tmp_path, encoding, order):
    path = tmp_path / "a.ply"
    lines = (
        "comment made elsewhere", "obj_info nothing", "element camera 1", "property int8 a", "property float64 b",
        "element vertex 2", "property float32 x", "property float y", "property double z", "property uint8 intensity",
        "element face 1", "property list uchar int vertex_index",
    )  # fmt: skip
    body = struct.pack(f"{order}bd", 1, 2.0)
    body += struct.pack(f"{order}ffdB", 1, 2, 3, 200) + struct.pack(f"{order}ffdB", 4, 5, 6, 100)
    body += struct.pack(f"{order}B3i", 3, 0, 1, 0)
    path.write_bytes(header(*lines, encoding=encoding) + body)
    frame = load_frame(path)
    assert frame.xyz.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert frame.intensity.tolist() == [200, 100]
    assert frame.xyz.dtype == np.dtype("=f4")


def test_text_points(tmp_path):
    path = tmp_path / "a.ply"
    lines = ("element note 1", "property int n", "element vertex 2", *(f"property float {a}" for a in "xyz"))
    path.write_bytes((header(*lines, encoding="ascii") + b"7\n1 2 3\n4 nan 6.5\n").replace(b"\n", b"\r\n"))
    assert np.array_equal(load_frame(path).xyz, np.array([[1, 2, 3], [4, np.nan, 6.5]], np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (header() + TWO[:-1], "ends after 1 of 2 points"),
        (header() + TWO + TWO, "more than the 2 vertices"),
        (header("element vertex 99999999999999", "property float x") + TWO, "ends after 6 of 99999999999999"),
        (header(encoding="binary_middle_endian") + TWO, "makes no sense.*middle"),
        (header("element vertex -2", "property float x") + TWO, "makes no sense"),
        (header("property float x") + TWO, "makes no sense"),
        (header("element vertex 2", "property quad x") + TWO, "makes no sense"),
        (header("element vertex 2", "property float x", "property float x") + TWO, "makes no sense"),
        (header("element face 2", "property float x") + TWO, "no element 'vertex'"),
        (header("element vertex 6", "property float x") + TWO, "has no field 'y'"),
        (header("element vertex 2", "property list uchar int x") + TWO, "lists before or in its vertices"),
        (b"ply\nelement vertex 0\nproperty float x\nend_header\n", "has no format"),
        (header(encoding="ascii") + b"1 2 3\n", "ends after 1 of 2 points"),
        (b"solid cube\n", "does not start with 'ply'"),
    ],
)
def test_a_wrong_header_or_count_is_said(tmp_path, data, text):
    path = tmp_path / "a.ply"
    path.write_bytes(data)
    with pytest.raises(InputError, match=text) as error:
        load_frame(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
