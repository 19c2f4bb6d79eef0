"""What the studio asks the simulator for: exactly what ``tussock scan`` takes, so that words can say it again.

Poses are kept as the text of ``--pose``, rounded to millimetres and hundredths of a degree: the gizmo's own numbers have
more digits than anybody wants to type, and the command line would give other bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tussock.air.weather import parse_weather
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.scene.scene import Scene
from tussock.scene.wind import wind_of
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import frames_between, scan
from tussock.trace.world import World

__all__ = ["Ask", "Walk", "pose_text"]

_QUIET = (
    "ray_sigma_m", "floor_sigma_m", "bias_sigma_m", "pointing_sigma_mrad", "dropout", "false_alarms", "interference",
)  # fmt: skip
"""settings of `tussock.sensors.noise.Noise` that are 0 where there is no noise"""


def pose_text(position: Any, quaternion: Any) -> str:
    """The text of ``--pose`` for a position (3,) [m] and a quaternion (x, y, z, w): whole millimetres, 0.01 degrees."""
    with np.errstate(all="ignore"):
        turn = Rotation.from_quat(np.asarray(quaternion, float))
        # At a pitch of 90 degrees roll and yaw turn about one axis; SciPy warns and takes roll, which is as good.
        angles = turn.as_euler("xyz", degrees=True, suppress_warnings=True)
    numbers = [*np.round(np.asarray(position, float), 3), *np.round(angles, 2)]
    return ",".join(f"{number + 0.0:.10g}" for number in numbers)


@dataclass(frozen=True)
class Walk:
    """A path that somebody clicked: at one speed through places, looking where it goes."""

    places: tuple[tuple[float, float, float], ...]
    """[m] of the sensor itself"""
    speed: float = 1.4
    """[m/s]"""

    def trajectory(self) -> Trajectory:
        """The path; the sensor turns over the last half metre before a corner and the first after it."""
        if len(self.places) < 2:
            raise InputError.of("path", "must have two places or more", len(self.places), "click on the ground")
        if not 0.001 <= self.speed <= 1000:
            raise InputError.of("speed", "must be from 0.001 to 1000 m/s", self.speed)
        points = np.array(self.places)
        legs = np.diff(points, axis=0)
        lengths = np.linalg.norm(legs, axis=1)
        if (lengths < 0.01).any():
            raise InputError.of("path", "must not stand still: places lie a centimetre apart or more", lengths.min())
        yaw = np.unwrap(np.arctan2(legs[:, 1], legs[:, 0]))
        bend = np.minimum(0.5, lengths / 3)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        # Two knots a leg, off its corners, and the first and the last place.
        where = np.unique(np.concatenate([[0.0], starts[1:] + bend[1:], ends[:-1] - bend[:-1], ends[-1:]]))
        leg = np.minimum(np.searchsorted(ends, where, side="right"), len(legs) - 1)
        positions = points[leg] + legs[leg] * ((where - starts[leg]) / lengths[leg])[:, None]
        return Trajectory.level(where / self.speed, positions, yaw[leg])

    @property
    def seconds(self) -> float:
        """[s] that it takes."""
        return float(self.trajectory().times[-1])


@dataclass(frozen=True)
class Ask:
    """One scan, in the words of the command line; empty texts: as the scene or the sensor has it."""

    sensor: str = "vlp-16"
    pose: str = "0,0,2"
    rate: float | None = None
    """revolutions a second"""
    rays: int | None = None
    mode: str | None = None
    noise: bool = True
    weather: str = ""
    wind: str = ""
    seed: int = 0
    time: float = 0.0
    """[s]; the frame that starts at it or next after it is scanned"""
    walk: Walk | None = None
    """the way of the sensor; it stands at ``pose`` without one"""

    def changes(self) -> dict[str, Any]:
        """Settings of the sensor that differ from its sheet."""
        sheet = load_sensor(self.sensor)
        named = {"rotation_hz": self.rate, "beam.rays": self.rays, "receiver.mode": self.mode}
        changes: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
        if not self.noise:
            changes |= {f"noise.{key}": 0.0 for key in _QUIET if getattr(sheet.noise, key) != 0}
        return changes

    def device(self) -> Sensor:
        """The sensor with its changes."""
        changes = self.changes()
        sheet = load_sensor(self.sensor)
        return sheet.with_(**changes) if changes else sheet

    def check(self) -> None:
        """Refuse what no scan can be made of: every word is read once."""
        sensor = self.device()
        self.place()
        self.frame(sensor)
        if self.weather.strip():
            parse_weather(self.weather)
        if self.wind.strip():
            wind_of(self.wind)

    def place(self) -> Pose | Trajectory:
        return Pose.parse(self.pose) if self.walk is None else self.walk.trajectory()

    def pose_now(self) -> Pose:
        """Where the sensor is at the time asked for."""
        place = self.place()
        return place if isinstance(place, Pose) else place.pose(self.time)

    def frame(self, sensor: Sensor) -> int:
        """The number of the frame that is scanned."""
        return frames_between(sensor, self.time, self.time).start

    def around(self, scene: Scene) -> Scene:
        """The scene in the weather and the wind asked for."""
        seen = scene.with_weather(parse_weather(self.weather) if self.weather.strip() else scene.weather)
        if self.wind.strip():
            seen.wind = wind_of(self.wind)
        return seen

    def same_world(self, other: Ask) -> bool:
        """Whether both are asked of the same air."""
        return (self.weather.strip(), self.wind.strip()) == (other.weather.strip(), other.wind.strip())

    def scan(self, world: World, *, waveform: bool = False) -> Frame:
        """The frame asked for."""
        sensor = self.device()
        return scan(world, sensor, self.place(), seed=self.seed, frame=self.frame(sensor), waveform=waveform)

    def at(self, **changes: Any) -> Ask:
        """Another one, with some of it changed."""
        return replace(self, **changes)
