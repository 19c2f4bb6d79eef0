"""Data sets: whole or taken up again, whatever stopped them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.datasets.kitti import KittiRig
from tussock.datasets.labeller import Labeller
from tussock.datasets.progress import Progress
from tussock.datasets.recordings import open_recordings
from tussock.datasets.write import write_dataset
from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig
from tussock.scene.forms import Forms
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.volumes import Volumes
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World

EYE = Camera(width=32, height=16, samples=1, lens=Pinhole(fx=20.0))


def drive(**changes) -> Rig:
    path = Trajectory.through([0.0, 2.0], [Pose.at(-3.0), Pose.at(3.0, 1.0, yaw=0.6)])
    given = {
        "body": path,
        "lidars": [MountedLidar("top", load_sensor("vlp-16"), Pose.at(0.0, 0.0, 1.8))],
        "cameras": [
            MountedCamera("left", EYE, Pose.at(0.3, 0.2, 1.5)),
            MountedCamera("right", EYE, Pose.at(0.3, -0.3, 1.5)),
        ],
    }
    return Rig(**(given | changes))


def street() -> Scene:
    scene = Scene("street")
    scene.add(plane((60.0, 60.0)), name="ground", label="terrain")
    places = Placements.of([(10.0, 3.0, 0.75), (14.0, -4.0, 0.75)])
    scene.add(box((4.0, 1.8, 1.5)), name="parked", label="car", placements=places)
    path = Trajectory.through([0.0, 2.0], [Pose.at(8.0, -1.0), Pose.at(12.0, -1.0)])
    scene.add(box((4.0, 1.8, 1.5)), name="driving", label="car", position=(0.0, 0.0, 0.75), motion=path)
    scene.add(box((0.3, 3.0, 1.0)), name="hedge", label="shrub", position=(6.0, 5.0, 0.5))
    return scene


def files_of(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished data set to compare with."""
    folder = tmp_path_factory.mktemp("whole") / "set"
    written = write_dataset(drive(), street(), folder, end=0.4, seed=3)
    assert (written.moments, written.made) == (4, 4)
    return folder


def test_the_manifest_names_every_file_with_its_checksum(whole):
    manifest = json.loads((whole / "manifest.json").read_text())
    files = files_of(whole)
    files.pop("manifest.json")
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == files
    assert len(files) == 4 * (5 + 2 * 5) + 4
    settings = manifest["settings"]
    assert settings["seed"] == 3 and set(settings["sensor_seeds"]) == {"top", "left", "right"}
    assert settings["tussock"] and settings["rig"]["rate_hz"] == 10.0 and len(settings["scene"]["fingerprint"]) == 32


def test_what_is_finished_is_kept_and_not_made_again(whole, tmp_path):
    folder = tmp_path / "set"
    assert write_dataset(drive(), street(), folder, end=0.2, seed=3).made == 2
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*.bin")}
    written = write_dataset(drive(), street(), folder, end=0.4, seed=3)
    assert (written.moments, written.made) == (4, 2)
    assert all(file.stat().st_mtime_ns == stamp for file, stamp in before.items())
    assert files_of(folder) == files_of(whole)
    # a file that somebody damaged is made again, and only its moment
    damaged = folder / "sequences/00/velodyne/000001.bin"
    damaged.write_bytes(damaged.read_bytes()[:-16])
    assert write_dataset(drive(), street(), folder, end=0.4, seed=3).made == 1
    assert files_of(folder) == files_of(whole)


def test_another_data_set_is_left_alone_unless_forced(whole, tmp_path):
    folder = tmp_path / "set"
    write_dataset(drive(), street(), folder, end=0.1, seed=3)
    before = files_of(folder)
    for arguments, word in (({"seed": 4}, "seed"), ({"seed": 3, "start": 0.1}, "first_moment")):
        with pytest.raises(OutputError, match=rf"holds another data set .*{word}"):
            write_dataset(drive(), street(), folder, end=0.2, **arguments)
    with pytest.raises(OutputError, match=r"different: scene\)"):
        other = street()
        other.add(box(), position=(20.0, 0.0, 0.0))
        write_dataset(drive(), other, folder, end=0.2, seed=3)
    assert files_of(folder) == before
    assert write_dataset(drive(), street(), folder, end=0.1, seed=4, force=True).made == 1
    assert files_of(folder) != before
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="not empty and holds no data set"):
        write_dataset(drive(), street(), tmp_path / "photos", end=0.1)


@pytest.mark.parametrize("part", ["cell", "tau", "uv of a later form", "a label's number"])
def test_a_resumed_data_set_cannot_mix_scenes(part, tmp_path):
    def scene(changed: bool) -> Scene:
        made = street()
        corners, faces = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]])
        flat = [Mesh(corners, faces, uv=np.full((3, 2), 0.5 if changed and "uv" in part else 0.0)) for _ in range(2)]
        made.add(flat[0], name="flag", forms=Forms(np.array([0.0, 1.0]), (Mesh(corners, faces), flat[1])))
        about = {"cell": 0.5, "tau": 2.0} | ({part: 1.0} if changed and part in ("cell", "tau") else {})
        one = np.ones(1, np.float32)
        made.add_volumes(Volumes(
            np.zeros((1, 3)), np.array([[9, 0, 0, 9, 0, 9]]), one, np.ones((1, 1)), one, one, one, edges=np.array([2.0]),
            **about,
        ))  # fmt: skip
        if changed and "label" in part:
            made.labels["car"] = 11
        return made

    write_dataset(drive(), scene(False), tmp_path / "set", end=0.1)
    assert write_dataset(drive(), scene(False), tmp_path / "set", end=0.2).made == 1
    with pytest.raises(OutputError, match=r"holds another data set \(different: scene\)"):
        write_dataset(drive(), scene(True), tmp_path / "set", end=0.3)


def test_a_full_disk_keeps_the_finished_moments(whole, tmp_path, monkeypatch):
    folder = tmp_path / "set"
    wrote = Path.write_bytes

    def full_after_two(self, data):
        if "000002" in self.name and "image_3" in str(self):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return wrote(self, data)

    monkeypatch.setattr(Path, "write_bytes", full_after_two)
    with pytest.raises(OutputError, match=r"no space left.*2 of 4 moments are finished and kept"):
        write_dataset(drive(), street(), folder, end=0.4, seed=3)
    monkeypatch.undo()
    assert not list(folder.rglob("*000002*")) and not list(folder.rglob(".*.part"))
    expected = files_of(whole)
    for name, digest in files_of(folder).items():
        assert name == "progress.jsonl" or expected[name] == digest
    assert write_dataset(drive(), street(), folder, end=0.4, seed=3).made == 2
    assert files_of(folder) == expected


def test_a_changed_manifest_deletes_nothing_outside_its_folder(tmp_path):
    folder, precious = tmp_path / "set", tmp_path / "precious.txt"
    write_dataset(drive(), street(), folder, end=0.1, seed=3)
    link = folder / "link"
    link.symlink_to(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in ("../precious.txt", str(precious), "link/precious.txt"):
        precious.write_text("mine")
        entry = {"bytes": 4, "sha256": hashlib.sha256(b"mine").hexdigest()}
        changed = manifest | {
            "files": manifest["files"] | {name: entry},
            "files_of_moments": manifest["files_of_moments"] | {"0": [name]},
        }
        (folder / "manifest.json").write_text(json.dumps(changed))
        for force in (True, False):
            with pytest.raises(OutputError, match="the list of its files was changed"):
                write_dataset(drive(), street(), folder, end=0.1, seed=2, force=force)
        (folder / "manifest.json").unlink()
        line = json.dumps({"moment": 0, "files": {name: entry}})
        settings = json.dumps({"settings": {"seed": 1}})
        (folder / "progress.jsonl").write_text(f"{settings}\n{line}\n")
        with pytest.raises(OutputError, match="the list of its files was changed"):
            write_dataset(drive(), street(), folder, end=0.1, seed=2, force=True)
        (folder / "progress.jsonl").unlink()
        assert precious.read_text() == "mine"


NOTES = ["[]", "null", "3", '"x"', "{", "[" * 2000, '{"settings": 3}', '{"settings": {}, "files_of_moments": []}',
         '{"settings": {}, "files_of_moments": {"a": []}, "files": {}}', '{"settings": {}, "files_of_moments": {"0": 3}}',
         '{"settings": {}, "files_of_moments": {"0": ["a"]}, "files": {"a": 3}}', "\udcff"]  # fmt: skip


@pytest.mark.parametrize("text", NOTES)
def test_a_damaged_manifest_is_said(text, tmp_path):
    data = text.encode("utf-8", "surrogateescape")
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(OutputError, match=r"manifest\.json: cannot be read .*pass force=True"):
        Progress(tmp_path, {"a": 1})
    assert Progress(tmp_path, {"a": 1}, force=True).finished == {}


LINES = ['{"moment": "x", "files": {}}', '{"moment": 1e999, "files": {}}', '{"moment": 1}', '{"moment": 1, "files": 3}',
         '{"moment": 1, "files": {"a": 3}}', '{"moment": 1, "files": {"a": {"bytes": "3", "sha256": ""}}}', '["settings"]',
         '{"moment": 1, "files": {"a\\u0000b": {"bytes": 3, "sha256": ""}}}', '{"settings": []}', "1"]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_damaged_lines_of_the_journal_are_passed_over(line, tmp_path):
    (tmp_path / "progress.jsonl").write_text('{"settings": {"a": 1}}\n' + line + "\n")
    assert Progress(tmp_path, {"a": 1}).finished == {}


RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from test_datasets import drive, street
from tussock.datasets.write import write_dataset
write_dataset(drive(), street(), sys.argv[2], end=1.8, seed=3, on_moment=lambda done, total: print(done, flush=True))
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    folder = tmp_path / "set"
    command = [sys.executable, "-c", RUN, str(Path(__file__).parent), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 3:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    journal = (folder / "progress.jsonl").read_text().splitlines()
    finished = len(journal) - 1
    assert finished >= 3 and not (folder / "manifest.json").exists()
    with (folder / "progress.jsonl").open("a") as file:
        file.write('{"moment": 17, "fil')  # as if killed in the middle of a line
    (folder / "sequences" / "00" / "velodyne" / ".000009.bin.tussock.part").write_bytes(b"rest")
    written = write_dataset(drive(), street(), folder, end=1.8, seed=3)
    assert written.made == 18 - finished
    names = files_of(folder)
    assert "progress.jsonl" not in names and not any(name.endswith(".part") for name in names)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == {
        name: digest for name, digest in names.items() if name != "manifest.json"
    }


def test_a_sequence_comes_back_as_frames(whole):
    frames = open_recordings([whole])
    assert len(frames) == 4 and all(frame.trajectory is not None for frame in frames)
    rig, world = drive(), World(street())
    first = scan(world, rig.lidars[0].sensor, rig.body.mounted(rig.lidars[0].mount), frame=0)
    # which of the weakest echoes are seen is chance, and every scan of a data set has its own
    assert len(frames[0]) == pytest.approx(first.hit.sum(), rel=0.01)
    assert 252 in frames[0].label and 10 in frames[0].label


def test_labels_of_things_that_stand_and_move():
    world = World(street())
    frame = scan(world, load_sensor("vlp-16"), Pose.at(0, 0, 1.8))
    labels = Labeller(world).labels(frame)
    classes, instances = labels & 0xFFFF, labels >> 16
    returns = frame.select(frame.hit)
    by_name = {name: returns.object_id == int(number) for number, name in frame.meta["objects"].items()}
    assert set(classes[by_name["ground"]].tolist()) == {72} and not instances[by_name["ground"]].any()
    assert set(classes[by_name["hedge"]].tolist()) == {70} and set(instances[by_name["hedge"]].tolist()) == {4}
    assert set(classes[by_name["driving"]].tolist()) == {252}
    assert set(classes[by_name["parked"]].tolist()) == {10}
    np.testing.assert_array_equal(instances[by_name["parked"]], 1 + returns.placement[by_name["parked"]])
    assert set(instances[by_name["driving"]].tolist()) == {3}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cameras": []}, "a LIDAR and a camera"),
        ({"cameras": [MountedCamera("eye", EYE.changed(lens=Fisheye(fx=10.0)))]}, "pinhole"),
        ({"cameras": [MountedCamera("a", EYE), MountedCamera("b", EYE, Pose.at(yaw=0.1))]}, "same way"),
        ({"cameras": [MountedCamera("a", EYE), MountedCamera("b", EYE, Pose.at(z=0.1))]}, "left or right"),
    ],
)
def test_rigs_that_kitti_has_no_room_for(changes, word):
    with pytest.raises(InputError, match=word):
        KittiRig.of(drive(**changes))


def test_sensors_by_name_and_times_outside(tmp_path):
    with pytest.raises(InputError, match="must be one of top"):
        write_dataset(drive(), street(), tmp_path / "a", end=0.2, lidar="bottom")
    with pytest.raises(InputError, match=r"trajectory: must cover the moments .*, got '0 s to 2 s'"):
        write_dataset(drive(), street(), tmp_path / "a", end=9.0)
    with pytest.raises(InputError, match="layout"):
        write_dataset(drive(), street(), tmp_path / "a", end=0.2, layout="nuscenes")
    assert not (tmp_path / "a").exists()


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made a folder"):
        Progress(tmp_path / "file" / "set", {})


def test_what_cannot_be_looked_at_names_all_that_can(tmp_path):
    (tmp_path / "notes.md").write_text("no points")
    with pytest.raises(InputError, match=r"unknown file format '\.md'.*\.pcap, \.pcapng, \.pcd"):
        open_recordings([tmp_path / "notes.md"])
    with pytest.raises(InputError, match="no such file or folder"):
        open_recordings([tmp_path / "gone.pcd"])
