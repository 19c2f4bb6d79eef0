"""One way to draw a picture of scans and volumes: the look of `tussock.plots.frame`, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.plots.frame import DPI, STYLE
from tussock.whole_files import check_writable, whole_file

__all__ = ["MEASURED", "QUIET", "SIMULATED", "check_picture", "picture", "show_within"]

MEASURED, SIMULATED, QUIET = "#5aa9ff", "#ffb347", "#9aa5b1"


def check_picture(path: Path | str, *, force: bool = False) -> Path:
    """Refuse early what `picture` would refuse late."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise InputError.of("suffix", "must be .png", path.suffix, source=path)
    check_writable(path, force=force)
    return path


@contextmanager
def picture(
    path: Path | str, title: str, subtitle: str, *, size: tuple[float, float] = (13.0, 6.6), force: bool = False
) -> Iterator[Any]:
    """Yield a figure of matplotlib with its title, ``size`` in inches; it is written as PNG when the block ends."""
    path = check_picture(path, force=force)

    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, dpi=DPI)
        FigureCanvasAgg(figure)
        high = size[1]
        figure.text(0.055, 1 - 0.36 / high, title, fontsize=16, fontweight="bold", va="center")
        figure.text(0.055, 1 - 0.66 / high, subtitle, fontsize=10, color=QUIET, va="center")
        yield figure
        with whole_file(path, force=force) as part:
            # Nothing that changes from run to run goes into the file.
            figure.savefig(part, format="png", metadata={"Software": None})


def show_within(axes: Any, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """Show at least the rectangle from ``low`` to ``high`` (2,) at equal scales, filling the panel."""
    width, height = axes.get_position().size * axes.figure.get_size_inches()
    middle, half = (low + high) / 2, (high - low) / 2
    scale = max(half[0] / width, half[1] / height, 1e-6)
    axes.set_xlim(middle[0] - scale * width, middle[0] + scale * width)
    axes.set_ylim(middle[1] - scale * height, middle[1] + scale * height)
    axes.set_aspect("equal", adjustable="box")
