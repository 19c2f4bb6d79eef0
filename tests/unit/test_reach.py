"""Files of others: scenes and packs read nothing outside their folder, and nothing that has no end."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from tussock.errors import InputError
from tussock.jobs.plan import load_plan
from tussock.limits import read_bytes
from tussock.pack import load_pack, save_pack
from tussock.poses import Trajectory
from tussock.reach import Reach, is_inside, refuse_special
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import load_mesh, save_mesh
from tussock.scene_files.scene_file import load_scene
from tussock.sensors.catalogue import load_sensor

BOX = "[[objects]]\nname = 'a'\nbox = {{size_m = [1, 1, 1]}}\n"
SECRET = "root:x:0:0:my secret line"
NAMES = {
    "mesh": "[[objects]]\nmesh = {name}\n",
    "placements": BOX + "placements = {{file = {name}}}\n",
    "motion": BOX + "motion = {{file = {name}}}\n",
    "forms": BOX + "forms = {{times_s = [0], meshes = [{name}]}}\n",
    "volumes": "[[objects]]\nvolumes = {name}\n",
    "heights": "[[objects]]\nground = {{size_m = [1, 1], heights = {name}}}\n",
    "image": "[[objects]]\nterrain = {{size_m = [1, 1], image = {name}, height_range_m = [0, 1]}}\n",
    "geotiff": "[[objects]]\nterrain = {{geotiff = {name}}}\n",
    "mask": "[[objects]]\nterrain = {{size_m = [4, 4], noise = {{}}, masks = [{{image = {name}, material = 'rock'}}]}}\n",
    "texture": "[materials.m]\ntexture = {name}\n" + BOX + "material = 'm'\n",
    "density": "[[objects]]\nname = 'g'\nground = {{size_m = [9, 9]}}\n" + BOX
    + "populate = {{on = 'g', density_per_m2 = 1, density_map = {name}}}\n",
}  # fmt: skip
SUFFIXES = {"mesh": ".obj", "forms": ".obj", "volumes": ".volumes", "placements": ".csv", "heights": ".npy"}


def outside(folder: Path, kind: str) -> tuple[Path, Path]:
    """A folder for a scene, and a secret file outside of it."""
    (folder / "scene").mkdir()
    secret = folder / f"secret{SUFFIXES.get(kind, '.txt')}"
    secret.write_text(SECRET)
    return folder / "scene", secret


@pytest.mark.parametrize("kind", NAMES)
def test_a_scene_reads_nothing_outside_its_folder(tmp_path, kind):
    folder, secret = outside(tmp_path, kind)
    (folder / f"link{secret.suffix}").symlink_to(secret)
    for name in (f"../{secret.name}", str(secret), f"link{secret.suffix}", f"a/../../{secret.name}"):
        (folder / "s.toml").write_text(NAMES[kind].format(name=json.dumps(name)))
        with pytest.raises(InputError, match="must not lead out of the folder of the file that names it") as caught:
            load_scene(folder / "s.toml")
        assert "secret line" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", NAMES)
def test_a_pipe_or_a_device_is_refused(tmp_path, kind):
    pipe = tmp_path / f"pipe{SUFFIXES.get(kind, '.txt')}"
    os.mkfifo(pipe)
    (tmp_path / "s.toml").write_text(NAMES[kind].format(name=json.dumps(pipe.name)))
    with pytest.raises(InputError, match="is a device, a pipe or a socket"):
        load_scene(tmp_path / "s.toml")


def test_folders_can_be_opened(tmp_path, monkeypatch):
    folder, _ = outside(tmp_path, "mesh")
    (tmp_path / "lent").mkdir()
    save_mesh(box((1, 1, 1)), tmp_path / "lent" / "m.ply")
    (folder / "s.toml").write_text("[[objects]]\nmesh = '../lent/m.ply'\n")
    with pytest.raises(InputError, match="TUSSOCK_READ=FOLDER"):
        load_scene(folder / "s.toml")
    monkeypatch.setenv("TUSSOCK_READ", os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "lent")]))
    assert load_scene(folder / "s.toml").triangles == 12
    (folder / "s.toml").write_text("[[objects]]\nmesh = '../secret.obj'\n")
    with pytest.raises(InputError, match="must not lead out"):
        load_scene(folder / "s.toml")


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("kind", NAMES)
def test_a_pack_reads_nothing_outside_itself(tmp_path, kind, opened, monkeypatch):
    if opened:
        monkeypatch.setenv("TUSSOCK_READ", "/")
    _, secret = outside(tmp_path, kind)
    scene = Scene("s")
    scene.add(box((1, 1, 1)))
    save_pack(scene, tmp_path / "a.tussock")
    with zipfile.ZipFile(tmp_path / "a.tussock") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    text = NAMES[kind].format(name=json.dumps(str(secret))).encode()
    manifest = json.loads(entries["manifest.json"])
    manifest["entries"]["scene.toml"] = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    entries |= {"scene.toml": text, "manifest.json": json.dumps(manifest).encode()}
    with zipfile.ZipFile(tmp_path / "b.tussock", "w") as archive:
        archive.comment = hashlib.sha256(entries["manifest.json"]).hexdigest().encode()
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match="must not lead out of the folder") as caught:
        load_pack(tmp_path / "b.tussock")
    assert "secret line" not in str(caught.value)


def test_a_mesh_in_a_scene_names_nothing_outside_either(tmp_path):
    from PIL import Image

    for folder in ("scene/models", "scene/textures", "scene/mats", "other"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("scene/textures", "other"):
        Image.new("RGB", (4, 4), (255, 0, 0)).save(tmp_path / folder / "t.png")
    obj = "mtllib {mtl}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"
    model, scene = tmp_path / "scene" / "models" / "m.obj", tmp_path / "scene" / "s.toml"
    scene.write_text("[[objects]]\nmesh = 'models/m.obj'\n")
    for mtl, picture, good in (
        ("../mats/m.mtl", "../textures/t.png", True),
        ("../mats/m.mtl", "../../other/t.png", False),
        ("../mats/m.mtl", str(tmp_path / "other" / "t.png"), False),
    ):
        model.write_text(obj.format(mtl=mtl))
        (model.parent / mtl).write_text(f"newmtl m\nKd 1 1 1\nmap_Kd {picture}\n")
        if good:
            assert load_scene(scene).materials["m"].reflectance == pytest.approx(0.2126, abs=1e-3)
        else:
            with pytest.raises(InputError, match="must not lead out"):
                load_scene(scene)
        assert load_mesh(model).materials[0].reflectance == pytest.approx(0.2126, abs=1e-3), "opened by its own name"
    (tmp_path / "other" / "m.mtl").write_text("newmtl m\nKd 1 1 1\n")
    model.write_text(obj.format(mtl="../../other/m.mtl"))
    with pytest.raises(InputError, match="must not lead out"):
        load_scene(scene)


def test_textures_inside_our_own_files_are_inside_them(tmp_path):
    from PIL import Image

    Image.new("RGB", (4, 4)).save(tmp_path / "t.png")
    save_mesh(box((1, 1, 1)), tmp_path / "m.ply")
    data = (tmp_path / "m.ply").read_bytes()
    table = json.dumps({"name": "x", "texture": str(tmp_path / "t.png")}).encode()
    start = data.index(b"comment material ")
    (tmp_path / "m.ply").write_bytes(data[:start] + b"comment material " + table + data[data.index(b"\n", start) :])
    with pytest.raises(InputError, match="must be inside the file, as a data: text"):
        load_mesh(tmp_path / "m.ply")


def test_endless_devices_end():
    if not Path("/dev/zero").exists():
        pytest.skip("this system has no /dev/zero: run it on Linux")
    with pytest.raises(InputError, match="is a device; name a plain file"):
        Trajectory.load("/dev/zero")


@pytest.mark.parametrize(("sent", "whole"), [(3 * 2**20, False), (2**19, True)])
def test_pipes_are_read_to_their_end_or_to_the_limit(sent, whole, monkeypatch):
    """As of `tussock scan <(make_scene)`."""
    monkeypatch.setenv("TUSSOCK_LIMIT_MB", "1")
    out, into = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(into, "wb") as pipe:
            pipe.write(b"x" * sent)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        if whole:
            assert read_bytes(Path(f"/dev/fd/{out}")) == b"x" * sent
        else:
            with pytest.raises(InputError, match="goes on and on"):
                read_bytes(Path(f"/dev/fd/{out}"))
    finally:
        os.close(out)
        writer.join()


@pytest.mark.parametrize("text", ['base = "{}"', '[pattern]\nkind = "table"\nfile = "{}"'])
def test_sensors_do_not_wait_for_pipes(text, tmp_path):
    os.mkfifo(tmp_path / "p.toml")
    (tmp_path / "s.toml").write_text(text.format("p.toml"))
    with pytest.raises(InputError, match="is a device, a pipe or a socket"):
        load_sensor(tmp_path / "s.toml")


@pytest.mark.parametrize("text", ['[worlds]\nscenes = ["{}"]', '[worlds]\nrecipe = "{}"'])
def test_plans_do_not_wait_for_pipes(text, tmp_path):
    os.mkfifo(tmp_path / "p.toml")
    (tmp_path / "s.toml").write_text(
        text.format("p.toml") + '\n[[sensors]]\nsensor = "vlp-16"\n[[paths]]\nkind = "stand"\n'
    )
    with pytest.raises(InputError, match="is a device, a pipe or a socket"):
        load_plan(tmp_path / "s.toml")


def test_inside(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    assert is_inside(tmp_path / "a" / "none", tmp_path / "a")
    assert is_inside(tmp_path / "a" / ".." / "a" / "x", tmp_path / "a")
    assert not is_inside(tmp_path / "ab", tmp_path / "a")
    assert not is_inside(tmp_path / "loop" / "x", tmp_path / "a")
    with pytest.raises(InputError, match="must not hold the character NUL"):
        Reach(tmp_path).file("a\0b")


@pytest.mark.parametrize("name", ["a\0b.toml", "a\ud800b.toml"])
def test_what_no_file_can_be_called_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file name: must"):
        refuse_special(tmp_path / name)
