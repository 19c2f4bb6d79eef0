"""The studio as a page: what is drawn, what is asked when a hand lets go, and who hears of what came back.

`Studio` holds the session (what is shown and asked, free of the page), the worker that scans, and the panels. Everything
that takes time is done by the worker, the newest wish first. When the last page is closed the work is given up; when one
is opened again it is asked anew.
"""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, TussockError
from tussock.frames.frame import Frame
from tussock.page_server import open_page_server
from tussock.plots.point_colors import POINT_COLORS, PointColor
from tussock.poses import Trajectory
from tussock.scene.scene import Scene
from tussock.studio.ask import Ask
from tussock.studio.building import History
from tussock.studio.opening import Opened, open_path
from tussock.studio.page.cloud import Cloud
from tussock.studio.page.panel_build import BuildPanel
from tussock.studio.page.panel_compare import ComparePanel
from tussock.studio.page.panel_files import FilesPanel
from tussock.studio.page.panel_point import PointPanel
from tussock.studio.page.panel_scan import ScanPanel
from tussock.studio.page.panel_top import TopPanel
from tussock.studio.page.sensor_body import SensorBody
from tussock.studio.page.stage import Stage
from tussock.studio.picking import met_along
from tussock.studio.session import Session
from tussock.studio.work import Worker

__all__ = ["Studio"]

_URGENCY = ("scene", "scan", "point", "ground", "picture")
_DOING = {
    "scene": "drawing the scene",
    "scan": "scanning",
    "point": "recording the waveform",
    "picture": "taking a picture",
}


class Studio:
    """A page at `url` to see a scene and what a sensor measures in it, to turn it and to build, until `stop`.

    ``scene`` is the name of a ready scene, a file (a scene, a mesh, a pack, a .blend, frames, a capture, volumes), a folder
    of frames, or a `Scene`.

    >>> studio = tussock.Studio("yard", sensor="vlp-16", port=0)  # doctest: +SKIP
    >>> studio.url  # doctest: +SKIP
    'http://127.0.0.1:41235'
    """

    def __init__(
        self,
        scene: Scene | str | Path = "yard",
        *,
        sensor: str | None = None,
        pose: str | None = None,
        color: PointColor = "label",
        host: str = "127.0.0.1",
        port: int = 8080,
        say: Callable[[str], None] | None = None,
    ) -> None:
        if color not in POINT_COLORS:
            raise InputError.of("color", f"must be one of {', '.join(POINT_COLORS)}", color)
        notes: list[str] = []
        tell = say or notes.append
        found = Opened("", scene) if isinstance(scene, Scene) else open_path(str(scene), tell)
        ask = Ask(sensor=sensor or found.sensor or "vlp-16", pose=pose or found.pose, seed=found.seed)
        ask.check()  # what is wrong with it is said before a page is opened
        self._found = found
        self.session = Session(
            None if found.scene is None else History(found.scene, saved=bool(found.name)), found.name or "scene.toml", ask,
            recorded=sorted(found.frames, key=lambda frame: float(frame.meta.get("start_s") or 0.0)),
        )  # fmt: skip
        self._lock = threading.RLock()
        self._eye: NDArray[np.float64] | None = None
        self._playing = threading.Event()
        self._timers: dict[str, threading.Timer] = {}
        self._asked_of_shown: Any = None
        self.scans = 0
        """how many scans have been shown"""
        self.updated_s = 0.0
        """[s] from the last wish for points to points on the page"""
        self._server: Any = open_page_server(host, port, "Tussock studio")
        origin = np.round(self._pose_of_view()[0])
        self.stage = Stage(self._server, origin)
        self._set_the_scene(origin)
        self.worker = Worker(_URGENCY, self._is_busy, self._has_failed)
        # Off the thread that talks to the browser: it must not wait for anything.
        self.body = SensorBody(
            self._server, origin, lambda pose: self.later("sensor", 0.0, lambda: self.move_sensor(pose))
        )
        self.cloud = Cloud(self._server, origin)
        gui = self._server.gui
        self.top = TopPanel(gui, self, color)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Sensor"):
            self.scan_panel = ScanPanel(gui, self)
        with tabs.add_tab("Point"):
            self.point_panel = PointPanel(gui, self)
        with tabs.add_tab("Build"):
            self.build_panel = BuildPanel(gui, self)
        with tabs.add_tab("Compare"):
            self.compare_panel = ComparePanel(gui, self)
        with tabs.add_tab("Files"):
            self.files_panel = FilesPanel(gui, self)
        self._connect()
        self.refresh()

    # --- the page ---------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def wait(self) -> None:
        """Serve until interrupted."""
        self._server.sleep_forever()

    def stop(self) -> None:
        """Close the page and give up all work."""
        self._playing.clear()
        for timer in list(self._timers.values()):
            timer.cancel()
        self.worker.close()
        self.files_panel.close()
        self._server.stop()

    def idle(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is worked on; whether that came true in time."""
        return self.worker.idle(seconds)

    def _pose_of_view(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the sensor, or the first recorded frame's, is: position (3,) and rotation (3, 3)."""
        pose = self.session.ask.pose_now()
        if self.session.recorded and self.session.recorded[0].trajectory is not None:
            path = self.session.recorded[0].trajectory
            pose = path.pose(float(path.times[0]))
        elif self.session.recorded and self.session.scene is None:
            return np.zeros(3), np.eye(3)
        return pose.position, pose.rotation

    def _set_the_scene(self, origin: NDArray[np.float64]) -> None:
        gui, scene = self._server.gui, self._server.scene
        gui.configure_theme(dark_mode=True, show_share_button=False, show_logo=False, brand_color=(72, 130, 84))
        gui.set_panel_label("Tussock studio")
        scene.set_up_direction("+z")
        place, turn = self._pose_of_view()
        eye = place - origin
        back = turn @ np.array([-11.0, 4.0, 0.0])
        self._server.initial_camera.position = (eye[0] + back[0], eye[1] + back[1], eye[2] + 5.0)
        self._server.initial_camera.look_at = tuple(eye + turn @ np.array([4.0, 0.0, -1.0]))
        self._eye = place + np.array([back[0], back[1], 5.0])
        # A sun and a sky, without shadows and mirrored surroundings: browsers without a graphics card draw these for long.
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_directional("/sun", color=(255, 246, 230), intensity=2.4, position=(-3.0, 4.0, 6.0))
        half = float(np.sqrt(0.5))  # a quarter turn about x: the light's own up is y
        scene.add_light_hemisphere(
            "/sky", sky_color=(214, 226, 255), ground_color=(120, 108, 88), intensity=1.6, wxyz=(half, half, 0.0, 0.0)
        )
        # A sky from the horizon up, dark enough for points to be seen before it.
        rows = np.linspace(0, 1, 64)[:, None] ** 0.5
        sky = (1 - rows) * np.array([[26, 38, 56]]) + rows * np.array([[92, 108, 122]])
        scene.set_background_image(np.repeat(sky[:, None], 4, 1).astype(np.uint8), format="png")

    def _connect(self) -> None:
        server = self._server

        @server.on_client_connect
        def _(client: Any) -> None:
            @client.camera.on_update
            def _(camera: Any) -> None:
                self._eye = np.asarray(camera.position) + self.stage.origin
                self.later("levels", 0.25, self._look_again)

            # What was given up when the last page was closed is wanted again.
            self.worker.ask("scene", self._draw)
            if self._asked_of_shown != (self.session.ask, self.session.other, self.session.scene):
                self.ask_scan()

        @server.on_client_disconnect
        def _(_: Any) -> None:
            if not server.get_clients():
                self.top.playing(False)
                self._playing.clear()
                self.worker.cancel()

        @server.scene.on_click()
        def _(event: Any) -> None:
            self._clicked(np.asarray(event.ray_origin) + self.stage.origin, np.asarray(event.ray_direction))

    def _look_again(self) -> None:
        if self._eye is not None:
            self.stage.look_from(self._eye)

    def later(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        """Do something when it has not been asked for again for a while: sliders and keys ask often."""
        with self._lock:
            old = self._timers.get(name)
            if old is not None:
                old.cancel()
            timer = threading.Timer(seconds, self._guarded, (do,))
            timer.daemon = True
            self._timers[name] = timer
            timer.start()

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:
            self._has_failed(error)

    def guard(self, do: Callable[[], None]) -> None:
        """Do something for a panel; what goes wrong is one line at the top of the page."""
        self._guarded(do)

    def say(self, line: str, *, bad: bool = False) -> None:
        """One line at the top of the page."""
        self.top.say(line, bad=bad)

    def gizmo(self, name: str, position: NDArray[np.float64], wxyz: NDArray[np.float64]) -> Any:
        """Handles to drag and turn something by, at a place of the page."""
        return self._server.scene.add_transform_controls(
            name, scale=1.6, depth_test=False, line_width=3.0, position=position, wxyz=wxyz
        )

    def clients(self) -> list[Any]:
        return list(self._server.get_clients().values())

    def _is_busy(self, kind: str) -> None:
        self.top.busy(_DOING.get(kind, ""))

    def _has_failed(self, error: BaseException) -> None:
        if not isinstance(error, (TussockError, OSError, MemoryError)):
            import traceback

            traceback.print_exception(error)  # a mistake of ours: whoever runs the studio should see all of it
        self.say(" ".join(str(error).split()) or type(error).__name__, bad=True)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draw the scene anew, and ask for points and a picture."""
        self.scan_panel.update()
        self.build_panel.update()
        self.files_panel.update()
        self.worker.ask("scene", self._draw)
        self.ask_scan()

    def _draw(self, stop: threading.Event) -> None:
        eye = self._eye if self._eye is not None else np.zeros(3)
        self.stage.show(self.session.scene, eye, lambda: not stop.is_set())
        self.stage.at_time(self.session.ask.time)

    def change(self, **changes: Any) -> None:
        """Ask for something else: keys of `tussock.studio.ask.Ask`."""
        new = self.session.ask.at(**changes)
        if new == self.session.ask:
            return
        new.check()
        self.session.ask = new
        self.ask_scan()

    def move_sensor(self, pose: str) -> None:
        """Put the sensor somewhere, as ``--pose`` says it; a path is given up."""
        self.session.ask = self.session.ask.at(pose=pose, walk=None)
        self.ask_scan()

    def ask_scan(self) -> None:
        """Scan as it is asked now; whatever was being scanned is given up."""
        session, asked = self.session, clock.monotonic()
        ask, other, scene = session.ask, session.other, session.scene
        # A client that is still open shows where the sensor will be at once; in one piece, as the page draws after each.
        with self._server.atomic():
            if not session.recorded and session.scene is not None:
                self.body.look_like(ask.device())
                self.body.stand(ask.pose_now())
                self.body.draw_path(self._path(), np.array(ask.walk.places if ask.walk else np.zeros((0, 3))))
            self.show_sensor()
            self.scan_panel.update()
            self.files_panel.update()

        def job(stop: threading.Event) -> None:
            frame = session.scanned(ask)
            second = None if other is None else session.scanned(self.compare_panel.placed(ask, other))
            if stop.is_set():
                return
            session.frame, session.other_frame = frame, second
            self._asked_of_shown = (ask, other, scene)
            with self._server.atomic():
                self.stage.at_time(ask.time)
                self.show_points()
                self.updated_s = clock.monotonic() - asked
                self.top.say(_summary(frame, self.updated_s))
            self.scans += 1
            if session.scene is not None and not session.recorded:
                self.worker.ask("ground", lambda stop: self._tell_depth(ask, frame))
                if self.top.camera:
                    self.worker.ask("picture", self.top.take_picture)

        self.worker.ask("scan", job)

    def _tell_depth(self, ask: Ask, frame: Frame) -> None:
        """Say it where the sensor stands below the ground; after its points, which need not wait for this."""
        depth = self.session.depth(ask)
        if depth is not None and self.session.frame is frame:
            self.say(f"{_summary(frame, self.updated_s)}; the sensor is {depth:.2f} m below the ground", bad=True)

    def show_sensor(self) -> None:
        """Show the sensor and its field of view, where there is one to be moved."""
        self.body.show(body=self.session.scene is not None and not self.session.recorded, outline=self.top.outline)

    def _path(self) -> Trajectory | None:
        walk = self.session.ask.walk
        return None if walk is None else walk.trajectory()

    def show_points(self) -> None:
        """Colour and draw the frame, or both frames, that are there."""
        legend = self.cloud.show(self.session, self.top.color, self.compare_panel.view)
        self.top.show_legend(legend)
        self.compare_panel.update()

    @property
    def shown(self) -> int:
        """How many points are on the page."""
        return self.cloud.count

    # --- clicks -----------------------------------------------------------------------------------------------------

    def _clicked(self, start: NDArray[np.float64], along: NDArray[np.float64]) -> None:
        def do() -> None:
            tool = self.top.tool
            if tool == "point":
                self.point_panel.pick(start, along)
                return
            session = self.session
            met = met_along(session.world(session.ask), start, along, session.ask.time)
            if met is None:
                self.say("nothing of the scene is there")
            elif tool == "path":
                self.scan_panel.walk_to(met.place)
            else:
                self.build_panel.clicked(tool, met)

        self.guard(do)

    # --- time -------------------------------------------------------------------------------------------------------

    def play(self, on: bool) -> None:
        """Let time run, frame by frame, as fast as they are scanned; or stop it."""
        if not on:
            self._playing.clear()
            return
        if not self._playing.is_set():
            self._playing.set()
            threading.Thread(target=self._guarded, args=(self._play,), name="tussock-play", daemon=True).start()

    def _play(self) -> None:
        while self._playing.is_set():
            begun = clock.monotonic()
            session, step = self.session, self.session.step
            time = session.ask.time + step
            self.scan_panel.set_time(0.0 if time > session.seconds + 1e-9 else time)
            self.worker.idle(60.0)
            clock.sleep(max(0.05, min(step, 1.0) - (clock.monotonic() - begun)))

    # --- scenes -----------------------------------------------------------------------------------------------------

    def open(self, name: str, *, stays: bool = True) -> None:
        """Show another scene, or frames, on the same page; ``stays`` is False for a file that nobody will find again."""
        found = open_path(name, self.say)
        self._found = found
        session = self.session
        if found.scene is not None:
            session.history = History(found.scene, saved=stays)
            session.source = found.name if stays else "scene.toml"
            session.recorded = []
            session.ask = session.ask.at(pose=found.pose, seed=found.seed, walk=None, time=0.0)
        else:
            # Frames are shown in the scene that is there: that of which they may be.
            session.recorded = list(found.frames)
            session.ask = session.ask.at(time=0.0)
        session.frame = session.other_frame = None
        self.refresh()

    def build(self, scene: Scene) -> None:
        """Go on to a changed scene."""
        if self.session.history is None:
            raise InputError("scene: only recorded frames are open; open a scene to build in")
        self.session.history.do(scene)
        self.refresh()


def _summary(frame: Frame, seconds: float) -> str:
    return f"{int(frame.hit.sum()):,} returns of {frame.pulses:,} pulses in {seconds:.2f} s"
