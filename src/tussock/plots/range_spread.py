"""A picture of range spread: the measured points from above, all differences, and the spread ring by ring.

Points are coloured by measured − expected range and stand among all other returns of the scan. For people, not for
measurement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_spread import RangeSpread
from tussock.plots.canvas import MEASURED, QUIET, SIMULATED, picture, show_within

__all__ = ["plot_range_spread"]

_FEWEST = 10
"""points that a ring needs to be shown"""


def plot_range_spread(
    spread: RangeSpread, pulses: MeasuredPulses, path: Path | str, *, title: str = "Range spread", force: bool = False
) -> None:
    """Draw the spread that was measured in ``pulses`` and write it to ``path`` as PNG.

    >>> tussock.plot_range_spread(spread, pulses, "spread.png")  # doctest: +SKIP
    """
    figures = (
        f"{spread.count:,} points in {len(np.unique(spread.rings))} rings, mean {spread.mean:+.3f} m, variance "
        f"{spread.variance:.3f} m², σ of one range {spread.sigma:.3f} m"
    )
    with picture(path, title, figures, force=force) as figure:
        columns = figure.add_gridspec(
            1, 2, width_ratios=(1.45, 1), left=0.055, right=0.975, top=0.84, bottom=0.085, wspace=0.28
        )
        left = columns[0].subgridspec(1, 2, width_ratios=(40, 1), wspace=0.04)
        right = columns[1].subgridspec(2, 1, hspace=0.42)
        drawn = _plot_from_above(figure.add_subplot(left[0]), spread, pulses)
        bar = figure.colorbar(drawn, cax=figure.add_subplot(left[1]), label="measured − expected range [m]")
        bar.outline.set_visible(False)
        _plot_histogram(figure.add_subplot(right[0]), spread)
        _plot_rings(figure.add_subplot(right[1]), spread)


def _plot_from_above(axes: Any, spread: RangeSpread, pulses: MeasuredPulses) -> Any:
    others = pulses.points[pulses.hit]
    points = spread.points
    low, high = points[:, :2].min(0), points[:, :2].max(0)
    margin = 0.25 * float(max(high - low)) + 0.5
    near = ((others[:, :2] > low - 3 * margin) & (others[:, :2] < high + 3 * margin)).all(1)
    axes.scatter(others[near, 0], others[near, 1], s=0.6, color=QUIET, alpha=0.25, linewidths=0, rasterized=True)
    limit = max(float(np.percentile(np.abs(spread.differences), 98)), 1e-3)
    order = np.argsort(np.abs(spread.differences), kind="stable")
    drawn = axes.scatter(
        points[order, 0], points[order, 1], c=spread.differences[order], cmap="coolwarm", vmin=-limit, vmax=limit,
        s=float(np.clip(30000 / spread.count, 1.5, 9)), linewidths=0, rasterized=True,
    )  # fmt: skip
    show_within(axes, low - margin, high + margin)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="From above")
    return drawn


def _plot_histogram(axes: Any, spread: RangeSpread) -> None:
    """All differences, with the normal law of the same mean and variance: vegetation has longer tails."""
    sigma = max(float(np.sqrt(spread.variance)), 1e-4)
    most = max(float(np.percentile(np.abs(spread.differences), 99.5)), 2 * sigma)
    edges = np.linspace(-most, most, 81)
    axes.hist(spread.differences, bins=edges, density=True, color=MEASURED, alpha=0.85)
    at = np.linspace(-most, most, 400)
    normal: NDArray[np.float64] = np.exp(-0.5 * ((at - spread.mean) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    axes.plot(at, normal, color=SIMULATED, linewidth=1.4, label="normal, same mean and variance")
    axes.set(xlabel="measured − expected range [m]", ylabel="density [1/m]", title="All points", xlim=(-most, most))
    _leave_room(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _plot_rings(axes: Any, spread: RangeSpread) -> None:
    shown = {ring: part for ring, part in spread.by_ring().items() if part.count >= _FEWEST}
    rings = list(shown)
    axes.bar(rings, [part.sigma for part in shown.values()], width=0.85, color=MEASURED)
    axes.axhline(spread.sigma, color=SIMULATED, linewidth=1.2, label="all rings")
    axes.plot(rings, [part.mean for part in shown.values()], ".", color="white", markersize=4, label="mean")
    axes.axhline(0, color=QUIET, linewidth=0.6)
    left_out = "" if len(shown) == len(np.unique(spread.rings)) else f" · rings of {_FEWEST} points or more"
    axes.set(xlabel="ring", ylabel="σ of one range [m]", title=f"Ring by ring{left_out}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    _leave_room(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)


def _leave_room(axes: Any) -> None:
    """Room above the bars for a legend."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.22 * (high - low))
