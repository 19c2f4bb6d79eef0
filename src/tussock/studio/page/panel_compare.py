"""A second sensor or other settings beside the first, and how far they differ."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from tussock.return_modes import MODES
from tussock.sensors.catalogue import sensor_names
from tussock.studio.ask import Ask
from tussock.studio.page.cloud import VIEWS
from tussock.studio.page.panel_scan import AS_SHEET

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["ComparePanel"]


class ComparePanel:
    """The tab of the second one. It stands where the first does and fires at the same time, with the same seed."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self._on = gui.add_checkbox("compare with a second", initial_value=False)
        self._view = gui.add_dropdown("show", VIEWS, initial_value="difference")
        ask = studio.session.ask
        self._sensor = gui.add_dropdown("sensor", sensor_names(), initial_value=_known(ask.sensor))
        self._mode = gui.add_dropdown("returns", (AS_SHEET, *MODES), initial_value=AS_SHEET)
        self._rays = gui.add_number("rays a pulse", 0, min=0, max=400, step=1, hint="0: as its sheet")
        self._noise = gui.add_checkbox("noise", initial_value=True)
        self._weather = gui.add_text("weather", "", hint="as the first has it if empty")
        self._table = gui.add_html("")
        for handle, seconds in (
            (self._on, 0.0), (self._sensor, 0.0), (self._mode, 0.0), (self._noise, 0.0), (self._rays, 0.7),
            (self._weather, 0.7),
        ):  # fmt: skip

            @handle.on_update
            def _(_: Any, seconds: float = seconds) -> None:
                studio.later("second", seconds, self._apply)

        @self._view.on_update
        def _(_: Any) -> None:
            studio.guard(studio.show_points)

    @property
    def view(self) -> str:
        return str(self._view.value)

    @view.setter
    def view(self, value: str) -> None:
        self._view.value = value

    def compare(self, *, sensor: str | None = None, mode: str | None = None, on: bool = True) -> None:
        """Set the panel's own knobs."""
        if sensor is not None:
            self._sensor.value = sensor
        self._mode.value = mode or AS_SHEET
        self._on.value = on

    def _apply(self) -> None:
        session = self._studio.session
        if not self._on.value:
            session.other = session.other_frame = None
            self._studio.show_points()
            return
        mode = str(self._mode.value)
        other = Ask(
            sensor=str(self._sensor.value), mode=None if mode == AS_SHEET else mode,
            rays=int(self._rays.value) or None, noise=bool(self._noise.value), weather=str(self._weather.value),
        )  # fmt: skip
        other.check()
        session.other = other
        self._studio.ask_scan()

    @staticmethod
    def placed(first: Ask, other: Ask) -> Ask:
        """The second in the place, at the time and with the seed of the first."""
        weather = other.weather if other.weather.strip() else first.weather
        return other.at(
            pose=first.pose, walk=first.walk, time=first.time, seed=first.seed, wind=first.wind, weather=weather
        )

    def update(self) -> None:
        """Tell how they differ."""
        found = self._studio.session.compared()
        rows = [] if found is None else found.facts
        cells = "".join(
            f"<div style='opacity:.65'>{escape(name)}</div><div>{escape(text)}</div>" for name, text in rows
        )
        self._table.content = f"<div style='margin:0 1em;font-size:.82em;line-height:1.5'>{cells}</div>"


def _known(name: str) -> str:
    return name if name in sensor_names() else "vlp-16"
