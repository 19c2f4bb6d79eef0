"""A camera on the vehicle that looks ahead, for people who watch: no autonomy uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.picture import Picture
from tussock.cameras.render import render
from tussock.drive.simulation import Sensed
from tussock.poses import Pose
from tussock.trace.world import World

__all__ = ["FrontCamera"]


def _usual() -> Camera:
    lens = Pinhole(horizontal_fov_deg=80.0)
    return Camera(name="camera", width=480, height=270, lens=lens, frame_hz=1.0, samples=2)


@dataclass(frozen=True)
class FrontCamera:
    """Takes pictures at its camera's rate."""

    world: World
    camera: Camera = field(default_factory=_usual)
    mount: Pose = field(default_factory=lambda: Pose.at(0.8, 0.0, 1.9, pitch=float(np.deg2rad(6.0))))
    """``T_body_camera``"""
    seed: int = 0
    threads: int | None = None

    def pictures(self, sensed: Sensed) -> Iterator[Picture]:
        """Those that are due within a step."""
        hz = self.camera.frame_hz
        first, last = (int(np.ceil(time * hz - 1e-6)) for time in (sensed.start, sensed.end))
        for number in range(first, last):
            pose = sensed.driven.path.pose(number / hz) @ self.mount
            yield render(self.world, self.camera, pose, time=number / hz, seed=self.seed, threads=self.threads)
