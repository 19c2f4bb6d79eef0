"""A picture of range scatter: the measured points from above, all differences, and the scatter ring by ring.

Points are coloured by measured − expected range and stand among all other returns of the scan. For people, not for
measurement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.beams import Beams
from tussock.learn.range_spread import Scatter
from tussock.plots.canvas import MEASURED, QUIET, SIMULATED, picture, show_within

__all__ = ["draw_scatter"]

_FEWEST = 10
"""points that a ring needs to be shown"""


def draw_scatter(
    scatter: Scatter, beams: Beams, path: Path | str, *, title: str = "Range scatter", force: bool = False
) -> None:
    """Draw the scatter that was measured in ``beams`` and write it to ``path`` as PNG."""
    figures = (
        f"{scatter.count:,} points in {len(np.unique(scatter.rings))} rings, mean {scatter.mean:+.3f} m, variance "
        f"{scatter.variance:.3f} m², σ of one range {scatter.sigma:.3f} m"
    )
    with picture(path, title, figures, force=force) as figure:
        columns = figure.add_gridspec(
            1, 2, width_ratios=(1.45, 1), left=0.055, right=0.975, top=0.84, bottom=0.085, wspace=0.28
        )
        left = columns[0].subgridspec(1, 2, width_ratios=(40, 1), wspace=0.04)
        right = columns[1].subgridspec(2, 1, hspace=0.42)
        drawn = _draw_from_above(figure.add_subplot(left[0]), scatter, beams)
        bar = figure.colorbar(drawn, cax=figure.add_subplot(left[1]), label="measured − expected range [m]")
        bar.outline.set_visible(False)
        _draw_histogram(figure.add_subplot(right[0]), scatter)
        _draw_rings(figure.add_subplot(right[1]), scatter)


def _draw_from_above(axes: Any, scatter: Scatter, beams: Beams) -> Any:
    others = beams.points[beams.hit]
    points = scatter.points
    low, high = points[:, :2].min(0), points[:, :2].max(0)
    margin = 0.25 * float(max(high - low)) + 0.5
    near = ((others[:, :2] > low - 3 * margin) & (others[:, :2] < high + 3 * margin)).all(1)
    axes.scatter(others[near, 0], others[near, 1], s=0.6, color=QUIET, alpha=0.25, linewidths=0, rasterized=True)
    limit = max(float(np.percentile(np.abs(scatter.differences), 98)), 1e-3)
    order = np.argsort(np.abs(scatter.differences), kind="stable")
    drawn = axes.scatter(
        points[order, 0], points[order, 1], c=scatter.differences[order], cmap="coolwarm", vmin=-limit, vmax=limit,
        s=float(np.clip(30000 / scatter.count, 1.5, 9)), linewidths=0, rasterized=True,
    )  # fmt: skip
    show_within(axes, low - margin, high + margin)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="From above")
    return drawn


def _draw_histogram(axes: Any, scatter: Scatter) -> None:
    """All differences, with the normal law of the same mean and variance: vegetation has longer tails."""
    spread = max(float(np.sqrt(scatter.variance)), 1e-4)
    most = max(float(np.percentile(np.abs(scatter.differences), 99.5)), 2 * spread)
    edges = np.linspace(-most, most, 81)
    axes.hist(scatter.differences, bins=edges, density=True, color=MEASURED, alpha=0.85)
    at = np.linspace(-most, most, 400)
    normal: NDArray[np.float64] = np.exp(-0.5 * ((at - scatter.mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
    axes.plot(at, normal, color=SIMULATED, linewidth=1.4, label="normal, same mean and variance")
    axes.set(xlabel="measured − expected range [m]", ylabel="density [1/m]", title="All points", xlim=(-most, most))
    _leave_room(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _draw_rings(axes: Any, scatter: Scatter) -> None:
    shown = {ring: part for ring, part in scatter.by_ring().items() if part.count >= _FEWEST}
    rings = list(shown)
    axes.bar(rings, [part.sigma for part in shown.values()], width=0.85, color=MEASURED)
    axes.axhline(scatter.sigma, color=SIMULATED, linewidth=1.2, label="all rings")
    axes.plot(rings, [part.mean for part in shown.values()], ".", color="white", markersize=4, label="mean")
    axes.axhline(0, color=QUIET, linewidth=0.6)
    left_out = "" if len(shown) == len(np.unique(scatter.rings)) else f" · rings of {_FEWEST} points or more"
    axes.set(xlabel="ring", ylabel="σ of one range [m]", title=f"Ring by ring{left_out}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    _leave_room(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)


def _leave_room(axes: Any) -> None:
    """Room above the bars for a legend."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.22 * (high - low))
