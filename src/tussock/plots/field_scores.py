"""The field's scores as bars: all pulses, then ranges, then labels; a line where the floor is.

One panel a score. Shares are drawn from 0 to 1, where 1 is best; errors from 0, where 0 is best. What cannot be said has no bar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tussock.learn.scoring.field_scores import FieldScores
from tussock.plots.canvas import MEASURED, QUIET, SIMULATED

__all__ = ["FLOOR", "SCORES", "plot_scores"]

FLOOR = "floor: real, real"
"""name of the scores of one part of the real recording against another"""
SCORES = {
    "depth_median_m": "Depth off, median [m]",
    "f_score": "F-score of points",
    "drop_accuracy": "Ray drop right",
    "intensity_rmse": "Intensity off, rms",
}
_SHARES = ("f_score", "drop_accuracy")


def plot_scores(panels: list[Any], field: Mapping[str, FieldScores]) -> None:
    """Draw scores by name into as many axes as there are `SCORES`."""
    names = [name for name in field if name != FLOOR]
    places = np.arange(len(names))
    for number, (axes, (score, title)) in enumerate(zip(panels, SCORES.items(), strict=True)):
        values = np.array([getattr(field[name], score) for name in names])
        first = np.arange(len(names)) == 0
        axes.barh(places, np.nan_to_num(values), color=np.where(first, MEASURED, SIMULATED), height=0.66)
        for place, value in zip(places, values, strict=True):
            shown = "–" if np.isnan(value) else f"{value:.3g}"
            axes.annotate(
                shown, (np.nan_to_num(value), place), (3, 0), textcoords="offset points", va="center", fontsize=7
            )
        floor = getattr(field[FLOOR], score) if FLOOR in field else np.nan
        if not np.isnan(floor):
            axes.axvline(floor, color=QUIET, linewidth=1, linestyle="--")
        most = np.nanmax([*values, floor, 1e-9])
        axes.set(title=title, xlim=(0, 1.18 if score in _SHARES else 1.25 * most), yticks=places)
        axes.set_yticklabels(names if number == 0 else [], fontsize=8)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
