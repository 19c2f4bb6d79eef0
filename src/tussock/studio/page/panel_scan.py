"""The sensor's knobs: which one, where, how it fires and listens, in what air, and when."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.poses import Pose
from tussock.return_modes import MODES
from tussock.sensors.catalogue import sensor_names
from tussock.studio.ask import Ask, Walk, pose_text

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["AS_SHEET", "ScanPanel"]

AS_SHEET = "as its sheet"
_SOON_S, _TYPED_S = 0.15, 0.7


class ScanPanel:
    """The tab of the sensor. Empty texts and zeros: as the sensor's sheet or the scene has it."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self._setting: int | None = None
        """the thread that sets knobs to what is asked: its own changes ask for nothing"""
        self._clicked: list[tuple[float, float, float]] = []
        ask = studio.session.ask
        names = tuple(dict.fromkeys((*sensor_names(), ask.sensor)))
        self._sensor = gui.add_dropdown("sensor", names, initial_value=ask.sensor)
        self._pose = gui.add_text("pose", initial_value=ask.pose, hint="x,y,z or x,y,z,roll,pitch,yaw [m, deg]")
        self._time = gui.add_slider("time [s]", min=0.0, max=10.0, step=0.1, initial_value=0.0)
        self._play = gui.add_checkbox("play", initial_value=False)
        with gui.add_folder("pulses"):
            self._mode = gui.add_dropdown("returns", (AS_SHEET, *MODES), initial_value=AS_SHEET)
            self._rays = gui.add_number("rays a pulse", 0, min=0, max=400, step=1, hint="0: as its sheet")
            self._rate = gui.add_number("turns a second", 0.0, min=0.0, step=0.5, hint="0: as its sheet")
            self._noise = gui.add_checkbox("noise", initial_value=True)
            self._seed = gui.add_number("seed", ask.seed, min=0, step=1)
        with gui.add_folder("air"):
            self._weather = gui.add_text("weather", "", hint="rain 10 mm/h, fog 80 m, snow, dust; dry: none")
            self._wind = gui.add_text("wind", "", hint="6 m/s from 240 gusts 0.5")
        with gui.add_folder("path"):
            gui.add_markdown("Set *click* to **path** and click on the ground.")
            self._height = gui.add_slider("height [m]", min=0.1, max=10.0, step=0.1, initial_value=2.0)
            self._speed = gui.add_slider("speed [m/s]", min=0.1, max=20.0, step=0.1, initial_value=1.4)
            self._forget = gui.add_button("forget the path")
        self._listen()

    def _listen(self) -> None:
        studio = self._studio
        for handle, seconds in (
            (self._sensor, 0.0), (self._mode, 0.0), (self._noise, 0.0), (self._rays, _TYPED_S), (self._rate, _TYPED_S),
            (self._seed, _TYPED_S), (self._pose, _TYPED_S), (self._weather, _TYPED_S), (self._wind, _TYPED_S),
            (self._time, _SOON_S),
        ):  # fmt: skip

            @handle.on_update
            def _(_: Any, seconds: float = seconds) -> None:
                if self._setting != threading.get_ident():
                    studio.later("knobs", seconds, self._apply)

        @self._play.on_update
        def _(_: Any) -> None:
            studio.play(bool(self._play.value))

        @self._speed.on_update
        def _(_: Any) -> None:
            walk = studio.session.ask.walk
            if walk is not None:
                studio.later("speed", _SOON_S, lambda: studio.change(walk=Walk(walk.places, float(self._speed.value))))

        @self._forget.on_click
        def _(_: Any) -> None:
            self._clicked = []
            studio.guard(lambda: studio.change(walk=None, time=0.0))

    def _apply(self) -> None:
        """Ask for what the knobs say; the words are checked first, and a mistake changes nothing."""
        ask = self._studio.session.ask
        told = self.knobs()
        if told.pop("pose") != ask.pose:
            told |= {"pose": self._normal(str(self._pose.value)), "walk": None}
        self._studio.change(**told)

    def knobs(self) -> dict[str, Any]:
        """What the knobs say, as `Ask` has it."""
        mode = str(self._mode.value)
        return {
            "sensor": str(self._sensor.value),
            "pose": str(self._pose.value),
            "mode": None if mode == AS_SHEET else mode,
            "rays": int(self._rays.value) or None,
            "rate": float(self._rate.value) or None,
            "noise": bool(self._noise.value),
            "weather": str(self._weather.value),
            "wind": str(self._wind.value),
            "seed": int(self._seed.value),
            "time": round(float(self._time.value), 9),
        }

    @staticmethod
    def _normal(text: str) -> str:
        pose = Pose.parse(text)
        return pose_text(pose.position, pose.quaternion)

    def update(self) -> None:
        """Show what is asked."""
        session = self._studio.session
        ask: Ask = session.ask
        self._setting = threading.get_ident()
        try:
            self._set(self._pose, ask.pose)
            self._set(self._seed, ask.seed)
            step = session.step
            self._set_limits(max(session.seconds, step), step)
            self._set(self._time, min(ask.time, session.seconds))
            if ask.walk is None:
                self._clicked = []
        finally:
            self._setting = None

    def _set_limits(self, high: float, step: float) -> None:
        for name, value in (("max", high), ("step", step)):
            if getattr(self._time, name) != value:
                setattr(self._time, name, value)

    @staticmethod
    def _set(handle: Any, value: Any) -> None:
        if handle.value != value:
            handle.value = value

    def set_time(self, time: float) -> None:
        """Show another moment [s]."""
        self._studio.change(time=round(time, 9))

    def playing(self, on: bool) -> None:
        self._set(self._play, on)

    def walk_to(self, place: NDArray[np.float64]) -> None:
        """Let the path go on to a place on the ground [m]."""
        x, y, z = np.round(place, 3)
        self._clicked.append((float(x), float(y), round(float(z) + float(self._height.value), 3)))
        if len(self._clicked) < 2:
            self._studio.body.draw_path(None, np.array(self._clicked))
            self._studio.say("the path begins here; click where it goes on")
            return
        walk = Walk(tuple(self._clicked), float(self._speed.value))
        try:
            walk.trajectory()
        except InputError:
            self._clicked.pop()
            raise
        self._studio.change(walk=walk, time=0.0)
