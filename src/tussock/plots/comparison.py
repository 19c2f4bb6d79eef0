"""Two scans side by side: both range images, their ranges, how their quantiles differ, and the field's scores.

One row a ring, the lowest below; azimuth from left (+) to right (−), as somebody at the sensor would see it. Where a
pixel has several pulses the median of their returns is drawn, black where none returned. For people, not for
measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scoring.field_scores import FieldScores
from tussock.learn.scoring.scores import QUANTILES, Score
from tussock.plots.canvas import MEASURED, QUIET, SIMULATED, picture
from tussock.plots.field_scores import SCORES, plot_scores
from tussock.plots.frame import bar_ticks

__all__ = ["plot_comparison"]


def plot_comparison(
    real: MeasuredPulses, simulated: MeasuredPulses, score: Score, path: Path | str, *, title: str = "Real and simulated",
    field: Mapping[str, FieldScores] | None = None, force: bool = False,
) -> None:  # fmt: skip
    """Draw both scans and what tells them apart, and write it to ``path`` as PNG.

    ``field`` has scores of the field by name, as of all pulses, of ranges and of labels; they become bars.

    >>> score = tussock.compare(real, simulated)  # doctest: +SKIP
    >>> tussock.plot_comparison(real, simulated, score, "compare.png")  # doctest: +SKIP
    """
    figures = (
        f"Bhattacharyya distance {score.distance:.4f}, hit rate {score.real_hit_rate:.3f} real, "
        f"{score.simulated_hit_rate:.3f} simulated"
    )
    more = 0.0 if not field else 1.3 + 0.24 * len(field)  # inches
    high_in = 8.4 + more
    with picture(path, title, figures, size=(13.0, high_in), force=force) as figure:
        grid = figure.add_gridspec(
            3, 2, height_ratios=(1, 1, 1.25), left=0.06, right=0.915, top=1 - 1.18 / high_in, bottom=(0.59 + more) / high_in,
            hspace=0.45, wspace=0.16,
        )  # fmt: skip
        if field:
            bars = figure.add_gridspec(
                1, len(SCORES), left=0.15, right=0.97, top=(more - 0.35) / high_in, bottom=0.35 / high_in, wspace=0.08
            )
            plot_scores([figure.add_subplot(bars[0, k]) for k in range(len(SCORES))], field)
        low, high = _limits(real, simulated)
        centre, half = _view(real)
        rings = (
            min(int(real.rings.min()), int(simulated.rings.min())),
            max(int(real.rings.max()), int(simulated.rings.max())),
        )
        images = [figure.add_subplot(grid[row, :]) for row in (0, 1)]
        for axes, pulses, name in zip(images, (real, simulated), ("Real", "Simulated"), strict=True):
            drawn = _plot_image(axes, pulses, centre, half, low, high)
            axes.set_ylim(rings[0] - 0.5, rings[1] + 0.5)
            axes.set_title(f"{name} · {len(pulses):,} pulses")
        box = images[1].get_position()
        bar_axes = figure.add_axes((0.93, box.y0, 0.012, images[0].get_position().y1 - box.y0))
        bar = figure.colorbar(drawn, cax=bar_axes, label="range [m]", ticks=bar_ticks(low, high, 0.5), format="%g")
        bar.outline.set_visible(False)
        _plot_ranges(figure.add_subplot(grid[2, 0]), real, simulated, high)
        _plot_quantiles(figure.add_subplot(grid[2, 1]), score)


def _limits(*scans: MeasuredPulses) -> tuple[float, float]:
    """[m] what the scale of ranges spans"""
    ranges = np.concatenate([pulses.ranges[pulses.hit] for pulses in scans])
    if not len(ranges):
        return 0.0, 1.0
    low, high = np.percentile(ranges, (0.5, 99))
    return float(low), float(max(high, low + 1e-3))


def _view(pulses: MeasuredPulses) -> tuple[float, float]:
    """Middle and half width [rad] of the azimuths."""
    turned = np.exp(1j * pulses.azimuths)
    middle = float(np.angle(turned.mean()))
    half = float(np.abs(np.angle(turned * np.exp(-1j * middle))).max())
    return (0.0, np.pi) if half > np.deg2rad(150) else (middle, half + 1e-3)


def _plot_image(axes: Any, pulses: MeasuredPulses, centre: float, half: float, low: float, high: float) -> Any:
    from matplotlib.colors import PowerNorm

    off = np.angle(np.exp(1j * (pulses.azimuths - centre)))
    columns = _columns(pulses, half)
    rows = int(pulses.rings.max()) + 1
    seen = np.abs(off) <= half
    column = np.clip(((half - off) / (2 * half) * columns).astype(np.int64), 0, columns - 1)
    pixel = (pulses.rings.astype(np.int64) * columns + column)[seen & pulses.hit]
    image = np.full(rows * columns, np.nan)
    used, medians = _medians(pixel, pulses.ranges[seen & pulses.hit])
    image[used] = medians
    left, right = np.rad2deg([centre + half, centre - half])
    drawn = axes.imshow(
        image.reshape(rows, columns), origin="lower", aspect="auto", interpolation="nearest", cmap="turbo_r",
        norm=PowerNorm(0.5, low, high, clip=True), extent=(left, right, -0.5, rows - 0.5),
    )  # fmt: skip
    axes.set(xlabel="azimuth [°]", ylabel="ring")
    return drawn


def _columns(pulses: MeasuredPulses, half: float) -> int:
    """About one pulse a pixel and turn."""
    columns = len(pulses) / max(len(np.unique(pulses.turns)), 1) / max(len(np.unique(pulses.rings)), 1)
    return int(np.clip(0.9 * columns, 16, 1200)) if half > 0 else 16


def _medians(group: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The groups that have values, and the (upper) median of each."""
    order = np.lexsort((values, group))
    used, start, count = np.unique(group[order], return_index=True, return_counts=True)
    return used, values[order][start + count // 2]


def _plot_ranges(axes: Any, real: MeasuredPulses, simulated: MeasuredPulses, high: float) -> None:
    edges = np.linspace(0, high, 121)
    for pulses, color, name in ((real, MEASURED, "real"), (simulated, SIMULATED, "simulated")):
        count, _ = np.histogram(pulses.ranges[pulses.hit], edges)
        axes.stairs(count / len(pulses) / (edges[1] - edges[0]), edges, color=color, linewidth=1.4, label=name)
    axes.set(xlabel="range [m]", ylabel="share of pulses [1/m]", title="Ranges", xlim=(0, high))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)


def _plot_quantiles(axes: Any, score: Score) -> None:
    names = [f"{share:.0%}" for share in QUANTILES]
    axes.bar(names, score.quantile_differences, color=SIMULATED, width=0.6)
    axes.axhline(0, color=QUIET, linewidth=0.8)
    axes.set(xlabel="quantile of the ranges", ylabel="simulated − real [m]", title="Quantiles")
