"""Notes by which a run is taken up again, manifests, and what a killed writer leaves."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile

import pytest

from tussock.datasets.progress import JOURNAL, MANIFEST, Progress
from tussock.errors import TussockError
from tussock.pack import load_pack, save_pack, unpack
from tussock.poses import Pose
from tussock.runs import Run
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.wire.shared.shm_files import segment_path

NOTES = [
    "", "{", "null", "[]", "3", '"x"', "{}", '{"settings": 3}', '{"settings": {}, "files": 3}', '{"moment": NaN}', "[" * 5000,
    '{"moments": {"0": {"a": 1}}}', '{"settings": {}, "files_of_moments": {"x": {}}}', '{"files": {"../x": {}}}', "9" * 5000,
    '{"moment": Infinity, "files": {}}', '{"moment": 0, "files": []}', '{"moment": 0, "files": {"a": 3}}', "\x00", "\ufeff{}",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTES)
def test_the_note_of_a_run(text, tmp_path):
    scene = Scene("s")
    scene.add(box((1, 1, 1)), name="box")
    (tmp_path / "o.run.json").write_text(text)
    run = Run(scene, load_sensor("vlp-16"), Pose(), tmp_path / "o.npz", 0.0, 0.2)
    with pytest.raises(TussockError, match=r"o\.run\.json"):
        run.prepare()


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
@pytest.mark.parametrize("text", NOTES)
def test_the_notes_of_a_data_set(name, text, tmp_path):
    """Refused, or not believed; never a traceback, and nothing outside is touched."""
    (tmp_path / "x").write_text("precious")
    folder = tmp_path / "set"
    for force in (False, True):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        try:
            Progress(folder, {"seed": 1}, force=force)
        except TussockError as error:
            assert "\n" not in str(error)
    assert (tmp_path / "x").read_text() == "precious"


@pytest.mark.parametrize(
    "change", ['"bytes": Infinity', '"bytes": -1', '"bytes": 1e400', '"bytes": "x"', '"bytes": null']
)
def test_the_manifest_of_a_pack(change, tmp_path):
    scene = Scene("s")
    scene.add(box((1, 1, 1)), name="box")
    save_pack(scene, tmp_path / "a.tussock")
    with zipfile.ZipFile(tmp_path / "a.tussock") as archive:
        members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    size = json.loads(members["manifest.json"])["entries"]["scene.toml"]["bytes"]
    members["manifest.json"] = members["manifest.json"].replace(f'"bytes": {size}'.encode(), change.encode(), 1)
    with zipfile.ZipFile(tmp_path / "b.tussock", "w") as archive:
        archive.comment = hashlib.sha256(members["manifest.json"]).hexdigest().encode()
        for name, member in members.items():
            archive.writestr(name, member)
    for read in (load_pack, lambda path: unpack(path, tmp_path / "out")):
        with pytest.raises(TussockError, match=r"b\.tussock"):
            read(tmp_path / "b.tussock")
    assert not (tmp_path / "out").exists()


def test_the_writer_of_an_experiment_leaves_no_shared_memory():
    """`tussock validate packets` left 6.4 MB each time: its writer was killed."""
    name = f"tussock-test-{os.getpid()}"
    work = f"from tussock.validate.experiments.packets import write_frames; write_frames({name!r})"
    writer = subprocess.Popen([sys.executable, "-c", work])
    try:
        deadline = time.monotonic() + 300
        while not segment_path(name).exists():
            assert writer.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.2)
        writer.terminate()
        assert writer.wait(timeout=120) == 0
        assert not segment_path(name).exists()
    finally:
        writer.kill()
        writer.wait()
        segment_path(name).unlink(missing_ok=True)
