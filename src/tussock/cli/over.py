"""``--over``: the points of a scan drawn over a camera's picture of the same place and moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tussock.cameras.camera import Camera
    from tussock.frames.frame import Frame
    from tussock.poses import Pose, Trajectory
    from tussock.trace.world import World

__all__ = ["draw_over"]


def draw_over(
    frame: Frame, world: World, camera: Camera, place: Pose | Trajectory, out: Path, *, seed: int,
    threads: int | None, force: bool,
) -> None:  # fmt: skip
    """Take a picture from where the sensor is when its frame starts, put the returns on it, and write it."""
    from tussock.cameras.render import look, render
    from tussock.files.images import save_image
    from tussock.plots.overlay import overlay_points

    start = float(frame.meta["start_s"])
    picture = render(world, camera, place, time=start, seed=seed, threads=threads)
    view = look(world, camera, place, time=start, depth_only=True, threads=threads)
    points = frame.select(frame.hit).world_xyz()
    save_image(overlay_points(picture.rgb, camera, picture.pose, points, ranges=view.range), out, force=force)
