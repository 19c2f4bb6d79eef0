"""A picture of a drive: the cost map as the vehicle had it, with the truth drawn over it, and what it cost.

The map is drawn as in fig. 10 of Goodin et al. 2018: black costs nothing, brighter is higher. What is solid in truth
is outlined in red, whether it was seen or not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.loop import DriveResult
from tussock.drive.site.movers import rectangle
from tussock.drive.vehicles.motion import COLUMNS
from tussock.plots.canvas import QUIET, picture, show_within

__all__ = ["plot_drive"]

DRIVEN, PLANNED, SOLID, GOAL, BELIEVED = "#4fd1ff", "#ffb347", "#ff5a5a", "#7dff9a", "#d78cff"
_AROUND = 12.0
"""[m] shown around the way"""


def plot_drive(result: DriveResult, path: Path | str, *, title: str, force: bool = False) -> None:
    """Draw map, plan, truth and the course of the drive to a PNG.

    >>> tussock.plot_drive(result, "drive.png", title="yard")  # doctest: +SKIP
    """
    m = result.metrics
    near = "no obstacle within 5 m" if m.closest_m is None else f"nearest obstacle {m.closest_m:.2f} m away"
    subtitle = f"{m.message}; {m.length_m:.0f} m driven, {m.collisions} collisions, {near}, {m.replans} replans"
    with picture(path, title, subtitle, size=(13.0, 8.2), force=force) as figure:
        board = figure.add_axes((0.055, 0.08, 0.50, 0.78))
        _map(board, result)
        _course(figure, result)


def _map(axes: Any, result: DriveResult) -> None:
    way = result.truth[:, :2]
    goals = np.array(result.goals)
    corners = np.concatenate([way, goals])
    low, high = corners.min(0) - _AROUND, corners.max(0) + _AROUND
    show_within(axes, low, high)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    if result.cost_map is not None:
        c = result.cost_map
        shown = np.ma.masked_where(~c.seen, c.costs)
        axes.imshow(
            shown.T, origin="lower", cmap="gray", vmin=0, vmax=100, interpolation="nearest",
            extent=(c.low_x, c.high[0], c.low_y, c.high[1]),
        )  # fmt: skip
    _solids(axes, result, (left, right, bottom, top))
    if result.path is not None:
        axes.plot(*result.path.T, color=PLANNED, lw=1.2, ls="--", label="last plan")
    axes.plot(*result.estimates[:, 1:3].T, color=BELIEVED, lw=0.8, alpha=0.8, label="believed")
    axes.plot(*way.T, color=DRIVEN, lw=1.8, label="driven")
    contact = result.truth[:, COLUMNS.index("contact")] == 1
    if contact.any():
        axes.plot(*way[contact].T, "x", color=SOLID, ms=8, mew=2, label="collision")
    axes.plot(*goals.T, "*", color=GOAL, ms=13, label="goal")
    v = result.settings.vehicle
    body = rectangle(float(way[-1, 0]), float(way[-1, 1]), float(result.truth[-1, 3]), v.length_m, v.width_m)
    axes.fill(*body.T, facecolor="none", edgecolor=DRIVEN, lw=1.5)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="cost map (black 0, white 100) and truth")
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.legend(loc="upper left", fontsize=8, framealpha=0.85, facecolor="#12161c", edgecolor="none")


def _solids(axes: Any, result: DriveResult, window: tuple[float, float, float, float]) -> None:
    o = result.site.obstacles
    left, right, bottom, top = window
    i = np.clip([int((left - o.low_x) / o.cell), int((right - o.low_x) / o.cell) + 1], 0, o.taken.shape[0])
    j = np.clip([int((bottom - o.low_y) / o.cell), int((top - o.low_y) / o.cell) + 1], 0, o.taken.shape[1])
    at = np.argwhere(o.taken[i[0] : i[1], j[0] : j[1]])
    if len(at):
        x, y = o.low_x + (at[:, 0] + i[0] + 0.5) * o.cell, o.low_y + (at[:, 1] + j[0] + 0.5) * o.cell
        axes.plot(x, y, ",", color=SOLID)
        axes.plot([], [], "s", color=SOLID, ms=4, label="solid in truth")


def _course(figure: Any, result: DriveResult) -> None:
    column = {name: result.truth[:, k] for k, name in enumerate(COLUMNS)}
    rows: list[tuple[str, str, list[tuple[str, FloatArray, str]]]] = [
        ("speed [m/s]", "over the ground, and as the wheels say", [
            ("wheels", column["wheel_speed"], QUIET), ("ground", column["speed"], DRIVEN)]),
        ("force [N]", "held back by plants, and driven with", [
            ("drive", column["drive_force"], QUIET), ("plants", column["plant_force"], GOAL)]),
        ("angle [°]", "roll and pitch", [
            ("roll", np.rad2deg(column["roll"]), BELIEVED), ("pitch", np.rad2deg(column["pitch"]), PLANNED)]),
    ]  # fmt: skip
    for k, (unit, title, series) in enumerate(rows):
        axes = figure.add_axes((0.64, 0.08 + 0.28 * (len(rows) - 1 - k), 0.33, 0.20))
        for name, values, color in series:
            axes.plot(result.times, values, color=color, lw=1.0, label=name)
        axes.set(ylabel=unit, title=title)
        if k == len(rows) - 1:
            axes.set_xlabel("time [s]")
        axes.legend(loc="upper right", fontsize=7, framealpha=0.5, facecolor="#12161c", edgecolor="none", ncols=2)
        axes.margins(x=0)
