"""PCD: the header other programs rely on, and the files that they write."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import load_frame, save_frame

COMPRESSED = (
    b"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z intensity\nSIZE 4 4 4 4\nTYPE F F F F\n"
    b"COUNT 1 1 1 1\nWIDTH 24\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 24\nDATA binary_compressed\n"
    b":\x00\x00\x00\x80\x01\x00\x00\x04\x00\x00\x80?\x00\xe0\x14\x03\x01 @\xe0\x15\x03\x01@\xc0\xe0\x15\x03@\x00@c"
    b"\x00\x00 G\x00@ \x03@\x00\xe0C\x0f\x01\x80>\xe0U\x03\x00\x00!\x1f\x00\x00 c\xe0K\x07\x01\x00>"
)
"""24 points as Open3D 0.20 compresses them"""


def header(**changes: str) -> bytes:
    lines = {
        "VERSION": "0.7",
        "FIELDS": "x y z",
        "SIZE": "4 4 4",
        "TYPE": "F F F",
        "COUNT": "1 1 1",
        "WIDTH": "2",
        "HEIGHT": "1",
        "VIEWPOINT": "0 0 0 1 0 0 0",
        "POINTS": "2",
        "DATA": "binary",
    } | changes
    return "".join(f"{key} {value}\n" for key, value in lines.items() if value).encode()


TWO = struct.pack("<6f", 1, 2, 3, 4, 5, 6)


def test_the_header_is_what_other_readers_expect(tmp_path, make_frame):
    save_frame(make_frame(), tmp_path / "a.pcd")
    data = (tmp_path / "a.pcd").read_bytes()
    head = data[: data.index(b"DATA binary\n")].decode("ascii").splitlines()
    assert head[0] == "# .PCD v0.7 - Point Cloud Data file format"
    assert max(map(len, head)) < 1024  # the line buffer of common readers
    words = {line.split()[0]: line.split()[1:] for line in head if not line.startswith("#")}
    assert list(words) == ["VERSION", "FIELDS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS"]
    assert words["FIELDS"][:4] == ["x", "y", "z", "intensity"]
    types = dict(zip(words["FIELDS"], zip(words["TYPE"], words["SIZE"], strict=True), strict=True))
    assert [types[name] for name in ("x", "true_z", "time", "object_id", "label", "return_kind")] == [
        ("F", "4"), ("F", "4"), ("F", "8"), ("U", "4"), ("U", "2"), ("U", "1"),
    ]  # fmt: skip
    start = data.index(b"DATA binary\n") + len(b"DATA binary\n")
    record = sum(map(int, words["SIZE"]))
    assert len(data) - start == 500 * record
    assert np.array_equal(np.frombuffer(data, "<f4", 3, start + record), make_frame().xyz[1])


def test_compressed_points_of_open3d(tmp_path):
    path = tmp_path / "a.pcd"
    path.write_bytes(COMPRESSED)
    frame = load_frame(path)
    assert np.array_equal(frame.xyz[:, 0], np.repeat([1, 2.5, -3], 8))
    assert np.array_equal(frame.xyz[:, 1], np.arange(24) % 4)
    assert np.array_equal(frame.xyz[:, 2], np.full(24, 0.25))
    assert np.array_equal(frame.intensity, np.tile([0.5, 0.125], 12))


def test_damaged_compression_is_said(tmp_path):
    path = tmp_path / "a.pcd"
    start = COMPRESSED.index(b"compressed\n") + len(b"compressed\n")
    for length in range(start, len(COMPRESSED)):
        path.write_bytes(COMPRESSED[:length])
        with pytest.raises(InputError, match="cut"):
            load_frame(path)
    for sizes in ((58, 383), (58, 2**32 - 1), (57, 384), (0, 0)):
        path.write_bytes(COMPRESSED[:start] + struct.pack("<2I", *sizes) + COMPRESSED[start + 8 :])
        with pytest.raises(InputError, match=r"damaged|do not hold|cannot be right"):
            load_frame(path)


def test_text_points_with_counts_padding_and_old_line_ends(tmp_path):
    path = tmp_path / "a.pcd"
    fields = header(
        FIELDS="x _ y z normal ring", SIZE="4 1 4 4 4 2", TYPE="F U F F F U", COUNT="1 2 1 1 3 1", DATA="ascii"
    )
    path.write_bytes((fields + b"1 0 0 2 3 7 8 9 5\n4.5 0 0 nan -6e-1 7 8 9 65535\n").replace(b"\n", b"\r\n"))
    frame = load_frame(path)
    assert np.array_equal(frame.xyz, np.array([[1, 2, 3], [4.5, np.nan, -0.6]], np.float32), equal_nan=True)
    assert frame.laser.tolist() == [5, 65535]
    assert frame.hit.tolist() == [True, False]


def test_binary_points_with_counts_and_padding(tmp_path):
    path = tmp_path / "a.pcd"
    fields = header(FIELDS="x y z _ intensity _", SIZE="4 4 4 1 4 1", TYPE="F F F U F U", COUNT="1 1 1 4 1 12")
    row = struct.pack("<3f4xf12x", 1, 2, 3, 0.5)
    path.write_bytes(fields + row + row)
    frame = load_frame(path)
    assert frame.xyz.tolist() == [[1, 2, 3]] * 2
    assert frame.intensity.tolist() == [0.5, 0.5]


def test_an_organised_cloud_in_double(tmp_path):
    path = tmp_path / "a.pcd"
    fields = header(WIDTH="1", HEIGHT="2", SIZE="8 8 8", COUNT="")
    path.write_bytes(fields + struct.pack("<6d", 1, 2, 3, 4, 5, 6))
    assert load_frame(path).xyz.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("changes", "body", "text"),
    [
        ({}, TWO[:-1], "ends after 1 of 2 points"),
        ({}, TWO + TWO, "more than the 2 points"),
        ({"POINTS": "3"}, TWO, "POINTS must be WIDTH × HEIGHT"),
        ({"WIDTH": "1000000000000", "POINTS": "1000000000000"}, TWO, "ends after 2 of 1000000000000"),
        ({"WIDTH": "-2", "POINTS": "-2"}, TWO, "at odds"),
        ({"WIDTH": "two"}, TWO, "no number"),
        ({"WIDTH": "", "POINTS": ""}, TWO, "at odds"),
        ({"FIELDS": ""}, TWO, "has no FIELDS"),
        ({"SIZE": "4 4"}, TWO, "different numbers"),
        ({"TYPE": "F F Q"}, TWO, "odd type"),
        ({"SIZE": "4 4 3"}, TWO, "odd type"),
        ({"COUNT": "1 1 -1"}, TWO, "odd type"),
        ({"FIELDS": "a b c"}, TWO, "has no field 'x'"),
        ({"DATA": "morse"}, TWO, "must be ascii, binary or binary_compressed, got 'morse'"),
        ({"DATA": "ascii"}, b"1 2 3\n", "ends after 1 of 2 points"),
        ({"DATA": "ascii"}, b"1 2 3\n4 5\n", "not a readable PCD file"),
        ({"DATA": "ascii"}, b"1 2\n4 5\n", "2 rows of 2 numbers, not 2 of 3"),
        ({"DATA": "ascii"}, b"1 2 3\n4 5 tree\n", "not a readable PCD file"),
    ],
)
def test_a_wrong_header_or_count_is_said(tmp_path, changes, body, text):
    path = tmp_path / "a.pcd"
    path.write_bytes(header(**changes) + body)
    with pytest.raises(InputError, match=text) as error:
        load_frame(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
