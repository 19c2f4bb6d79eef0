"""The sensor on the page: a body to drag and turn, its field of view and its pattern around it; and a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.poses import Pose, Trajectory
from tussock.sensors.sensor import Sensor
from tussock.studio.ask import pose_text
from tussock.studio.outline import outline_of

__all__ = ["SensorBody"]


class SensorBody:
    """A gizmo with a sensor in it; ``let_go`` is told the pose as text when a hand has moved it."""

    def __init__(self, server: Any, origin: NDArray[np.float64], let_go: Callable[[str], None]) -> None:
        self._server, self._origin = server, origin
        scene = server.scene
        self._gizmo = scene.add_transform_controls("/sensor", scale=1.3, depth_test=False, line_width=3.0)
        scene.add_cylinder("/sensor/body", radius=0.09, height=0.16, color=(40, 44, 52))
        scene.add_cylinder("/sensor/window", radius=0.092, height=0.07, color=(90, 170, 255))
        scene.add_box("/sensor/front", dimensions=(0.16, 0.02, 0.02), position=(0.1, 0, 0), color=(255, 180, 70))
        self._name: str | None = None

        @self._gizmo.on_update
        async def _(event: Any) -> None:
            if event.phase == "end":
                place = np.asarray(event.target.position) + self._origin
                let_go(pose_text(place, np.roll(np.asarray(event.target.wxyz), -1)))

    def look_like(self, sensor: Sensor) -> None:
        """Draw the field of view and the pattern of a sensor."""
        key = f"{sensor.name} {sensor.pattern!r}"
        if key == self._name:
            return
        self._name = key
        lines = outline_of(sensor)
        scene = self._server.scene
        self._view = scene.add_line_segments("/sensor/view", lines.edges, (255, 205, 120), thickness=0.012)
        self._pattern = scene.add_point_cloud(
            "/sensor/pattern", lines.pattern, lines.colors, point_size=0.012, point_shape="circle",
            point_shading="flat", precision="float32",
        )  # fmt: skip

    def stand(self, pose: Pose) -> None:
        """Put the body somewhere."""
        self._gizmo.position = pose.position - self._origin
        self._gizmo.wxyz = np.roll(pose.quaternion, 1)

    def show(self, *, body: bool, outline: bool) -> None:
        self._gizmo.visible = body
        if self._name is not None:
            self._view.visible = self._pattern.visible = outline

    def draw_path(self, path: Trajectory | None, places: NDArray[np.float64]) -> None:
        """Draw the way of the sensor, and the places (n, 3) [m] that it was clicked through."""
        for name in ("/path", "/places"):
            handle = self._server.scene.get_handle_by_name(name)
            if handle is not None:
                handle.remove()
        if path is not None:
            way = (path.positions - self._origin).astype(np.float32)
            self._server.scene.add_line_segments(
                "/path", np.stack([way[:-1], way[1:]], 1), (255, 255, 255), thickness=0.04
            )
        if len(places):
            self._server.scene.add_point_cloud(
                "/places", (places - self._origin).astype(np.float32), (255, 180, 70), point_size=0.2,
                point_shape="circle", precision="float32",
            )  # fmt: skip
