"""Volumes as data and as a file: what is wrong is said in one line, and a file is whole or not there."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.scene.volumes import Volumes
from tussock.scene_files.volume_file import load_volumes, save_volumes


@pytest.fixture
def volumes() -> Volumes:
    rng = np.random.default_rng(1)
    n = 500
    places = rng.permutation(4096)[:n]
    means = (np.stack([places // 256, places // 16 % 16, places % 16], 1) + rng.uniform(0.1, 0.9, (n, 3))) * 0.2
    return Volumes(
        means.astype(np.float32), np.tile(np.float32([400, 10, 0, 900, -5, 700]), (n, 1)),
        rng.random(n).astype(np.float32), rng.integers(0, 65536, (n, 4)).astype(np.uint16),
        rng.integers(0, 65536, n).astype(np.uint16), rng.integers(1, 99, n).astype(np.uint32),
        rng.random(n).astype(np.float32), 0.2, np.float32([1, 2, 3, np.inf]), "voxels", 2.5,
        Material(name="reed", color=(0.3, 0.5, 0.2)), {"method": "voxels", "voxel_m": 0.2},
    )  # fmt: skip


def test_a_file_gives_back_what_was_saved(volumes: Volumes, tmp_path: Path) -> None:
    path = tmp_path / "reeds.volumes"
    save_volumes(volumes, path)
    again = load_volumes(path)
    for field in fields(Volumes):
        one, two = getattr(volumes, field.name), getattr(again, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == two.dtype
            assert np.array_equal(one, two), field.name
        else:
            assert one == two, field.name
    assert path.stat().st_size < 100 * len(volumes), "compact: below 100 bytes a volume"
    assert [file.name for file in tmp_path.iterdir()] == ["reeds.volumes"]


def test_files_of_the_first_version_are_read(volumes: Volumes, tmp_path: Path) -> None:
    path = tmp_path / "reeds.volumes"
    save_volumes(volumes, path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["beams"] = arrays.pop("pulses")
    about = json.loads(arrays["about"].tobytes()) | {"version": 1}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    assert np.array_equal(load_volumes(path).pulses, volumes.pulses)


def test_nothing_is_overwritten_unasked(volumes: Volumes, tmp_path: Path) -> None:
    path = tmp_path / "reeds.volumes"
    save_volumes(volumes, path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="exists"):
        save_volumes(volumes, path)
    assert path.read_bytes() == before
    save_volumes(replace(volumes, tau=1.5), path, force=True)
    assert load_volumes(path).tau == 1.5
    with pytest.raises(OutputError, match=r"ends in \.volumes"):
        save_volumes(volumes, tmp_path / "reeds.npz")


def test_a_damaged_file_is_one_line_wherever_it_is_damaged(volumes: Volumes, tmp_path: Path) -> None:
    path = tmp_path / "reeds.volumes"
    save_volumes(volumes, path)
    whole = path.read_bytes()
    cases = [whole[:n] for n in (0, 3, len(whole) // 3, len(whole) - 30)]
    rng = np.random.default_rng(4)
    for at in [*rng.integers(200, len(whole) - 400, 12).tolist(), 0, 40]:
        cases.append(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
    cases += [b"PK\x03\x04 not really", b"\x93NUMPY" + bytes(200), b"hello"]
    refused = 0
    for data in cases:
        path.write_bytes(data)
        try:
            again = load_volumes(path)
        except InputError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)
            refused += 1
        else:  # a byte that nothing reads, such as a date in a header of the zip
            assert np.array_equal(again.means, volumes.means)
    assert refused >= len(cases) - 2


@pytest.mark.parametrize(("name", "words"), [("missing.volumes", "no such"), ("", "is a folder")])
def test_what_is_no_file_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        load_volumes(tmp_path / name)


def test_arrays_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.volumes"
    with path.open("wb") as file:
        np.savez(file, points=np.zeros((3, 3)))
    with pytest.raises(InputError, match="not a file of volumes"):
        load_volumes(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": 0.0}, "tau"),
        ({"tau": -1.0}, "tau"),
        ({"tau": float("nan")}, "tau"),
        ({"cell": 0.0}, "cell"),
        ({"cell": 1e-9}, "cell"),
        ({"edges": np.float32([2, 1, 3, 4])}, "edges"),
        ({"partition": "cubes"}, "partition"),
        ({"partition": "ellipsoids"}, "finite"),
        ({"permeability": np.full(500, 1.5, np.float32)}, "permeability"),
        ({"intensity": np.full(500, -1, np.float32)}, "intensity"),
        ({"closure": np.zeros(3, np.uint16)}, "closure"),
        ({"means": np.full((500, 3), np.nan, np.float32)}, "finite"),
        ({"precisions": np.tile(np.float32([1, 2, 0, 1, 0, 1]), (500, 1))}, "positive definite"),
        ({"means": np.zeros((0, 3), np.float32)}, "no volume"),
    ],
)
def test_what_cannot_be_is_refused(volumes: Volumes, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        replace(volumes, **change)
    assert "\n" not in str(caught.value)


def test_placements_may_not_stretch_volumes(volumes: Volumes) -> None:
    scene = Scene("stretched")
    scene.add_volumes(volumes, name="a", position=(1, 2, 3), yaw=0.3)
    with pytest.raises(InputError, match="object 'a': is a set of volumes; find it in `volumes`"):
        scene["a"]
    with pytest.raises(InputError, match="scale 1"):
        scene.add_volumes(volumes, name="b", placements=Placements.of([[0, 0, 0], [5, 0, 0]], scale=[1.0, 1.2]))
    assert [thing.name for thing in scene.volumes] == ["a"]
