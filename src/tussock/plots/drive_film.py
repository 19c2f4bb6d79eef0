"""An animation of a drive as a GIF: the map grows, the plan changes, the vehicle moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.film import Snapshot
from tussock.drive.loop import DriveResult
from tussock.drive.site.movers import rectangle
from tussock.errors import InputError
from tussock.plots.drive import DRIVEN, GOAL, PLANNED, SOLID
from tussock.whole_files import whole_file

__all__ = ["save_film"]

_PIXELS = 560
_AROUND = 12.0
_FRAME_MS = 80
_UNSEEN, _TINT = 18, np.array([120, 30, 30], np.int16)


def save_film(result: DriveResult, snapshots: list[Snapshot], path: Path | str, *, force: bool = False) -> None:
    """Write the snapshots of a drive as an animated GIF."""
    from PIL import Image

    if not snapshots:
        raise InputError("film: has no pictures; the drive was not watched")
    corners = np.concatenate([result.truth[:, :2], np.array(result.goals)])
    low, high = corners.min(0) - _AROUND, corners.max(0) + _AROUND
    side = float((high - low).max())
    low = (low + high) / 2 - side / 2
    scale = _PIXELS / side
    solid = _solid(result, low, side)
    way: list[tuple[float, float]] = []
    frames = []
    palette = _palette()
    for shot in snapshots:
        way.append(shot.place[:2])
        pixels = _background(result, shot, low, side)
        pixels = np.where(solid[..., None], np.clip(pixels.astype(np.int16) + _TINT, 0, 255), pixels).astype(np.uint8)
        image = Image.fromarray(pixels)
        _plot_moment(image, result, shot, way, low, scale)
        frames.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
    with whole_file(Path(path), force=force) as part:
        frames[0].save(
            part, "GIF", save_all=True, append_images=frames[1:], duration=[_FRAME_MS] * (len(frames) - 1) + [2000],
            loop=0, disposal=1, optimize=False,
        )  # fmt: skip


def _palette() -> Any:
    """One palette for all pictures, so that nothing changes its colour: greys, greys with something solid, lines."""
    from PIL import Image, ImageColor

    greys = np.repeat(np.linspace(_UNSEEN, 235, 100).round()[:, None], 3, 1)
    lines = [ImageColor.getrgb(name) for name in (DRIVEN, PLANNED, GOAL, SOLID, "#d7dde5", "#0a0d12")]
    colors = np.concatenate([greys, np.clip(greys + _TINT, 0, 255), lines]).astype(np.uint8)
    image = Image.new("P", (1, 1))
    image.putpalette(colors.tobytes())
    return image


def _places(low: FloatArray, side: float) -> tuple[FloatArray, FloatArray]:
    """x of the picture's columns and y of its rows [m]; the first row is the far edge."""
    at = (np.arange(_PIXELS) + 0.5) / _PIXELS * side
    return low[0] + at, low[1] + at[::-1]


def _solid(result: DriveResult, low: FloatArray, side: float) -> Any:
    x, y = _places(low, side)
    o = result.site.obstacles
    i, j = ((v - edge) / o.cell for v, edge in ((x, o.low_x), (y, o.low_y)))
    inside = (i >= 0)[None, :] & (i < o.taken.shape[0])[None, :] & (j >= 0)[:, None] & (j < o.taken.shape[1])[:, None]
    # A pixel may be larger than a cell: the largest of those under it counts.
    from scipy.ndimage import maximum_filter

    thick = maximum_filter(o.taken, max(1, int(side / _PIXELS / o.cell)))
    picked = thick[
        np.clip(i, 0, o.taken.shape[0] - 1).astype(int)[None, :],
        np.clip(j, 0, o.taken.shape[1] - 1).astype(int)[:, None],
    ]
    return (picked > 0) & inside


def _background(result: DriveResult, shot: Snapshot, low: FloatArray, side: float) -> Any:
    pixels = np.full((_PIXELS, _PIXELS, 3), _UNSEEN, np.uint8)
    c = result.cost_map
    if shot.costs is None or c is None:
        return pixels
    x, y = _places(low, side)
    i, j = c.index(x, y)
    n = len(c.costs)
    values = shot.costs[np.clip(i, 0, n - 1)[None, :], np.clip(j, 0, n - 1)[:, None]]
    inside = ((i >= 0) & (i < n))[None, :] & ((j >= 0) & (j < n))[:, None]
    grey = np.where(inside & (values != 255), np.minimum(values.astype(int) * 2 + 35, 235), _UNSEEN)
    pixels[:] = grey[..., None]
    return pixels


def _plot_moment(
    image: Any, result: DriveResult, shot: Snapshot, way: list[tuple[float, float]], low: FloatArray, scale: float
) -> None:
    from PIL import ImageDraw

    def at(points: Any) -> list[tuple[float, float]]:
        p = (np.asarray(points, float).reshape(-1, 2) - low) * scale
        return [(float(a), float(_PIXELS - b)) for a, b in p]

    draw = ImageDraw.Draw(image)
    if shot.path is not None and len(shot.path) > 1:
        draw.line(at(shot.path), fill=PLANNED, width=1)
    if len(way) > 1:
        draw.line(at(way), fill=DRIVEN, width=2)
    for x, y in at(result.goals):
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), outline=GOAL, width=2)
    v = result.settings.vehicle
    draw.polygon(at(rectangle(*shot.place, v.length_m, v.width_m)), outline=DRIVEN, fill="#0a0d12")
    x, y, yaw = shot.place
    nose = [(x, y), (x + 0.5 * v.length_m * np.cos(yaw), y + 0.5 * v.length_m * np.sin(yaw))]
    draw.line(at(nose), fill=DRIVEN, width=2)
    told = f"{shot.time:6.1f} s" + (f"   {shot.collisions} collisions" if shot.collisions else "")
    draw.text((10, 10), told, fill=SOLID if shot.collisions else "#d7dde5")
