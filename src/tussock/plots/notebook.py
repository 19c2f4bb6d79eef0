"""Small pictures for notebooks: a frame from above, a scene as a map, a sensor's and a camera's directions.

Quick rather than complete (`tussock.plot_frame` and its like draw in full): at most some thousand points are drawn.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.frames.frame import Frame
from tussock.plots.frame import LABEL_COLORS, STYLE
from tussock.scene.scene import Scene
from tussock.sensors.sensor import Sensor

__all__ = ["picture_of"]

_MOST = 20_000
_SIZE, _DPI = (6.4, 3.6), 100
_PLAIN = "#5aa9ff"


def picture_of(thing: object) -> bytes | None:
    """A PNG of what there is to see; None where there is nothing."""
    plot = next((plot for kind, plot in _PICTURES.items() if isinstance(thing, kind)), None)
    return None if plot is None else _plotted(plot, thing)


def _plotted(plot: Callable[[Any, Any], bool], thing: object) -> bytes | None:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        if not plot(thing, figure.add_subplot()):
            return None
        file = io.BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
        return file.getvalue()


def _frame(frame: Frame, axes: Any) -> bool:
    rows = np.flatnonzero(frame.hit)
    if not len(rows):
        return False
    rows = rows[:: max(1, len(rows) // _MOST)]
    names = {number: name for name, number in frame.meta.get("labels", {}).items()}
    colors = [LABEL_COLORS.get(names.get(int(label), ""), _PLAIN) for label in frame.label[rows]]
    axes.scatter(frame.xyz[rows, 0], frame.xyz[rows, 1], s=1, c=colors, lw=0)
    axes.plot(0, 0, "+", color="white")
    # Far returns must not shrink the rest to a dot.
    reach = 1.05 * float(np.quantile(np.abs(frame.xyz[rows, :2]).max(1), 0.98)) + 1e-6
    axes.set(xlabel="x [m], sensor", ylabel="y [m]", ylim=(-reach, reach), aspect="equal")
    return True


def _scene(scene: Scene, axes: Any) -> bool:
    if not scene.everything:
        return False
    for thing in scene.everything:
        color = LABEL_COLORS.get(thing.label, _PLAIN)
        places = thing.placements.matrices[:, :, 3]
        if len(places) == 1 and hasattr(thing, "mesh"):
            _outline(thing.mesh.bounds.astype(float), thing.placements.matrices[0], color, axes)
        else:
            some = places[:: max(1, len(places) // _MOST)]
            axes.scatter(some[:, 0], some[:, 1], s=4, color=color, lw=0)
    axes.autoscale()
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    return True


def _outline(bounds: NDArray[np.float64], matrix: NDArray[np.float64], color: str, axes: Any) -> None:
    """The rectangle of what stands once, as it is turned."""
    (x0, y0, z), (x1, y1, _) = bounds
    corners = np.array([[x0, y0, z], [x1, y0, z], [x1, y1, z], [x0, y1, z], [x0, y0, z]])
    placed = corners @ matrix[:, :3].T + matrix[:, 3]
    axes.fill(placed[:, 0], placed[:, 1], color=color, alpha=0.5)


def _sensor(sensor: Sensor, axes: Any) -> bool:
    pulses = sensor.pulses()
    some = slice(None, None, max(1, len(pulses) // _MOST))
    azimuths, elevations = (np.rad2deg(angles[some]) for angles in (pulses.azimuths, pulses.elevations))
    axes.scatter(azimuths, elevations, s=1, c=pulses.offsets[some], cmap="viridis", lw=0)
    axes.set(xlabel="azimuth [°]", ylabel="elevation [°]")
    axes.invert_xaxis()  # as the sensor sees it: left is left
    return True


def _camera(camera: Camera, axes: Any) -> bool:
    """Where the pixels of a grid look."""
    u, v = np.linspace(-0.5, camera.width - 0.5, 33), np.linspace(-0.5, camera.height - 0.5, 19)
    pixels = np.stack(np.meshgrid(u, v), -1).reshape(-1, 2)
    starts, directions = camera.rays(pixels)
    seen = np.isfinite(directions).all(1)
    if not seen.any():
        return False
    if np.ptp(directions[seen], axis=0).max() < 1e-9:  # parallel rays: a map
        axes.scatter(-starts[seen, 1], starts[seen, 2], s=3, color=_PLAIN, lw=0)
        axes.set(xlabel="to the right [m]", ylabel="up [m]", aspect="equal")
        return True
    x, y, z = directions[seen].T
    axes.scatter(-np.rad2deg(np.arctan2(y, x)), np.rad2deg(np.arcsin(np.clip(z, -1, 1))), s=3, color=_PLAIN, lw=0)
    axes.set(xlabel="to the right [°]", ylabel="up [°]", aspect="equal")
    return True


_PICTURES: dict[type, Callable[[Any, Any], bool]] = {Frame: _frame, Scene: _scene, Sensor: _sensor, Camera: _camera}
