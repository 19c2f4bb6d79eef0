"""Packs: the same points after packing, and nothing dangerous or damaged gets out of one."""

from __future__ import annotations

import hashlib
import json
import signal
import stat
import subprocess
import sys
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.files.formats import save_frame
from tussock.pack import load_pack, save_pack, unpack
from tussock.plants.grass import grass_tile
from tussock.poses import Pose, Trajectory
from tussock.scene.fingerprint import fingerprint
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.scene_files.scene_file import load_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

PATH = Trajectory.through([0, 1], [Pose.at(0.1, 0, 1.5), Pose.at(3, 1, 1.5, yaw=0.3)])


def scene():
    made = Scene("packed", {"shed": 900})
    made.add(ground((30, 30), cells=(30, 30)), name="ground", label="terrain")
    spots = np.random.default_rng(0).uniform(-10, 10, (40, 3)) * [1, 1, 0]
    made.add(grass_tile(blades=20, dead=0.3), name="grass", placements=Placements.of(spots, yaw=np.arange(40.0)))
    made.add(box((2, 1, 1)), name="cart", label="shed", motion=Trajectory.through([0, 1], [Pose.at(4), Pose.at(4, 3)]))
    return made


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    file = tmp_path_factory.mktemp("pack") / "a.tussock"
    save_pack(scene(), file, sensor=load_sensor("vlp-16").with_(**{"beam.rays": 9}), place=PATH, seed=42)
    return file


def test_the_same_points_byte_for_byte(packed, tmp_path):
    first = scan(scene(), load_sensor("vlp-16").with_(**{"beam.rays": 9}), PATH, seed=42, frame=3)
    inside = load_pack(packed)
    assert inside.seed == 42
    again = scan(inside.scene, inside.sensor, inside.path, seed=inside.seed, frame=3)
    unpack(packed, tmp_path / "out")
    loose = load_scene(tmp_path / "out" / "scene.toml")
    third = scan(loose, inside.sensor, Trajectory.load(tmp_path / "out" / "path.tum"), seed=42, frame=3)
    for number, frame in enumerate((first, again, third)):
        save_frame(frame, tmp_path / f"{number}.npz")
    bytes_of = [(tmp_path / f"{number}.npz").read_bytes() for number in range(3)]
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]


def test_packing_twice_gives_the_same_bytes(packed, tmp_path):
    inside = load_pack(packed)
    save_pack(inside.scene, tmp_path / "b.tussock", sensor=inside.sensor, place=inside.path, seed=inside.seed)
    assert (tmp_path / "b.tussock").read_bytes() == packed.read_bytes()
    assert fingerprint(inside.scene) == fingerprint(scene())


def test_a_table_pattern_travels_along(tmp_path):
    (tmp_path / "t.csv").write_text("azimuth_deg,elevation_deg,time_s\n0,-20,0\n10,-20,0.01\n20,-30,0.02\n")
    (tmp_path / "t.toml").write_text('[pattern]\nkind = "table"\nfile = "t.csv"\n')
    sensor = load_sensor(tmp_path / "t.toml")
    save_pack(scene(), tmp_path / "t.tussock", sensor=sensor, place=Pose.at(0, 0, 2))
    inside = load_pack(tmp_path / "t.tussock")
    (tmp_path / "t.csv").unlink()
    scene_inside, sensor, path = inside.scene, inside.sensor.with_(**{"beam.rays": 9}), inside.path
    del inside
    assert len(scan(scene_inside, sensor, path)) == 3


def test_a_frame_does_not_tell_where_a_pack_was_laid_out(tmp_path):
    """The folder has another name every time, and the same seed promises the same bytes."""
    (tmp_path / "t.csv").write_text("azimuth_deg,elevation_deg,time_s\n0,-20,0\n10,-20,0.01\n")
    (tmp_path / "t.toml").write_text('[pattern]\nkind = "table"\nfile = "t.csv"\n')
    save_pack(scene(), tmp_path / "t.tussock", sensor=load_sensor(tmp_path / "t.toml"), place=Pose.at(0, 0, 2))
    for name in ("a.npz", "b.npz"):
        inside = load_pack(tmp_path / "t.tussock")
        save_frame(scan(inside.scene, inside.sensor, inside.path), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def rebuilt(packed, target, change):
    """The pack with its entries changed by ``change(entries)``; checksums of the archive itself are right."""
    with zipfile.ZipFile(packed) as source:
        entries = {name: source.read(name) for name in source.namelist()}
        comment = source.comment
    links = change(entries) or {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = links.get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
        if "comment" in links:
            archive.comment = links["comment"]
    return target


def honest(entries, name, data):
    """Add an entry and a manifest that knows it: what somebody who means harm would do."""
    manifest = json.loads(entries["manifest.json"])
    manifest["entries"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    entries[name] = data
    entries["manifest.json"] = json.dumps(manifest).encode()
    return {"comment": hashlib.sha256(entries["manifest.json"]).hexdigest().encode()}


def change_mesh(entries):
    name = next(n for n in entries if n.endswith(".ply"))
    data = bytearray(entries[name])
    data[-5] ^= 1
    entries[name] = bytes(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (change_mesh, r"scene/001-ground\.ply: differs from what was packed"),
        (lambda e: e.update({"scene.toml": e["scene.toml"] + b"\n"}), r"scene\.toml: must have \d+ bytes"),
        (lambda e: e.update({"manifest.json": e["manifest.json"].replace(b"42", b"43")}), r"manifest\.json: differs"),
        (lambda e: e.update({"extra.txt": b"x"}), r"extra\.txt: is not in the manifest"),
        (lambda e: e.pop("path.tum") and None, r"path\.tum: is missing"),
        (lambda e: e.pop("manifest.json") and None, r"has no manifest\.json"),
        (lambda e: honest(e, "../evil.txt", b"x"), r"must be a plain name inside the pack's folder, got '\.\./evil"),
        (lambda e: honest(e, "a/../../evil.txt", b"x"), "must be a plain name"),
        (lambda e: honest(e, "/etc/evil", b"x"), "must be a plain name"),
        (lambda e: honest(e, "C:\\evil", b"x"), "must be a plain name"),
        (lambda e: honest(e, "SCENE.TOML", b"x"), "is there twice"),
        (lambda e: honest(e, "link", b"/etc/passwd") | {"link": stat.S_IFLNK | 0o777}, "link: is a link"),
        (lambda e: honest(e, "bomb", bytes(300 * 2**20)), "would take 300 MiB of memory"),
    ],
)
def test_altered_and_dangerous_packs_are_refused(packed, tmp_path, change, said):
    bad = rebuilt(packed, tmp_path / "bad.tussock", change)
    for use in (lambda: load_pack(bad), lambda: unpack(bad, tmp_path / "out")):
        with pytest.raises(InputError, match=said):
            use()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.tussock"]


def test_cut_and_flipped_packs_are_refused(packed, tmp_path):
    whole = packed.read_bytes()
    bad = tmp_path / "bad.tussock"
    for length in np.linspace(0, len(whole) - 1, 12).astype(int):
        bad.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"bad\.tussock"):
            load_pack(bad)
    for at in np.linspace(0, len(whole) - 1, 60).astype(int):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            inside = load_pack(bad)
        except InputError as error:
            assert str(error).startswith(str(bad))
        else:  # a bit that means nothing, such as a date
            assert fingerprint(inside.scene) == fingerprint(scene())


def test_unpack_leaves_full_folders_alone(packed, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(OutputError, match="is not empty"):
        unpack(packed, tmp_path / "full")
    unpack(packed, tmp_path / "full", force=True)
    assert (tmp_path / "full" / "mine.txt").read_text() == "x"
    with pytest.raises(OutputError, match=r"ends in \.tussock"):
        save_pack(scene(), tmp_path / "a.zip")
    with pytest.raises(InputError, match="no such file"):
        load_pack(tmp_path / "none.tussock")


def test_an_unpack_that_is_killed_leaves_no_folder_and_the_next_one_clears_up(packed, tmp_path):
    code = """
import os, signal, sys
from tussock.pack import unpack
opened = []
def hear(event, arguments):
    if event == "open" and "place" in str(arguments[0]) and arguments[2] & os.O_WRONLY:
        opened.append(arguments[0])
        if len(opened) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
unpack(sys.argv[1], sys.argv[2])
"""
    folder = tmp_path / "place"
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", code, packed, folder / "unpacked"], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert not (folder / "unpacked").exists()
    files = unpack(packed, folder / "unpacked")
    assert all(file.is_file() for file in files)
    assert [path.name for path in folder.iterdir()] == ["unpacked"]


KILLED_AT_ITS_END = """
import os, signal, sys
from pathlib import Path
from tussock import whole_files
from tussock.pack import load_pack, save_pack, unpack
what, packed, out = sys.argv[1:]
scene = load_pack(packed).scene
removed = whole_files._remove
whole_files._remove = lambda part: os.kill(os.getpid(), signal.SIGKILL) if "scratch" in part.name else removed(part)
save_pack(scene, out) if what == "save" else unpack(packed, out)
"""


@pytest.mark.parametrize("what", ["save", "unpack"])
def test_a_kill_when_all_is_done_leaves_nothing_that_stays(what, packed, tmp_path):
    """What has its name already is not made again: what lay beside it stayed for ever."""
    folder = tmp_path / "place"
    folder.mkdir()
    out = folder / ("again.tussock" if what == "save" else "unpacked")
    words = [sys.executable, "-c", KILLED_AT_ITS_END, what, packed, out]
    done = subprocess.run(words, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    with suppress(OutputError):  # it is there already
        save_pack(load_pack(packed).scene, out) if what == "save" else unpack(packed, out)
    assert [path.name for path in folder.iterdir()] == [out.name]
