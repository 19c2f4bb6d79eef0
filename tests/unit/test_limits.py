"""Files that would take far more memory than they have bytes are refused before it is taken; the limit can be raised."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.ground.terrain import image_terrain
from tussock.limits import MIB, check_memory, read_bytes
from tussock.numpy_files import load_npy, load_npz
from tussock.scene.texture import Texture
from tussock.scene_files.mesh_files import load_mesh
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.volume_file import load_volumes

WIDE = 40_000


def npz(path: Path, rows: int) -> Path:
    """An archive whose one array is all zeros."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (rows,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as entry:
        entry.write(header.getvalue())
        for _ in range(rows // 131_072):
            entry.write(bytes(MIB))
    return path


def png(width: int, height: int, depth: int = 8) -> bytes:
    """A picture that says how large it is, and has next to nothing of it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def refused(use, match: str = "would take .* MiB of memory, and the file has .*; if you trust it, allow") -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match=match) as caught:
        use()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 * MIB
    assert "\n" not in str(caught.value)


def test_arrays(tmp_path):
    file = npz(tmp_path / "a.npz", 320 * 131_072)
    refused(lambda: load_npz(file))
    refused(lambda: load_frame(file))
    refused(lambda: load_volumes(file.rename(tmp_path / "a.volumes")))


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    file = npz(tmp_path / "a.npz", 131_072)
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "0")
    refused(lambda: load_npz(file), "allow that with TUSSOCK_LIMIT_MB=2")
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "2")
    assert load_npz(file)["x"].shape == (131_072,)
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "much")
    with pytest.raises(InputError, match="TUSSOCK_LIMIT_MB: must be a whole number of megabytes, got 'much'"):
        load_npz(file)


@pytest.mark.parametrize(
    "shape",
    [
        "terrain = {size_m = [30, 20], cells = [12, 8000000], noise = {height_m = 0.4}}",
        "terrain = {size_m = [30000, 20000], noise = {height_m = 0.4, wavelength_m = 10000}}",
        "ground = {size_m = [30, 20], cells = [9000, 9000], relief_m = 1}",
        "cylinder = {radius_m = 1, height_m = 1, sides = 9000000}",
        "grow = {kind = 'tree', triangles = 9000000}",
        "grow = {kind = 'shrub', triangles = 9000000}",
        "grow = {kind = 'grass', blades = 1000000, segments = 100}",
        "grow = {kind = 'reeds', size_m = [9000, 9000]}",
    ],
)
def test_shapes_that_are_made_of_numbers(shape, tmp_path, monkeypatch):
    """Thirty characters asked for 192 million triangles."""
    file = tmp_path / "s.toml"
    file.write_text(f"[[objects]]\nname = 'much'\n{shape}\n")
    refused(lambda: load_scene(file), r"\(much\): triangles: must be at most 5,368,709 where .*TUSSOCK_LIMIT_MB=\d+")
    file.write_text("[[objects]]\ncylinder = {radius_m = 1, height_m = 1, sides = 10000}\n")
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "1")
    refused(lambda: load_scene(file), "got 40000; .*TUSSOCK_LIMIT_MB=2")
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "2")
    assert load_scene(file).triangles == 40_000


def test_copies_that_are_made_of_a_density(tmp_path, monkeypatch):
    """Twelve million that were to keep their distance were sampled for a minute."""
    file = tmp_path / "s.toml"
    file.write_text(
        "[[objects]]\nname = 'floor'\nground = {size_m = [30, 20]}\n[[objects]]\nname = 'stones'\n"
        "box = {size_m = [0.1, 0.1, 0.1]}\npopulate = {on = 'floor', density_per_m2 = 20000, spacing_m = 1}\n"
    )
    refused(lambda: load_scene(file), r"\(stones\): copies: must be at most 2,684,354 where .*TUSSOCK_LIMIT_MB=1145")
    file.write_text(file.read_text().replace("20000, spacing_m = 1", "200"))
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "12")
    assert len(load_scene(file)["stones"].placements) == 120_000


def test_honest_files_are_far_below():
    check_memory(255 * MIB, 0)
    check_memory(9_000 * MIB, 100 * MIB)
    with pytest.raises(InputError):
        check_memory(257 * MIB, 0)


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(3, 3 ", "(-1,)", "(1e3,)", "5", "(" * 3000, "(2, 2), 'x': 3"])
def test_headers_of_arrays(tmp_path, shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + bytes(32)
    (tmp_path / "a.npy").write_bytes(data)
    refused(lambda: load_npy(tmp_path / "a.npy"), r"a\.npy: ")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", data)
    refused(lambda: load_npz(tmp_path / "a.npz"), r"a\.npz: ")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_arrays_come_as_numpy_reads_them(tmp_path, shape, order):
    array = np.array(np.random.default_rng(0).normal(size=shape), order=order)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", x=array, name=np.array("text"), flags=array > 0)
    np.testing.assert_array_equal(load_npy(tmp_path / "a.npy"), array)
    loaded = load_npz(tmp_path / "a.npz")
    np.testing.assert_array_equal(loaded["x"], array)
    np.testing.assert_array_equal(loaded["flags"], array > 0)
    assert (str(loaded["name"]), set(load_npz(tmp_path / "a.npz", ["x", "none"]))) == ("text", {"x"})
    loaded["x"][...] = 0  # it may be written to


def test_pictures(tmp_path):
    file = tmp_path / "a.png"
    file.write_bytes(png(WIDE, WIDE))
    refused(lambda: Texture.load(file))
    file.write_bytes(png(WIDE, WIDE, 16))
    refused(lambda: image_terrain(file, (1, 1), (0, 1)))


def test_pictures_of_meshes(tmp_path):
    (tmp_path / "big.png").write_bytes(png(WIDE, WIDE))
    (tmp_path / "m.mtl").write_text("newmtl m\nmap_Kd big.png\n")
    (tmp_path / "m.obj").write_text(
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"
    )
    refused(lambda: load_mesh(tmp_path / "m.obj"))


def test_tables(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.DictionaryArray.from_arrays(pa.repeat(0, 20_000_000).cast(pa.int32()), pa.array([1.0]))
    pq.write_table(pa.table(dict.fromkeys("xyz", rows)), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < MIB
    del rows
    refused(lambda: load_frame(tmp_path / "a.parquet"))


def test_compressed_points(tmp_path):
    laspy = pytest.importorskip("laspy", reason="needs the extra las: pip install 'tussock[las]'")
    cloud = laspy.LasData(laspy.LasHeader(point_format=6, version="1.4"))
    cloud.x = cloud.y = cloud.z = np.arange(10.0)
    cloud.write(tmp_path / "a.laz")
    data = bytearray((tmp_path / "a.laz").read_bytes())
    data[247:255] = struct.pack("<Q", 10**9)
    (tmp_path / "a.laz").write_bytes(data)
    refused(lambda: load_frame(tmp_path / "a.laz"))


def test_what_is_not_there(tmp_path):
    for name, why in (("none", "no such file"), (".", "is a folder"), ("a\0b", "NUL")):
        with pytest.raises(InputError, match=why):
            read_bytes(tmp_path / name)
