"""The autonomy in one piece: what a frame and the small sensors' readings become, step by step, up to a command.

Every step is a function that can be replaced by one's own:

    register(frame, estimate, mount) -> points (n, 3)
    add(cost_map, points, estimate) -> None
    plan(cost_map, (x, y), goal) -> path (k, 2) or None
    follow(path, estimate, cost_ahead) -> DriveCommand
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.drive.autonomy.cost_map import CostMap, GroundSource, MapSettings
from tussock.drive.autonomy.estimate import Estimate, Estimator
from tussock.drive.autonomy.following import DriveCommand, FollowSettings, follow
from tussock.drive.autonomy.planning import PlanSettings, plan
from tussock.drive.autonomy.registration import register
from tussock.drive.sensing.readings import Readings
from tussock.drive.site.ground import Ground
from tussock.drive.vehicles.vehicle import Vehicle
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.settings import Settings

__all__ = ["Autonomy", "AutonomySettings", "Steps", "Thought"]

Point = tuple[float, float]
_WITHIN = 0.75
"""of a goal's radius, where a path may end whose goal itself is blocked on the map"""


class AutonomySettings(Settings):
    map: MapSettings = MapSettings()
    plan: PlanSettings = PlanSettings()
    follow: FollowSettings = FollowSettings()
    back_off_s: float = 2.5
    """how long the vehicle reverses after it has run into something"""


@dataclass(frozen=True)
class Steps:
    """The user's own functions; what is None is done as the paper does it.

    >>> straight = tussock.Steps(plan=lambda cost_map, here, goal: np.linspace(here, goal, 40))
    """

    register: Callable[[Frame, Estimate, Pose], FloatArray] | None = None
    add: Callable[[CostMap, FloatArray, Estimate], None] | None = None
    plan: Callable[[CostMap, Point, Point], FloatArray | None] | None = None
    follow: Callable[[FloatArray, Estimate, float], DriveCommand] | None = None


@dataclass
class Thought:
    """What came of one step."""

    command: DriveCommand
    estimate: Estimate
    path: FloatArray | None
    """[m] (k, 2), None where there is no way to the goal"""
    points: FloatArray
    """registered, shape (n, 3)"""
    replanned: bool = False


@dataclass
class Autonomy:
    """The vehicle's mind during one drive: it knows its sensors' readings and nothing of the scene."""

    vehicle: Vehicle
    settings: AutonomySettings
    cost_map: CostMap
    estimator: Estimator
    mount: Pose
    """``T_body_sensor``"""
    ground: GroundSource = "seen"
    survey: Ground | None = None
    goal_radius: float = 0.0
    """[m] how near to a goal is there"""
    steps: Steps = field(default_factory=Steps)
    path: FloatArray | None = None
    plans: int = 0
    _planned_at: float = -np.inf
    _planned_for: Point | None = None
    _back_until: float = -np.inf

    def think(self, frame: Frame, readings: Readings, end: float, goal: Point) -> Thought:
        """From what was sensed up to ``end`` [s] to the next command."""
        estimate = self.estimator.update(readings, end)
        points = self._registered(frame, estimate)
        if self.steps.add is not None:
            self.steps.add(self.cost_map, points, estimate)
        else:
            self.cost_map.add(points, estimate, ground=self.ground, survey=self.survey)
        if end < self._back_until:
            return Thought(DriveCommand(-0.5 * self.vehicle.max_reverse_m_s, 0.0), estimate, self.path, points)
        replanned = self._plan_if_due(estimate, goal)
        if self.path is None:
            return Thought(DriveCommand(0.0, 0.0), estimate, None, points, replanned)
        ahead = self._cost_ahead(estimate)
        if self.steps.follow is not None:
            command = _commanded(self.steps.follow(self.path, estimate, ahead))
        else:
            command = follow(self.path, estimate, self.vehicle, self.settings.follow, ahead)
        return Thought(command, estimate, self.path, points, replanned)

    def bumped(self, estimate: Estimate, *, ahead: bool, at: Sequence[Point] = ()) -> None:
        """The bumper was touched: what stands there is marked, and the vehicle backs off and plans anew.

        ``at`` is where on the body, ahead and to the left of its middle [m]; empty: all of its end is taken for touched.
        """
        touched = list(at)
        if not touched:
            reach = (1.0 if ahead else -1.0) * (0.5 * self.vehicle.length_m + 0.5 * self.cost_map.cell)
            touched = [(reach, beside * self.vehicle.width_m) for beside in np.linspace(-0.5, 0.5, 5)]
        c, s = np.cos(estimate.yaw), np.sin(estimate.yaw)
        for along, beside in touched:
            self.cost_map.block(estimate.x + along * c - beside * s, estimate.y + along * s + beside * c)
        self._planned_at = -np.inf
        if ahead:
            self._back_until = estimate.time + self.settings.back_off_s

    def _plan_if_due(self, estimate: Estimate, goal: Point) -> bool:
        due = estimate.time - self._planned_at >= self.settings.plan.every_s - 1e-9 or goal != self._planned_for
        if not due and not self._path_blocked(estimate):
            return False
        here = (estimate.x, estimate.y)
        if self.steps.plan is not None:
            self.path = _planned(self.steps.plan(self.cost_map, here, goal))
        else:
            near = _WITHIN * self.goal_radius
            self.path = plan(self.cost_map, here, goal, self.settings.plan, 0.5 * self.vehicle.width_m, near)
        self._planned_at, self._planned_for = estimate.time, goal
        self.plans += 1
        return True

    def _registered(self, frame: Frame, estimate: Estimate) -> FloatArray:
        if self.steps.register is None:
            return register(frame, estimate, self.mount)
        rule = "must return points (n, 3) [m]"
        points = _numbers("register", rule, self.steps.register(frame, estimate, self.mount))
        if points.ndim != 2 or points.shape[1] != 3:
            raise InputError.of("register", rule, points.shape)
        return points

    def _path_blocked(self, estimate: Estimate) -> bool:
        """Whether something lethal has come up on the path ahead."""
        costs = self._costs_on_path(estimate, np.inf)
        return bool(len(costs) and costs.max() >= self.settings.plan.lethal)

    def _cost_ahead(self, estimate: Estimate) -> float:
        costs = self._costs_on_path(estimate, 2 * self.settings.follow.ahead_m)
        return float(costs.max()) if len(costs) else 0.0

    def _costs_on_path(self, estimate: Estimate, within: float) -> NDArray[np.float32]:
        if self.path is None:
            return np.empty(0, np.float32)
        away = np.hypot(self.path[:, 0] - estimate.x, self.path[:, 1] - estimate.y)
        ahead = np.arange(len(away)) >= int(away.argmin())
        chosen = self.path[ahead & (away <= within)]
        i, j = self.cost_map.index(chosen[:, 0], chosen[:, 1])
        n = len(self.cost_map.costs)
        inside = (i >= 0) & (j >= 0) & (i < n) & (j < n)
        return self.cost_map.trusted_costs(self.settings.plan.lethal)[i[inside], j[inside]]


def _numbers(field: str, rule: str, given: Any) -> FloatArray:
    """What a step of the user's own returned, as numbers."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError.of(field, rule, given) from None


def _planned(path: Any) -> FloatArray | None:
    rule = "must return a path (k, 2) [m] or None"
    if path is None:
        return None
    found = _numbers("plan", rule, path)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise InputError.of("plan", rule, found.shape)
    if not np.isfinite(found).all():
        k = int((~np.isfinite(found)).any(1).argmax())
        raise InputError.of("plan", f"must return finite places [m]; number {k} is not", tuple(found[k].tolist()))
    return found


def _commanded(command: Any) -> DriveCommand:
    rule = "must return two finite numbers: speed [m/s] and turn rate [rad/s]"
    values = _numbers("follow", rule, command)
    if values.shape != (2,) or not np.isfinite(values).all():
        raise InputError.of("follow", rule, command)
    return DriveCommand(float(values[0]), float(values[1]))
