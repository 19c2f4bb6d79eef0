"""Learned volumes as ellipsoids, from above and from the side (Deschaud et al. 2012, fig. 3), coloured by permeability.

Each volume is drawn as the outline of its Gaussian at one standard deviation and a half, the nearer over the farther;
opaque where it stops every pulse, pale where it lets most pass. Large models are thinned out. For people, not for
measurement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.drawing import MEASURED, QUIET, picture
from tussock.scene.volumes import Volumes

__all__ = ["draw_volumes"]

_MOST = 40_000
_OUTLINE = 1.5
"""standard deviations"""


def draw_volumes(volumes: Volumes, path: Path | str, *, title: str = "Learned volumes", force: bool = False) -> None:
    """Draw ``volumes`` and write them to ``path`` as PNG."""
    every = max(1, -(-len(volumes) // _MOST))
    thinned = f", one in {every} drawn" if every > 1 else ""
    size = f"{volumes.partition}, cells of {volumes.cell:.3g} m, τ {volumes.tau:g}"
    with picture(path, title, f"{len(volumes):,} volumes{thinned} · {size}", size=(13.0, 7.4), force=force) as figure:
        columns = figure.add_gridspec(
            1, 2, width_ratios=(1, 1.1), left=0.055, right=0.975, top=0.86, bottom=0.08, wspace=0.16
        )
        right = columns[1].subgridspec(2, 1, height_ratios=(1.5, 1), hspace=0.34)
        means, covariances = volumes.means[::every].astype(np.float64), volumes.covariances[::every]
        closed = 1 - volumes.permeability[::every]
        span = np.ptp(means[:, :2], axis=0)
        across = 0 if span[0] >= span[1] else 1
        above, side = figure.add_subplot(columns[0]), figure.add_subplot(right[0])
        _draw_outlines(above, means, covariances, closed, (0, 1), depth=means[:, 2])
        drawn = _draw_outlines(side, means, covariances, closed, (across, 2), depth=-means[:, 1 - across])
        above.set(xlabel="x [m]", ylabel="y [m]", title="From above")
        side.set(xlabel=f"{'xy'[across]} [m]", ylabel="z [m]", title="From the side")
        figure.colorbar(drawn, ax=side, label="share that end", fraction=0.04, pad=0.02).outline.set_visible(False)
        _draw_permeability(figure.add_subplot(right[1]), volumes)


def _draw_outlines(
    axes: Any, means: NDArray[np.float64], covariances: NDArray[np.float64], closed: NDArray[Any],
    plane: tuple[int, int], *, depth: NDArray[np.float64],
) -> Any:  # fmt: skip
    """Ellipses of the Gaussians projected onto two axes, in the order of depth."""
    from matplotlib.collections import EllipseCollection

    order = np.argsort(depth, kind="stable")
    flat = covariances[order][:, plane][:, :, plane]
    values, vectors = np.linalg.eigh(flat)
    half = _OUTLINE * np.sqrt(np.maximum(values, 0))
    angle = np.rad2deg(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    places = means[order][:, plane]
    drawn = EllipseCollection(
        2 * half[:, 1], 2 * half[:, 0], angle, units="xy", offsets=places, transOffset=axes.transData, cmap="viridis",
        linewidths=0, alpha=np.clip(0.15 + 0.7 * closed[order], 0, 1), rasterized=True,
    )  # fmt: skip
    drawn.set_array(closed[order])
    drawn.set_clim(0, 1)
    axes.add_collection(drawn)
    low, high = np.percentile(places, (0.5, 99.5), axis=0) if len(places) > 1000 else (places.min(0), places.max(0))
    margin = 0.05 * float(max(high - low)) + float(half.max(initial=0.0))
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    return drawn


def _draw_permeability(axes: Any, volumes: Volumes) -> None:
    axes.hist(volumes.permeability, bins=np.linspace(0, 1, 51), color=MEASURED)
    mean = float(volumes.permeability.mean())
    axes.axvline(mean, color=QUIET, linewidth=1, label=f"mean {mean:.2f}")
    axes.set(xlabel="permeability: share of pulses that pass", ylabel="volumes", title="Permeability", xlim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
