"""``--over``: the points of a scan drawn over a camera's picture of the same place and moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tussock.cameras.camera import Camera
    from tussock.cli.scan_plan import ScanPlan
    from tussock.frames.frame import Frame

__all__ = ["plot_over"]


def plot_over(plan: ScanPlan, frame: Frame, camera: Camera, out: Path) -> None:
    """Take a picture from where the sensor is when its frame starts, put the returns on it, and write it."""
    from tussock.cameras.render import look, render
    from tussock.files.images import save_image
    from tussock.plots.overlay import overlay_points

    world, place, threads = plan.world, plan.place, plan.threads
    start = float(frame.meta["start_s"])
    picture = render(world, camera, place, time=start, seed=plan.seed, threads=threads)
    view = look(world, camera, place, time=start, depth_only=True, seed=plan.seed, threads=threads)
    points = frame.select(frame.hit).world_xyz()
    save_image(overlay_points(picture.rgb, camera, picture.pose, points, ranges=view.range), out, force=plan.force)
