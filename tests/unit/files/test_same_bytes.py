"""The same frame gives the same bytes, in another process, on another day, with other hashes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

WRITE = """
import datetime, hashlib, json, sys, time
from importlib.util import find_spec
from pathlib import Path

days = float(sys.argv[1])
real, real_ns = time.time, time.time_ns
time.time = lambda: real() + 86400 * days
time.time_ns = lambda: real_ns() + int(86400e9 * days)
local = time.localtime
time.localtime = lambda seconds=None: local(time.time() if seconds is None else seconds)
class Date(datetime.date):
    @classmethod
    def today(cls): return datetime.date.fromtimestamp(time.time())
import laspy.header
assert hasattr(laspy.header, "date")
laspy.header.date = Date

import tussock
from tussock.files.formats import FORMATS
from tussock.wire.recording import open_recording
from tussock.scene_files.volume_file import save_volumes
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.measured_pulses import measured_pulses

scene = tussock.Scene("little")
scene.add(tussock.plane((30, 30)), name="ground", label="terrain")
scene.add(tussock.box((1, 2, 2)), name="box", position=(5, 0, 1))
sensor = tussock.load_sensor("vlp-16").with_(rotation_hz=20)
path = tussock.Trajectory([0.0, 1.0], [[0, 0, 1.5], [0.5, 0, 1.5]], [[0, 0, 0, 1]] * 2)
frames = [tussock.scan(scene, sensor, path, frame=number, seed=4) for number in range(2)]
out = Path("out")
out.mkdir()
for suffix in FORMATS:
    tussock.save_frame(frames[0], out / f"frame{suffix}")
for name in ("run.pcap", "run.mcap", "run.rosbag2", "run.bag"):
    with open_recording(out / name, sensor) as log:
        for frame in frames:
            log.write(frame)
if find_spec("ouster"):
    ouster = tussock.load_sensor("os1-32-rev7")
    with open_recording(out / "run.osf", ouster) as log:
        log.write(tussock.scan(scene, ouster, path, seed=4))
tussock.save_pack(scene, out / "pack.tussock", sensor=sensor, seed=4)
tussock.save_scene(scene, out / "scene.toml")
save_volumes(learn_volumes(measured_pulses(frames[0]), voxel=2.0, say=lambda note: None), out / "v.volumes")
rig = Path("rig.toml")
rig.write_text('''name = "r"
scene = "out/scene.toml"
rate_hz = 10
[body.path]
times_s = [0, 1]
positions_m = [[0, 0, 0], [1, 0, 0]]
[[lidars]]
name = "top"
sensor = "vlp-16"
position_m = [0, 0, 1.8]
[[cameras]]
name = "front"
position_m = [0.4, 0, 1.6]
camera = {width = 24, height = 12, samples = 1, lens = {kind = "pinhole", fx = 20}}
''')
for layout in ("odometry", "raw"):
    tussock.write_dataset(tussock.load_rig(rig), scene, out / layout, end=0.15, layout=layout, seed=4)
"""


def digests(folder, days: str, hashes: str) -> dict[str, str]:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WRITE, days], cwd=folder, capture_output=True, text=True, check=False, timeout=900,
        env=os.environ | {"PYTHONHASHSEED": hashes},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    files = sorted(file for file in (folder / "out").rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_every_format_log_pack_and_data_set(tmp_path):
    one, two = digests(tmp_path / "a", "0", "1"), digests(tmp_path / "b", "400", "2")
    assert {name.rpartition(".")[2] for name in one} >= {
        "npz", "pcd", "las", "laz", "e57", "mcap", "db3", "bag", "pcap", "tussock", "parquet", "volumes", "png", "label"
    }  # fmt: skip
    assert json.dumps(one, indent=1) == json.dumps(two, indent=1)
