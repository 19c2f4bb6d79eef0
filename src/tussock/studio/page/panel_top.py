"""What is always in sight: what the studio does, what clicks mean, colours with their legend, and the camera's picture."""

from __future__ import annotations

import threading
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import render
from tussock.plots.legend_html import legend_html
from tussock.plots.point_colors import POINT_COLORS, Legend, PointColor
from tussock.poses import Pose, Trajectory
from tussock.studio.levels import ROOM

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["TOOLS", "TopPanel"]

TOOLS = ("point", "path", "select", "place", "paint", "erase")
"""what a click means"""
_DETAIL = {"light": ROOM, "medium": 4 * ROOM, "fine": 12 * ROOM}
"""triangles on the page: without, with a laptop's and with a good graphics card"""
_CAMERA = Camera(name="beside", width=320, height=200, lens=Pinhole(horizontal_fov_deg=90.0), samples=2)


class TopPanel:
    """Above the tabs."""

    def __init__(self, gui: Any, studio: Studio, color: PointColor) -> None:
        self._studio = studio
        self._said = _status("")
        """the last line that was not about work in progress"""
        self._line = gui.add_html(_status("starting"))
        self._progress = gui.add_progress_bar(100, animated=True, visible=False, color="green")
        self._tool = gui.add_dropdown(
            "click", TOOLS, initial_value="point", hint="What a click in the scene means: look at a point, go there, …"
        )
        self._color = gui.add_dropdown("colour", POINT_COLORS, initial_value=color)
        self._legend = gui.add_html("")
        with gui.add_folder("view", expand_by_default=False):
            self._size = gui.add_slider("point size [m]", min=0.01, max=0.3, step=0.01, initial_value=0.05)
            self._scene = gui.add_checkbox("scene", initial_value=True)
            self._detail = gui.add_dropdown("detail", tuple(_DETAIL), initial_value="light")
            self._outline = gui.add_checkbox("field of view", initial_value=True)
            self._camera = gui.add_checkbox("camera", initial_value=False, hint="A picture from where the sensor is.")
        self._picture = gui.add_image(np.zeros((2, 2, 3), np.uint8), label="from the sensor", visible=False)

        @self._color.on_update
        def _(_: Any) -> None:
            studio.guard(studio.show_points)

        @self._size.on_update
        def _(_: Any) -> None:
            studio.cloud.resize(float(self._size.value))

        @self._scene.on_update
        def _(_: Any) -> None:
            studio.stage.set_visible(bool(self._scene.value))

        @self._detail.on_update
        def _(_: Any) -> None:
            studio.stage.set_room(_DETAIL[str(self._detail.value)])
            studio.refresh()

        @self._outline.on_update
        def _(_: Any) -> None:
            studio.show_sensor()

        @self._camera.on_update
        def _(_: Any) -> None:
            self._picture.visible = False
            if self.camera:
                studio.worker.ask("picture", self.take_picture)

    @property
    def color(self) -> PointColor:
        value: PointColor = self._color.value
        return value

    @color.setter
    def color(self, value: PointColor) -> None:
        self._color.value = value

    @property
    def tool(self) -> str:
        return str(self._tool.value)

    @tool.setter
    def tool(self, value: str) -> None:
        self._tool.value = value

    @property
    def outline(self) -> bool:
        return bool(self._outline.value)

    @property
    def camera(self) -> bool:
        return bool(self._camera.value)

    @camera.setter
    def camera(self, value: bool) -> None:
        self._camera.value = value

    def say(self, line: str, *, bad: bool = False) -> None:
        self._said = self._line.content = _status(line, bad=bad)

    def busy(self, doing: str) -> None:
        """Show that something is being done, or nothing any more."""
        self._progress.visible = bool(doing)
        self._line.content = _status(f"{doing} …") if doing else self._said

    def playing(self, on: bool) -> None:
        self._studio.scan_panel.playing(on)

    def show_legend(self, legend: Legend) -> None:
        self._legend.content = legend_html(legend)

    def take_picture(self, stop: threading.Event) -> None:
        """Render what a camera in the sensor's place sees, forward."""
        session = self._studio.session
        ask = session.ask
        place = ask.place()
        pose = place.pose(ask.time) if isinstance(place, Trajectory) else place
        level = Pose.at(*pose.position, yaw=float(np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])))
        picture = render(session.world(ask), _CAMERA, level, time=ask.time, seed=ask.seed)
        if not stop.is_set() and self.camera:
            self._picture.image = picture.rgb
            self._picture.visible = True


def _status(line: str, *, bad: bool = False) -> str:
    color = "#ff8a80" if bad else "inherit"
    return (
        f"<div id='studio-status' style='margin:.2em 1em .6em 1em;font-size:.85em;color:{color}'>{escape(line)}</div>"
    )
