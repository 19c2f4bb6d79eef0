"""Where a command's scene, sensor and pose come from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tussock.errors import InputError, nearest
from tussock.poses import Pose, Trajectory

if TYPE_CHECKING:
    from tussock.scene.scene import Scene

__all__ = ["open_pose", "open_scene", "parse_utc"]


def open_scene(name: str) -> Scene:
    """A scene file by its path, or a ready scene by its name."""
    from tussock.scene.ready import ready_scene, ready_scene_names
    from tussock.scene.scene_file import load_scene

    path = Path(name)
    if name in ready_scene_names():
        return ready_scene(name)
    if path.suffix == ".toml":
        return load_scene(path)
    if path.suffix:
        raise InputError.of("scene", "must be a scene file (.toml) or a ready scene", name)
    raise InputError(f"scene {name!r}: no such ready scene; {nearest(name, ready_scene_names())}")


def open_pose(pose: str | None, trajectory: Path | None) -> Pose | Trajectory:
    """The sensor's pose (``x,y,z[,roll,pitch,yaw]``) or its trajectory file; 2 m above zero by default."""
    if pose is not None and trajectory is not None:
        raise InputError("pose: give either --pose or --trajectory, not both")
    if trajectory is not None:
        return Trajectory.load(trajectory)
    return Pose.parse(pose) if pose is not None else Pose.at(z=2.0)


def parse_utc(text: str) -> float:
    """Unix time [s] of a date and time; without a zone it is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InputError.of("utc", "must be a date and time", text, "for example 2025-01-01T00:00:00") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
