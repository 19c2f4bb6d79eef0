"""What a manifest of somebody else's data set may make us read, write or wait for: nothing outside its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tussock.datasets.recordings import open_recordings
from tussock.errors import InputError
from tussock.jobs.store import Store
from tussock.studio.opening import open_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set with links and a pipe in it, beside a private file."""
    made = tmp_path / "set"
    (made / "items").mkdir(parents=True)
    (made / "items" / "a.json").write_text("{}")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.json").write_text("secret")
    (made / "link.json").symlink_to(tmp_path / "private" / "key.json")
    (made / "linked").symlink_to(tmp_path / "private")
    (made / "own.json").symlink_to(made / "items" / "a.json")
    os.mkfifo(made / "pipe.json")
    return made


OUTSIDE = [
    "../private/key.json",
    "{tmp}/private/key.json",
    "items/../../private/key.json",
    "link.json",
    "linked/key.json",
    "a\0.json",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_is_read_written_or_removed(name: str, folder: Path) -> None:
    store, path = Store(folder), name.replace("{tmp}", str(folder.parent))
    for act in (store.get, store.open, store.drop, lambda at: store.put(at, b"mine")):
        with pytest.raises(InputError, match="must not lead out of the data set") as refused:
            act(path)
        assert "secret" not in str(refused.value)
    assert (folder.parent / "private" / "key.json").read_text() == "secret"
    assert [file.name for file in (folder.parent / "private").iterdir()] == ["key.json"]


def test_what_is_inside_is_read_and_pipes_are_not_waited_for(folder: Path) -> None:
    store = Store(folder)
    assert store.get("items/a.json") == store.get("own.json") == b"{}"
    assert store.get("items/b.json") is None
    assert store.get("nowhere/b.json") is None
    store.put("items/new/b.json", b"1")
    store.drop("items/new/b.json")
    for device in ("pipe.json", "zero.json"):
        if device == "zero.json":
            (folder / device).symlink_to("/dev/zero")
        with pytest.raises(InputError, match=r"is a device, a pipe or a socket|must not lead out"):
            store.get(device)


@pytest.mark.parametrize("suffix", [".npz", ".pcap", ".mcap", ".ply", ".toml", ".volumes"])
def test_the_studio_waits_for_no_pipe(suffix: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"a{suffix}")
    with pytest.raises(InputError, match="is a device, a pipe or a socket"):
        open_path(str(tmp_path / f"a{suffix}"), lambda note: None)


@pytest.mark.parametrize("name", ["velodyne/000000.bin", "times.txt", "poses.txt", "calib.txt", "labels/000000.label"])
def test_a_sequence_with_a_pipe_in_it(name: str, tmp_path: Path) -> None:
    sequence = tmp_path / "sequences" / "00"
    for part in ("velodyne", "labels"):
        (sequence / part).mkdir(parents=True)
    for file in ("velodyne/000000.bin", "times.txt", "poses.txt", "calib.txt", "labels/000000.label"):
        os.mkfifo(sequence / file) if file == name else (sequence / file).write_bytes(b"")
    with pytest.raises(InputError, match="is a device, a pipe or a socket"):
        open_recordings(tmp_path)


def test_a_folder_of_frames_with_a_pipe_in_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npz")
    for path in (tmp_path, tmp_path / "a.npz"):
        with pytest.raises(InputError, match="is a device, a pipe or a socket"):
            open_recordings(path)
