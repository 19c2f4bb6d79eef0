"""What a studio is about, without the page that shows it: the scene and its history, what is asked, what came back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.ground.below import depth_below_ground
from tussock.scene.scene import Scene
from tussock.scene_files.scene_save import save_scene
from tussock.studio.ask import Ask
from tussock.studio.building import History
from tussock.studio.compare import Difference, difference
from tussock.studio.words import command_line, python_code
from tussock.trace.world import World
from tussock.whole_files import check_writable, whole_file

__all__ = ["Session"]

_LEAST_S = 10.0
"""[s] that the slider of time spans at least"""


@dataclass
class Session:
    """The state of a studio. It is changed by one thread at a time; scans read what they need at their start."""

    history: History | None
    """None where only recorded frames are shown"""
    source: str
    """the name or the file of the scene, as the command line takes it"""
    ask: Ask = field(default_factory=Ask)
    other: Ask | None = None
    """a second one to compare with"""
    recorded: list[Frame] = field(default_factory=list)
    """frames of files, which are shown instead of scans"""
    frame: Frame | None = None
    """what is shown"""
    other_frame: Frame | None = None
    _worlds: list[tuple[Scene, str, str, World]] = field(default_factory=list)

    @property
    def scene(self) -> Scene | None:
        return None if self.history is None else self.history.now

    def world(self, ask: Ask) -> World:
        """The scene of now in the air that is asked for, ready for rays; the last two are kept."""
        scene = self.scene
        if scene is None:
            raise InputError("scene: only recorded frames are open; open a scene to scan it")
        key = (ask.weather.strip(), ask.wind.strip())
        for known, weather, wind, world in self._worlds:
            if known is scene and (weather, wind) == key:
                return world
        world = World(ask.around(scene))
        self._worlds = [(scene, *key, world), *self._worlds[:1]]
        return world

    def scanned(self, ask: Ask, *, waveform: bool = False) -> Frame:
        """The frame that is asked for: a scan, or the recorded one of that time."""
        if self.scene is None or self.recorded:
            return self.recorded[self.recorded_at(ask.time)]
        return ask.scan(self.world(ask), waveform=waveform)

    def depth(self, ask: Ask) -> float | None:
        """[m] by which the sensor stands below the ground; None above it, or where there is none."""
        if self.scene is None or self.recorded:
            return None
        return depth_below_ground(self.scene, ask.pose_now().position)

    def recorded_at(self, time: float) -> int:
        """Which recorded frame is on at a time [s] since the first."""
        starts = self._starts()
        return max(int(np.searchsorted(starts - starts[0], time + 1e-9, side="right")) - 1, 0)

    def _starts(self) -> NDArray[np.float64]:
        return np.array([_start(frame) for frame in self.recorded])

    @property
    def seconds(self) -> float:
        """[s] how long something happens."""
        if self.recorded:
            starts = self._starts()
            return max(float(starts[-1] - starts[0]), 1e-3)
        ends = [_LEAST_S]
        if self.ask.walk is not None:
            ends = [self.ask.walk.seconds]
        elif self.scene is not None:
            ends += [float(thing.motion.times[-1]) for thing in self.scene.objects if thing.motion is not None]
        return max(ends)

    @property
    def step(self) -> float:
        """[s] from one frame to the next."""
        if self.recorded:
            return self.seconds / max(len(self.recorded) - 1, 1)
        return self.ask.device().frame_period

    def compared(self) -> Difference | None:
        """How the two frames differ; None without a second."""
        if self.frame is None or self.other_frame is None:
            return None
        return difference(self.frame, self.other_frame)

    def save(self, path: Path | str, *, force: bool = False) -> Path:
        """Write the scene of now, in its own air, as the command line reads it."""
        if self.history is None:
            raise InputError("scene: only recorded frames are open; there is no scene to save")
        save_scene(self.history.now, path, force=force)
        self.history.saved()
        self.source = str(path)
        return Path(path)

    def save_path(self, path: Path | str, *, force: bool = False) -> Path:
        """Write the path that was clicked (TUM)."""
        if self.ask.walk is None:
            raise InputError("path: there is none; click two places or more on the ground")
        check_writable(Path(path), force=force)
        with whole_file(Path(path), force=force) as part:
            self.ask.walk.trajectory().save_tum(part)
        return Path(path)

    def said(self, out: str = "frame.pcd", path: str = "path.tum") -> tuple[str, str]:
        """The command line and the program that write what is shown; empty for recorded frames."""
        if self.recorded or self.history is None:
            return "", ""
        return command_line(self.ask, self.source, out, path), python_code(self.ask, self.source, out, path)

    @property
    def unsaid(self) -> str:
        """What has to be saved before the words hold; empty where nothing has."""
        scene = self.history is not None and self.history.changed
        return "the scene is in no file yet: save it first" if scene else ""


def _start(frame: Frame) -> float:
    given = frame.meta.get("start_s")
    return float(given) if given is not None else (float(frame.time.min()) if len(frame) else 0.0)
