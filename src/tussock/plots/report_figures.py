"""The look of the report's figures: light, quiet, one style for all."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["BLUE", "DPI", "GREEN", "GREY", "INK", "ORANGE", "RED", "VIOLET", "Plot", "plotting"]

INK, GREY, BLUE, ORANGE, GREEN, RED, VIOLET = (
    "#22303c",
    "#8a97a3",
    "#2b6cb0",
    "#d9772b",
    "#3b8f5a",
    "#c0392b",
    "#7a5ab5",
)
_STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "axes.edgecolor": "#c4ccd4",
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e8ecf0",
    "grid.linewidth": 0.8,
    "xtick.color": "#6b7884",
    "ytick.color": "#6b7884",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "text.color": INK,
}
DPI = 150


class Plot:
    """A figure of matplotlib and, when the block has ended, its picture."""

    def __init__(self, figure: Any, axes: Any) -> None:
        self.figure, self.axes = figure, axes
        self.png = b""


@contextmanager
def plotting(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] = (7.6, 3.4), **options: Any
) -> Iterator[Plot]:
    """Draw in ``plot.axes`` (always an array of rows × columns); ``size`` in inches."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        picture = Plot(figure, figure.subplots(rows, columns, squeeze=False, **options))
        yield picture
        memory = io.BytesIO()
        figure.savefig(memory, format="png", dpi=DPI)
        picture.png = memory.getvalue()
