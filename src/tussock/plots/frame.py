"""A picture of a frame: the points from above, and the range image as the sensor saw it.

The upper part is in the world where the sensor's path is known, otherwise in the sensor's frame; rings give the
distance from the sensor. The lower part has one row per laser, ordered by elevation, and unrolls the azimuth
from left (+) to right (−), as somebody at the sensor would see it. Where two returns share a pixel the nearer
one is drawn. Both share one colour scale. For people, not for measurement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.errors import InputError, nearest
from tussock.frames.frame import Frame
from tussock.scene.labels import LABELS
from tussock.whole_files import check_writable, whole_file

__all__ = ["LABEL_COLORS", "Color", "plot_frame"]

Color = Literal["range", "intensity", "label", "height"]

BACKGROUND, PANEL, INK, FAINT, MARK = "#12161c", "#0a0d12", "#d7dde5", "#55606e", "#ffffff"
STYLE: dict[Any, Any] = {
    "figure.facecolor": BACKGROUND,
    "axes.facecolor": PANEL,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "font.size": 10,
    "font.family": "DejaVu Sans",
}
WIDTH_IN, HEIGHT_IN, DPI = 13.0, 9.6, 120
_LABEL_SHARE = 0.04
"""of the colour bar's length that two labels are apart at least: twice the height of their letters"""


class _Scale(NamedTuple):
    name: str
    colors: str
    """a colour map of matplotlib"""
    part: tuple[float, float]
    """how much of it is used: its darkest end would vanish in the background"""
    percentiles: tuple[float, float]
    """of the values, that the scale spans"""
    gamma: float = 1.0
    """below 1 spreads the low values, where most of a frame is"""


SCALES: dict[Color, _Scale] = {
    "range": _Scale("range [m]", "turbo", (0.95, 0.09), (0, 98), gamma=0.5),
    "intensity": _Scale("relative intensity", "magma", (0.22, 1.0), (1, 99)),
    "height": _Scale("height [m]", "viridis", (0.08, 1.0), (1, 99)),
}

LABEL_COLORS: dict[str, str] = {
    "unlabelled": "#8a94a0",
    "outlier": "#ff2fd0",
    "car": "#5aa9ff",
    "bicycle": "#66e0ff",
    "bus": "#2f7dff",
    "motorcycle": "#3fd0d8",
    "truck": "#3c5cff",
    "other-vehicle": "#8f9bff",
    "person": "#ff4d4d",
    "bicyclist": "#ff6fae",
    "motorcyclist": "#d94a8c",
    "road": "#b45fd6",
    "parking": "#d88ff0",
    "sidewalk": "#8a3fa8",
    "other-ground": "#a0527a",
    "building": "#ffb347",
    "fence": "#d9793a",
    "other-structure": "#e8c27a",
    "lane-marking": "#f4efff",
    "vegetation": "#3fae4a",
    "trunk": "#9a6a3c",
    "terrain": "#c2a878",
    "pole": "#ffe66b",
    "traffic-sign": "#ff7043",
    "other-object": "#c8d0d8",
    "grass": "#8fd14f",
    "leaf": "#1f9d55",
    "branch": "#b98a5a",
    "stem": "#7a5230",
    "shrub": "#5fb88a",
    "tree": "#3f9a5b",
    "root": "#6b4a3a",
    "rock": "#9fb0bf",
    "wall": "#f2a07b",
    "water": "#2fb6d8",
    "mirror": "#bfe9ff",
    "glass": "#86f0dc",
    "trail": "#c7a06a",
    "deadwood": "#9c8872",
    "animal": "#ff8a66",
    "rain": "#4f8fd0",
    "snow": "#e9f3fb",
    "fog": "#b7c2cc",
    "dust": "#d8b98c",
}
"""the colour of every label, the same in every picture"""
SPARE_COLORS = ("#e05c8a", "#7fb7be", "#d3f8e2", "#e4c1f9", "#f694c1", "#ede7b1", "#a9def9", "#ffb5a7")
"""for labels that a scene brings of its own, chosen by their number"""


def plot_frame(
    frame: Frame, path: Path | str, *, color: Color = "range", title: str | None = None, force: bool = False
) -> None:
    """Draw the returns of ``frame`` and write them to ``path`` as PNG.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> _ = tussock.plot_frame(tussock.scan(scene, tussock.load_sensor("vlp-16")), "wall.png")
    """
    path = Path(path)
    if color not in (*SCALES, "label"):
        raise InputError(f"color {color!r}: no such colouring; {nearest(color, [*SCALES, 'label'])}")
    if path.suffix.lower() != ".png":
        raise InputError.of("suffix", "must be .png", path.suffix, source=path)
    check_writable(path, force=force)
    returns = frame.select(frame.hit & np.isfinite(frame.xyz).all(axis=1))
    points, path_xyz = _placed(returns)
    paint = _label_paint(returns) if color == "label" else _scale_paint(returns, points, color)

    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI)
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(
            2, 2, height_ratios=(2.6, 1), width_ratios=(60, 1),
            left=0.06, right=0.935 if color != "label" else 0.86, top=0.885, bottom=0.06, hspace=0.17, wspace=0.025,
        )  # fmt: skip
        above, image = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
        _plot_from_above(above, returns, points, path_xyz, paint)
        _plot_range_image(image, returns, paint)
        _plot_key(figure, figure.add_subplot(grid[:, 1]), paint)
        figure.text(0.06, 0.962, title or _title(frame), fontsize=16, fontweight="bold", va="center")
        figure.text(0.06, 0.932, _subtitle(frame), fontsize=10, color="#9aa5b1", va="center")
        with whole_file(path, force=force) as part:
            # Nothing that changes from run to run goes into the file.
            figure.savefig(part, format="png", metadata={"Software": None})


@dataclass(frozen=True, eq=False)
class _Paint:
    """How rows get their colours: by a scale, or by label."""

    name: str
    values: FloatArray
    """what is drawn, one per row; for labels the index of the colour"""
    colors: Any
    """a colour map of matplotlib"""
    norm: Any
    """its scale, a ``Normalize`` of matplotlib"""
    entries: tuple[tuple[str, str], ...] = ()
    """for labels: colour and text, the most frequent first"""

    @property
    def drawing(self) -> dict[str, Any]:
        return {"cmap": self.colors, "norm": self.norm}


def _placed(returns: Frame) -> tuple[FloatArray, FloatArray]:
    """The points, and the places of the sensor, shape (m, 3), in the world or in the sensor's frame."""
    if returns.trajectory is None:
        return returns.xyz.astype(np.float64), np.zeros((1, 3))
    times = returns.time if len(returns) else returns.trajectory.times
    positions, _ = returns.trajectory.at(np.linspace(times.min(), times.max(), 50))
    return returns.world_xyz(), positions


def _scale_paint(returns: Frame, points: FloatArray, color: Color) -> _Paint:
    import matplotlib
    from matplotlib.colors import ListedColormap, PowerNorm

    scale = SCALES[color]
    by_color: dict[str, NDArray[Any]] = {
        "range": returns.range,
        "intensity": returns.intensity,
        "height": points[:, 2],
    }
    values = np.nan_to_num(by_color[color].astype(np.float64))
    low, high = np.percentile(values, scale.percentiles) if len(values) else (0.0, 1.0)
    colors = ListedColormap(matplotlib.colormaps[scale.colors](np.linspace(*scale.part, 256)))
    return _Paint(scale.name, values, colors, PowerNorm(scale.gamma, low, max(high, low + 1e-6), clip=True))


def _label_paint(returns: Frame) -> _Paint:
    from matplotlib.colors import ListedColormap, Normalize

    names = {number: name for name, number in LABELS.items()} | _own_labels(returns.meta.get("labels"))
    numbers, values, counts = np.unique(returns.label, return_inverse=True, return_counts=True)
    texts = [names.get(int(n), f"label {n}") for n in numbers]
    colors = [
        LABEL_COLORS.get(t, SPARE_COLORS[int(n) % len(SPARE_COLORS)]) for n, t in zip(numbers, texts, strict=True)
    ]
    entries = [
        (colors[k], f"{texts[k]}  {100 * counts[k] / counts.sum():.3g} %") for k in np.argsort(-counts, kind="stable")
    ]
    return _Paint(
        "label",
        values.astype(float),
        ListedColormap(colors or [INK]),
        Normalize(-0.5, max(len(colors), 1) - 0.5),
        tuple(entries),
    )


def _own_labels(labels: Any) -> dict[int, str]:
    """The names of labels in a frame's metadata: number by name, as scenes have them."""
    if not isinstance(labels, dict):
        return {}
    return {number: str(name) for name, number in labels.items() if isinstance(number, int)}


def _plot_from_above(axes: Any, returns: Frame, points: FloatArray, path: FloatArray, paint: _Paint) -> None:
    centre = path[len(path) // 2]
    width, height = axes.get_position().size * (WIDTH_IN, HEIGHT_IN)
    left, right, low, high = _view(points, centre, width / height)
    order = np.argsort(points[:, 2], kind="stable")  # what is higher hides what is below, as from above
    size = np.clip(60000 / max(len(points), 1), 0.9, 8.0)
    axes.scatter(
        points[order, 0], points[order, 1], c=paint.values[order], s=size, marker="o", linewidths=0, rasterized=True,
        **paint.drawing,
    )  # fmt: skip
    angle = np.linspace(0, 2 * np.pi, 181)
    for radius in _ring_radii(max(right - centre[0], centre[0] - left), (high - low) / 2):
        x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
        axes.plot(x, y, color=INK, alpha=0.16, linewidth=0.7)
        axes.text(
            centre[0] + radius * 0.924, centre[1] + radius * 0.383, f"{radius:g} m", color=INK, alpha=0.75,
            fontsize=8, ha="center", va="center", clip_on=True,
            bbox={"facecolor": PANEL, "alpha": 0.55, "edgecolor": "none", "pad": 1.2},
        )  # fmt: skip
    axes.plot(path[:, 0], path[:, 1], color=MARK, linewidth=1.6, solid_capstyle="round")
    axes.plot(*path[-1, :2], marker="o", markersize=6, color=BACKGROUND, markeredgecolor=MARK, markeredgewidth=1.6)
    axes.set_aspect("equal")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    axes.set_xlabel("x [m]", labelpad=1)
    axes.set_ylabel("y [m]")
    where = "world" if returns.trajectory is not None else "sensor frame"
    axes.set_title(f"From above · {where}")


def _view(points: FloatArray, centre: FloatArray, aspect: float) -> tuple[float, float, float, float]:
    """[m] What to show (x from, x to, y from, y to): the sensor and nearly all points, in the panel's aspect.

    The few farthest points would shrink all others. The panel is wider than high, so a square scene may lose
    a little more at its top and bottom to fill it better.
    """
    if not len(points):
        points = centre + np.array([[-10.0, -5.0, 0.0], [10.0, 5.0, 0.0]])
    (x0, x1), (y0, y1) = np.percentile(points[:, 0], (2, 98)), np.percentile(points[:, 1], (4, 96))
    x0, x1, y0, y1 = min(x0, centre[0]), max(x1, centre[0]), min(y0, centre[1]), max(y1, centre[1])
    half = 1.06 * max((x1 - x0) / 2, (y1 - y0) / 2 * aspect, 0.5)
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return x - half, x + half, y - half / aspect, y + half / aspect


def _ring_radii(farthest: float, half_height: float) -> list[float]:
    """Round distances [m] up to the farthest, about two or three of them within half of the panel's height."""
    exponent = np.floor(np.log10(half_height / 3.5))
    step = next(s for f in (1, 2, 5, 10) if half_height / (s := f * 10.0**exponent) <= 3.5)
    return [step * k for k in range(1, int(farthest / step) + 1)]


def _plot_range_image(axes: Any, returns: Frame, paint: _Paint) -> None:
    axes.set_title("As the sensor sees it")
    axes.set_xlabel("azimuth [°]", labelpad=1)
    axes.set_ylabel("elevation [°]")
    if not len(returns):
        axes.set_xlim(180, -180)
        axes.set_ylim(-25, 15)
        return
    azimuth, (right, left) = _unrolled(returns.azimuth.astype(np.float64))
    row, elevations = _rows(returns)
    columns = _columns(azimuth, row, len(elevations))
    column = np.clip(((left - azimuth) / (left - right) * columns).astype(int), 0, columns - 1)
    image = np.full((len(elevations), columns), np.nan)
    near_last = np.argsort(-np.nan_to_num(returns.range), kind="stable")
    image[row[near_last], column[near_last]] = paint.values[near_last]
    axes.imshow(
        image, aspect="auto", origin="lower", interpolation="nearest",
        extent=(np.degrees(left), np.degrees(right), -0.5, len(elevations) - 0.5), **paint.drawing,
    )  # fmt: skip
    ticks = np.unique(np.linspace(0, len(elevations) - 1, min(6, len(elevations))).round().astype(int))
    axes.set_yticks(ticks, [f"{np.degrees(elevations[k]):+.1f}".replace("-", "−") for k in ticks])
    if left - right > 6:
        axes.set_xticks(np.arange(180, -181, -45))


def _unrolled(azimuth: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Azimuths [rad] without a jump inside the field of view, and the span to show (right, left)."""
    middle = np.angle(np.exp(1j * azimuth).sum())
    around = np.mod(azimuth - middle + np.pi, 2 * np.pi) - np.pi
    if np.ptp(around) > np.radians(300):
        return np.mod(azimuth + np.pi, 2 * np.pi) - np.pi, (-np.pi, np.pi)
    margin = 0.01 + 0.01 * np.ptp(around)
    return around + middle, (middle + around.min() - margin, middle + around.max() + margin)


def _rows(returns: Frame) -> tuple[NDArray[np.int64], FloatArray]:
    """The image row of every return, and the elevation [rad] of every row, from low to high."""
    elevation = returns.elevation.astype(np.float64)
    lasers, index, counts = np.unique(returns.laser, return_inverse=True, return_counts=True)
    if 1 < len(lasers) <= 512:
        mean = np.bincount(index, elevation) / counts
        rank = np.argsort(np.argsort(mean, kind="stable"), kind="stable")
        return rank[index], np.sort(mean)
    rows = 128
    low, high = elevation.min() - 1e-3, elevation.max() + 1e-3
    row = ((elevation - low) / (high - low) * rows).astype(int)
    return np.clip(row, 0, rows - 1), low + (np.arange(rows) + 0.5) / rows * (high - low)


def _columns(azimuth: FloatArray, row: NDArray[np.int64], rows: int) -> int:
    """As many columns as the fullest row has steps, so that no gaps appear between its pixels."""
    fullest = int(np.argmax(np.bincount(row, minlength=rows)))
    steps = len(np.unique(azimuth[row == fullest].round(5)))
    return int(np.clip(0.95 * steps, 32, 1400))


def _plot_key(figure: Any, axes: Any, paint: _Paint) -> None:
    if not paint.entries:
        from matplotlib.cm import ScalarMappable

        ticks = bar_ticks(paint.norm.vmin, paint.norm.vmax, getattr(paint.norm, "gamma", 1.0))
        bar = figure.colorbar(
            ScalarMappable(**paint.drawing),
            cax=axes,
            label=paint.name,
            ticks=ticks,
            format=lambda value, _: f"{value:g}",
        )
        bar.minorticks_off()
        bar.outline.set_visible(False)
        return
    from matplotlib.lines import Line2D

    axes.axis("off")
    shown: Iterable[tuple[str, str]] = paint.entries[:24]
    dots = [Line2D([], [], marker="o", linestyle="", markersize=7, color=color, label=text) for color, text in shown]
    axes.legend(
        handles=dots, loc="upper left", frameon=False, borderaxespad=0, handletextpad=0.3, fontsize=9, title="label",
        alignment="left",
    )  # fmt: skip


def bar_ticks(low: float, high: float, gamma: float) -> list[float]:
    """Round values for a colour bar from ``low`` to ``high`` whose labels keep clear of one another.

    On a bar of a gamma below 1 even steps crowd at its upper end: steps of 1, 2 and 5 are tried, and a value is left out
    where it would stand closer than a label's height to the one before.
    """
    span = max(high - low, 1e-12)
    step = 10.0 ** np.floor(np.log10(span / 6))
    step = next((f * step for f in (1.0, 2.0, 5.0) if span / (f * step) <= 8), 10.0 * step)
    first = np.ceil(low / step - 1e-9) * step
    ticks: list[float] = []
    for value in np.round(np.arange(first, high + step * 1e-9, step), 12).tolist():
        place = (max(value - low, 0.0) / span) ** gamma
        if not ticks or place - (max(ticks[-1] - low, 0.0) / span) ** gamma >= _LABEL_SHARE:
            ticks.append(value)
    return ticks


def _title(frame: Frame) -> str:
    sensor = frame.meta.get("sensor")
    name = sensor.get("name") if isinstance(sensor, dict) else sensor
    return str(name) if name else "Frame"


def _subtitle(frame: Frame) -> str:
    hits = int(np.count_nonzero(frame.hit))
    parts = [f"{hits:,} returns of {frame.pulses:,} pulses"]
    parts += [f"scene {frame.meta['scene']}"] if frame.meta.get("scene") else []
    parts += [f"frame {frame.meta['frame']}"] if "frame" in frame.meta else []
    parts += [f"seed {frame.meta['seed']}"] if "seed" in frame.meta else []
    return " · ".join(parts)
