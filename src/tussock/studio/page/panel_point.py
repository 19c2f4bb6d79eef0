"""The point that was clicked: everything known of it, truth beside measurement, and its pulse's waveform."""

from __future__ import annotations

import threading
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.studio.picking import nearest_point, point_facts

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["PointPanel"]


class PointPanel:
    """The tab of one point."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._gui, self._studio = gui, studio
        self._facts = gui.add_html(_framed("<i>Set click to point, and click a point.</i>"))
        self._folder = gui.add_folder("waveform of its pulse")
        self._plot: Any = None
        self._told: Any = None
        with self._folder:
            self._told = gui.add_html(_framed("<i>none yet</i>"))
        self._recorded: tuple[Any, Any, Frame] | None = None
        self.row: int | None = None
        """the row of the frame that was picked"""

    def pick(self, start: NDArray[np.float64], along: NDArray[np.float64]) -> None:
        """Show the point nearest to a ray in the world [m]."""
        cloud = self._studio.cloud
        found = nearest_point(cloud.points, start, along)
        if found is None or cloud.picked is None:
            self._studio.say("no point is there")
            return
        frame, row = cloud.picked, int(cloud.rows[found])
        self.row = row
        self._facts.content = _framed(_table(point_facts(frame, row)))
        place = cloud.points[found]
        origin = frame.trajectory.pose(float(frame.time[row])).position if frame.trajectory is not None else place * 0
        cloud.mark(place, np.stack([origin, place]))
        pulse = int(frame.pulse[row])
        if frame.waveforms is not None or (frame is self._studio.session.frame and not self._studio.session.recorded):
            self._studio.worker.ask("point", lambda stop: self._wave(frame, pulse, stop))

    def _wave(self, frame: Frame, pulse: int, stop: threading.Event) -> None:
        session = self._studio.session
        key = (session.ask, session.scene)
        if frame.waveforms is not None:
            whole = frame
        elif self._recorded is not None and self._recorded[:2] == key:
            whole = self._recorded[2]
        else:
            # The same scan with its waveforms kept: chance is counted, so it is the same pulse.
            whole = session.scanned(session.ask, waveform=True)
            self._recorded = (*key, whole)
        waves = whole.waveforms
        if waves is None or stop.is_set():
            return
        if pulse not in waves.pulse:
            self._told.content = _framed("<i>nothing came back of this pulse</i>")
            return
        row = waves.row_of(pulse)
        self._draw(waves.ranges(row), waves.samples[row])
        parts = waves.components
        rows = [] if parts is None else [
            (f"{parts.range[i]:.3f} m", f"width {parts.width[i]:.2f} ns", f"amplitude {parts.amplitude[i]:.3g}")
            for i in np.flatnonzero(parts.pulse == pulse)
        ]  # fmt: skip
        self._told.content = _framed(_table(rows, ("echo at", "", ""))) if rows else ""

    def _draw(self, ranges: NDArray[np.float64], samples: NDArray[np.float32]) -> None:
        series = ({"label": "range [m]"}, {"label": "signal", "stroke": "#7fd18a", "width": 1.5})
        data = (ranges, samples.astype(np.float64))
        if self._plot is not None:
            self._plot.remove()
        with self._folder:
            axis = {"stroke": "#aab4be", "grid": {"stroke": "#39424d"}, "ticks": {"stroke": "#39424d"}}
            self._plot = self._gui.add_uplot(
                data, series, scales={"x": {"time": False}}, axes=(axis | {"label": "range [m]"}, axis), aspect=1.6,
                legend={"show": False},
            )  # fmt: skip


def _framed(text: str) -> str:
    return f"<div id='studio-point' style='margin:0 1em .6em 1em;font-size:.8em'>{text}</div>"


def _table(rows: list[tuple[str, str, str]], heads: tuple[str, str, str] = ("", "measured", "true")) -> str:
    cell = "padding:.1em .5em .1em 0;vertical-align:top"
    head = "".join(f"<th style='text-align:left;opacity:.6;{cell}'>{escape(h)}</th>" for h in heads)
    body = "".join(
        f"<tr><td style='opacity:.7;{cell}'>{escape(name)}</td><td style='{cell}'>{escape(one)}</td>"
        f"<td style='{cell}'>{escape(two)}</td></tr>"
        for name, one, two in rows
    )
    return f"<table style='border-collapse:collapse'><tr>{head}</tr>{body}</table>"
