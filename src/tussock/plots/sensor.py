"""A picture of a sensor: where its pulses go in one frame, a part of that close up, and the spot of one pulse.

Azimuth runs from left (+) to right (−), as somebody at the sensor would see it. Colours are lasers, or time where
there is one laser only. A flat scan (one line) has nothing to show over elevation, so its first part is drawn over
time. In the close-up every pulse has its spot at true size. For people, not for measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.errors import InputError
from tussock.plots.frame import DPI, FAINT, INK, STYLE
from tussock.sensors.beam import Beam
from tussock.sensors.sensor import Sensor
from tussock.whole_files import check_writable, whole_file

__all__ = ["plot_sensor"]


_COLORS = "turbo"
_COLOR_PART = (0.09, 0.93)  # its dark ends would vanish in the background
_QUIET = "#9aa5b1"
_ACCENT = "#ffb347"
_CLOSE_UP_PULSES = 160
_CLOSE_UP_DEG = (0.5, 3.0)  # least and most half-width of the close-up
_FLAT_DEG = 0.5  # a pattern lower than this is a line


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The pulses of a frame as they are drawn, each of shape (n,)."""

    azimuth: FloatArray
    """[deg], without a jump inside the field of view"""
    elevation: FloatArray
    """[deg]"""
    time: FloatArray
    """[ms] since the start of the frame"""
    color: FloatArray
    color_name: str

    @property
    def around(self) -> bool:
        return bool(np.ptp(self.azimuth) > 300)

    @property
    def flat(self) -> bool:
        return bool(np.ptp(self.elevation) < _FLAT_DEG)

    @property
    def wide(self) -> bool:
        return bool(np.ptp(self.azimuth) > 2.2 * np.ptp(self.elevation))


def plot_sensor(sensor: Sensor, path: Path | str, *, frame: int = 0, force: bool = False) -> None:
    """Draw the scan pattern of frame ``frame`` and the spot of a pulse, and write them to ``path`` as PNG.

    >>> _ = tussock.plot_sensor(tussock.load_sensor("vlp-16"), "vlp-16.png")
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise InputError.of("suffix", "must be .png", path.suffix, source=path)
    check_writable(path, force=force)
    sweep = _sweep(sensor, frame)

    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(13.0, 9.0), dpi=DPI)
        FigureCanvasAgg(figure)
        whole, key, near, spot = _panels(figure, wide=sweep.wide)
        _plot_whole(whole, sweep)
        _plot_key(figure, key, sweep)
        _plot_close_up(near, sweep, sensor.beam)
        _plot_spot(spot, sensor.beam)
        figure.text(0.06, 0.963, sensor.name, fontsize=16, fontweight="bold", va="center")
        figure.text(0.06, 0.933, sensor.description, fontsize=11, va="center")
        figure.text(0.06, 0.909, _facts(sensor, len(sweep.time)), fontsize=10, color=_QUIET, va="center")
        with whole_file(path, force=force) as part:
            # Nothing that changes from run to run goes into the file.
            figure.savefig(part, format="png", metadata={"Software": None})


def _panels(figure: Any, *, wide: bool) -> list[Any]:
    """Axes of the whole frame, its colour key, the close-up and the spot."""
    if wide:
        rows = figure.add_gridspec(
            2, 1, height_ratios=(1, 1.25), left=0.06, right=0.94, top=0.86, bottom=0.07, hspace=0.3
        )
        above = rows[0].subgridspec(1, 2, width_ratios=(60, 1), wspace=0.03)
        below = rows[1].subgridspec(1, 2, width_ratios=(1.15, 1), wspace=0.2)
        cells = (above[0], above[1], below[0], below[1])
    else:
        columns = figure.add_gridspec(
            1, 2, width_ratios=(1.6, 1), left=0.06, right=0.97, top=0.86, bottom=0.07, wspace=0.33
        )
        left = columns[0].subgridspec(1, 2, width_ratios=(40, 1), wspace=0.04)
        right = columns[1].subgridspec(2, 1, hspace=0.32)
        cells = (left[0], left[1], right[0], right[1])
    return [figure.add_subplot(cell) for cell in cells]


def _sweep(sensor: Sensor, frame: int) -> _Sweep:
    pulses = sensor.pulses(frame)
    azimuth = np.degrees(pulses.azimuths.astype(np.float64))
    middle = np.degrees(np.angle(np.exp(1j * np.radians(azimuth)).sum()))
    around = np.mod(azimuth - middle + 180, 360) - 180
    azimuth = np.mod(azimuth + 180, 360) - 180 if np.ptp(around) > 300 else around + middle
    time = pulses.offsets * 1e3
    if sensor.lasers > 1:
        color, name = pulses.lasers.astype(np.float64), "laser"
    elif np.ptp(time) > 0:
        color, name = time, "time [ms]"
    else:
        color, name = np.arange(len(time), dtype=np.float64), "pixel, in reading order"
    return _Sweep(azimuth, np.degrees(pulses.elevations.astype(np.float64)), time, color, name)


def _plot_whole(axes: Any, sweep: _Sweep) -> None:
    height = sweep.time if sweep.flat else sweep.elevation
    size = float(np.clip(60_000 / len(height), 0.25, 14.0))
    axes.scatter(
        sweep.azimuth, height, c=sweep.color, cmap=_color_map(), s=size, marker="o", linewidths=0, rasterized=True
    )
    axes.set_title("One frame, when it looks where" if sweep.flat else "One frame")
    axes.set_ylabel("time [ms]" if sweep.flat else "elevation [°]")
    axes.set_xlabel("azimuth [°], left is +")
    margin = 0.02 * max(float(np.ptp(sweep.azimuth)), 0.1)
    axes.set_xlim(sweep.azimuth.max() + margin, sweep.azimuth.min() - margin)
    if sweep.around:
        axes.set_xticks(np.arange(180, -181, -45))
    if not sweep.wide:
        half = [0.52 * max(float(np.ptp(part)), 0.1) for part in (sweep.azimuth, sweep.elevation)]
        middle = [(part.max() + part.min()) / 2 for part in (sweep.azimuth, sweep.elevation)]
        _frame_equally(axes, middle[0], middle[1], half[0], half[1])


def _plot_key(figure: Any, axes: Any, sweep: _Sweep) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    norm = Normalize(float(sweep.color.min()), max(float(sweep.color.max()), float(sweep.color.min()) + 1e-9))
    bar = figure.colorbar(ScalarMappable(norm, _color_map()), cax=axes, label=sweep.color_name)
    if sweep.color_name == "laser":
        bar.locator = MaxNLocator(8, integer=True)
    bar.outline.set_visible(False)


def _color_map() -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[_COLORS](np.linspace(*_COLOR_PART, 256)))


def _plot_close_up(axes: Any, sweep: _Sweep, beam: Beam) -> None:
    """The middle of the pattern, every pulse with its spot."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Ellipse, Rectangle

    x0, y0 = _middle(sweep)
    away = np.maximum(np.abs(sweep.azimuth - x0), np.abs(sweep.elevation - y0))
    reach = float(np.sort(away)[min(_CLOSE_UP_PULSES, len(away)) - 1])
    half = float(np.clip(1.02 * reach, *_CLOSE_UP_DEG))
    # The panel is wider than high, so that more than the square may be seen.
    shown = (np.abs(sweep.azimuth - x0) < 2.5 * half) & (np.abs(sweep.elevation - y0) < 2.5 * half)
    x, y = sweep.azimuth[shown], sweep.elevation[shown]
    width, height = (np.degrees(2 * np.arctan(part)) for part in beam.half_sizes)
    # One degree of azimuth is less than one degree of arc away from the horizon.
    stretch = 1 / np.maximum(np.cos(np.radians(y)), 1e-3)
    spots = [
        Rectangle((a - width * s / 2, b - height / 2), width * s, height)
        if beam.shape == "rectangle"
        else Ellipse((a, b), width * s, height)
        for a, b, s in zip(x, y, stretch, strict=True)
    ]
    low, high = float(sweep.color.min()), float(sweep.color.max())
    collection = PatchCollection(spots, cmap=_color_map(), alpha=0.45, linewidths=0)
    collection.set_array(sweep.color[shown])
    collection.set_clim(low, max(high, low + 1e-9))
    axes.add_collection(collection)
    axes.scatter(x, y, c=sweep.color[shown], cmap=_color_map(), vmin=low, vmax=max(high, low + 1e-9), s=7, linewidths=0)
    _frame_equally(axes, x0, y0, half, half)
    axes.set_title("Close up, each spot at true size")
    axes.set_xlabel("azimuth [°]")
    axes.set_ylabel("elevation [°]")


def _frame_equally(axes: Any, x: float, y: float, half_width: float, half_height: float) -> None:
    """Show at least this much around (x, y), with the same scale along both axes and left on the left."""
    box, (width_in, height_in) = axes.get_position(), axes.figure.get_size_inches()
    shape = box.width * width_in / (box.height * height_in)
    half_width, half_height = max(half_width, half_height * shape), max(half_height, half_width / shape)
    axes.set_xlim(x + half_width, x - half_width)
    axes.set_ylim(y - half_height, y + half_height)


def _middle(sweep: _Sweep) -> tuple[float, float]:
    """Straight ahead where the sensor looks there, otherwise the pulse nearest to the middle."""
    wanted_x = 0.0 if sweep.azimuth.min() < 0 < sweep.azimuth.max() else float(np.median(sweep.azimuth))
    wanted_y = float(np.median(sweep.elevation))
    at = int(np.argmin(np.hypot(sweep.azimuth - wanted_x, sweep.elevation - wanted_y)))
    return float(sweep.azimuth[at]), float(sweep.elevation[at])


def _plot_spot(axes: Any, beam: Beam) -> None:
    """The outline of the spot and the sub-rays that sample it [mrad]."""
    from matplotlib.patches import Ellipse, Rectangle

    half_width, half_height = (1e3 * part for part in beam.half_sizes)
    if half_width == 0 and half_height == 0:
        axes.axis("off")
        axes.set_title("Spot of one pulse")
        axes.text(0.5, 0.5, "no divergence: the beam is a line", ha="center", va="center", transform=axes.transAxes)
        return
    look: dict[str, Any] = {"facecolor": "#ffb34722", "edgecolor": _ACCENT, "linewidth": 1.5}
    axes.add_patch(
        Rectangle((-half_width, -half_height), 2 * half_width, 2 * half_height, **look)
        if beam.shape == "rectangle"
        else Ellipse((0, 0), 2 * half_width, 2 * half_height, **look)
    )
    rays = 1e3 * beam.stencil().astype(np.float64)
    drawn = "drawn anew for every pulse" if beam.sampling == "random" and beam.rays > 1 else beam.sampling
    what = "1 ray, the axis" if beam.rays == 1 else f"{beam.rays} rays, {drawn}"
    if beam.rays == 1:
        nine = 1e3 * beam.changed(rays=9, sampling="stencil").stencil().astype(np.float64)
        axes.scatter(*nine.T, s=34, facecolors="none", edgecolors=FAINT, linewidths=1.2, label="with beam.rays = 9")
    axes.scatter(*rays.T, s=34, color=INK, linewidths=0, label=what, zorder=3)
    reach = 1.45 * max(half_width, half_height)
    _frame_equally(axes, 0.0, 0.0, reach, reach)
    across, up = beam.divergence_horizontal_mrad, beam.divergence_vertical_mrad
    axes.set_title(f"Spot of one pulse: {beam.shape}, {across:g} × {up:g} mrad")
    at_50 = [100 * 2 * 50 * part for part in beam.half_sizes]
    axes.text(
        0.02,
        0.03,
        f"at 50 m: {at_50[0]:.3g} × {at_50[1]:.3g} cm",
        color=_QUIET,
        transform=axes.transAxes,
        va="bottom",
    )
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    axes.set_xlabel("left and right of the axis [mrad]")
    axes.set_ylabel("above and below [mrad]")


def _facts(sensor: Sensor, pulses: int) -> str:
    lasers = f"{sensor.lasers} lasers" if sensor.lasers > 1 else "1 laser"
    receiver = sensor.receiver
    parts = [
        f"{pulses:,} pulses a frame",
        f"{1 / sensor.frame_period:g} frames/s",
        lasers,
        f"{receiver.min_range_m:g} m to {receiver.max_range_m:g} m",
        f"returns: {receiver.mode}",
        f"{sensor.wavelength_nm:g} nm",
    ]
    return " · ".join(parts)
