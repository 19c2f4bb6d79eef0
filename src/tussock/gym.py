"""Learning to drive: `Tussock/Drive-v0`, an environment of Gymnasium.

    import gymnasium, tussock.gym
    env = gymnasium.make("Tussock/Drive-v0", scene="yard", observation="ranges")

The vehicle starts somewhere free and is to come to a goal some way off, both drawn from the seed. An action is speed
and turn rate, each from −1 to 1 of the vehicle's limits (the lower limit of the speed is standing). An observation is a
dict: ``goal`` (distance over the greatest one, cosine and sine of its bearing, speed, turn rate, each about −1 to 1) and

    ranges    a range image (rings, columns), 0 near to 1 far or nothing
    map       the cost map around the vehicle and turned with it, (1, 64, 64) bytes of 0 to 200, 255 where nothing was seen
    points    (n, 3) points in the vehicle's axes [m], the first n, filled up with zeros

Reward of a step: metres come nearer to the goal, − 0.02 for the time, − the work against plants [kJ],
− 10 for a collision, + 20 at the goal. An episode ends at the goal, after a collision or when the vehicle tips over;
it is cut off after ``max_steps``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.autonomy.cost_map import CostMap, MapSettings
from tussock.drive.autonomy.estimate import Estimator
from tussock.drive.autonomy.registration import register as registered
from tussock.drive.metrics import measure
from tussock.drive.settings import DriveSettings
from tussock.drive.simulation import Sensed, Simulation
from tussock.drive.stage import Stage
from tussock.errors import InputError
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:  # the class itself derives from Gymnasium's: there is no later moment
    raise InputError("tussock.gym needs gymnasium; install it with: pip install 'tussock[gym]'") from error

__all__ = ["DriveEnv"]

Observation = Literal["ranges", "map", "points"]
_CROP, _CROP_M = 64, 32.0
_POINTS = 2048
_TIME, _COLLISION, _GOAL = 0.02, 10.0, 20.0


def quick_sensor() -> Sensor:
    """A small sensor that scans in a millisecond or two: 16 rings, 5 degrees apart in azimuth, one ray a pulse."""
    changes = {"pattern.cycle_us": 1388.888, "receiver.max_range_m": 40.0, "beam.rays": 1}
    return load_sensor("vlp-16").with_(**changes)


class DriveEnv(gymnasium.Env[dict[str, Any], Any]):
    """A vehicle on a scene."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012  Gymnasium's own form

    def __init__(
        self, scene: str | Scene | Stage = "yard", sensor: str | Sensor | None = None, *,
        observation: Observation = "ranges", settings: DriveSettings | None = None, distance: tuple[float, float] = (8.0, 20.0),
        max_steps: int = 300, render_mode: str | None = None, threads: int | None = 1,
    ) -> None:  # fmt: skip
        if observation not in ("ranges", "map", "points"):
            raise InputError.of("observation", "must be ranges, map or points", observation)
        if not 0 < distance[0] <= distance[1]:
            raise InputError.of("distance", "must be two lengths [m], the lower first", distance)
        if render_mode not in (None, "rgb_array"):
            raise InputError.of("render_mode", "must be rgb_array or None", render_mode)
        self.settings = settings or DriveSettings()
        if isinstance(scene, Stage):
            self._stage = scene
        else:
            built = ready_scene(scene) if isinstance(scene, str) else scene
            self._stage = Stage(built, self.settings.vehicle, threads=threads)
        self._sensor = load_sensor(sensor) if isinstance(sensor, str) else sensor or quick_sensor()
        self._kind, self._distance, self._most, self._threads = observation, distance, max_steps, threads
        self.render_mode = render_mode
        rings = self._sensor.lasers
        self._columns = max(8, -(-len(self._sensor.pulses(0)) // rings))
        self._order = np.argsort(_elevations(self._sensor), kind="stable").argsort()
        self._farthest = float(np.ceil(self._sensor.receiver.max_range_m + np.linalg.norm(self.settings.mount_m) + 1.0))
        seen: dict[str, spaces.Space[Any]] = {
            "ranges": spaces.Box(0.0, 1.0, (rings, self._columns), np.float32),
            "map": spaces.Box(0, 255, (1, _CROP, _CROP), np.uint8),
            "points": spaces.Box(-self._farthest, self._farthest, (_POINTS, 3), np.float32),
        }
        self.observation_space = spaces.Dict(
            {"goal": spaces.Box(-4.0, 4.0, (5,), np.float32), observation: seen[observation]}
        )
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._simulation: Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin anew; ``options`` may give ``start`` (x, y, yaw) and ``goal`` (x, y) [m, rad]."""
        super().reset(seed=seed)
        start, self._goal = self._places(options or {})
        chance = int(self.np_random.integers(2**63))
        self._simulation = Simulation(
            self._stage, self._sensor, start, settings=self.settings, seed=chance, threads=self._threads
        )
        self._estimator = Estimator(self.settings.sensors.gps, *start)
        cells = int(np.ceil(2 * (self._distance[1] + 30.0) / 0.5))
        self._map = CostMap(MapSettings(cells=cells), start[:2])
        sensed = self._simulation.step(0.0, 0.0)
        self._left = self._to_goal(sensed)
        return self._observed(sensed), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Obey an action for one frame of the sensor."""
        simulation = self._simulation
        if simulation is None:
            raise InputError("environment: must be reset before it takes a step")
        ahead, turn = (float(v) for v in np.clip(np.asarray(action, np.float64), -1.0, 1.0))
        vehicle = self.settings.vehicle
        before = simulation.vehicle.collisions
        sensed = simulation.step(
            max(ahead, 0.0) * vehicle.max_speed_m_s, turn * np.deg2rad(vehicle.max_turn_rate_deg_s)
        )
        left = self._to_goal(sensed)
        there = left <= self.settings.goal_radius_m
        hit = simulation.vehicle.collisions > before
        work = measure(sensed.driven.times, sensed.driven.rows)["plant_work_j"]
        reward = (self._left - left) - _TIME - work / 1e3 - _COLLISION * hit + _GOAL * there
        self._left = left
        ended = bool(there or hit or simulation.vehicle.tipped)
        cut = not ended and simulation.steps > self._most
        told = {"success": bool(there), "collision": bool(hit), "left_m": left}
        return self._observed(sensed), float(reward), ended, cut, told

    def render(self) -> Any:
        """The cost map around the vehicle as a picture (256, 256, 3)."""
        assert self._simulation is not None
        crop = self._crop().astype(np.uint8)[0]
        grey = np.repeat(np.repeat(np.where(crop == 255, 20, crop), 4, 0), 4, 1).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, 2)

    def _places(self, options: dict[str, Any]) -> tuple[tuple[float, float, float], tuple[float, float]]:
        """A free start and a free goal at a distance, drawn until they fit."""
        if "start" in options and "goal" in options:
            (x, y, yaw), (gx, gy) = options["start"], options["goal"]
            return (float(x), float(y), float(yaw)), (float(gx), float(gy))
        ground, rng = self._stage.site().ground, self.np_random
        low, high = np.array([ground.low_x, ground.low_y]) + 3.0, np.array(ground.high) - 3.0
        for _ in range(10_000):
            x, y = rng.uniform(low, high)
            bearing, far = rng.uniform(-np.pi, np.pi), rng.uniform(*self._distance)
            yaw = bearing + rng.uniform(-1.0, 1.0)
            goal = np.array([x + far * np.cos(bearing), y + far * np.sin(bearing)])
            inside = (goal >= low).all() and (goal <= high).all()
            if inside and self._stage.free(x, y, yaw) and self._stage.free(float(goal[0]), float(goal[1]), 0.0):
                return (float(x), float(y), float(yaw)), (float(goal[0]), float(goal[1]))
        raise InputError("environment: no free start and goal were found; use a larger scene or a shorter distance")

    def _to_goal(self, sensed: Sensed) -> float:
        x, y = sensed.driven.rows[-1, :2]
        return float(np.hypot(x - self._goal[0], y - self._goal[1]))

    def _observed(self, sensed: Sensed) -> dict[str, Any]:
        estimate = self._estimator.update(sensed.readings, sensed.end)
        dx, dy = self._goal[0] - estimate.x, self._goal[1] - estimate.y
        bearing = np.arctan2(dy, dx) - estimate.yaw
        v = self.settings.vehicle
        goal = [
            np.hypot(dx, dy) / self._distance[1], np.cos(bearing), np.sin(bearing), estimate.speed / v.max_speed_m_s,
            estimate.turn_rate / np.deg2rad(v.max_turn_rate_deg_s),
        ]  # fmt: skip
        observed: dict[str, Any] = {"goal": np.clip(np.array(goal, np.float32), -4.0, 4.0)}
        if self._kind == "ranges":
            observed["ranges"] = self._range_image(sensed)
            return observed
        points = registered(sensed.frame, estimate, self.settings.mount)
        self._pose = (estimate.x, estimate.y, estimate.yaw)
        if self._kind == "map":
            self._map.add(points, estimate, ground="seen")
            observed["map"] = self._crop()
            return observed
        c, s = np.cos(estimate.yaw), np.sin(estimate.yaw)
        own = points - np.array([estimate.x, estimate.y, 0.0])
        turned = np.stack([c * own[:, 0] + s * own[:, 1], c * own[:, 1] - s * own[:, 0], own[:, 2]], 1)
        # Every k-th point, so that all sides are in it.
        step = max(1, -(-len(turned) // _POINTS))
        kept = turned[::step][:_POINTS]
        observed["points"] = np.zeros((_POINTS, 3), np.float32)
        observed["points"][: len(kept)] = np.clip(kept, -self._farthest, self._farthest)
        return observed

    def _range_image(self, sensed: Sensed) -> Any:
        frame = sensed.frame
        image = np.ones((self._sensor.lasers, self._columns), np.float32)
        hit = frame.hit
        row = self._order[frame.laser[hit]]
        column = np.minimum(frame.pulse[hit] // self._sensor.lasers, self._columns - 1)
        far = np.clip(frame.range[hit] / self._sensor.receiver.max_range_m, 0.0, 1.0).astype(np.float32)
        np.minimum.at(image, (row, column), far)
        return image

    def _crop(self) -> Any:
        """The map around the vehicle, its nose to the right: bytes of 0 to 200, 255 where nothing was seen."""
        x, y, yaw = getattr(self, "_pose", (*self._map.middle(0, 0), 0.0))
        at = ((np.arange(_CROP) + 0.5) / _CROP - 0.5) * _CROP_M
        ahead, left = np.meshgrid(at, at[::-1])
        c, s = np.cos(yaw), np.sin(yaw)
        i, j = self._map.index(x + c * ahead - s * left, y + s * ahead + c * left)
        n = len(self._map.costs)
        inside = (i >= 0) & (j >= 0) & (i < n) & (j < n)
        i, j = np.clip(i, 0, n - 1), np.clip(j, 0, n - 1)
        known = inside & self._map.seen[i, j]
        return np.where(known, np.round(2 * self._map.costs[i, j]), 255).astype(np.uint8)[None]


def _elevations(sensor: Sensor) -> FloatArray:
    """Mean elevation [rad] of every laser, shape (lasers,)."""
    pulses = sensor.pulses(0)
    up = np.arcsin(np.clip(pulses.directions[:, 2], -1, 1)).astype(np.float64)
    counts = np.maximum(np.bincount(pulses.lasers, minlength=sensor.lasers), 1)
    return np.bincount(pulses.lasers, up, minlength=sensor.lasers) / counts


gymnasium.register(id="Tussock/Drive-v0", entry_point="tussock.gym:DriveEnv")
