"""Colours of single points and what they mean: for pages that show points to turn.

The colours are those of `tussock.plots.frame`. Besides, points may be coloured by their return number, by the time since
the frame's start, and by the error of their range: measured minus true, blue too near, red too far.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.frames.frame import Frame
from tussock.plots.frame import LABEL_COLORS, SCALES, SPARE_COLORS
from tussock.scene.labels import LABELS

__all__ = ["POINT_COLORS", "Entry", "Legend", "Painted", "PointColor", "paint_points", "scaled"]

PointColor = Literal["range", "intensity", "height", "label", "return", "error", "time"]
POINT_COLORS: tuple[PointColor, ...] = get_args(PointColor)
_RETURN_COLORS = ("#8a94a0", "#5aa9ff", "#ffb347", "#8fd14f", "#ff4d4d", "#b45fd6")
_LEAST_ERROR = 0.01
"""[m] where the scale of errors ends at least: that of a perfect sensor would show rounding"""


class Entry(NamedTuple):
    """One colour of a legend."""

    color: str
    """as ``#rrggbb``"""
    text: str
    points: int
    """how many have this colour"""


class Legend(NamedTuple):
    """What the colours mean: entries, or a scale from ``low`` to ``high``."""

    name: str
    entries: tuple[Entry, ...] = ()
    low: float = 0.0
    high: float = 0.0
    ramp: tuple[str, ...] = ()
    """colours from low to high, at even steps of the value"""


class Painted(NamedTuple):
    """Points in colour."""

    colors: NDArray[np.uint8]
    """sRGB, shape (n, 3)"""
    legend: Legend


def paint_points(returns: Frame, color: PointColor) -> Painted:
    """The colours of the rows of a frame, and their legend."""
    if color not in POINT_COLORS:
        raise InputError(f"color {color!r}: no such colouring; {nearest(color, POINT_COLORS)}")
    if color in ("label", "return"):
        return _by_number(returns, color)
    if color == "error":
        error = np.nan_to_num((returns.range - returns.true_range).astype(float))
        most = max(float(np.percentile(np.abs(error), 99)) if len(error) else 0.0, _LEAST_ERROR)
        return scaled(error, "range error [m]", "coolwarm", (-most, most))
    if color == "time":
        since = returns.time - (returns.time.min() if len(returns) else 0.0)
        return scaled(since, "time since the first [s]", "plasma", (0.0, float(since.max(initial=0.0))), part=(0.1, 1))
    scale = SCALES[color]  # type: ignore[index]
    if color == "height":
        values = returns.world_xyz()[:, 2] if returns.trajectory is not None else returns.xyz[:, 2].astype(float)
    else:
        values = returns.column(color).astype(float)
    values = np.nan_to_num(values)
    low, high = np.percentile(values, scale.percentiles) if len(values) else (0.0, 1.0)
    return scaled(values, scale.name, scale.colors, (low, high), part=scale.part, gamma=scale.gamma)


def scaled(
    values: NDArray[np.floating[Any]], name: str, colors: str, ends: tuple[float, float], *,
    part: tuple[float, float] = (0.0, 1.0), gamma: float = 1.0,
) -> Painted:  # fmt: skip
    """Values (n,) in a colour map of matplotlib, of which a ``part`` is used between the ``ends``."""
    import matplotlib

    low, high = float(ends[0]), max(float(ends[1]), float(ends[0]) + 1e-9)
    table = matplotlib.colormaps[colors]

    def rgb(share: NDArray[np.float64]) -> NDArray[np.uint8]:
        at = part[0] + (part[1] - part[0]) * np.clip(share, 0, 1) ** gamma
        return np.asarray(255 * table(at)[..., :3], np.uint8)

    ramp = tuple(f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb(np.linspace(0, 1, 9)).tolist())
    painted = rgb((np.asarray(values, np.float64) - low) / (high - low)).reshape(-1, 3)
    return Painted(painted, Legend(name, (), low, high, ramp))


def _by_number(returns: Frame, color: str) -> Painted:
    numbers = returns.label if color == "label" else returns.return_number
    names = {number: name for name, number in (LABELS | dict(returns.meta.get("labels") or {})).items()}
    known, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    entries = []
    for number, count in zip(known.tolist(), counts.tolist(), strict=True):
        if color == "label":
            text = names.get(number, f"label {number}")
            code = LABEL_COLORS.get(text, SPARE_COLORS[number % len(SPARE_COLORS)])
        else:
            text, code = f"return {number}", _RETURN_COLORS[min(number, len(_RETURN_COLORS) - 1)]
        entries.append(Entry(code, text, count))
    table = np.array([[int(e.color[k : k + 2], 16) for k in (1, 3, 5)] for e in entries] or [[255] * 3], np.uint8)
    by_count = sorted(entries, key=lambda entry: -entry.points)
    return Painted(table[place] if len(numbers) else np.zeros((0, 3), np.uint8), Legend(color, tuple(by_count)))
