"""The drive: sense, think, act, until the vehicle is there or cannot go on.

`drive_to` tells the whole story. The autonomy sees frames and readings and nothing else; the truth goes into the
result. `Watcher`s (a log, an animation) are shown every step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tussock.arrays import FloatArray
from tussock.drive.autonomy.cost_map import CostMap, ground_source
from tussock.drive.autonomy.estimate import Estimate, Estimator
from tussock.drive.autonomy.stack import Autonomy, Steps, Thought
from tussock.drive.metrics import Ending, Metrics, measure
from tussock.drive.sensing.readings import Readings
from tussock.drive.settings import DriveSettings
from tussock.drive.simulation import Sensed, Simulation
from tussock.drive.site.ground import heights_at
from tussock.drive.site.places import told
from tussock.drive.site.site import Site
from tussock.drive.stage import Stage
from tussock.drive.vehicles.motion import COLUMNS
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.scene.scene import Scene
from tussock.sensors.sensor import Sensor

__all__ = ["Drive", "DriveResult", "DriveStep", "Driver", "Trip", "Watcher", "drive_to"]

Point = tuple[float, float]


class Driver(Protocol):
    """Whoever says where to go: the built-in `Autonomy`, or another program."""

    plans: int

    def think(self, frame: Frame, readings: Readings, end: float, goal: Point) -> Thought: ...

    def bumped(self, estimate: Estimate, *, ahead: bool, at: Sequence[Point] = ()) -> None: ...


@dataclass(frozen=True)
class DriveStep:
    """One step as it is shown to watchers."""

    sensed: Sensed
    thought: Thought
    goal: Point
    collisions: int
    cost_map: CostMap | None
    site: Site
    ended: str | None = None

    def heights(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """The true height of the ground [m] at places (n,) [m]."""
        return heights_at(self.site.ground, x, y)


class Watcher(Protocol):
    """Is shown every step of a drive."""

    def watch(self, step: DriveStep) -> None: ...


@dataclass
class DriveResult:
    """All that came of a drive.

    >>> result = tussock.drive_to(scene, sensor, (20, 20))  # doctest: +SKIP
    >>> result.metrics.success  # doctest: +SKIP
    True
    """

    metrics: Metrics
    settings: DriveSettings
    goals: list[Point]
    times: FloatArray
    """[s] of the truth, shape (n,)"""
    truth: FloatArray
    """`tussock.drive.vehicles.motion.COLUMNS` at those times, shape (n, columns)"""
    estimates: FloatArray
    """time, x, y, yaw as believed at the end of every step, shape (steps, 4)"""
    cost_map: CostMap | None
    path: FloatArray | None
    """the last plan (k, 2) [m]"""
    site: Site
    """what was there, with the plants as they were left"""
    scan_s: float = 0.0
    total_s: float = 0.0
    """time that the scans took, and all of the loop"""


@dataclass
class _Record:
    """What is kept of the steps."""

    times: list[FloatArray] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)
    estimates: list[tuple[float, float, float, float]] = field(default_factory=list)
    closest: float = np.inf
    returns: int = 0
    seen_at: float = 0.0
    """[s] when the last return came"""
    moved_at: float = 0.0
    """[s] since when the vehicle is within a metre of `moved_from`"""
    moved_from: Point = (np.inf, np.inf)

    def add(self, sensed: Sensed, thought: Thought) -> None:
        first = 0 if not self.times else 1  # a step's first row is the last one's end
        self.times.append(sensed.driven.times[first:])
        self.rows.append(sensed.driven.rows[first:])
        e = thought.estimate
        self.estimates.append((e.time, e.x, e.y, e.yaw))
        self.closest = min(self.closest, sensed.driven.nearest)
        count = int(sensed.frame.hit.sum())
        self.returns += count
        if count:
            self.seen_at = sensed.end
        x, y = sensed.driven.rows[-1, :2]
        if np.hypot(x - self.moved_from[0], y - self.moved_from[1]) > 1.0:
            self.moved_at, self.moved_from = sensed.end, (float(x), float(y))


def drive_to(
    scene: Scene | Stage,
    sensor: Sensor,
    goal: ArrayLike,
    *,
    start: ArrayLike = (0.0, 0.0),
    settings: DriveSettings | None = None,
    seed: int = 0,
    steps: Steps | None = None,
    driver: Driver | None = None,
    watchers: Sequence[Watcher] = (),
    speed: float | None = None,
    stop: Callable[[], bool] = lambda: False,
    threads: int | None = None,
) -> DriveResult:
    """Drive from ``start`` (x, y and, if given, yaw [rad]) to ``goal`` (x, y), or over several (n, 2) [m].

    ``steps`` replaces parts of the autonomy, ``driver`` all of it. ``speed`` paces the loop: 1 is real time, None as
    fast as it goes; either way the same seed gives the same bits. ``stop`` is asked after every step.

    >>> yard, sensor = tussock.ready_scene("yard"), tussock.load_sensor("vlp-16")  # doctest: +SKIP
    >>> tussock.drive_to(yard, sensor, (20, 20), start=(-20, -20)).metrics.success  # doctest: +SKIP
    True
    """
    trip = Trip(goal, start, seed)
    drive = Drive(scene, sensor, trip, settings=settings, steps=steps, driver=driver, threads=threads)
    return drive.run(watchers, speed=speed, stop=stop)


class Trip(NamedTuple):
    """Where a drive goes; as `drive_to` takes it."""

    goal: ArrayLike
    start: ArrayLike = (0.0, 0.0)
    seed: int = 0


class Drive:
    """A drive that is ready to begin: all that can be refused has been refused."""

    def __init__(
        self, scene: Scene | Stage, sensor: Sensor, trip: Trip, *, settings: DriveSettings | None = None,
        steps: Steps | None = None, driver: Driver | None = None, threads: int | None = None,
    ) -> None:  # fmt: skip
        self._settings = settings = settings or DriveSettings()
        self._goals = goals = _goals(trip.goal)
        place = _start(trip.start, goals[0])
        stage = scene if isinstance(scene, Stage) else Stage(scene, settings.vehicle, threads=threads)
        for one in goals:
            stage.check_goal(*one)
        self._mind: Driver = driver or _autonomy(stage, sensor, settings, place, goals, steps)
        self._simulation = Simulation(stage, sensor, place, settings=settings, seed=trip.seed, threads=threads)
        if settings.refuse_shut_in:
            stage.check_way((place[0], place[1]), goals, settings.goal_radius_m)
        self._record = _Record()
        self._next = 0
        """which goal is headed for"""
        self._stop: Callable[[], bool] = lambda: False

    def run(
        self, watchers: Sequence[Watcher] = (), *, speed: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> DriveResult:
        """Drive, once, and show every step to the watchers."""
        if speed is not None and not speed > 0:
            raise InputError.of("speed", "must be above 0, or None for as fast as it goes", speed)
        self._stop = stop
        try:
            return self._run(watchers, speed)
        finally:
            # However the drive ends, a step of one's own that raises too: the next look at the world finds it upright.
            self._simulation.stage.world.stand_up()

    def _run(self, watchers: Sequence[Watcher], speed: float | None) -> DriveResult:
        begin = time.perf_counter()
        m = self._simulation.vehicle.motion
        start = (m.x, m.y)
        command, ended, message = (0.0, 0.0), None, ""
        while ended is None:
            sensed = self._simulation.step(*command)
            thought = self._mind.think(sensed.frame, sensed.readings, sensed.end, self._goals[self._next])
            self._record.add(sensed, thought)
            self._feel(sensed, thought)
            ended, message = self._ended(sensed, thought)
            cost_map = self._mind.cost_map if isinstance(self._mind, Autonomy) else None
            shown = DriveStep(
                sensed,
                thought,
                self._goals[self._next],
                self._simulation.vehicle.collisions,
                cost_map,
                self._simulation.vehicle.site,
                ended,
            )
            for watcher in watchers:
                watcher.watch(shown)
            command = (thought.command.speed, thought.command.turn_rate)
            if speed is not None:
                time.sleep(max(0.0, sensed.end / speed - (time.perf_counter() - begin)))
        seconds = time.perf_counter() - begin
        return self._result(start, ended, message, seconds)

    def _feel(self, sensed: Sensed, thought: Thought) -> None:
        """A bumper tells of what was run into, and where on the body."""
        contact = sensed.driven.column("contact")[1:]
        if (contact > 0).any():
            self._mind.bumped(thought.estimate, ahead=thought.command.speed >= 0, at=sensed.driven.bumps)

    def _ended(self, sensed: Sensed, thought: Thought) -> tuple[str | None, str]:
        """Whether the drive is over, and what to say."""
        s, record = self._settings, self._record
        x, y = sensed.driven.rows[-1, :2]
        goal = self._goals[self._next]
        left = float(np.hypot(x - goal[0], y - goal[1]))
        # Whether it is there is judged by the truth; what it does about it, by what it believes.
        if left <= s.goal_radius_m:
            if self._next + 1 == len(self._goals):
                return Ending.GOAL, f"reached the goal after {sensed.end:.1f} s"
            self._next += 1
            return None, ""
        if self._simulation.vehicle.tipped:
            return Ending.TIPPED, f"tipped over at {x:.1f},{y:.1f}"
        if sensed.end - record.seen_at >= s.blind_s and record.returns == 0:
            most = self._simulation.sensor.receiver.max_range_m
            return Ending.BLIND, (
                f"{self._simulation.sensor.name} has seen nothing within its range of {most:g} m for {s.blind_s:g} s; "
                "choose another sensor or mount it otherwise"
            )
        if thought.path is None and isinstance(self._mind, Autonomy):
            return (
                Ending.NO_WAY,
                f"no way from {x:.1f},{y:.1f} to {told(*goal, digits=1)} on the map; {left:.1f} m left",
            )
        if sensed.end - record.moved_at >= s.stuck_s:
            return Ending.STUCK, f"stuck at {x:.1f},{y:.1f} for {s.stuck_s:g} s; {left:.1f} m left"
        if sensed.end >= s.time_limit_s - 1e-9:
            return Ending.TIME, f"{s.time_limit_s:g} s are over; {left:.1f} m left"
        if self._stop():
            return Ending.STOPPED, f"stopped after {sensed.end:.1f} s; {left:.1f} m left"
        return None, ""

    def _result(self, start: Point, ended: str, message: str, seconds: float) -> DriveResult:
        record, vehicle = self._record, self._simulation.vehicle
        times, rows = np.concatenate(record.times), np.concatenate(record.rows)
        estimates = np.array(record.estimates)
        truth = np.stack([np.interp(estimates[:, 0], times, rows[:, k]) for k in (0, 1, 3)], 1)
        off = estimates[:, 1:] - truth
        turned = (off[:, 2] + np.pi) % (2 * np.pi) - np.pi
        way = np.array([start, *self._goals])
        pressed = rows[:, COLUMNS.index("pressed_cells")].sum() * vehicle.site.plants.cell**2
        metrics = Metrics(
            success=ended == Ending.GOAL,
            ending=ended,
            message=message,
            time_s=float(times[-1]),
            direct_m=float(np.hypot(*np.diff(way, axis=0).T).sum()),
            left_m=float(np.hypot(*(rows[-1, :2] - way[-1]))),
            collisions=vehicle.collisions,
            closest_m=None if np.isinf(record.closest) else float(record.closest),
            plans=self._mind.plans,
            replans=max(0, self._mind.plans - 1),
            pressed_m2=float(pressed),
            position_error_m=float(np.sqrt((off[:, :2] ** 2).sum(1).mean())),
            heading_error_deg=float(np.rad2deg(np.sqrt((turned**2).mean()))),
            returns=record.returns,
            frames=len(estimates),
            **measure(times, rows),
        )
        mind = self._mind if isinstance(self._mind, Autonomy) else None
        return DriveResult(
            metrics, self._settings, self._goals, times, rows, estimates, mind.cost_map if mind else None,
            mind.path if mind else None, vehicle.site, self._simulation.scan_s, seconds,
        )  # fmt: skip


def _goals(goal: ArrayLike) -> list[Point]:
    goals = np.atleast_2d(np.asarray(goal, float))
    if goals.ndim != 2 or goals.shape[1] != 2 or not len(goals):
        raise InputError.of("goal", "must be x,y [m], or several of them", np.asarray(goal).tolist())
    return [(float(x), float(y)) for x, y in goals]


def _start(start: ArrayLike, goal: Point) -> tuple[float, float, float]:
    """Start with its heading; without one it looks at the first goal."""
    place = np.asarray(start, float)
    if place.shape not in ((2,), (3,)) or not np.isfinite(place).all():
        raise InputError.of("start", "must be x,y or x,y,yaw [m, rad]", place.tolist())
    yaw = float(place[2]) if len(place) == 3 else float(np.arctan2(goal[1] - place[1], goal[0] - place[0]))
    return float(place[0]), float(place[1]), yaw


def _autonomy(
    stage: Stage, sensor: Sensor, settings: DriveSettings, start: tuple[float, float, float], goals: list[Point],
    steps: Steps | None,
) -> Autonomy:  # fmt: skip
    """The paper's autonomy, with a map that holds the start and all goals in its middle."""
    corners = np.array([start[:2], *goals])
    low, high = corners.min(0), corners.max(0)
    middle = (low + high) / 2
    fence = stage.bounds if settings.autonomy.plan.fence else None
    cost_map = CostMap(settings.autonomy.map, (float(middle[0]), float(middle[1])), fence)
    side = cost_map.cell * len(cost_map.costs)
    if not all(cost_map.holds(x, y) for x, y in corners):
        far = float((high - low).max())
        raise InputError.of(
            "goal", f"must lie on a map of {side:g} m × {side:g} m that also holds the start", f"{far:g} m away",
            "raise autonomy.map.cells",
        )  # fmt: skip
    source = settings.autonomy.map.ground
    return Autonomy(
        vehicle=settings.vehicle,
        settings=settings.autonomy,
        cost_map=cost_map,
        estimator=Estimator(settings.sensors.gps, *start),
        mount=settings.mount,
        ground=ground_source(source, sensor),
        survey=stage.site().ground if source == "survey" else None,
        goal_radius=settings.goal_radius_m,
        steps=steps or Steps(),
    )
