"""Learned volumes as ellipsoids, from above and from the side (Deschaud et al. 2012, fig. 3), coloured by permeability.

Each volume is drawn as the outline of its Gaussian at one standard deviation and a half, the nearer over the farther;
opaque where it stops every pulse, pale where it lets most pass. Large models are thinned out and their ellipsoids drawn
large enough to be seen. For people, not for measurement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.plots.canvas import MEASURED, QUIET, picture, show_within
from tussock.scene.volumes import Volumes

__all__ = ["plot_volumes"]

_MOST = 40_000
_OUTLINE = 1.5
"""standard deviations"""
_SMALLEST = 0.0012
"""half an axis, as a share of the view: smaller ones would not be seen"""


def plot_volumes(volumes: Volumes, path: Path | str, *, title: str = "Learned volumes", force: bool = False) -> None:
    """Draw ``volumes`` and write them to ``path`` as PNG.

    >>> tussock.plot_volumes(tussock.load_volumes("tree.volumes"), "tree.png")  # doctest: +SKIP
    """
    every = max(1, -(-len(volumes) // _MOST))
    thinned = f", one in {every} drawn" if every > 1 else ""
    size = f"{volumes.partition}, cells of {volumes.cell:.3g} m, τ {volumes.tau:g}"
    with picture(path, title, f"{len(volumes):,} volumes{thinned} · {size}", size=(13.0, 7.4), force=force) as figure:
        columns = figure.add_gridspec(
            1, 2, width_ratios=(1, 1.1), left=0.055, right=0.95, top=0.86, bottom=0.08, wspace=0.2
        )
        right = columns[1].subgridspec(2, 2, height_ratios=(1.5, 1), width_ratios=(40, 1), hspace=0.34, wspace=0.04)
        means, covariances = volumes.means[::every] + np.asarray(volumes.origin), volumes.covariances[::every]
        closed = 1 - volumes.permeability[::every]
        span = np.ptp(means[:, :2], axis=0)
        across = 0 if span[0] >= span[1] else 1
        above, side = figure.add_subplot(columns[0]), figure.add_subplot(right[0, 0])
        _plot_outlines(above, means, covariances, closed, (0, 1), depth=means[:, 2])
        drawn = _plot_outlines(side, means, covariances, closed, (across, 2), depth=-means[:, 1 - across])
        above.set(xlabel="x [m]", ylabel="y [m]", title="From above")
        side.set(xlabel=f"{'xy'[across]} [m]", ylabel="z [m]", title="From the side")
        bar = figure.colorbar(drawn, cax=figure.add_subplot(right[0, 1]), label="share of pulses that end")
        bar.outline.set_visible(False)
        _plot_permeability(figure.add_subplot(right[1, 0]), volumes)


def _plot_outlines(
    axes: Any, means: NDArray[np.float64], covariances: NDArray[np.float64], closed: NDArray[Any],
    plane: tuple[int, int], *, depth: NDArray[np.float64],
) -> Any:  # fmt: skip
    """Ellipses of the Gaussians projected onto two axes, in the order of depth."""
    from matplotlib.collections import EllipseCollection

    order = np.argsort(depth, kind="stable")
    values, vectors = np.linalg.eigh(covariances[order][:, plane][:, :, plane])
    angle = np.rad2deg(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    places = means[order][:, plane]
    # Few volumes far away would shrink all others to nothing.
    low, high = np.percentile(places, (3, 97), axis=0) if len(places) > 1000 else (places.min(0), places.max(0))
    half = np.maximum(_OUTLINE * np.sqrt(np.maximum(values, 0)), _SMALLEST * float(max(high - low)))
    drawn = EllipseCollection(
        2 * half[:, 1], 2 * half[:, 0], angle, units="xy", offsets=places, transOffset=axes.transData, cmap="viridis",
        linewidths=0, alpha=np.clip(0.15 + 0.7 * closed[order], 0, 1), rasterized=True,
    )  # fmt: skip
    drawn.set_array(closed[order])
    drawn.set_clim(0, 1)
    axes.add_collection(drawn)
    margin = 0.06 * float(max(high - low)) + float(np.median(half))
    show_within(axes, low - margin, high + margin)
    return drawn


def _plot_permeability(axes: Any, volumes: Volumes) -> None:
    axes.hist(volumes.permeability, bins=np.linspace(0, 1, 51), color=MEASURED)
    mean = float(volumes.permeability.mean())
    axes.axvline(mean, color=QUIET, linewidth=1, label=f"mean {mean:.2f}")
    axes.set(xlabel="permeability: share of pulses that pass", ylabel="volumes", title="Permeability", xlim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
