"""What a colour picture and a view have in common: the camera, where it was and when."""

from __future__ import annotations

from dataclasses import dataclass

from tussock.cameras.camera import Camera
from tussock.poses import Pose
from tussock.shown import Shown

__all__ = ["Shot"]


@dataclass(frozen=True, eq=False, repr=False)
class Shot(Shown):
    """A camera at its place and time."""

    camera: Camera
    pose: Pose
    """``T_world_camera`` when the first row opens"""
    time: float
    """[s] when the first row opens"""
