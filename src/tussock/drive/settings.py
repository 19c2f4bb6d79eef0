"""All settings of a drive in one model: vehicle, small sensors, where the LIDAR sits, autonomy, and when to give up.

vehicle = "skid-steer"              # a name of the catalogue, a file, or a table
mount_m = [0, 0, 2]
[sensors]
gps = "gps-sbas"
[autonomy.map]
max_height_m = 1.2
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, field_validator

from tussock.drive.autonomy.stack import AutonomySettings
from tussock.drive.sensing.suite import Suite
from tussock.drive.vehicles.vehicle import Vehicle, load_vehicle
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.quantities import Positive, Triple
from tussock.settings import Settings, read_toml

__all__ = ["DriveSettings", "load_drive_settings"]


class DriveSettings(Settings):
    """A vehicle, its sensors, its autonomy and the limits of a drive.

    >>> tussock.DriveSettings(time_limit_s=60.0).vehicle.name
    'skid-steer'
    """

    vehicle: Vehicle = Field(default_factory=lambda: load_vehicle("skid-steer"))
    sensors: Suite = Field(default_factory=Suite)
    mount_m: Triple = (0.0, 0.0, 2.0)
    """where the LIDAR sits on the body, whose origin is on the ground between the wheels"""
    mount_deg: Triple = (0.0, 0.0, 0.0)
    """its roll, pitch (down positive) and yaw"""
    scan_every: Annotated[int, Field(ge=1, le=1000)] = 1
    """of the LIDAR's frames, the one that is looked at; the others are not simulated, and no command is given for them"""
    autonomy: AutonomySettings = AutonomySettings()
    goal_radius_m: Positive = 2.0
    """how near is there"""
    refuse_shut_in: bool = True
    """whether a start or a goal with obstacles all around is refused; if not, the vehicle finds out by itself"""
    time_limit_s: Positive = 600.0
    stuck_s: Positive = 30.0
    """without coming a metre further, after which the drive ends"""
    blind_s: Positive = 3.0
    """without a single return, after which the drive ends"""

    @field_validator("vehicle", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if not isinstance(value, (str, Path)):
            return value
        try:
            return load_vehicle(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    @property
    def mount(self) -> Pose:
        """``T_body_sensor``"""
        roll, pitch, yaw = np.deg2rad(self.mount_deg)
        return Pose.at(*self.mount_m, roll=roll, pitch=pitch, yaw=yaw)


def load_drive_settings(path: Path | str) -> DriveSettings:
    """Read a settings file.

    >>> from pathlib import Path
    >>> _ = Path("drive.toml").write_text('vehicle = "warthog"\\n')
    >>> tussock.load_drive_settings("drive.toml").vehicle.name
    'warthog'
    """
    return DriveSettings.parse(read_toml(Path(path)), str(path))
