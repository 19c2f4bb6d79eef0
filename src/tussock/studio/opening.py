"""Whatever a path holds, opened: a scene, a mesh, a pack, a .blend, frames, a capture, a data set, learned volumes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tussock.datasets.recordings import open_recordings
from tussock.errors import InputError
from tussock.files.formats import FORMATS
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.reach import refuse_special
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scene_files.scene_file import SCENE_SUFFIXES
from tussock.scene_files.volume_file import VOLUME_SUFFIX, load_volumes
from tussock.scenes.ready import scene_names
from tussock.sources import PLACE, opened
from tussock.studio.ask import pose_text

__all__ = ["Opened", "holds_frames", "open_path"]


class Opened(NamedTuple):
    """What was opened: a scene with a place for a sensor, or frames."""

    name: str
    """as the command line takes it"""
    scene: Scene | None = None
    pose: str = "0,0,2"
    """of a sensor"""
    sensor: str | None = None
    """of the catalogue, where the source names one"""
    seed: int = 0
    frames: tuple[Frame, ...] = ()
    kept: object = None
    """must live as long as the scene"""


def open_path(name: str, say: Callable[[str], None]) -> Opened:
    """A ready scene by its name, or a file or folder; what it lacks is told to ``say``."""
    path = Path(name)
    refuse_special(path)
    suffix = path.suffix.lower()
    if name not in scene_names() and not path.exists() and suffix:
        raise InputError(f"{path}: no such file or folder")
    if name not in scene_names() and path.is_file() and not suffix:
        raise InputError(f"{path}: its name must end as what it holds, for example .toml, .glb or .pcd")
    if suffix == VOLUME_SUFFIX:
        return Opened(name, *_volumes(path))
    if name not in scene_names() and (path.is_dir() or holds_frames(path)):
        return Opened(name, frames=tuple(open_recordings(path, say=say)))
    source = opened(name, say)
    station = source.stations[0] if source.stations else None
    pose = _pose(source.place if station is None else station.place)
    return Opened(name, source.scene, pose, seed=source.seed, kept=source)


def holds_frames(path: Path) -> bool:
    """Whether a file is one of frames; a PLY is one where it has no faces."""
    suffix = path.suffix.lower()
    if suffix == ".ply" and path.is_file():
        with path.open("rb") as file:
            return b"element face" not in file.read(8192)
    if suffix in (*SCENE_SUFFIXES, ".tussock", ".blend"):
        return False
    return suffix in FORMATS or suffix in (".pcap", ".pcapng", ".osf", ".mcap", ".bag", ".db3")


def _volumes(path: Path) -> tuple[Scene, str]:
    """Learned volumes on a plain ground, and a place to look at them from."""
    volumes = load_volumes(path)
    low, high = volumes.bounds
    scene = Scene(path.stem)
    size = float(max(high[0] - low[0], high[1] - low[1])) * 3 + 10
    middle = (low + high) / 2
    floor = plane((size, size)).painted(SURFACES["soil"])
    scene.add(floor, name="ground", label="terrain", position=(middle[0], middle[1], low[2]))
    scene.add_volumes(volumes, name=path.stem)
    return scene, pose_text((low[0] - (high[0] - low[0]) - 2, middle[1], low[2] + 1.7), (0, 0, 0, 1))


def _pose(place: Pose | Trajectory) -> str:
    pose = place if isinstance(place, Pose) else place.pose(float(place.times[0]))
    return pose_text(pose.position, pose.quaternion) if pose is not PLACE else "0,0,2"
