"""Path following by pure pursuit (Coulter 1992): steer the arc that leads to a point some way ahead on the path.

The arc through a point that lies ``side`` [m] to the left at the distance d has the curvature 2·side/d². Speed falls in
turns, in costly cells and before the goal; a vehicle that can turn on the spot does so when the path lies behind it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.vehicles.vehicle import Vehicle
from tussock.settings import Settings

__all__ = ["DriveCommand", "FollowSettings", "follow"]


class DriveCommand(NamedTuple):
    """What a vehicle is told: speed [m/s] and turn rate [rad/s], left positive.

    >>> tussock.DriveCommand(speed=1.5, turn_rate=0.2).speed
    1.5
    """

    speed: float
    """[m/s] forward"""
    turn_rate: float
    """[rad/s] to the left"""


class FollowSettings(Settings):
    ahead_m: Annotated[float, Field(gt=0.0)] = 3.0
    """how far ahead on the path is aimed at"""
    slow_in_cost: Annotated[float, Field(ge=0.0, le=1.0)] = 0.6
    """share of the speed that is given up in cells of cost 100"""


def follow(
    path: NDArray[np.float64], estimate: Estimate, vehicle: Vehicle, settings: FollowSettings, cost_ahead: float = 0.0
) -> DriveCommand:
    """The command that leads along a path (k, 2) [m]; ``cost_ahead``, 0 to 100, is the worst of the next metres."""
    here = np.array([estimate.x, estimate.y])
    nearest = int(((path - here) ** 2).sum(1).argmin())
    rest = path[nearest:]
    way = np.cumsum(np.hypot(*np.diff(np.concatenate([here[None], rest]), axis=0).T))
    target = rest[min(int(np.searchsorted(way, settings.ahead_m)), len(rest) - 1)]
    dx, dy = target - here
    far = max(float(np.hypot(dx, dy)), 1e-6)
    off = (float(np.arctan2(dy, dx)) - estimate.yaw + np.pi) % (2 * np.pi) - np.pi
    most_turn = np.deg2rad(vehicle.max_turn_rate_deg_s)
    if vehicle.steering == "skid" and abs(off) > np.pi / 3:
        return DriveCommand(0.0, float(np.clip(1.5 * off, -most_turn, most_turn)))
    speed = vehicle.max_speed_m_s * (1 - settings.slow_in_cost * cost_ahead / 100)
    speed *= max(0.25, 1 - abs(off) / (np.pi / 2))
    left = float(way[-1])
    speed = min(speed, float(np.sqrt(vehicle.braking_m_s2 * max(left, 0.05))))
    curvature = 2 * np.sin(np.clip(off, -np.pi / 2, np.pi / 2)) / far
    return DriveCommand(float(speed), float(np.clip(curvature * speed, -most_turn, most_turn)))
