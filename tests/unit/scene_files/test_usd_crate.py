"""Binary USD files whose counts are out of proportion to their size."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tussock.errors import InputError
from tussock.scene.primitives import box, sphere
from tussock.scene.scene import Scene
from tussock.scene_files.exchange.usd_crate import _Crate, _unpacked, check_crate
from tussock.scene_files.scene_save import save_scene

pytest.importorskip("pxr", reason="OpenUSD is not installed: pip install 'tussock[usd]'")


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    scene = Scene("crate")
    scene.add(sphere(1.0, subdivisions=3), name="ball")
    scene.add(box((1, 2, 3)), name="box", position=(4, 0, 0))
    save_scene(scene, tmp_path / "a.usdc")
    return tmp_path / "a.usdc"


def values_of(path: Path) -> list[int]:
    with path.open("rb") as file:
        found = _Crate(file, path.stat().st_size)
        fields = next((at, size) for name, at, size in found.sections(path.read_bytes()[:24]) if name == b"FIELDS")
        count = found.numbers(fields[0], "<Q")[0]
        values = [value for (value,) in struct.iter_unpack("<Q", found._values(*fields))]
    assert len(values) == count
    return values


def test_every_value_is_found_and_a_sound_file_passes(crate: Path) -> None:
    arrays = [value for value in values_of(crate) if value >> 63 and not value >> 62 & 1]
    assert len(arrays) > 5
    check_crate(crate)


@pytest.mark.parametrize("section", [b"PATHS", b"TOKENS"])
def test_a_second_count_that_cannot_be_is_refused(crate: Path, section: bytes) -> None:
    """A damaged number of paths took 4 GB."""
    data = bytearray(crate.read_bytes())
    with crate.open("rb") as file:
        place = next(at for name, at, _ in _Crate(file, len(data)).sections(bytes(data[:24])) if name == section)
    struct.pack_into("<Q", data, place + 8, 1073741864)
    crate.write_bytes(data)
    with pytest.raises(InputError, match="names more values than it can hold"):
        check_crate(crate)


def test_an_array_that_cannot_be_there_is_refused(crate: Path) -> None:
    sound = crate.read_bytes()
    for value in values_of(crate):
        place = value & (1 << 48) - 1
        if not value >> 63 or value >> 62 & 1 or not place:
            continue
        (count,) = struct.unpack_from("<Q", sound, place)
        assert count <= len(sound)
        crate.write_bytes(sound[:place] + struct.pack("<Q", count + 2**34) + sound[place + 8 :])
        with pytest.raises(InputError, match="names more values than it can hold"):
            check_crate(crate)


def test_pieces_and_copies_of_lz4() -> None:
    letters = bytes([0x4F]) + b"abcd" + struct.pack("<H", 4) + bytes([5])  # 4 literals, then 24 from 4 back
    block = letters + bytes([0x10]) + b"!"
    assert _unpacked(b"\0" + block, 100) == b"abcd" * 7 + b"!"
    pieces = b"\2" + 2 * (struct.pack("<i", len(block)) + block)
    assert _unpacked(pieces, 100) == 2 * (b"abcd" * 7 + b"!")
    with pytest.raises(ValueError):
        _unpacked(b"\0" + block, 20)  # a bomb
    with pytest.raises(ValueError):
        _unpacked(b"\0" + bytes([0x10]) + b"a" + struct.pack("<H", 9) + bytes([0]), 100)  # from before its begin
