"""Everything that reads a file: which file of the workshop, and what reads it."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workshop_outdoors import PAINTED
from workshop_recordings import OSF_IS_READ, SCENES

from tussock.errors import TussockError

__all__ = ["LIBRARIES", "TARGETS", "Target", "outcome"]


@dataclass(frozen=True)
class Target:
    """A file that is damaged, and what is done with it then."""

    file: str
    act: Callable[[], Any]
    weight: int = 16
    """how often, beside the others: what takes long is rarer"""


def outcome(target: Target) -> str:
    """``read``, ``refused``, or what the matter is; in the folder of the workshop."""
    try:
        target.act()
    except (TussockError, OSError):
        return "refused"
    return "read"


def _scene(name: str = "scene.toml") -> None:
    from tussock.poses import Pose
    from tussock.scene_files.scene_file import load_scene
    from tussock.sensors.catalogue import load_sensor
    from tussock.simulate import scan

    scan(load_scene(name), load_sensor("few.toml"), Pose.at(0, 0, 1.5), threads=1)


def _mesh(name: str) -> Callable[[], Any]:
    def act() -> None:
        from tussock.scene_files.mesh_files import load_mesh

        load_mesh(name)

    return act


def _sensor(name: str) -> Callable[[], Any]:
    def act() -> None:
        from tussock.sensors.catalogue import load_sensor

        sensor = load_sensor(name)
        if sensor.pulse_count() <= 1_000_000:
            sensor.pulses(0)
            sensor.beam.stencil()

    return act


def _loaded(module: str, function: str, name: str) -> Callable[[], Any]:
    def act() -> None:
        import importlib

        found: Any = importlib.import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
        found(name)

    return act


def _points(name: str) -> Callable[[], Any]:
    def act() -> None:
        from tussock.datasets.recordings import open_recordings
        from tussock.learn.readers.read_pulses import load_pulses

        refused = []
        for read in (lambda: open_recordings([Path(name)], say=_quiet), lambda: load_pulses(Path(name), say=_quiet)):
            try:
                read()
            except (TussockError, OSError) as error:
                refused.append(error)
        if len(refused) == 2:
            raise refused[0]

    return act


def _quiet(note: str) -> None:
    pass


def _unpacked() -> None:
    from tussock.pack import load_pack, unpack

    shutil.rmtree("unpacked", ignore_errors=True)
    try:
        unpack("pack.tussock", "unpacked")
    finally:
        shutil.rmtree("unpacked", ignore_errors=True)
    load_pack("pack.tussock")


def _words() -> None:
    """Each line is a word of another kind."""
    from tussock.air.weather import parse_weather
    from tussock.poses import Pose
    from tussock.scene.wind import wind_of

    lines = Path("words.txt").read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    for read, line in zip((parse_weather, wind_of, Pose.parse), lines, strict=False):
        with suppress(TussockError):
            read(line)
    _drop(lines[3] if len(lines) > 3 else "", Path("small.toml").read_bytes())


def _dropped(name: str) -> Callable[[], Any]:
    return lambda: _drop(name, Path(name).read_bytes())


def _drop(name: str, content: bytes) -> None:
    """What the studio does with a file that was dropped on its page; there is no page here."""
    from tussock.scene_files.mesh_files import load_mesh
    from tussock.studio.opening import open_path
    from tussock.studio.page.panel_files import FilesPanel

    class Page:
        value = "is placed here"

        def __init__(self) -> None:
            self.session = self.build_panel = self
            self.scene = object()

        def place_file(self, path: Path) -> None:
            load_mesh(path)

        def open(self, path: str, *, stays: bool) -> None:
            open_path(path, _quiet)

    page = Page()
    panel: Any = FilesPanel.__new__(FilesPanel)
    panel._studio, panel._folder, panel._meshes = page, None, page
    try:
        panel.take(name, content)
    finally:
        panel.close()


def _datagrams() -> None:
    """A Livox's command as it came, and one with this content and sums that are right."""
    from tussock.wire.addresses import Endpoint
    from tussock.wire.livox.commands import Command, parse_command
    from tussock.wire.livox.driver import LivoxState

    data = Path("datagram.bin").read_bytes()
    parse_command(data)
    state = LivoxState("127.0.0.2", Endpoint.parse("127.0.0.1:9"), None, point_type=1, serial="x" * 40)
    for size in (2, 1):
        asked = parse_command(Command(int.from_bytes(data[:size], "little"), 1, data[size:]).pack())
        if asked is not None:
            state.answer(asked, "127.0.0.1", discovery=False)
            state.answer(asked, "127.0.0.1", discovery=True)
    state.route(Endpoint.parse("127.0.0.1:9"))
    state.state_to()
    Command(0x0102, 1, state.told_by_itself()).pack()


def _first_frame() -> None:
    from tussock.jobs.reading import Frames

    Frames("jobs")[0]


def command(*words: str) -> Callable[[], Any]:
    """A command line, whose mistakes are one line and status 2."""

    def act() -> None:
        from tussock.cli.app import main

        sys.argv = ["tussock", *words]
        out, err = io.StringIO(), io.StringIO()
        status = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            _clean()
        said = [line for line in err.getvalue().splitlines() if not line.startswith("note: ")]
        if status in (2, 3) and "Traceback" not in err.getvalue() and (status == 3 or len(said) == 1):
            raise TussockError("refused")
        if status != 0 or "Traceback" in err.getvalue():
            raise AssertionError(f"status {status}: {err.getvalue()[-1500:]}")

    return act


def _clean() -> None:
    for name in os.listdir("."):  # noqa: PTH208  names alone
        if name.startswith(("out", "t.csv", ".out", "range_")):
            path = Path(name)
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


LIBRARIES = (
    "tussock.cli.app", "tussock.datasets.recordings", "tussock.learn.readers.read_pulses", "tussock.simulate", "tussock.pack",
    "tussock.scene_files.scene_file", "tussock.drive.settings", "tussock.jobs.check", "trimesh", "laspy", "lazrs", "pye57",
    "pyarrow.parquet", "rosbags.highlevel", "mcap.reader", "ouster.sdk.osf", "pxr.UsdUtils", "PIL.Image", "multiprocessing.synchronize",
    "torch",
)  # fmt: skip
"""what the targets use, so that it can be imported once for all cases"""
FRAMES = ("npz", "pcd", "ply", "csv", "parquet", "bin", "las", "laz", "e57")

TARGETS: dict[str, Target] = {
    "scene": Target("scene.toml", _scene, 30),
    **{f"scene with {file}": Target(file, _scene, 1) for file in ("heights.npy", "heights.png", "places.csv", "places.npz", "cart.tum", "hedge.volumes")},
    "texture": Target("clay.png", _mesh("model.obj")),
    "materials": Target("model.mtl", _mesh("model.obj")),
    "buffer": Target("scene.bin", _mesh("scene.gltf")),
    **{file: Target(file, _mesh(file), 24) for file in ("model.obj", "part.ply", "solid.stl", "scene.gltf", "binary.glb")},
    "sensor table": Target("table.toml", _sensor("table.toml"), 40),
    "sensor of one's own": Target("own.toml", _sensor("own.toml"), 40),
    "pulses": Target("pulses.csv", _sensor("table.toml")),
    "camera": Target("camera.toml", _loaded("tussock.cameras.camera", "load_camera", "camera.toml"), 40),
    "rig": Target("rig.toml", _loaded("tussock.rigs.rig", "load_rig", "rig.toml"), 40),
    "plan": Target("plan.toml", _loaded("tussock.jobs.plan", "load_plan", "plan.toml"), 40),
    "recipe": Target("recipe.toml", _loaded("tussock.worlds.recipe", "load_recipe", "recipe.toml"), 40),
    "vehicle": Target("vehicle.toml", _loaded("tussock.drive.vehicles.vehicle", "load_vehicle", "vehicle.toml"), 24),
    "path": Target("path.csv", _loaded("tussock.poses", "Trajectory.load", "path.csv"), 24),
    "motion": Target("cart.tum", _loaded("tussock.poses", "Trajectory.load", "cart.tum"), 24),
    "volumes": Target("hedge.volumes", _loaded("tussock.scene_files.volume_file", "load_volumes", "hedge.volumes"), 24),
    "pack": Target("pack.tussock", _unpacked, 6),
    **{f"frame.{kind}": Target(f"frame.{kind}", _points(f"frame.{kind}")) for kind in FRAMES},
    "document": Target("frame.csv.meta.json", _points("frame.csv")),
    "capture": Target("run.pcap", _points("run.pcap"), 4),
    "log": Target("run.mcap", _points("run.mcap"), 1),
    "pcapng": Target("run.pcapng", _points("run.pcapng"), 6),
    **{f"capture {file}": Target(file, _points(file), 4) for file in ("ouster.pcap", "hesai.pcap", "livox.pcap")},
    "unit of a capture": Target("ouster.json", _points("ouster.pcap"), 4),
    **({"recording ouster.osf": Target("ouster.osf", _points("ouster.osf"), 2)} if OSF_IS_READ else {}),
    **{f"log {file}": Target(file, _points(file.partition("/")[0]), 1) for file in ("livox.mcap", "run.bag", "run.rosbag2/metadata.yaml", "run.rosbag2/run.rosbag2.db3")},
    **{file: Target(file, _loaded("tussock.scene_files.scene_file", "load_scene", file), 4) for file in SCENES},
    **{file: Target(file, _loaded("tussock.scene_files.scene_file", "load_scene", file), 3) for file in PAINTED},
    "picture of a USD scene": Target("painted_textures/m_leaf.png", _loaded("tussock.scene_files.scene_file", "load_scene", "painted.usda"), 3),
    "weather and wind": Target("air.toml", lambda: _scene("air.toml"), 20),
    "cut-out picture": Target("leaf.webp", lambda: _scene("air.toml"), 6),
    "plan of weathers": Target("weathers.toml", _loaded("tussock.jobs.plan", "load_plan", "weathers.toml"), 16),
    "recipe in full": Target("full.toml", _loaded("tussock.worlds.recipe", "load_recipe", "full.toml"), 24),
    "recipe of a plan": Target("full.toml", _loaded("tussock.jobs.plan", "load_plan", "of_full.toml"), 4),
    "worlds command": Target("full.toml", command("worlds", "full.toml", "--count", "1", "--save", "out.toml"), 1),
    "drive in full": Target("stiff.toml", _loaded("tussock.drive.settings", "load_drive_settings", "stiff.toml"), 30),
    "survey": Target("survey.sbet", _loaded("tussock.poses", "Trajectory.load", "survey.sbet"), 12),
    **{f"photographs' {file}": Target(file, _loaded("tussock.learn.attributes.photos", "load_photos", "photos.toml"), 6) for file in ("photos.toml", "front.toml", "front.jpg")},
    **{file: Target(file, _loaded("tussock.scene_files.volume_file", "load_volumes", file), 12) for file in ("colored.volumes", "older.volumes")},
    "words": Target("words.txt", _words, 16),
    "datagram": Target("datagram.bin", _datagrams, 16),
    **{f"dropped {file}": Target(file, _dropped(file), 3) for file in ("small.toml", "pack.tussock", "frame.npz", "colored.volumes", "binary.glb", "model.obj", "exchanged.usda", "short.pcap")},
    "drive": Target("drive.toml", _loaded("tussock.drive.settings", "load_drive_settings", "drive.toml"), 24),
    **{f"data set's {name}": Target(f"set/{file}", _points("set"), 3) for name, file in (
        ("times", "sequences/00/times.txt"), ("poses", "sequences/00/poses.txt"), ("calibration", "sequences/00/calib.txt"),
        ("points", "sequences/00/velodyne/000000.bin"), ("labels", "sequences/00/labels/000000.label"),
    )},
    "view a capture": Target("run.pcap", command("view", "run.pcap", "--host", "256.1.1.1", "--no-browser"), 1),
    "view a log": Target("run.mcap", command("view", "run.mcap", "--host", "256.1.1.1", "--no-browser"), 2),
    "learn": Target("frame.npz", command("learn", "frame.npz", "--voxel-m", "2", "--out", "out.volumes"), 1),
    "noise": Target("frame.csv", command("noise", "frame.csv", "--box=-30,-30,-3,30,30,3", "--window-deg", "20"), 1),
    "compare": Target("frame.parquet", command("compare", "frame.npz", "frame.parquet"), 1),
    "check": Target("jobs/manifest.json", command("check", "jobs"), 2),
    "check plan": Target("jobs/plan.json", command("check", "jobs"), 2),
    "check catalogue": Target("jobs/catalogue.parquet", command("check", "jobs"), 2),
    "check an item": Target("jobs/items/000000/w000000-vlp-16-stand.json", command("check", "jobs"), 2),
    **{f"{name} of frames": Target(f"jobs/{file}", _first_frame, 4) for name, file in (
        ("manifest", "manifest.parquet"), ("plan", "plan.json"), ("points", "items/000000/w000000-vlp-16-stand.parquet"),
        ("data", "items/000000/w000000-vlp-16-stand.json"),
    ) if find_spec("torch")},
    "run again by its manifest": Target("jobs/manifest.parquet", command("run", "again.toml", "--out", "jobs"), 1),
    "run again": Target("jobs/manifest.json", command("run", "again.toml", "--out", "jobs"), 1),
    "data set again": Target("set/manifest.json", command("dataset", "rig.toml", "--to", "0.2", "--out", "set"), 1),
    "data set taken up": Target("half/progress.jsonl", command("dataset", "rig.toml", "--to", "0.2", "--out", "half"), 1),
    "range again": Target("range.run.json", command("scan", "small.toml", "--sensor", "lms-291-s05", "--pose", "0,0,1.5", "--to", "0.2", "--out", "range.npz"), 1),
    "scan command": Target("small.toml", command("scan", "small.toml", "--sensor", "few.toml", "--out", "out.npz"), 1),
    "scan a sensor": Target("few.toml", command("scan", "small.toml", "--sensor", "few.toml", "--out", "out.npz"), 1),
    "render command": Target("camera.toml", command("render", "small.toml", "--camera", "camera.toml", "--pose", "0,0,2", "--out", "out.png"), 1),
    "motion command": Target("moving.toml", command("motion", "moving.toml", "--to", "0.5", "--out", "out.csv"), 2),
    "unpack command": Target("pack.tussock", command("unpack", "pack.tussock", "--out", "out"), 2),
    "sensors command": Target("own.toml", command("sensors", "own.toml"), 2),
    "replay command": Target(
        "short.pcap", command("replay", "short.pcap", "--to", "127.0.0.1:9", "--speed", "1e6", "--longest-pause", "2"), 1
    ),
}  # fmt: skip
"""by name; what a target writes is called out…"""
