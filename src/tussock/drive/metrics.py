"""What a drive came to, in numbers that hang on the seed alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.vehicles.motion import COLUMNS

__all__ = ["Ending", "Metrics", "measure"]


class Ending:
    """Why a drive ended."""

    GOAL = "goal"
    NO_WAY = "no way"
    STUCK = "stuck"
    TIPPED = "tipped over"
    BLIND = "blind"
    TIME = "time limit"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Metrics:
    success: bool
    ending: str
    message: str
    time_s: float
    length_m: float
    """of the way driven"""
    direct_m: float
    """from the start over all goals, straight"""
    left_m: float
    """to the last goal, straight"""
    collisions: int
    closest_m: float | None
    """nearest that anything solid came to the body; None where it was never within 5 m"""
    plans: int
    replans: int
    """plans after the first"""
    plant_work_j: float
    """done against plants"""
    drive_work_j: float
    """done by the drive"""
    pressed_m2: float
    """of plants driven over for the first time"""
    position_error_m: float
    """root mean square of where the vehicle believed to be against where it was"""
    heading_error_deg: float
    returns: int
    """of the LIDAR, over all frames"""
    frames: int

    def as_json(self) -> dict[str, Any]:
        """Plain data; figures to nine digits, so that they read the same on every machine."""
        return {k: float(f"{v:.9g}") if isinstance(v, float) else v for k, v in asdict(self).items()}


def measure(times: FloatArray, rows: FloatArray) -> dict[str, float]:
    """Figures from the truth: ``times`` [s] (n,) and `COLUMNS` (n, columns)."""
    column = {name: rows[:, k] for k, name in enumerate(COLUMNS)}
    dt = np.diff(times, prepend=times[:1])
    speed = column["speed"]
    before = np.concatenate([speed[:1], speed[:-1]])
    middle = 0.5 * (speed + before)
    way = np.linalg.norm(np.diff(rows[:, :3], axis=0), axis=1).sum()
    wheels = column["wheel_speed"]
    return {
        "length_m": float(way),
        "plant_work_j": float((column["plant_force"] * middle * dt).sum()),
        "drive_work_j": float((np.maximum(column["drive_force"] * wheels, 0) * dt).sum()),
    }
