"""Frames in the browser: points to turn and colour, the sensor, the scene around, and a slider for time.

Needs the extra ``view`` (viser). Points are in the world where the frame knows its trajectory, else in the sensor's
frame; the view's zero is the sensor's first place, in whole metres, because browsers compute in single precision.

With several frames the slider chooses the frame of a moment; with one it shows what was fired until then. Shapes of
the scene are drawn nearest first, as many triangles as a browser takes: big plants lose some of theirs.
"""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.frames.frame import Frame
from tussock.page_server import open_page_server
from tussock.plots.legend_html import legend_html
from tussock.plots.point_colors import POINT_COLORS, PointColor, paint_points
from tussock.poses import Pose
from tussock.scene.scene import Scene, SceneObject

__all__ = ["ViewColor", "Viewer"]

ViewColor = PointColor
_QUICKEST_S = 0.05
"""[s] between two frames that play, at least: a browser draws no more"""
_MOST_TRIANGLES, _MOST_OF_AN_OBJECT = 1_200_000, 400_000


class Viewer:
    """A page at `url` that shows frames until `stop`.

    >>> viewer = tussock.Viewer(frames, port=0)  # doctest: +SKIP
    >>> viewer.url  # doctest: +SKIP
    'http://127.0.0.1:41235'
    """

    def __init__(
        self,
        frames: Sequence[Frame],
        *,
        scene: Scene | None = None,
        color: ViewColor = "range",
        host: str = "127.0.0.1",
        port: int = 8080,
    ) -> None:
        if not frames:
            raise InputError("viewer: needs at least one frame")
        if color not in POINT_COLORS:
            raise InputError(f"color {color!r}: no such colouring; {nearest(color, POINT_COLORS)}")
        self.frames = sorted(frames, key=_start)
        self.index = 0
        """which frame is shown"""
        self.shown = 0
        """how many points are shown"""
        self._starts = np.array([_start(frame) for frame in self.frames])
        first = _sensor_pose(self.frames[0], self._starts[0])
        self._origin = np.round(first.position)
        self._server: Any = open_page_server(host, port, "Tussock")
        self._movers: list[tuple[SceneObject, Any]] = []
        self._set_the_stage(first)
        self._controls(color)
        if scene is not None:
            self._add_scene(scene, first.position)
        self._show()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    @property
    def time(self) -> float:
        """[s] where the slider stands"""
        return self._zero + float(self._time.value)

    @time.setter
    def time(self, value: float) -> None:
        self._time.value = float(np.clip(value - self._zero, self._time.min, self._time.max))

    def wait(self) -> None:
        """Serve until interrupted."""
        self._server.sleep_forever()

    def stop(self) -> None:
        self._server.stop()

    def _set_the_stage(self, first: Pose) -> None:
        self._server.gui.configure_theme(dark_mode=True, show_share_button=False)
        scene = self._server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(cast_shadow=False)  # drawn four times for nothing that anybody looks at
        eye = first.position - self._origin
        ahead = first.rotation @ np.array([-14.0, 0.0, 8.0])
        self._server.initial_camera.position = (eye[0] + ahead[0], eye[1] + ahead[1], eye[2] + 9.0)
        self._server.initial_camera.look_at = tuple(eye)
        self._sensor = scene.add_frame("/sensor", axes_length=0.8, axes_radius=0.03)
        if self.frames[0].trajectory is not None and self.frames[0].trajectory.moving:
            path = self.frames[0].trajectory.positions - self._origin
            scene.add_line_segments(
                "/path", np.stack([path[:-1], path[1:]], 1).astype(np.float32), (255, 255, 255), thickness=0.03
            )

    def _controls(self, color: ViewColor) -> None:
        gui = self._server.gui
        frame = self.frames[0]
        if len(self.frames) > 1:
            low, high = float(self._starts[0]), float(self._starts[-1])
            step, at = float(np.diff(self._starts).min()), low
        else:
            low, high = (float(frame.time.min()), float(frame.time.max())) if len(frame) else (0.0, 1.0)
            high = max(high, low + 1e-6)
            step, at = (high - low) / 100, high
        # Recordings count from 1970: a slider has no room for that.
        self._zero = low if abs(low) > 1e5 else 0.0
        low, high, at = low - self._zero, high - self._zero, at - self._zero
        self._time = gui.add_slider("time [s]", min=low, max=high, step=step, initial_value=at)
        self._play = gui.add_checkbox("play", initial_value=False)
        self._color = gui.add_dropdown("colour", POINT_COLORS, initial_value=color)
        self._size = gui.add_slider("point size [m]", min=0.01, max=0.3, step=0.01, initial_value=0.05)
        sensor = gui.add_checkbox("sensor", initial_value=True)
        self._legend = gui.add_html("")
        self._about = gui.add_markdown("")

        @self._time.on_update
        @self._color.on_update
        def _(_: Any) -> None:
            self._show()

        @self._play.on_update
        def _(_: Any) -> None:
            if self._play.value:
                threading.Thread(target=self._run, name="tussock-play", daemon=True).start()

        @self._size.on_update
        def _(_: Any) -> None:
            self._cloud.point_size = self._size.value

        @sensor.on_update
        def _(_: Any) -> None:
            self._sensor.visible = sensor.value

    def _run(self) -> None:
        """Let time run, once around after its end, until the box is cleared or nobody looks."""
        while self._play.value and self._server.get_clients():
            clock.sleep(float(np.clip(self._time.step, _QUICKEST_S, 1.0)))
            on = float(self._time.value) + float(self._time.step)
            self._time.value = float(self._time.min) if on > self._time.max + 1e-9 else on

    def _show(self) -> None:
        """Draw the frame of the slider's time."""
        time = self.time
        self.index = int(np.searchsorted(self._starts, time + 1e-9, side="right")) - 1 if len(self.frames) > 1 else 0
        frame = self.frames[self.index]
        returns = frame.select(frame.hit & np.isfinite(frame.xyz).all(1))
        painted = paint_points(returns, self._color.value)
        colors = painted.colors
        self._legend.content = legend_html(painted.legend)
        if len(self.frames) == 1:
            # Coloured before it is cut: the scale must not change while the slider moves.
            until = returns.time <= time + 1e-9
            returns, colors = returns.select(until), colors[until]
        points = returns.world_xyz() if frame.trajectory is not None else returns.xyz.astype(np.float64)
        self.shown = len(returns)
        with self._server.atomic():
            self._cloud = self._server.scene.add_point_cloud(
                "/points", (points - self._origin).astype(np.float32), colors, point_size=self._size.value,
                point_shape="circle", point_shading="flat", precision="float32",
            )  # fmt: skip
            pose = _sensor_pose(frame, time)
            self._sensor.position = pose.position - self._origin
            self._sensor.wxyz = np.roll(pose.quaternion, 1)
            for thing, handle in self._movers:
                assert thing.motion is not None
                place = thing.motion.pose(time)
                handle.position = place.position - self._origin
                handle.wxyz = np.roll(place.quaternion, 1)
        self._about.content = (
            f"frame {self.index + 1} of {len(self.frames)}, {self.shown:,} points, {time - self._zero:.3f} s"
        )

    def _add_scene(self, scene: Scene, around: NDArray[np.float64]) -> None:
        left = _MOST_TRIANGLES
        handles = []
        # The small ones first: a wall shall not be missing because of a tree.
        for thing in sorted(scene.objects, key=lambda o: len(o.mesh.triangles) * len(o.placements)):
            room = min(left, _MOST_OF_AN_OBJECT)
            if room < 1:
                break
            for number, (vertices, triangles, color) in enumerate(_pieces(thing, around, room)):
                left -= len(triangles)
                moving = thing.motion is not None
                handle = self._server.scene.add_mesh_simple(
                    f"/scene/{thing.id}-{number}", (vertices - (0 if moving else self._origin)).astype(np.float32),
                    triangles, color=color, flat_shading=True, side="double", cast_shadow=False, receive_shadow=False,
                )  # fmt: skip
                handles.append(handle)
                if moving:
                    self._movers.append((thing, handle))
        box = self._server.gui.add_checkbox("scene", initial_value=True)

        @box.on_update
        def _(_: Any) -> None:
            for handle in handles:
                handle.visible = box.value


def _start(frame: Frame) -> float:
    given = frame.meta.get("start_s")
    return float(given) if given is not None else (float(frame.time.min()) if len(frame) else 0.0)


def _sensor_pose(frame: Frame, time: float) -> Pose:
    return Pose() if frame.trajectory is None else frame.trajectory.pose(time)


def _pieces(
    thing: SceneObject, around: NDArray[np.float64], room: int
) -> list[tuple[NDArray[np.float64], NDArray[np.uint32], tuple[int, int, int]]]:
    """Vertices in the world (in the object for one that moves), triangles and colour, one piece a material."""
    mesh = thing.mesh
    every = -(-len(mesh.triangles) // room)
    kept = np.arange(0, len(mesh.triangles), every)
    matrices = thing.placements.matrices
    near = np.argsort(np.linalg.norm(matrices[:, :, 3] - around, axis=1), kind="stable")
    matrices = matrices[near[: max(room // len(kept), 1)]]
    pieces = []
    for number, material in enumerate(mesh.materials):
        chosen = mesh.triangles[kept[mesh.material_of_triangles[kept] == number]]
        if not len(chosen):
            continue
        used, corners = np.unique(chosen, return_inverse=True)
        shape = mesh.vertices[used].astype(np.float64)
        vertices = np.einsum("pij,vj->pvi", matrices[:, :, :3], shape) + matrices[:, None, :, 3]
        offsets = np.arange(len(matrices), dtype=np.uint32)[:, None, None] * np.uint32(len(used))
        triangles = (corners.reshape(1, -1, 3).astype(np.uint32) + offsets).reshape(-1, 3)
        linear = np.array(material.color or (material.reflectance,) * 3)
        red, green, blue = (round(255 * float(c) ** (1 / 2.2)) for c in linear)
        pieces.append((vertices.reshape(-1, 3), triangles, (red, green, blue)))
    return pieces
